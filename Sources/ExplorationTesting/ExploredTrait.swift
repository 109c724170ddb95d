internal import Basics
internal import CExplorable
public import Exploration
internal import Synchronization
public import Testing

/// Runs a test's body for one order of its tasks' steps after the other, within the bound, until one fails.
///
/// ```swift
/// @Test(.explored(preemptions: 2)) func `withdrawals never overdraw`() async throws {
///   let account = Account(balance: 100)
///   async let one: Void? = try? account.withdraw(80)
///   async let two: Void? = try? account.withdraw(80)
///   _ = await (one, two)
///   #expect(await account.balance >= 0)
/// }
/// ```
///
/// What `#expect` and `#require` find in any of its schedules, an error that the body throws, a trap, and what else
/// makes `explore` fail becomes one issue, with the smallest schedule that shows it. Each case of a test with
/// arguments is explored for itself. `Test.cancel` ends the exploration, and the test. What `Attachment.record` is given
/// is kept once for each schedule. On a suite it holds for all tests of it that have no such trait of their own, or of
/// a suite within.
///
/// The body runs on threads of the exploration, and waits for its turn without one of the pool's. Other tests run
/// beside it; two explorations come one after the other, and a `.timeLimit` of Swift Testing counts the time that one
/// waits for the others: `within:` does not. A `Task.detached` knows nothing of its test: what `#expect`
/// finds there is not held back, and belongs to no test.
public struct ExploredTrait: TestTrait, SuiteTrait, TestScoping {
  var strategy: ExplorationStrategy
  var preemptions: Int?
  var schedules: Int
  var limit: Duration?
  var races: Bool
  var reduction: Bool
  var instead: ExplorationStrategy?
  var schedule: String?
  var report: String?
  /// Tells it from others that say the same.
  private let identity = Identity()

  private final class Identity: Sendable {}

  init(
    strategy: ExplorationStrategy,
    preemptions: Int?,
    schedules: Int,
    limit: Duration?,
    races: Bool,
    reduction: Bool,
    instead: ExplorationStrategy?,
    schedule: String?,
    report: String?
  ) {
    self.strategy = strategy
    self.preemptions = preemptions
    self.schedules = schedules
    self.limit = limit
    self.races = races
    self.reduction = reduction
    self.instead = instead
    self.schedule = schedule
    self.report = report
  }

  /// Holds for the tests in a suite's suites too.
  public var isRecursive: Bool { true }

  /// Explores the test case.
  public func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    // Those of the suites come first, and the last is the nearest.
    let nearest = test.traits.lazy.compactMap { $0 as? ExploredTrait }.last
    if let nearest, nearest.identity !== identity { return try await function() }
    let failure = try await withoutActuallyEscaping(function) { function in
      try await explore(test, testCase, LastingFunction(function).function)
    }
    guard let failure else { return }
    Issue.record(
      Comment(rawValue: failure.description),
      sourceLocation: failure.place ?? test.sourceLocation
    )
  }

  private struct Failure {
    var description: String
    /// Where the expectation stands that was not met, if it was one.
    var place: SourceLocation?
  }

  private func explore(
    _ test: Test,
    _ testCase: Test.Case?,
    _ body: @escaping @Sendable () async throws -> Void
  ) async throws -> Failure? {
    let issues = HeldIssues()
    let answer = Answer()
    let trait = self
    let held: IssueHandlingTrait = .compactMapIssues { issues.hold($0) }
    try await held.provideScope(for: test, testCase: testCase) {
      // In a task, so that what the test's own task knows (which test it is, who hears of issues) is known to all
      // that are explored; on a thread of its own, for it takes long.
      let task = Task(executorPreference: ThreadForOneTask()) {
        do throws(ExplorationFailure) {
          _ = try exploreUntilCancelled(
            test.displayName ?? test.name,
            strategy: trait.strategy,
            preemptions: trait.preemptions,
            schedules: trait.schedules,
            within: trait.limit,
            races: trait.races,
            reduction: trait.reduction,
            instead: trait.instead,
            replaying: trait.schedule,
            report: trait.report,
            fileID: test.sourceLocation.fileID,
            line: test.sourceLocation.line,
            isCancelled: { answer.isUnwanted.load(ordering: .acquiring) },
            { try await answer.unlessCancelled(body) }
          )
        } catch {
          answer.failure.withLock { $0 = error }
        }
      }
      await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        answer.isUnwanted.store(true, ordering: .releasing)
      }
    }
    if let cancellation = answer.cancellation.withLock({ $0 }) { throw cancellation }
    return answer.failure.withLock { $0 }.map {
      Failure(description: $0.description, place: issues.place(of: $0))
    }
  }
}

extension Trait where Self == ExploredTrait {
  /// Runs the test's body for one order of its tasks' steps after the other, within the bound, until one fails.
  ///
  /// - Parameters:
  ///   - strategy: How to choose among the schedules.
  ///   - preemptions: How often a schedule may take the turn from a task that could go on, 0 or more; nil for any number.
  ///   - schedules: How many schedules to run, at most; 1 or more, as of a strategy.
  ///   - within: How long to look for a failure, at most, more than nothing; nil for as long as it takes.
  ///   - races: Whether two uses of the same memory, one of them a write, are a failure where nothing puts them in an
  ///     order. Looked for in code that is built with the instrumentation.
  ///   - reduction: Whether a schedule is left where, as far as it is seen what steps touch, it has come to a state
  ///     that another one has gone on from, instead of being run to its end.
  ///   - instead: What to go over to where it becomes plain that there are many more schedules than `schedules` and
  ///     `within` have room for; nil to search in order until a limit ends that.
  ///   - replaying: A schedule that a failure names: only that one is run.
  ///   - report: To which file to write a page of the failing schedule, for a browser: it opens at the failure, goes
  ///     through the steps and the code, and marks the two steps whose order matters. The path is taken from where the
  ///     tests run. What stands there is replaced, by each case of the test that fails too; without a failure, or
  ///     where one has no steps, nothing is written.
  /// - Precondition: The numbers are as said: else the program ends, with the test's line.
  /// - Returns: The trait.
  public static func explored(
    strategy: ExplorationStrategy = .exhaustive,
    preemptions: Int? = 2,
    schedules: Int = 100_000,
    within: Duration? = nil,
    races: Bool = true,
    reduction: Bool = false,
    instead: ExplorationStrategy? = .pct(schedules: 10_000),
    replaying: String? = nil,
    report: String? = nil
  ) -> Self {
    ExploredTrait(
      strategy: strategy,
      preemptions: preemptions,
      schedules: schedules,
      limit: within,
      races: races,
      reduction: reduction,
      instead: instead,
      schedule: replaying,
      report: report
    )
  }

  /// The same with what is chosen where nothing is said, for who leaves out the parentheses.
  public static var explored: Self { explored() }
}

/// What comes of an exploration.
private final class Answer: Sendable {
  let failure = Mutex<ExplorationFailure?>(nil)
  /// What the test threw by `Test.cancel`.
  let cancellation = Mutex<(any Error)?>(nil)
  /// Whether nobody waits for it any more.
  let isUnwanted = Atomic(false)

  /// Runs the test's body; a test that cancels itself is explored no further.
  func unlessCancelled(_ body: @Sendable () async throws -> Void) async throws {
    do {
      try await body()
    } catch {
      // Swift Testing keeps the type to itself.
      guard "\(type(of: error))" == "SkipInfo" else { throw error }
      cancellation.withLock { $0 = $0 ?? error }
      isUnwanted.store(true, ordering: .releasing)
    }
  }
}

/// The issues of a test that is explored, kept from being recorded once for each schedule.
private final class HeldIssues: Sendable {
  private let places = Mutex<[String: SourceLocation]>([:])
  private let passed = Mutex<Set<String>>([])

  /// Has the schedule fail that the calling code belongs to; what is no failure is recorded once.
  func hold(_ issue: Issue) -> Issue? {
    // What is held back is a failure anyway.
    let text = "\(issue)".replacing(" (error)", with: "", maxReplacements: 1)
    let place = issue.sourceLocation
    guard issue.isFailure else {
      let name = "\(text) \(place.map { "\($0)" } ?? "")"
      return passed.withLock { $0.insert(name).inserted } ? issue : nil
    }
    if let place { places.withLock { $0[text] = place } }
    let line = place.map { "\($0.fileName):\($0.line)" } ?? "somewhere"
    // What comes from elsewhere is not of this exploration.
    return noteRequirementNotMet(text, at: line) ? nil : issue
  }

  /// Where the expectation stands that the failure tells of.
  func place(of failure: ExplorationFailure) -> SourceLocation? {
    guard case .requirement(let message) = failure.kind else { return nil }
    return places.withLock { $0.first { message.hasPrefix($0.key) }?.value }
  }
}

/// Runs each job it is given on a thread that ends with the job.
private final class ThreadForOneTask: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // Holds the executor until the job has ended.
    OSThread("explored test") { job.runSynchronously(on: self.asUnownedTaskExecutor()) }.detach()
  }
}

/// A function that may be called as long as its caller's caller waits, in a form that may be kept longer.
///
/// A test's body comes as a function that must not escape, and `withoutActuallyEscaping` stops the program when
/// something keeps it beyond its end. Tasks of a schedule that has failed do: one that waits for ever keeps what it
/// was called with. So they get a copy of the function's context, which nobody lets go.
private struct LastingFunction {
  typealias Function = @Sendable () async throws -> Void

  let function: Function

  private struct Holder { var function: Function }

  // Sound: a function is two words, its code and its context, and a context is an object of the heap. The copy has
  // what the original has, whose own contents are valid until `provideScope` returns; nothing calls it later, for
  // the exploration is over then. One count more than there are owners keeps the copy for ever.
  init(_ function: @escaping Function) {
    let (code, context) = unsafeBitCast(Holder(function: function), to: (UInt, UInt).self)
    guard let original = UnsafeRawPointer(bitPattern: context), let copy = copy_of_object(original)
    else {
      self.function = function
      return
    }
    let holder = unsafeBitCast((code, UInt(bitPattern: copy)), to: Holder.self)
    _ = Unmanaged.passRetained(holder.function as AnyObject)
    self.function = holder.function
  }
}
