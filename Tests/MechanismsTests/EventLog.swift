import Glibc
import Limiters
import Mechanisms

/// What happened in a run, in order, with the thread it happened on.
struct History: Sendable {
  struct Entry: Sendable {
    var task: Int
    var kind: TraceEvent.Kind
    var thread: UInt

    init(_ task: Int, _ kind: TraceEvent.Kind, thread: UInt = 0) {
      self.task = task
      self.kind = kind
      self.thread = thread
    }
  }

  var entries: [Entry] = []

  private func tasks(where matches: (TraceEvent.Kind) -> Bool) -> [Int] {
    entries.filter { matches($0.kind) }.map(\.task)
  }

  var arrived: [Int] { tasks { $0 == .arrived } }
  /// In the order of admission.
  var admitted: [Int] { tasks { $0 == .admitted } }
  var blocked: [Int] { tasks { $0 == .blocked } }
  var ended: [Int] { tasks { $0.isEnd } }
  var finished: [Int] { tasks { $0 == .finished } }
  /// Admitted and not ended, in the order of admission.
  var running: [Int] {
    let ended = Set(ended)
    return admitted.filter { !ended.contains($0) }
  }

  /// The most that ever ran at once.
  var peak: Int {
    var running = 0
    var peak = 0
    var inside: Set<Int> = []
    for entry in entries {
      if entry.kind == .admitted, inside.insert(entry.task).inserted { running += 1 }
      if entry.kind.isEnd, inside.remove(entry.task) != nil { running -= 1 }
      peak = max(peak, running)
    }
    return peak
  }

  func end(of task: Int) -> TraceEvent.Kind? {
    entries.first { $0.task == task && $0.kind.isEnd }?.kind
  }

  func index(of kind: TraceEvent.Kind, of task: Int) -> Int? {
    entries.firstIndex { $0.task == task && $0.kind == kind }
  }

  func thread(of kind: TraceEvent.Kind, of task: Int) -> UInt? {
    entries.first { $0.task == task && $0.kind == kind }?.thread
  }

  /// What no mechanism may do, whatever it promises: one line for each offence.
  ///
  /// - Parameter limit: The limit to be kept; nil for none.
  /// - Returns: Nothing for a sound history.
  func faults(limit: Int?) -> [String] {
    var faults: [String] = []
    if let limit, peak > limit { faults.append("\(peak) ran at once, limit \(limit)") }
    for task in Set(entries.map(\.task)).sorted() {
      let life = entries.filter { $0.task == task }.map(\.kind)
      let ends = life.filter(\.isEnd)
      if life.first != .arrived { faults.append("task \(task) did not arrive first") }
      if life.count(where: { $0 == .arrived }) > 1 { faults.append("task \(task) arrived twice") }
      if life.count(where: { $0 == .admitted }) > 1 {
        faults.append("task \(task) was admitted twice")
      }
      if ends.count != 1 { faults.append("task \(task) ended \(ends.count) times") }
      if let last = life.last, ends.count == 1, !last.isEnd {
        faults.append("task \(task) went on after its end")
      }
      let wasAdmitted = life.contains(.admitted)
      switch ends.first {
      case .cancelled(.waiting)?, .rejected?:
        if wasAdmitted { faults.append("task \(task) ran although it was turned away") }
      case .finished?, .failed?, .cancelled(.running)?:
        if !wasAdmitted { faults.append("task \(task) ran without being admitted") }
      default: break
      }
    }
    return faults
  }
}

/// A tracer that keeps everything and wakes tests when what they wait for has happened.
final class EventLog: Tracer {
  private struct Waiter {
    let condition: @Sendable (History) -> Bool
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var history = History()
    var waiters: [Int: Waiter] = [:]
    var nextWaiter = 0
    var cancelled: Set<Int> = []
  }

  private let state = Lock(State())

  var history: History { state.withLock { $0.history } }

  func record(_ kind: TraceEvent.Kind, of task: TaskID) {
    let thread = currentThread()
    let woken = state.withLock { state in
      state.history.entries.append(History.Entry(Int(task.number), kind, thread: thread))
      let met = state.waiters.filter { $0.value.condition(state.history) }
      for key in met.keys { state.waiters[key] = nil }
      return met.values.map(\.continuation)
    }
    for continuation in woken { continuation.resume() }
  }

  /// Returns as soon as the history meets the condition.
  ///
  /// - Throws: `CancellationError` if the test is cancelled, because its time is up.
  func reaches(_ condition: @escaping @Sendable (History) -> Bool) async throws {
    let key = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result: Result<Void, any Error>? = state.withLock { state in
          if condition(state.history) { return .success(()) }
          if state.cancelled.contains(key) { return .failure(CancellationError()) }
          state.waiters[key] = Waiter(condition: condition, continuation: continuation)
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.cancelled.insert(key)
        return state.waiters.removeValue(forKey: key)
      }
      waiter?.continuation.resume(throwing: CancellationError())
    }
  }
}

/// What tells the calling thread from all others that are alive.
private func currentThread() -> UInt { pthread_self() }
