internal import Basics
internal import LessonBook
internal import Limiters

// Lesson 2: what comes in between while a file ends.

extension Grader {
  /// What comes while the downloader tells that a file is over.
  private enum Newcomer: CaseIterable {
    /// A list, and nobody waits.
    case list
    /// A list, and another file waits for the permit.
    case listBehindAnother
    /// The end of another file of the same list.
    case end

    var limit: Int { self == .end ? 2 : 1 }

    var words: String {
      switch self {
      case .list: "limit 1: a list comes just as the only file ends"
      case .listBehindAnother:
        "limit 1: a list comes just as a file ends, and another file waits for the permit"
      case .end: "limit 2: two files of a list end at the same moment"
      }
    }
  }

  /// Between two locks of the downloader's, others come and go.
  static func asAFileEnds<Downloader: LearnerDownloader>(
    _ type: Downloader.Type
  ) -> GradeBook.Question {
    let asked = "files that end just as another list comes, or as another file ends"
    return .task("as_a_file_ends", asked, seconds: 60) { _ in
      for newcomer in Newcomer.allCases {
        // Few answers have more locks than that.
        for point in 1...20 {
          let scene = DownloadScene(Downloader(limit: newcomer.limit))
          let (fault, isReached) = await scene.meet(newcomer, at: point)
          if let fault {
            return GradeItem("as_a_file_ends", passed: false, "\(newcomer.words): \(fault)")
          }
          if !isReached { break }
        }
      }
      return GradeItem(
        "as_a_file_ends",
        passed: true,
        "\(asked): all are fetched, and no more at once than may be"
      )
    }
  }

  private struct Counts {
    var begun = 0
    var ended = 0
    var peak = 0
    /// The lists that were sent, and those whose `download` has returned.
    var started = 0
    var lists = 0
    var isReached = false
  }

  /// A downloader, and lists that come to it.
  private final class DownloadScene<Downloader: LearnerDownloader>: Sendable {
    private let downloader: Downloader
    private let counts = Lock(Counts())
    private let (mayEnd, ends) = Condition.makeCondition()
    private let (otherMayEnd, otherEnds) = Condition.makeCondition()
    /// The thread is past the point, or has ended without it.
    private let (isOver, over) = Condition.makeCondition()

    init(_ downloader: Downloader) { self.downloader = downloader }

    /// Has a file end, and somebody come at a point of the thread on which it does.
    ///
    /// - Returns: what is wrong, and whether there is such a point.
    func meet(
      _ newcomer: Newcomer,
      at point: Int
    ) async -> (fault: String?, isReached: Bool) {
      let turn = LockTurn(at: point) { [self] in
        counts.withLock { $0.isReached = true }
        if newcomer == .end {
          otherEnds.signal()
        } else {
          start([3]) { [self] _ in try? await otherMayEnd.waitUncancellably() }
        }
        OthersAtRest.waitForOthersAtLocks()
        over.signal()
      }
      start(newcomer == .end ? [1, 2] : [1]) { [self] file in
        if file == 2 {
          try? await otherMayEnd.waitUncancellably()
        } else {
          try? await mayEnd.waitUncancellably()
          turn.begin()
        }
      }
      await Moment.pass(until: newcomer.limit) { counts.withLock { $0.begun } }
      if newcomer == .listBehindAnother {
        start([2]) { _ in for _ in 1...5 { await Moment.pass() } }
        for _ in 1...5 { await Moment.pass() }
      }
      ends.signal()
      if newcomer == .end {
        await Moment.pass(until: 1) { counts.withLock { $0.ended } }
        // Until the thread has told of the end.
        for _ in 1...5 { await Moment.pass() }
      } else {
        // Without a look in between, which would keep the program awake.
        try? await isOver.waitUncancellably()
      }
      let isReached = !turn.giveUp()
      if isReached { try? await isOver.waitUncancellably() }
      // Who begins now does so beside the list that has come.
      for _ in 1...10 { await Moment.pass() }
      otherEnds.signal()
      let started = counts.withLock { $0.started }
      let lists = await Moment.pass(until: started) { counts.withLock { $0.lists } }
      let peak = counts.withLock { $0.peak }
      let fault: String? =
        if peak > newcomer.limit {
          "\(peak) ran at once. Who is woken has the permit already, or looks again whether there is one"
        } else if lists < started {
          newcomer == .end
            ? "'download' never returns. Count under one lock, in one step"
            : "a file waits for ever, though no other is under way. Look whether somebody waits, and give the permit back, "
              + "under one lock, in one step"
        } else {
          nil
        }
      return (fault, isReached)
    }

    private func start(_ list: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) {
      counts.withLock { $0.started += 1 }
      Task { [self] in
        await downloader.download(list) { [self] file in
          counts.withLock {
            $0.begun += 1
            $0.peak = max($0.peak, $0.begun - $0.ended)
          }
          await fetch(file)
          counts.withLock { $0.ended += 1 }
        }
        let isLast = counts.withLock { counts in
          counts.lists += 1
          return counts.lists == counts.started && !counts.isReached
        }
        if isLast { over.signal() }
      }
    }
  }
}
