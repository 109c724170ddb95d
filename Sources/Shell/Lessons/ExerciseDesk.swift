internal import Experiments
internal import Exploration
internal import Foundation
internal import LessonBook

// Where a learner's Swift is built and graded.
//
// The learner has one file. The lab puts a copy of it into a hidden folder of this package, whose manifest
// has, for who asks, one program more: the one that grades the file. So the file is compiled against
// the very code the lessons are about, and the grading program explores it as the lab explores its own.
// What the lab was built from is built already, so a grading builds little but the learner's file.

/// What each exercise's program is made of.
struct ExerciseHarness: Sendable {
  /// The name of the file, and the type in it that is graded.
  let type: String
  /// The function of `Grader` that grades it.
  let grader: String

  static let all: [String: ExerciseHarness] = [
    "downloader": ExerciseHarness(type: "MyDownloader", grader: "downloader"),
    "batch": ExerciseHarness(type: "MyBatch", grader: "batch"),
    "client": ExerciseHarness(type: "MyClient", grader: "client"),
    "door": ExerciseHarness(type: "MyDoor", grader: "door"),
    "reader": ExerciseHarness(type: "MyReader", grader: "reader"),
    "limiter": ExerciseHarness(type: "MyLimiter", grader: "limiter"),
    "cancellable-limiter": ExerciseHarness(type: "MyLimiter", grader: "cancellableLimiter"),
    "pool": ExerciseHarness(type: "MyPool", grader: "pool"),
    "recorder": ExerciseHarness(type: "MyRecorder", grader: "recorder"),
    "outbox": ExerciseHarness(type: "MyOutbox", grader: "outbox"),
    "account": ExerciseHarness(type: "MyAccount", grader: "account"),
    "copier": ExerciseHarness(type: "MyCopier", grader: "copier"),
    "gauge": ExerciseHarness(type: "MyGauge", grader: "gauge"),
    "meter": ExerciseHarness(type: "MyMeter", grader: "meter"),
    "test": ExerciseHarness(type: "MyTest", grader: "test"),
    "design": ExerciseHarness(type: "MyLimiter", grader: "design"),
    "image-cache": ExerciseHarness(type: "MyImageCache", grader: "imageCache"),
    "connections": ExerciseHarness(type: "MyConnections", grader: "connections"),
    "executor": ExerciseHarness(type: "MyExecutor", grader: "executor"),
  ]

  /// Whether it is code that tasks are carried through; what else a learner writes is explored by the
  /// questions only.
  var isExplorable: Bool {
    ["limiter", "cancellableLimiter", "pool", "account", "design"].contains(grader)
  }

  /// Whether tasks that wait may be cancelled.
  var asksCancellation: Bool { ["cancellableLimiter", "design"].contains(grader) }

  var program: String {
    // What is explored has a type of this name too, and a learner who writes it means Foundation's.
    let thread =
      grader == "executor" ? "import Foundation\n\ntypealias Thread = Foundation.Thread\n" : ""
    return "import Grading\n" + (runsOnThreads ? thread + Self.turns : Self.lock) + """

      @main struct Program {
        static func main() { Grader.\(grader)(\(type).self).main() }
      }

      """
  }

  /// Whether its locks are those of threads, at which something else may come in between.
  private var runsOnThreads: Bool {
    ["batch", "client", "downloader", "executor"].contains(grader)
  }

  /// In the place of the system's: at these locks, what comes in between is not left to chance.
  private static let turns = """
    typealias Mutex = LearnerMutex
    typealias NSCondition = LearnerCondition
    typealias NSLock = LearnerLock

    """

  /// In the place of Foundation's, which an exploration does not see.
  private static let lock =
    "import Dispatch\nimport ExplorableSynchronization\n\n" + """
      final class NSLock: Sendable {
        private let object = LockObject()

        init() {}

        @available(*, noasync, message: "use withLock, which frees the lock before the task can suspend")
        func lock() { object.lock() }

        @available(*, noasync, message: "use withLock, which frees the lock before the task can suspend")
        func unlock() { object.unlock() }

        @available(*, noasync, message: "use withLock, which frees the lock before the task can suspend")
        func `try`() -> Bool { object.try() }

        func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
          try object.withLock(body)
        }
      }

      extension DispatchQueue {
        func sync(execute body: () -> Void) { LearnerQueues.sync(self, body) }

        func sync<Result>(execute body: () throws -> Result) rethrows -> Result {
          try LearnerQueues.sync(self, body)
        }
      }

      """

  /// Whether its locks are stopped at, to see what comes in between.
  private var isAskedInside: Bool {
    isExplorable || ["door", "outbox", "gauge", "imageCache", "connections"].contains(grader)
  }

  /// How many grading programs share its questions.
  var programs: Int {
    // Most questions on threads wait until the system has, or has not, started some.
    grader == "batch" ? 4 : min(2, ProcessInfo.processInfo.activeProcessorCount)
  }

  /// The code without its comments and texts.
  private static func bare(_ code: String) -> String {
    let texts =
      #/
      //[^\n]* | /\*(?s:.*?)\*/ | "(?:\\.|[^"\\\n])*"
      /#
    return code.replacing(texts, with: " ")
  }

  /// A lock in the code at which the grading cannot stop; nil if there is none, or it need not stop there.
  func unseenLock(in code: String) -> String? {
    guard isAskedInside else { return nil }
    let names =
      #/
      \b(?:pthread_(?:mutex|rwlock|spin)\w*|sem_wait|os_unfair_lock|OSAllocatedUnfairLock|DispatchSemaphore)\b |
      \b(?:NSRecursiveLock|NSCondition(?:Lock)?)\b | \.concurrent\b
      /#
    return Self.bare(code).firstMatch(of: names).map { String($0.output) }
  }

  /// What the code uses of `Limiters` that does what is to be written, if anything.
  ///
  /// A design may be made of others.
  func borrowed(in code: String) -> String? {
    guard ["limiter", "cancellableLimiter", "pool"].contains(grader) else { return nil }
    let names =
      #/
      \b(?:ConcurrencyLimiter|AsyncPool|FIFOQueue|ActorQueue|withLimitedTaskGroup)\b |
      \bconcurrent(?:Map|ForEach|Results)\b
      /#
      // Else `list.concurrentMap` is one word.
      .wordBoundaryKind(.simple)
    return Self.bare(code).firstMatch(of: names).map { String($0.output) }
  }

  /// Whether a type is declared in the code that has the name of the one that is graded.
  func isDeclared(in code: String) -> Bool {
    let names = #/\b(?:class|struct|actor|enum|typealias)\s+(\w+)/#
    return Self.bare(code).matches(of: names).contains { $0.output.1 == type[...] }
  }
}

/// Why an exercise could not be graded, and what to do.
struct ExerciseFailure: Error, Hashable, CustomStringConvertible {
  let description: String
}

/// Builds and grades a learner's file.
struct ExerciseDesk: Sendable {
  /// The folder of this package.
  let root: String

  /// The program that is built around the learner's file.
  var program: String { root + "/.build/debug/grade" }

  /// The folder of what is built but not the package's; the manifest names the one in it.
  private var workplace: String { root + "/.build/exercise" }

  /// What came of a grading.
  enum Outcome: Sendable {
    case graded([GradeItem], passed: Bool, seed: UInt64?, printed: PrintedLines = PrintedLines())
    /// What the compiler said.
    case doesNotBuild(String)
    /// The program ended before it had graded everything: how, and what it had found.
    case broken(String, [GradeItem], printed: PrintedLines)
  }

  /// Grades code; with a seed, on the workloads of an earlier grading.
  ///
  /// - Throws: `ExerciseFailure` if the package cannot be made or Swift cannot be started.
  func grade(
    _ code: String,
    by harness: ExerciseHarness,
    seed: UInt64? = nil,
    telling progress: GradingProgress = GradingProgress(),
    _ interruption: Interruption
  ) async throws -> Outcome {
    func refused(_ name: String, _ sentence: String) -> Outcome {
      .graded([GradeItem(name, passed: false, sentence)], passed: false, seed: nil)
    }
    if let lock = harness.unseenLock(in: code) {
      return refused(
        "locks",
        "'\(lock)': the grading cannot stop at such a lock, and so not see what comes in between. Use Mutex, Atomic, "
          + "NSLock or the 'sync' of a serial DispatchQueue"
      )
    }
    if let name = harness.borrowed(in: code) {
      return refused(
        "own",
        "'\(name)' is of this package, and does what is to be written here: write it yourself, of Condition and Signal, "
          + "continuations, locks or atomics"
      )
    }
    guard harness.isDeclared(in: code) else {
      return .doesNotBuild(
        "there is no type '\(harness.type)' in this file: keep the name that the file has at the beginning"
      )
    }
    progress.note(.waiting)
    let lock = try await takeWorkplace(interruption)
    defer { close(lock) }
    progress.note(.building)
    if let errors = try await build(code, harness, interruption) { return .doesNotBuild(errors) }
    progress.note(.asking(nil, before: 0))
    let seed = seed ?? .random(in: 1...1_000_000)
    let programs = GradingPrograms(harness.programs, of: program, in: workplace)
    let endings = try await programs.ask(seed, telling: progress, interruption)
    let told = programs.told
    guard let broken = told.broken else {
      return .graded(told.items, passed: told.passed, seed: seed, printed: told.printed)
    }
    let place = told.askedLast.map { ", when this was asked: \($0)" } ?? ""
    let hasLeft = if case .exited(0) = endings[broken].ending { true } else { false }
    let said = ExplorationPlace.lastWords(endings[broken].errors)
    let why =
      hasLeft
      ? "Something in it ends the program, as exit(0) does: return instead"
      : said.map { "It said: \($0)" }
        ?? "Look for an index or a number out of range, a continuation that is resumed twice, calls that go too deep, a "
        + "'sync' on a queue by what runs on that queue, and memory that two threads change without a lock."
    switch endings[broken].ending {
    case .interrupted: throw ExerciseFailure(description: "interrupted; nothing was graded")
    case .outOfTime:
      return .broken(
        "did not end within five minutes\(place). Look for a loop that asks again and again instead of "
          + "waiting",
        told.items,
        printed: told.printed
      )
    case .exited(let status):
      return .broken(
        "ended with status \(status)\(place). \(why)",
        told.items,
        printed: told.printed
      )
    case .killed where said == nil && told.items.contains { !$0.passed }:
      // The question that was asked last tells the line already.
      return .graded(told.items, passed: false, seed: seed, printed: told.printed)
    case .killed(let signal):
      return .broken(
        "was stopped by \(Self.name(ofSignal: signal))\(place). \(why)",
        told.items,
        printed: told.printed
      )
    }
  }

  /// What ends a program so, as far as that is known.
  private static func name(ofSignal signal: Int32) -> String {
    let kind =
      switch signal {
      case SIGILL, SIGTRAP, SIGFPE: "a trap"
      case SIGABRT: "an abort"
      case SIGSEGV, SIGBUS: "a use of memory that is not there"
      case SIGKILL: "somebody else, or for want of memory"
      default: "a signal"
      }
    return "\(kind) (signal \(signal))"
  }

  /// Builds the program around a learner's code, to explore it.
  ///
  /// - Returns: what the compiler said, if it does not build.
  func build(
    _ code: String,
    by harness: ExerciseHarness,
    _ interruption: Interruption
  ) async throws -> String? {
    let lock = try await takeWorkplace(interruption)
    defer { close(lock) }
    return try await build(code, harness, interruption)
  }

  private func build(
    _ code: String,
    _ harness: ExerciseHarness,
    _ interruption: Interruption
  ) async throws -> String? {
    try setUp(code, harness)
    let build = try await swift(
      ["build", "--package-path", root, "--product", "grade"],
      interruption
    )
    switch build.ending {
    case .exited(0): return nil
    case .interrupted: throw ExerciseFailure(description: "interrupted; nothing was graded")
    case .outOfTime:
      throw ExerciseFailure(description: "the build took more than ten minutes and was ended")
    case .exited, .killed:
      let text = build.output + "\n" + build.errors
      if let moved = Self.moved(root, text) { throw moved }
      return Self.complaints(text, workplace)
    }
  }

  /// Waits until no other lab builds here: they would grade each other's files.
  ///
  /// - Returns: a file that is locked until it is closed.
  private func takeWorkplace(_ interruption: Interruption) async throws -> Int32 {
    try? FileManager.default.createDirectory(
      atPath: workplace,
      withIntermediateDirectories: true
    )
    let file = open(workplace + "/.lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o644)
    guard file >= 0 else {
      throw ExerciseFailure(description: "the exercise cannot be set up in \(workplace)")
    }
    while flock(file, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR {
      guard !interruption.hasCome else {
        close(file)
        throw ExerciseFailure(description: "interrupted while another lab was grading")
      }
      try await Task.sleep(for: .milliseconds(100))
    }
    return file
  }

  private func setUp(_ code: String, _ harness: ExerciseHarness) throws {
    let files = FileManager.default
    let learner = workplace + "/Learner"
    guard files.fileExists(atPath: root + "/Package.swift") else {
      throw ExerciseFailure(
        description:
          "exercises are built from this package's sources, and there is no Package.swift in \(root)"
      )
    }
    do {
      try files.createDirectory(atPath: learner, withIntermediateDirectories: true)
      for name in try files.contentsOfDirectory(atPath: learner)
      where name != harness.type + ".swift" && name != "Program.swift" {
        try files.removeItem(atPath: learner + "/" + name)
      }
      try write(harness.program, to: learner + "/Program.swift")
      try write(Self.explorable(code), to: learner + "/" + harness.type + ".swift")
    } catch {
      throw ExerciseFailure(
        description: "the exercise cannot be set up in \(workplace): \(WholeFile.reason(error))"
      )
    }
  }

  /// The code over the limiters, locks and atomics that an exploration can stop at: modules of other names
  /// that declare the same.
  static func explorable(_ code: String) -> String {
    let line = #/(?m)^(\s*(?:[a-z@]+\s+)*import\s+(?:[a-z]+\s+)?)(Limiters|Synchronization)(?!\w)/#
    return code.replacing(line) { "\($0.1)Explorable\($0.2)" }
  }

  /// Writes a file that differs; one that does not keeps its date, and the build its cache.
  private func write(_ text: String, to path: String) throws {
    if (try? String(contentsOfFile: path, encoding: .utf8)) == text { return }
    try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
  }

  private func swift(
    _ arguments: [String],
    _ interruption: Interruption
  ) async throws -> ChildProcess {
    do {
      return try await ChildProcess.run(
        "/usr/bin/env",
        // The manifest has the exercise's program for those who ask.
        ["CONCURRENCY_LAB_EXERCISE=1", "swift"] + arguments,
        timeLimit: .seconds(600),
        isInterrupted: { interruption.hasCome }
      )
    } catch {
      throw ExerciseFailure(description: "Swift cannot be started: \(error)")
    }
  }

  /// What is to be done where the compiler finds what was built before the package's folder was moved.
  static func moved(_ root: String, _ text: String) -> ExerciseFailure? {
    guard text.contains("was compiled with module cache path") else { return nil }
    return ExerciseFailure(
      description:
        "nothing was graded: the package's folder was moved or copied after it was built, and what was built does not "
        + "fit its new place. It is no fault of your answer. Leave the lab, 'rm -r \(root)/.build', and 'swift run lab'"
    )
  }

  /// The compiler's errors, each once, with the learner's file by its name alone.
  private static func complaints(_ text: String, _ workplace: String) -> String {
    var seen: Set<Substring> = []
    let errors = text.split(separator: "\n").filter { line in
      line.contains(".swift:") && line.contains(" error:") && seen.insert(line).inserted
    }
    let shown = errors.isEmpty ? text.split(separator: "\n").suffix(5) : errors.prefix(10)
    return shown.joined(separator: "\n").replacing(workplace + "/Learner/", with: "")
  }
}

/// The figures of a grading, as checks name them.
struct GradeMetrics: MetricSource {
  private let values: [(name: String, value: MetricValue)]
  private let stories: [String: String]

  init(harness: String, _ outcome: ExerciseDesk.Outcome) {
    let items: [GradeItem]
    var isPassed = false
    switch outcome {
    case .graded(let graded, let passed, _, _): (items, isPassed) = (graded, passed)
    case .broken(_, let found, _): items = found
    case .doesNotBuild: items = []
    }
    values =
      [("exercise", .word(harness)), ("passed", .word(isPassed ? "yes" : "no"))]
      + items.map { ($0.name, .word($0.passed ? "yes" : "no")) }
    var stories = Dictionary(items.map { ($0.name, $0.sentence) }) { $1 }
    if let failed = items.first(where: { !$0.passed }) { stories["passed"] = failed.sentence }
    self.stories = stories
  }

  var metricForms: [String] { values.map(\.name) }

  func value(of metric: Metric) -> MetricValue? {
    metric.argument == nil ? values.first { $0.name == metric.name }?.value : nil
  }

  func witness(of metric: Metric) -> String? { stories[metric.name] }
}
