internal import Limiters
internal import Synchronization

/// One way to let at most `limit` tasks run at once, behind the interface all of them share.
///
/// A new mechanism is one file in this folder with a type that conforms, and one line in
/// `Catalogue.swift`. The lab, the bench, the help and the conformance suite pick it up from there;
/// `.github/CONTRIBUTING.md` says what else names mechanisms one by one.
package protocol Mechanism: Sendable {
  /// What people call it: `operation-queue`.
  static var id: String { get }

  static var profile: MechanismProfile { get }

  init(_ setup: MechanismSetup)

  /// Carries one visit from its arrival to its end and returns when it has ended.
  ///
  /// Reports the arrival before the limiter is entered (synchronously, before the first
  /// suspension), and has the visit serve as the limiter's body. Cancelling the calling task cancels
  /// the visit.
  func carry(_ visit: Visit) async

  /// Visits the bare mechanism `times` times, one after the other, with `body` inside.
  ///
  /// What the bench measures: the call as the mechanism's users write it, in a loop in the adapter's own file,
  /// compiled for the mechanism and the body. No visit, no trace, no closure that is stored, no counter.
  func visits<Body: VisitBody>(_ times: Int, _ body: Body) async

  /// The same with one of the bodies that the bench measures; there is no need to write it.
  func measure(_ times: Int, _ body: MeasuredBody) async

  /// Passes `times` times with an empty body while a permit is always free, as the mechanism's users do.
  ///
  /// One visit after the other, unless its users do not wait for each. On no actor, as the body of a task is.
  @concurrent func passes(_ times: Int) async

  /// Has `count` bodies run, numbered from 0, the way the mechanism's users write a batch: all are given
  /// to it at once, and this returns when all have ended.
  func batch(_ count: Int, _ body: BatchBody) async

  /// Returns once the mechanism itself says that all it was given is done, the way its users learn
  /// of it: `DispatchGroup.notify`, an `OperationQueue` barrier. Other mechanisms return at once.
  func completed() async

  /// How many permits are in use, where the mechanism can tell; nil elsewhere.
  ///
  /// A task that waits uses none. Exact when no visit is under way; then it must be 0.
  var permitsInUse: Int? { get }

  /// Changes the limit while tasks run.
  ///
  /// Only called where the profile lists the control `limit`.
  func changeLimit(to limit: Int)

  /// Admits nobody from now on, or again.
  ///
  /// Only called where the profile lists the control `suspension`.
  func setSuspended(_ suspended: Bool)
}

extension Mechanism {
  /// Carries a visit whose work has a result, and hands the result on: a mechanism need not.
  ///
  /// - Throws: What the work throws; `CancellationError` if the task was cancelled while it waited.
  package func value<Value: Sendable>(
    of task: SimulatedTask,
    tracer: any Tracer,
    world: any World,
    hasArrived: Bool = false,
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let answer = Lock<Result<Value, any Error>>(.failure(CancellationError()))
    let visit = Visit(task, tracer: tracer, world: world, hasArrived: hasArrived) { _ in
      let result: Result<Value, any Error>
      do { result = .success(try await work()) } catch { result = .failure(error) }
      answer.withLock { $0 = result }
      _ = try result.get()
    }
    await carry(visit)
    return try answer.withLock { $0 }.get()
  }
}

/// What a batch consists of, in both manners: a mechanism takes the one that its users write.
package struct BatchBody: Sendable {
  /// For mechanisms that own threads, and for actors.
  package let onThread: @Sendable (_ index: Int) -> Void
  /// For mechanisms whose bodies may suspend.
  package let onTask: @Sendable (_ index: Int) async -> Void

  package init(
    onThread: @escaping @Sendable (_ index: Int) -> Void,
    onTask: @escaping @Sendable (_ index: Int) async -> Void
  ) {
    self.onThread = onThread
    self.onTask = onTask
  }
}

/// One body of a batch.
private struct IndexedBody: VisitBody {
  let index: Int
  let body: BatchBody

  func onThread() { body.onThread(index) }
}

extension Mechanism {
  package func completed() async {}

  /// A task for each body.
  package func batch(_ count: Int, _ body: BatchBody) async {
    await withDiscardingTaskGroup { group in
      for index in 0..<count {
        group.addTask { await self.visits(1, IndexedBody(index: index, body: body)) }
      }
    }
  }

  package var permitsInUse: Int? { nil }
  package func changeLimit(to limit: Int) {
    fatalError("\(Self.id) cannot change its limit; its profile says so")
  }
  package func setSuspended(_ suspended: Bool) {
    fatalError("\(Self.id) cannot be suspended; its profile says so")
  }
}

/// The first thing that mechanisms saw go wrong.
package final class FaultLog: Sendable {
  private let sentence = Mutex<String?>(nil)

  package init() {}

  package var first: String? { sentence.withLock { $0 } }

  package func note(_ sentence: String) {
    self.sentence.withLock { if $0 == nil { $0 = sentence } }
  }
}

extension MechanismSetup {
  /// The same, with what goes wrong noted instead of stopping the process.
  package func noting(in log: FaultLog) -> MechanismSetup {
    var setup = self
    setup.onFault = { log.note($0) }
    setup.onDoubleResume = { log.note("\($0) was resumed a second time") }
    return setup
  }
}

/// What a mechanism is made with.
package struct MechanismSetup: Sendable {
  /// The number of permits, at least 1.
  ///
  /// Ordered queues and `none` take no notice of it.
  package var limit: Int
  /// Where a mechanism that must start a task of its own starts it; nil for the global pool.
  ///
  /// `Task.detached(on:)` and
  /// `Task.started(on:)` of `Limiters` take it as it is.
  package var executor: (any TaskExecutor)?
  /// Told what was resumed a second time, as a noun; nil to stop the process instead.
  ///
  /// For code that may do so, and explorers that look for it: a specimen's, a learner's.
  package var onDoubleResume: (@Sendable (_ what: String) -> Void)?

  /// Told, in a sentence, what a mechanism sees go wrong that its permits do not show: an element lent to two
  /// tasks at once; nil to stop the process instead.
  package var onFault: (@Sendable (_ sentence: String) -> Void)?
  /// What a model of threads is made with; nil for everything else.
  package var model: Model?

  /// A platform, and the time and processors that it is modelled with.
  package struct Model: Sendable {
    package var platform: Platform
    package var processors: Int
    package var clock: any Clock<Duration>

    package init(_ platform: Platform, processors: Int, clock: any Clock<Duration>) {
      self.platform = platform
      self.processors = processors
      self.clock = clock
    }
  }

  package init(
    limit: Int,
    executor: (any TaskExecutor)? = nil,
    onDoubleResume: (@Sendable (_ what: String) -> Void)? = nil,
    onFault: (@Sendable (_ sentence: String) -> Void)? = nil
  ) {
    // Not a precondition: built for release, that stops without its message.
    guard limit >= 1 else { fatalError("a limit must be at least 1, not \(limit)") }
    self.limit = limit
    self.executor = executor
    self.onDoubleResume = onDoubleResume
    self.onFault = onFault
  }

  /// Says what went wrong, or stops the process with it.
  package func fault(_ sentence: String) {
    guard let onFault else { fatalError(sentence) }
    onFault(sentence)
  }
}
