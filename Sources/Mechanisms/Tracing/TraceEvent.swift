internal import Basics

/// The number of a simulated task within one run, from 1; 0 stands for the run itself.
///
/// Shown as `t07`, zero-padded to one width for all tasks of a run.
package struct TaskID: Hashable, Comparable, Sendable {
  package let number: Int32

  package init(_ number: Int) { self.number = Int32(clamping: number) }

  /// The run itself: what made a task runnable when no other task did.
  package static let run = TaskID(0)

  package static func < (one: TaskID, other: TaskID) -> Bool { one.number < other.number }

  /// The task's name, such as `t007` where the run has between 100 and 999 tasks.
  package func label(amongst tasks: Int) -> String {
    TaskLabel.text(Int(number), amongst: tasks)
  }
}

/// A worker that runs tasks: a thread on the wall clock, a modelled one in virtual time.
///
/// Numbered from 1 in the order in which the log first names them; shown as `w3`.
package struct WorkerID: Hashable, Comparable, Sendable {
  package let number: Int32

  package init(_ number: Int) { self.number = Int32(clamping: number) }

  package static func < (one: WorkerID, other: WorkerID) -> Bool { one.number < other.number }

  package var label: String { "w\(number)" }
}

/// Something that happened to a task, or to the run, at one instant.
///
/// Every view of a run is made from these, from the plan of its tasks, and from what was counted beside them.
package struct TraceEvent: Hashable, Sendable {
  /// What can happen to a task; a change of the limit happens to the run.
  ///
  /// A task's life is `arrived`; perhaps `answered`, `holds`, `blocked` and `unblocked`; `admitted`, unless it ends
  /// before; any number of `progress`, `suspended` and `resumed`, perhaps `error`; and exactly one end: `finished`,
  /// `failed`, `cancelled` or `rejected`.
  package enum Kind: Hashable, Sendable {
    /// The task asked to be let in. Its waiting time starts.
    case arrived
    /// The task waits, and the thread named as worker waits with it until it is unblocked or admitted.
    case blocked
    /// The thread that waited with the task is free; the task waits on for a thread of its own.
    case unblocked
    /// A cache was asked first, and this is what it answered.
    case answered(Answer)
    /// Of two limits the task has a permit of the first, and now asks the second.
    case holds(Permit)
    /// The task holds a permit; its service starts. The body's first act.
    case admitted
    /// A download has this share of its work behind it, in percent.
    case progress(UInt8)
    /// In service, but neither working nor holding a worker.
    case suspended
    /// In service and working again.
    case resumed
    /// The body returned. Its last act: the departure.
    case finished
    /// The work went wrong, and this is what the error says; the end of the task follows. Failures that were
    /// asked for, as a share of the tasks, have none.
    case error(ErrorText)
    /// The body threw an error of its own. Its last act: the departure.
    case failed
    /// The task was cancelled; in the phase `running` this is the departure too.
    case cancelled(Phase)
    /// The mechanism would not take the task.
    case rejected
    /// The limit changed to this, an event of the run itself.
    case limit(Int32)

    /// Whether no event of the same task may follow.
    package var isEnd: Bool {
      switch self {
      case .finished, .failed, .cancelled, .rejected: true
      case .arrived, .blocked, .unblocked, .answered, .error, .holds, .admitted, .progress,
        .suspended,
        .resumed,
        .limit:
        false
      }
    }
  }

  /// What a cache answers to a task; its name is the event's.
  package enum Answer: String, Hashable, Sendable {
    /// It is there: the task needs no permit, and ends without an admission.
    case hit
    /// It is on its way for another task. This one waits for it without a permit of its own, unless the
    /// other is cancelled and this one takes its place.
    case joined
    /// It has to be fetched: the task waits for a permit.
    case missed
  }

  /// A permit of one of two limits that a copy needs.
  package enum Permit: String, Hashable, Sendable {
    case connection
    case file

    /// The one that is missing to who has this one.
    package var other: Permit { self == .connection ? .file : .connection }

    /// "holds a connection and wants a file".
    package var words: String { "holds a \(rawValue) and wants a \(other.rawValue)" }
  }

  /// Where in its life a task was when its cancellation took effect.
  package enum Phase: String, Hashable, Sendable {
    case waiting
    case running
  }

  /// Nanoseconds since the run began.
  package var time: Int64
  package var task: TaskID
  package var kind: Kind
  /// The worker the event happened on, where known.
  package var worker: WorkerID?
  /// The task whose step made this one runnable, where known.
  package var cause: TaskID?
  /// How the step came to its worker, where that is worth telling.
  package var route: Route?

  /// How a step came to the worker of the work-stealing executor that took it.
  package enum Route: UInt8, Hashable, Sendable {
    /// Made ready by the step before it, and taken next.
    case slot
    /// Taken from another worker.
    case stolen
  }

  package init(
    time: Int64,
    task: TaskID,
    kind: Kind,
    worker: WorkerID? = nil,
    cause: TaskID? = nil,
    route: Route? = nil
  ) {
    self.time = time
    self.task = task
    self.kind = kind
    self.worker = worker
    self.cause = cause
    self.route = route
  }
}
