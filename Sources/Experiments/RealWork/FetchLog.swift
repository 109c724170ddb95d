internal import Limiters
internal import Mechanisms
internal import RealWork

// Who a fetch is for, in the trace.
//
// A fetch belongs to all the tasks that wait for it, and a permit, in the trace, belongs to one task. So
// the first that waits stands for the fetch: its admission and its departure are the fetch's. If it is
// cancelled while others wait, it departs, and the next is admitted in its place at the same moment: the
// permit is still one permit.
//
// Events are recorded under the lock, because their order in the log is the order of what the lock decides;
// a recorder calls nobody back.

/// The tasks that wait for fetches, by the name of what they wait for.
final class FetchLog: Sendable {
  private struct State {
    var fetches: [String: Fetch] = [:]
    var ended: Set<Int> = []
    /// The tasks whose error is in the trace.
    var told: Set<Int> = []
    var counts: [WorkFigure: Int] = [:]
  }

  /// One fetch on its way through a mechanism: the tracer of its visit.
  final class Fetch: Tracer {
    fileprivate struct State {
      /// The tasks that wait, the one that stands for the fetch first.
      var waiting: [SimulatedTask] = []
      var isAdmitted = false
    }

    /// The task that asked first: what it is drawn to be like, its fetch is like.
    let task: SimulatedTask
    fileprivate let log: FetchLog
    fileprivate let state = Lock(State())

    fileprivate init(_ task: SimulatedTask, _ log: FetchLog) {
      self.task = task
      self.log = log
    }

    func record(_ kind: TraceEvent.Kind, of task: TaskID) { log.record(kind, of: self) }
  }

  private let tracer: any Tracer
  private let state = Lock(State())

  init(_ tracer: any Tracer) { self.tracer = tracer }

  var counts: [WorkFigure: Int] {
    state.withLock { $0.counts }.merging([.hits: 0, .joins: 0, .misses: 0]) { counted, _ in counted
    }
  }

  func arrive(_ task: SimulatedTask) { tracer.record(.arrived, of: TaskID(task.number)) }

  /// The fetch of that name that has just been noted as missed.
  func underWay(_ name: String) -> Fetch? { state.withLock { $0.fetches[name] } }

  /// What the cache answered to a task.
  func note(_ answer: ImageCache.Answer, for task: SimulatedTask, _ name: String) {
    state.withLock { state in
      // It may have been cancelled while the cache looked on disk.
      guard !state.ended.contains(task.number) || answer == .network else { return }
      let event: (TraceEvent.Answer, WorkFigure) =
        switch answer {
        case .memory, .disk: (.hit, .hits)
        case .joined: (.joined, .joins)
        case .network: (.missed, .misses)
        }
      if !state.ended.contains(task.number) {
        state.counts[event.1, default: 0] += 1
        tracer.record(.answered(event.0), of: TaskID(task.number))
      }
      guard event.0 != .hit else { return }
      let before = state.fetches[name]
      // A new fetch; those who have joined it already wait for it too.
      let fetch =
        answer == .network || before == nil ? Fetch(task, self) : before ?? Fetch(task, self)
      if let before, before !== fetch {
        let others = before.state.withLock { $0.waiting }
        fetch.state.withLock { $0.waiting = others.filter { $0.number != task.number } }
      }
      state.fetches[name] = fetch
      guard !state.ended.contains(task.number) else { return }
      fetch.state.withLock { fetch in
        fetch.waiting.insert(task, at: answer == .network ? 0 : fetch.waiting.count)
      }
    }
  }

  /// What has failed for a task: the fetch that it waited for, or, when the fetch had ended and given its
  /// permit back, the disk.
  func note(_ failure: WorkFailure, of task: SimulatedTask) {
    state.withLock { state in
      guard state.told.insert(task.number).inserted else { return }
      tracer.record(.error(ErrorText(failure.description)), of: TaskID(task.number))
    }
  }

  /// A task has its image, or an error, or, with `end` nil, was cancelled.
  func leave(_ task: SimulatedTask, _ name: String, _ end: TraceEvent.Kind?) {
    state.withLock { state in
      let fetch = state.fetches[name]
      let (stood, isAdmitted, next) =
        fetch?.state.withLock { fetch -> (Bool, Bool, SimulatedTask?) in
          let stood = fetch.waiting.first?.number == task.number
          fetch.waiting.removeAll { $0.number == task.number }
          return (stood, fetch.isAdmitted, fetch.waiting.first)
        } ?? (false, false, nil)
      if next == nil { state.fetches[name] = nil }
      guard state.ended.insert(task.number).inserted else { return }
      let phase: TraceEvent.Phase = stood && isAdmitted ? .running : .waiting
      tracer.record(end ?? .cancelled(phase), of: TaskID(task.number))
      if stood, isAdmitted, let next { tracer.record(.admitted, of: TaskID(next.number)) }
    }
  }

  /// Something happened to a fetch: it happens to the task that stands for it.
  private func record(_ kind: TraceEvent.Kind, of fetch: Fetch) {
    state.withLock { state in
      let holder = fetch.state.withLock { fetch in
        if kind == .admitted { fetch.isAdmitted = true }
        if kind.isEnd { fetch.isAdmitted = false }
        return fetch.waiting.first
      }
      guard let holder, !state.ended.contains(holder.number) else { return }
      tracer.record(kind, of: TaskID(holder.number))
      if case .error = kind { state.told.insert(holder.number) }
      if kind.isEnd { state.ended.insert(holder.number) }
    }
  }
}
