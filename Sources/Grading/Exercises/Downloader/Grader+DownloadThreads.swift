internal import Basics
internal import LessonBook
internal import Limiters

extension Grader {
  /// However few files a list has, no thread waits until they have come.
  static func threadsOfDownloads<Downloader: LearnerDownloader>(
    _ type: Downloader.Type
  ) -> GradeBook.Question {
    // Half of them fewer than the threads of Dispatch: where it has no more, nobody could count them.
    let count = 88
    let asked =
      "\(count) downloaders, half of them with a list of one file and half with a list of two, and no file comes"
    return threadsThatWait(asked, most: 20) {
      let server = FakeServer(together: .max)
      let lists = (0..<count).map { files($0 < count / 2 ? 1 : 2, list: $0) }
      let tasks = lists.map { list in
        Task { await Downloader(limit: 2).download(list, server.fetch) }
      }
      // Where threads are held, some may never begin.
      await Moment.pass(until: lists.joined().count, patience: 1_000) { server.counts.begun }
      return {
        server.answerAll()
        for task in tasks { await task.value }
      }
    }
  }
}
