import Synchronization

@testable import Exploration

/// A continuation that reports a second resume instead of ending the process.
final class Resumable: Sendable {
  private let continuation: Mutex<UnsafeContinuation<Bool, Never>?>
  private let context: ScenarioContext
  private let task: Int

  init(_ continuation: UnsafeContinuation<Bool, Never>, _ context: ScenarioContext, _ task: Int) {
    self.continuation = Mutex(continuation)
    self.context = context
    self.task = task
  }

  func resume(_ admitted: Bool) {
    let taken = continuation.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }
    if let taken {
      taken.resume(returning: admitted)
    } else {
      context.noteDoubleResume("t0\(task)'s wait")
    }
  }
}

/// What can be wrong with a semaphore.
enum Flaw: String, CaseIterable {
  case none
  /// Looks for a permit, suspends, then takes it.
  case checksThenActs
  /// Looks for a permit, suspends, then parks without looking again.
  case checksThenParks
  /// Gives no permit back when the body throws.
  case keepsPermitOnError
  /// Frees the permit and wakes the first waiter to compete for it.
  case barges
  /// Leaves it to the woken waiter to take itself out of the line, where a cancellation finds it.
  case resumesTwice
  /// A cancelled waiter is woken as if it had been admitted.
  case admitsCancelled
  /// A waiter that was handed the permit and then cancelled throws without giving it back.
  case losesPermitToCancelled
}

/// A counting semaphore with one flaw, or none.
final class Semaphore: Sendable {
  private struct Waiter {
    var task: Int
    var wake: Resumable
  }

  private struct State {
    var free: Int
    var waiters: [Waiter] = []
    var leftEarly: Set<Int> = []

    mutating func takeIfFree() -> Bool {
      guard free > 0 else { return false }
      free -= 1
      return true
    }
  }

  /// How many there are: what is freed when a schedule ends.
  static let alive = Atomic<Int>(0)

  private let state: Mutex<State>
  private let limit: Int
  private let flaw: Flaw
  private let context: ScenarioContext

  init(limit: Int, flaw: Flaw, context: ScenarioContext) {
    self.limit = limit
    self.flaw = flaw
    self.context = context
    state = Mutex(State(free: limit))
    Self.alive.add(1, ordering: .relaxed)
  }

  deinit { Self.alive.subtract(1, ordering: .relaxed) }

  var permitsInUse: Int { state.withLock { limit - $0.free } }

  func run(_ task: Int, _ body: () async throws -> Void) async throws {
    try await acquire(task)
    do { try await body() } catch {
      if flaw != .keepsPermitOnError { release() }
      throw error
    }
    release()
  }

  private func acquire(_ task: Int) async throws {
    switch flaw {
    case .checksThenActs:
      if state.withLock({ $0.free > 0 }) {
        await Task.yield()
        state.withLock { $0.free -= 1 }
        return
      }
    case .checksThenParks:
      if state.withLock({ $0.takeIfFree() }) { return }
      await Task.yield()
      if await !park(task, looksAgain: false) { throw CancellationError() }
      return
    case .barges:
      while !state.withLock({ $0.free > 0 }) {
        if await !park(task, looksAgain: true) { throw CancellationError() }
      }
      state.withLock { $0.free -= 1 }
      return
    default: break
    }
    let admitted = await park(task, looksAgain: true)
    if flaw == .losesPermitToCancelled { try Task.checkCancellation() }
    if !admitted { throw CancellationError() }
  }

  /// Waits for a permit; false when the task was cancelled first.
  private func park(_ task: Int, looksAgain: Bool) async -> Bool {
    let admitted = await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let wake = Resumable(continuation, context, task)
        let answer = state.withLock { state -> Bool? in
          if state.leftEarly.remove(task) != nil { return false }
          if looksAgain, state.free > 0 {
            if flaw != .barges { state.free -= 1 }
            return true
          }
          state.waiters.append(Waiter(task: task, wake: wake))
          return nil
        }
        if let answer { wake.resume(answer) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> Waiter? in
        guard let index = state.waiters.firstIndex(where: { $0.task == task }) else {
          state.leftEarly.insert(task)
          return nil
        }
        return state.waiters.remove(at: index)
      }
      waiter?.wake.resume(flaw == .admitsCancelled)
    }
    if flaw == .resumesTwice { state.withLock { $0.waiters.removeAll { $0.task == task } } }
    return admitted
  }

  private func release() {
    let next = state.withLock { state -> Waiter? in
      guard let first = state.waiters.first else {
        state.free += 1
        return nil
      }
      if flaw == .barges { state.free += 1 }
      if flaw != .resumesTwice { state.waiters.removeFirst() }
      return first
    }
    next?.wake.resume(true)
  }
}

extension Scenario {
  /// A scenario whose tasks run `instance` and that promises nothing.
  init(
    _ name: String,
    tasks: Int,
    limit: Int? = nil,
    instance: @escaping @Sendable (ScenarioContext) -> ScenarioInstance
  ) {
    self.init(
      tasks: tasks,
      limit: limit,
      cancellable: false,
      promises: Promises(service: false, workConservation: false),
      symmetric: true,
      fingerprint: { _ in name },
      make: instance
    )
  }

  /// Tasks that arrive, are let in by a limiter made anew for each schedule, serve, and depart.
  static func visits<Limiter: Sendable>(
    _ name: String,
    tasks: Int,
    limit: Int,
    cancellable: Bool,
    promises: Promises = Promises(order: true),
    failing: Bool = false,
    make: @escaping @Sendable (Int, ScenarioContext) -> Limiter,
    permitsInUse: @escaping @Sendable (Limiter) -> Int?,
    enter: @escaping @Sendable (Limiter, Int, () async throws -> Void) async throws -> Void
  ) -> Scenario {
    var scenario = Scenario(name, tasks: tasks, limit: limit) { context in
      let limiter = make(limit, context)
      return ScenarioInstance(
        body: { task in
          context.report(.arrived, of: task)
          do {
            try await enter(limiter, task) {
              context.report(.admitted, of: task)
              do { try await context.pause() } catch {
                context.report(.cancelledRunning, of: task)
                throw BodyFailed()
              }
              context.report(failing ? .failed : .finished, of: task)
              if failing { throw BodyFailed() }
            }
          } catch is BodyFailed {
          } catch {
            context.report(.cancelledWaiting, of: task)
          }
        },
        permitsInUse: { permitsInUse(limiter) }
      )
    }
    scenario.cancellable = cancellable
    scenario.symmetric = true
    scenario.promises = promises
    scenario.fingerprint = {
      "\(name)-\($0.tasks)-\($0.limit ?? 0)-\($0.cancellable ? "any" : "none")"
    }
    return scenario
  }

  static func semaphore(_ flaw: Flaw, tasks: Int, limit: Int, cancellable: Bool) -> Scenario {
    visits(
      "semaphore-\(flaw)",
      tasks: tasks,
      limit: limit,
      cancellable: cancellable,
      failing: flaw == .keepsPermitOnError,
      make: { Semaphore(limit: $0, flaw: flaw, context: $1) },
      permitsInUse: { $0.permitsInUse },
      enter: { try await $0.run($1, $2) }
    )
  }
}

extension Reduction {
  /// With waking apart from going on, three tasks have too many schedules to look at one by one.
  static let wakingOnly = Reduction(
    ordersFreshTasks: false,
    beginsCancelledAtOnce: false,
    goesOnWhenWoken: true
  )
}

struct BodyFailed: Error {}

/// What a set of schedules amounts to, up to the names of tasks.
struct Summary: Equatable {
  var violations: Set<Violation.Kind> = []
  var clean: Set<[String]> = []
  var schedules = 0

  /// Runs every schedule by itself and notes what its tasks reported.
  init(of scenario: Scenario, reduction: Reduction, preemptions: Int? = nil) {
    let run = ScheduleRun(scenario, reduction: reduction)
    run.record = StepRecorder()
    defer { run.close() }
    var search = DepthFirst(preemptions: preemptions)
    repeat {
      search.begin()
      run.begin()
      while !run.isOver, let index = search.choose(in: run) { run.take(index) }
      defer { run.end() }
      if search.isDeadEnd { continue }
      schedules += 1
      let reports = run.record?.steps.flatMap(\.reports) ?? []
      if let violation = run.violation { violations.insert(violation.kind) }
      clean.insert(Self.renamed(reports) + [run.violation?.kind.rawValue ?? "kept"])
    } while search.finish(steps: run.steps)
  }

  /// Tasks named in the order in which they first appear.
  private static func renamed(_ reports: [StepRecord.Report]) -> [String] {
    var names: [Int: Int] = [:]
    return reports.map { report in
      let name = names[report.task] ?? names.count + 1
      names[report.task] = name
      return "\(name) \(report.observation)"
    }
  }
}
