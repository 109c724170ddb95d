internal import Basics
internal import Dispatch
internal import Foundation
internal import Glibc
internal import Limiters
package import Testing

// What ends a test program that hangs, and says which tests were running.
//
// The framework's time limits are tasks: they need a thread of the cooperative pool, and a test that
// blocks its threads leaves none. So the watching is done by a thread of its own, which counts tests
// that begin and end. A house test checks that every suite is watched.

extension Trait where Self == Watched {
  /// Ends the test program, naming this test, if it hangs.
  ///
  /// Every suite has this trait.
  package static var watched: Self { Watched() }
}

/// The trait that reports each test's beginning and end to the watchdog, and lets in a few at a time.
package struct Watched: SuiteTrait, TestTrait, TestScoping {
  package var isRecursive: Bool { true }

  /// With all of them under way at once, whatever a test waits for comes after a turn of each other one, and
  /// their threads, thousands, cost more than the tests.
  private static let places = ConcurrencyLimiter(
    concurrency: areTimed ? 1 : Processors.allowed + 1
  )

  /// A program explores one thing at a time.
  ///
  /// Of the tests that do, few are let in: those that wait for their turn would have all places. They have a line of
  /// their own: behind all the others, they would be left for the end, and the second processor would have nothing to
  /// do.
  private static let explorers = areTimed ? places : ConcurrencyLimiter(concurrency: 2)
  private static let exploring: Set = [
    "ExplorableLimitersTests", "ExplorableWorkStealingTests", "ExplorationTestingTests",
    "ExplorationTests", "GradingTests", "UnchangedCodeTests",
  ]

  /// Whether the tests run one after the other, and what each took is printed: with all of them under way,
  /// most of the time that the framework prints is somebody else's.
  private static let areTimed = ProcessInfo.processInfo.environment["TEST_TIMES"] != nil

  package func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    let name = Self.name(of: test, testCase)
    // Who has the turn that others wait for must not wait behind all that do not.
    let explores = InTurn.hasTurn || Self.exploring.contains(test.sourceLocation.moduleName)
    let line = explores ? Self.explorers : Self.places
    try await Self.watch(name, in: line, function)
  }

  private static func watch(
    _ name: String,
    in line: ConcurrencyLimiter,
    _ function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await line.run {
      let begin = (ContinuousClock.now, processorTime)
      defer { if areTimed { printTime(since: begin, of: name) } }
      try await Watchdog.ofThisProgram.watch(name) { try await function() }
    }
  }

  private static func printTime(since begin: (ContinuousClock.Instant, Int), of name: String) {
    let milliseconds = Int(begin.0.duration(to: .now) / .milliseconds(1))
    let ofProcessors = processorTime - begin.1
    try? OutputWriter.standardError.write(
      "time: \(milliseconds) ms, \(ofProcessors) ms of processors, \(name)\n"
    )
  }

  /// How many milliseconds this program and those of its children that have ended have had of processors.
  private static var processorTime: Int {
    [RUSAGE_SELF, RUSAGE_CHILDREN].reduce(0) { (sum: Int, who: __rusage_who) -> Int in
      var usage = rusage()
      getrusage(__rusage_who_t(who.rawValue), &usage)
      return [usage.ru_utime, usage.ru_stime].reduce(sum) {
        $0 + $1.tv_sec * 1000 + $1.tv_usec / 1000
      }
    }
  }

  /// Where the test stands, its name and its arguments.
  package static func name(of test: Test, _ testCase: Test.Case?) -> String {
    let place = "\(test.sourceLocation.fileID):\(test.sourceLocation.line)"
    let arguments = testCase.map { Self.arguments(in: $0) } ?? []
    let list = arguments.isEmpty ? "" : " (\(arguments.joined(separator: ", ")))"
    return "\(place) \(test.displayName ?? test.name)\(list)"
  }

  /// The arguments of a test case, which the framework keeps to itself: found by reflection.
  private static func arguments(in part: Any, depth: Int = 0) -> [String] {
    let children = Mirror(reflecting: part).children
    if "\(type(of: part))" == "Argument", let value = children.first(where: { $0.label == "value" })
    {
      return ["\(value.value)"]
    }
    return depth > 5 ? [] : children.flatMap { arguments(in: $0.value, depth: depth + 1) }
  }
}

/// The tests that run, and for how many looks nothing has changed.
///
/// Looks, not a clock: a machine or a program that was stopped for an hour has not hung for an hour.
package struct TestsUnderWay: Sendable {
  private var names: [Int: String] = [:]
  private var begun = 0
  private var looksWithoutChange = 0

  package init() {}

  /// In the order in which they began.
  package var running: [String] { names.sorted { $0.key < $1.key }.map(\.value) }

  package mutating func begin(_ name: String) -> Int {
    begun += 1
    names[begun] = name
    looksWithoutChange = 0
    return begun
  }

  package mutating func end(_ key: Int) {
    names[key] = nil
    looksWithoutChange = 0
  }

  /// Whether tests run and, for ten looks in a row, none has begun or ended.
  package mutating func look() -> Bool {
    looksWithoutChange = names.isEmpty ? 0 : looksWithoutChange + 1
    return looksWithoutChange > 10
  }
}

/// A thread that ends the program when no test has begun or ended for a while.
package final class Watchdog: Sendable {
  /// Unless told otherwise, longer than any one test takes on a slow and busy machine.
  package static let ofThisProgram = Watchdog(
    limit: .seconds(
      ProcessInfo.processInfo.environment["WATCHDOG_SECONDS"].flatMap { Double($0) } ?? 600
    )
  )

  /// Tells the thread sanitizer of its hand-overs.
  private let tests = Lock(TestsUnderWay())
  package let limit: Duration

  package init(limit: Duration) {
    self.limit = limit
    OSThread("watchdog") { [self] in
      while !tests.withLock({ $0.look() }) { poll(nil, 0, Int32(limit / .milliseconds(10))) }
      end()
    }.detach()
  }

  /// Runs a test that is to be named if the program hangs meanwhile.
  package func watch(_ name: String, _ test: () async throws -> Void) async rethrows {
    let key = tests.withLock { $0.begin(name) }
    defer { tests.withLock { $0.end(key) } }
    try await test()
  }

  private func end() -> Never {
    let isPoolFree = DispatchSemaphore(value: 0)
    Task.detached { isPoolFree.signal() }
    let pool =
      isPoolFree.wait(timeout: .now() + .seconds(5)) == .success
      ? "The cooperative pool runs new tasks: these tests wait for something that does not happen."
      : "The cooperative pool runs no new task: its threads are blocked or busy."
    let names = tests.withLock { $0.running }
    var lines = ["✘ No test has begun or ended for \(limit). Running:"]
    lines += names.map { "  \($0)" } + [pool]
    let children = Self.children
    for child in children {
      let command = (try? String(contentsOfFile: "/proc/\(child)/cmdline", encoding: .utf8)) ?? ""
      lines.append("Killed with it: \(child) \(command.replacing("\0", with: " "))")
    }
    // Not `print` and `exit`: a thread that hangs may hold their locks.
    let text = Array((lines.joined(separator: "\n") + "\n").utf8)
    _ = write(STDERR_FILENO, text, text.count)
    // The last act, and no test ends from here on: one that waits for a child would, and with it the program,
    // as if all were well.
    tests.withLock { _ -> Never in
      for child in children { kill(child, SIGKILL) }
      _exit(1)
    }
  }

  /// The processes that this program started and that have not ended.
  private static var children: [pid_t] {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return threads.flatMap { thread in
      ((try? String(contentsOfFile: "/proc/self/task/\(thread)/children", encoding: .utf8)) ?? "")
        .split(separator: " ").compactMap { pid_t($0) }
    }
  }
}
