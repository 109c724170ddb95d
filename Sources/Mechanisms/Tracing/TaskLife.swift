/// The moments of one task's life, read from the log.
///
/// Each time is the first of its kind; progress, holds and error are the last. What a faulty mechanism does after that (a second end, a body that
/// runs after all) is told by `LogCheck`.
package struct TaskLife: Hashable, Sendable {
  /// How a task ended.
  package enum End: Hashable, Sendable {
    case finished
    case failed
    case cancelledWhileWaiting
    case cancelledWhileRunning
    case rejected
  }

  package let task: TaskID
  package var arrived: Int64?
  /// When the task began to hold a thread while it waits.
  package var blocked: Int64?
  package var admitted: Int64?
  package var ended: Int64?
  package var end: End?
  /// The worker the admission happened on, where known.
  package var admittedOn: WorkerID?
  /// The task whose step made the admission possible, where known.
  package var admittedBy: TaskID?
  /// What a cache answered, where one was asked.
  package var answer: TraceEvent.Answer?
  /// Which permit it had while it waited for another, where it needs two.
  package var holds: TraceEvent.Permit?
  /// What its work failed of, where that was not asked for.
  package var error: ErrorText?
  /// The last share of its work the task reported, in percent.
  package var progress: UInt8?

  /// Arrival to admission, of a task that was admitted.
  package var waiting: Int64? { interval(arrived, admitted) }
  /// Admission to departure, of a task that was admitted and has departed.
  package var service: Int64? { interval(admitted, ended) }
  /// Arrival to departure, of a task that was admitted and has departed.
  package var response: Int64? { admitted == nil ? nil : interval(arrived, ended) }

  /// Whether it has arrived and neither been admitted nor left; who needs no permit waits for none.
  package var stillWaits: Bool {
    arrived != nil && admitted == nil && ended == nil && (answer == nil || answer == .missed)
  }
  /// Whether it has been admitted and has not departed.
  package var isInService: Bool { admitted != nil && ended == nil }

  /// The waiting time; of a task that still waits, what it has come to by `now`.
  package func waiting(by now: Int64?) -> Int64? {
    waiting ?? (stillWaits ? interval(arrived, now) : nil)
  }

  /// The service time; of a task in service, what it has come to by `now`.
  package func service(by now: Int64?) -> Int64? {
    service ?? (isInService ? interval(admitted, now) : nil)
  }

  /// The response time; of a task that still waits or is in service, what it has come to by `now`.
  package func response(by now: Int64?) -> Int64? {
    response ?? (stillWaits || isInService ? interval(arrived, now) : nil)
  }

  private func interval(_ start: Int64?, _ end: Int64?) -> Int64? {
    guard let start, let end else { return nil }
    return end - start
  }

  /// The lives of tasks 1 to `tasks`, or as far as the log names them, in the order of their numbers.
  ///
  /// - Complexity: O(n) for n events.
  package static func all(in events: [TraceEvent], tasks: Int) -> [TaskLife] {
    var lives = (0..<tasks).map { TaskLife(task: TaskID($0 + 1)) }
    for event in events where event.task > .run {
      let index = Int(event.task.number) - 1
      while lives.count <= index { lives.append(TaskLife(task: TaskID(lives.count + 1))) }
      lives[index].note(event)
    }
    return lives
  }

  init(task: TaskID) { self.task = task }

  mutating func note(_ event: TraceEvent) {
    switch event.kind {
    case .arrived: arrived = arrived ?? event.time
    case .blocked: blocked = blocked ?? event.time
    case .admitted:
      guard admitted == nil else { return }
      admitted = event.time
      admittedOn = event.worker
      admittedBy = event.cause
    case .progress(let share): progress = share
    case .holds(let permit): holds = permit
    case .answered(let answer): self.answer = self.answer ?? answer
    case .error(let error): self.error = error
    case .unblocked, .suspended, .resumed, .limit: break
    case .finished, .failed, .cancelled, .rejected:
      guard ended == nil else { return }
      ended = event.time
      end = End(event.kind)
    }
  }
}

extension TaskLife.End {
  /// The end an event stands for; nil for one after which a task goes on.
  package init?(_ kind: TraceEvent.Kind) {
    switch kind {
    case .finished: self = .finished
    case .failed: self = .failed
    case .cancelled(.waiting): self = .cancelledWhileWaiting
    case .cancelled(.running): self = .cancelledWhileRunning
    case .rejected: self = .rejected
    case .arrived, .blocked, .unblocked, .answered, .error, .holds, .admitted, .progress,
      .suspended, .resumed, .limit:
      return nil
    }
  }
}
