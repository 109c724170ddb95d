internal import Basics
internal import Foundation
internal import LessonBook
internal import Limiters

extension Grader {
  /// However few files a list has, no thread waits until they have come.
  static func threadsOfDownloads<Downloader: LearnerDownloader>(
    _ type: Downloader.Type
  ) -> GradeBook.Question {
    // Many more than the threads that the pool and the library may make meanwhile.
    let count = 100 + 2 * ProcessInfo.processInfo.activeProcessorCount
    let asked =
      "\(count) downloaders, half of them with a list of one file and half with a list of two, and no file comes"
    return threadsThatWait(asked, most: 40) {
      let server = FakeServer(together: .max)
      let lists = (0..<count).map { files($0 < count / 2 ? 1 : 2, list: $0) }
      let tasks = lists.map { list in
        Task { await Downloader(limit: 2).download(list, server.fetch) }
      }
      await Moment.pass(until: lists.joined().count) { server.counts.begun }
      return WaitingTasks(
        due: 0,
        end: {
          server.answerAll()
          for task in tasks { await task.value }
        }
      )
    }
  }
}
