internal import Basics
internal import Dispatch
internal import ExplorableSynchronization
internal import Exploration
internal import Foundation
internal import LessonBook
internal import Limiters

// Answers that use threads of Dispatch, explored. An exploration can lose sight of those, and there are more schedules
// than anybody waits for: what it finds wrong counts, and nothing else.
extension Grader {
  /// How schedules are drawn, and how many.
  private enum Choice {
    case pct(schedules: Int)
    case random(schedules: Int)

    func strategy(seed: UInt64) -> ExplorationStrategy {
      switch self {
      case .pct(let schedules): .pct(schedules: schedules, depth: 3, seed: seed)
      case .random(let schedules): .random(schedules: schedules, seed: seed)
      }
    }
  }

  /// Explores what the program that grades sees of queues, operations and threads, for a moment.
  private static func onThreads(
    _ name: String,
    _ asked: String,
    _ choice: Choice = .pct(schedules: 3_000),
    _ body: @escaping @Sendable () async throws -> Void
  ) -> GradeBook.Question {
    GradeBook.Question(name: name) { terms in
      let extent: String
      do throws(Exploration.ExplorationFailure) {
        let verdict = try explore(
          "yours",
          strategy: choice.strategy(seed: terms.seed),
          preemptions: nil,
          schedules: 3_000,
          within: .seconds(8),
          besides: Scenario.aroundAnswers,
          body
        )
        extent = "\(verdict.schedules) schedules, drawn"
      } catch {
        switch error.kind {
        case .requirement, .race, .trap, .thrown:
          return GradeItem(
            name,
            passed: false,
            "\(asked): wrong in at least one schedule: \(what(error))",
            story: story(error, [])
          )
        default: extent = "those schedules that can be followed"
        }
      }
      return GradeItem(name, passed: true, "\(asked): right in \(extent)")
    }
  }

  /// Counts files that are fetched, behind a lock at which an exploration stops: so others may come in between.
  private final class Fetches: Sendable {
    private let counts = ExplorableSynchronization.Mutex((running: 0, peak: 0, ended: 0))

    func begin() {
      counts.withLock {
        $0.running += 1
        $0.peak = max($0.peak, $0.running)
      }
    }

    func end() {
      counts.withLock {
        $0.running -= 1
        $0.ended += 1
      }
    }

    /// Takes a moment, in which others may go on: it ends when the schedule says so.
    func fetchOnThread() {
      begin()
      usleep(1_000)
      end()
    }

    /// As ``fetchOnThread()``, for a task.
    func fetch() async {
      begin()
      try? await Task.sleep(for: .milliseconds(1))
      end()
    }

    var peak: Int { counts.withLock { $0.peak } }

    func judge(limit: Int, files: Int) throws {
      let (_, peak, ended) = counts.withLock { $0 }
      try require(peak <= limit, "\(peak) were fetched at once, at a limit of \(limit)")
      try require(ended == files, "of \(files) files \(ended) had been fetched at the end")
    }
  }

  /// Two lists of one file each, sent by two tasks, of which one may be fetched at once.
  static func explored<Downloader: LearnerDownloader>(
    _ type: Downloader.Type
  ) -> GradeBook.Question {
    onThreads("explored", "two tasks that download a file each, limit 1") {
      let downloader = Downloader(limit: 1)
      let fetches = Fetches()
      let download: @Sendable (Int) async -> Void = { file in
        await downloader.download([file]) { _ in
          await fetches.fetch()
        }
      }
      async let one: Void = download(1)
      async let two: Void = download(2)
      _ = await (one, two)
      try fetches.judge(limit: 1, files: 2)
    }
  }

  /// A list whose two files may end at the same moment.
  static func exploredList<Downloader: LearnerDownloader>(
    _ type: Downloader.Type
  ) -> GradeBook.Question {
    onThreads("explored_list", "a list of 2 files, limit 2") {
      let fetches = Fetches()
      await Downloader(limit: 2).download([1, 2]) { _ in
        await fetches.fetch()
      }
      try fetches.judge(limit: 2, files: 2)
    }
  }

  static func explored<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    onThreads("explored", "a list of 2 files, limit 1") {
      let batch = Batch(limit: 1)
      let fetches = Fetches()
      let calls = Lock(0)
      let (allHaveCome, come) = Condition.makeCondition()
      batch.download([1, 2]) { _ in
        fetches.fetchOnThread()
      } whenAll: {
        calls.withLock { $0 += 1 }
        come.signal()
      }
      try await allHaveCome.waitUncancellably()
      try fetches.judge(limit: 1, files: 2)
      for _ in 1...3 { await Task.yield() }
      let count = calls.withLock { $0 }
      try require(count == 1, "'whenAll' was called \(count) times")
    }
  }

  /// A list of so many files that the library would take seconds to make as many threads.
  static func exploredWide<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    // Chance is fair to all threads: each comes to its file while one task sleeps five hundred times.
    onThreads(
      "explored_wide",
      "a list of 12 files, limit 12, and none ends before all have begun",
      .random(schedules: 3)
    ) {
      let fetches = Fetches()
      let mayEnd = DispatchSemaphore(value: 0)
      let (allHaveCome, come) = Condition.makeCondition()
      Batch(limit: 12).download(Array(1...12)) { _ in
        fetches.begin()
        mayEnd.wait()
        fetches.end()
      } whenAll: {
        come.signal()
      }
      for _ in 1...500 where fetches.peak < 12 { try await Task.sleep(for: .milliseconds(1)) }
      let most = fetches.peak
      for _ in 1...12 { mayEnd.signal() }
      try await allHaveCome.waitUncancellably()
      try require(most == 12, "at most \(most) were fetched at once")
    }
  }

  /// Two lists of one file each, sent by two tasks, of which one may be fetched at once.
  static func exploredLists<Batch: LearnerBatch>(_ type: Batch.Type) -> GradeBook.Question {
    onThreads("explored_lists", "two tasks that send a list of a file each, limit 1") {
      let batch = Batch(limit: 1)
      let fetches = Fetches()
      let send: @Sendable (Int) async -> Void = { file in
        let (hasCome, come) = Condition.makeCondition()
        batch.download([file]) { _ in
          fetches.fetchOnThread()
        } whenAll: {
          come.signal()
        }
        try? await hasCome.waitUncancellably()
      }
      async let one: Void = send(1)
      async let two: Void = send(2)
      _ = await (one, two)
      try fetches.judge(limit: 1, files: 2)
    }
  }

  /// Two tasks ask, and the first is cancelled just as the server answers.
  static func explored<Client: LearnerClient>(_ type: Client.Type) -> GradeBook.Question {
    onThreads(
      "explored",
      "two tasks ask, and the first is cancelled just as the server answers",
      .pct(schedules: 500)
    ) {
      let client = Client(server: CallingServer())
      let first = Task { try await client.answer(to: 1) }
      let second = Task { try await client.answer(to: 2) }
      await Task.yield()
      first.cancel()
      if case .success(let answer) = await first.result {
        try require(answer == 10, "who asked 1 got \(answer)")
      }
      let answer = try await second.value
      try require(answer == 20, "who asked 2 got \(answer)")
    }
  }

  /// A task that is cancelled just as its block has been read.
  static func explored<Reader: LearnerReader>(_ type: Reader.Type) -> GradeBook.Question {
    onThreads("explored", "a task that reads, and is cancelled just as its block has been read") {
      let reader = Reader(disk: Disk())
      let task = Task { try await reader.read(1) }
      await Task.yield()
      task.cancel()
      if case .success(let value) = await task.result {
        try require(value == 10, "who read block 1 got \(value)")
      }
    }
  }
}
