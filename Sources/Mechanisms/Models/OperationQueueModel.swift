internal import DequeModule
internal import Limiters

/// `OperationQueue` on modelled threads: operations wait in a list, the most urgent of which begins first.
final class OperationQueueModel: Mechanism {
  static let id = OperationQueueMechanism.id
  static let profile = OperationQueueMechanism.profile

  private struct Entry {
    var after: Int?
    var waiter: CheckedContinuation<Void, Never>
  }

  private struct State {
    var limit: Int
    var isSuspended = false
    /// Operations that were begun and have not ended.
    var begun = 0
    /// Those of them that have a thread, or a task.
    var executing = 0
    /// By urgency, the most urgent first.
    var lines: [Deque<Entry>] = Array(repeating: [], count: ServicePriority.allCases.count)
    /// Operations that others may depend on, and that have not ended.
    var unended: Set<Int> = []

    /// The operations that may begin now.
    mutating func admit() -> [CheckedContinuation<Void, Never>] {
      var admitted: [CheckedContinuation<Void, Never>] = []
      while !isSuspended, begun < limit, let next = takeNext() {
        begun += 1
        admitted.append(next)
      }
      return admitted
    }

    private mutating func takeNext() -> CheckedContinuation<Void, Never>? {
      for line in lines.indices {
        let ready = lines[line].firstIndex { entry in
          entry.after.map { !unended.contains($0) } ?? true
        }
        if let ready { return lines[line].remove(at: ready).waiter }
      }
      return nil
    }
  }

  private let pool: ModelledPool
  private let state: Lock<State>

  init(_ setup: MechanismSetup) {
    pool = ModelledPool(setup)
    state = Lock(State(limit: setup.limit))
  }

  func carry(_ visit: Visit) async {
    visit.arrive()
    let task = visit.task
    await withCheckedContinuation { continuation in
      change { state in
        state.unended.insert(task.number)
        let line = ServicePriority.allCases.count - 1 - Self.urgency(task.priority)
        state.lines[line].append(Entry(after: task.after, waiter: continuation))
      }
    }
    let thread = await pool.thread()
    state.withLock { $0.executing += 1 }
    await pool.serve(visit, on: thread)
    change { state in
      state.executing -= 1
      state.begun -= 1
      state.unended.remove(task.number)
    }
  }

  func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    for _ in 0..<times {
      let thread = await pool.thread()
      body.onThread()
      pool.end(thread)
    }
  }

  var permitsInUse: Int? { state.withLock { $0.executing } }

  func changeLimit(to limit: Int) { change { $0.limit = limit } }

  func setSuspended(_ suspended: Bool) { change { $0.isSuspended = suspended } }

  private static func urgency(_ priority: ServicePriority) -> Int {
    ServicePriority.allCases.firstIndex(of: priority) ?? 0
  }

  private func change(_ change: (inout State) -> Void) {
    let admitted = state.withLock { state in
      change(&state)
      return state.admit()
    }
    for waiter in admitted { waiter.resume() }
  }
}
