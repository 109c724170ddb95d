import Mechanisms
import TestSupport
import Testing

/// One way to try a mechanism: with which kind of work, and who runs its jobs.
struct Conformance: Sendable, CustomTestStringConvertible {
  enum Jobs: String, Sendable {
    /// The machine's own threads: what happens is real, its order is not ours.
    case onThreads = "on threads"
    /// One thread, driven to the end of its work by the test: what has not happened will not.
    case byHand = "by hand"
  }

  var id: String
  var kind: ServiceKind
  var jobs: Jobs

  var testDescription: String { "\(id), kind=\(kind.rawValue), \(jobs.rawValue)" }

  var profile: MechanismProfile {
    guard let entry = Catalogue.entry(id) else { fatalError("no mechanism '\(id)'") }
    return entry.profile
  }

  /// Every mechanism of the catalogue in every way it can be tried.
  static let all: [Conformance] = Catalogue.mechanisms.flatMap { entry in
    var cases = [Conformance(id: entry.id, kind: entry.profile.defaultKind, jobs: .onThreads)]
    if entry.profile.limit == .any, entry.profile.defaultKind != .suspend {
      cases.append(Conformance(id: entry.id, kind: .suspend, jobs: .onThreads))
    }
    // Work that holds its thread would hold the test's.
    if entry.profile.clock == .any, !entry.profile.defaultKind.holdsWorker {
      cases.append(Conformance(id: entry.id, kind: entry.profile.defaultKind, jobs: .byHand))
    }
    return cases
  }

  static func all(where matches: (MechanismProfile) -> Bool) -> [Conformance] {
    all.filter { matches($0.profile) }
  }
}

/// A mechanism with tasks under way, and a test that decides when their work ends.
struct Stage {
  /// What `until` throws when a run driven by hand comes to rest before it has happened.
  struct NeverHappened: Error, CustomStringConvertible {
    var what: String
    var history: History

    var description: String {
      "\(what): never happened. What did: \(history.entries.map { "\($0.task) \($0.kind)" })"
    }
  }

  let mechanism: any Mechanism
  let profile: MechanismProfile
  let log = EventLog()
  let world = GatedWorld()
  /// The limit to be kept; nil for none.
  let limit: Int?
  private let kind: ServiceKind
  private let executor: HandDrivenExecutor?
  /// Where tasks go on whose work holds its thread until the test opens its gate: of the pool's
  /// threads it could hold all, and none would be left to open it.
  private let threads: ThreadsExecutor?

  init(_ conformance: Conformance, limit asked: Int) throws {
    let entry = try #require(Catalogue.entry(conformance.id))
    profile = entry.profile
    kind = conformance.kind
    executor = conformance.jobs == .byHand ? HandDrivenExecutor() : nil
    // Not for the main actor's queue (clock .real), which holds no thread of the pool: a task that
    // prefers an executor is enqueued anew at each hop onto the main actor, also from there, and
    // the next body starts in between.
    let holdsPool =
      kind.holdsWorker && profile.waiting == .suspendsTask && profile.clock == .any
    threads = holdsPool ? .shared : nil
    mechanism = entry.make(MechanismSetup(limit: asked, executor: executor))
    limit =
      switch profile.limit {
      case .any: asked
      case .one: 1
      case .none: nil
      }
  }

  /// How many of `count` tasks may run at once.
  func capacity(for count: Int) -> Int { min(count, limit ?? count) }

  /// Runs a task where the work of the stage's tasks runs.
  func runElsewhere() async { await Task(executorPreference: threads) {}.value }

  /// Starts a task on its way: when this returns on threads, it is in the mechanism's line.
  @discardableResult
  func send(
    _ number: Int,
    fails: Bool = false,
    priority: ServicePriority = .medium,
    after: Int? = nil,
    kind: ServiceKind? = nil,
    cancelled: Bool = false
  ) -> Task<Void, Never> {
    let kind = kind ?? self.kind
    let task = SimulatedTask(
      number: number,
      service: Int64(number),
      kind: kind,
      fails: fails,
      priority: priority,
      after: after,
      parts: kind == .download ? SimulatedTask.progressReports.map { _ in Int64(number) } : []
    )
    let visit = Visit(task, tracer: log, world: world)
    let carry: @Sendable () async -> Void = { [mechanism] in
      if cancelled { withUnsafeCurrentTask { $0?.cancel() } }
      await mechanism.carry(visit)
    }
    guard let executor else {
      return Task.immediate(executorPreference: threads) { await carry() }
    }
    return Task(executorPreference: executor) { await carry() }
  }

  /// Waits until it has happened; driven by hand, until nothing more can happen.
  func until(_ what: String, _ condition: @escaping @Sendable (History) -> Bool) async throws {
    guard let executor else {
      do { return try await log.reaches(condition) } catch {
        // The test's time is up. A task at a gate must not keep its thread from other tests.
        defer { world.openAll() }
        throw NeverHappened(what: what, history: log.history)
      }
    }
    executor.runAll()
    guard condition(log.history) else { throw NeverHappened(what: what, history: log.history) }
  }

  /// Opens every gate and waits until all who came have ended.
  func finish(_ tasks: [Task<Void, Never>]) async throws {
    world.openAll()
    executor?.runAll()
    let count = Set(log.history.arrived).count
    try await until("every task ends") { Set($0.ended).count == count }
    for task in tasks { await task.value }
  }

  /// What must hold after any run: every arrival ended once, the limit was kept, the permits are back,
  /// and as many as before can run at once.
  func expectSoundness(_ location: SourceLocation = #_sourceLocation) async throws {
    #expect(log.history.faults(limit: limit) == [], sourceLocation: location)
    #expect(mechanism.permitsInUse ?? 0 == 0, sourceLocation: location)
    let again = try await admitsItsLimit()
    #expect(again, sourceLocation: location)
  }

  /// Sends as many tasks as may run at once and waits until they do.
  private func admitsItsLimit() async throws -> Bool {
    // The gates are open: work that is let in passes. A run of its own tells how many were let in.
    let fresh = EventLog()
    let gates = GatedWorld()
    let count = capacity(for: 2)
    let tasks = (1...count).map { number in
      let visit = Visit(
        SimulatedTask(number: number, service: Int64(number), kind: kind),
        tracer: fresh,
        world: gates
      )
      guard let executor else {
        return Task.immediate(executorPreference: threads) { await mechanism.carry(visit) }
      }
      return Task(executorPreference: executor) { await mechanism.carry(visit) }
    }
    executor?.runAll()
    if executor == nil { try await fresh.reaches { $0.running.count == count } }
    let running = fresh.history.running.count
    gates.openAll()
    executor?.runAll()
    for task in tasks { await task.value }
    return running == count
  }
}
