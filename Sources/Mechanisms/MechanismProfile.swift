/// What a mechanism promises, as data: printed by the lab, verified by the conformance suite.
package struct MechanismProfile: Hashable, Sendable {
  /// Which limits a mechanism can keep.
  package enum Limit: String, Hashable, Sendable {
    /// Any number of permits from 1.
    case any
    /// One at a time, by nature.
    case one
    /// None: everything runs at once.
    case none
  }

  /// What a waiting task holds.
  package enum Waiting: String, Hashable, Sendable {
    case suspendsTask = "suspends-task"
    case blocksThread = "blocks-thread"
    /// Waits as an entry in a queue: neither a suspended task nor a thread is needed.
    case queued
    /// Nothing ever waits.
    case none
  }

  /// In which order waiting tasks are admitted.
  package enum Order: String, Hashable, Sendable {
    case fifo
    /// Higher priorities first, FIFO among equals.
    case priority
    /// FIFO up to the first suspension of each body; bodies that suspend overlap.
    case fifoToFirstSuspension = "fifo-to-first-suspension"
    case none
  }

  /// What happens when a task is cancelled while it waits.
  package enum Cancellation: String, Hashable, Sendable {
    /// It leaves the queue at once and its body never runs.
    case leavesAtOnce = "leaves-at-once"
    /// Its body never runs, but its place in the queue is kept until its turn comes.
    case skippedAtItsTurn = "skipped-at-its-turn"
    /// It never waits, so there is nothing to leave.
    case neverWaits = "never-waits"
  }

  /// On which clocks a mechanism can run.
  package enum Clock: String, Hashable, Sendable {
    /// In virtual time and on the wall clock.
    case any
    /// On the wall clock only: it owns its threads.
    case real
  }

  /// What can be done to a mechanism, beyond giving it tasks.
  package enum Control: String, Hashable, Comparable, Sendable {
    /// Its limit can be changed while tasks run.
    case limit
    /// It can be told to admit nobody for a while.
    case suspension
    /// A task can be made to wait for another's end before it may be admitted.
    case dependencies
    /// It admits more urgent tasks first.
    case priorities
    /// A task can have it to itself: after all before it, and before all behind it.
    case barrier
    /// It says when all it was given has ended.
    case notification

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
  }

  /// The smallest exploration that shows a specimen's defect.
  package struct Exposure: Hashable, Sendable {
    /// What must happen beside tasks arriving and departing.
    package enum Trigger: String, Hashable, Sendable {
      /// Nothing: an order of steps is enough.
      case order
      /// Some task is cancelled.
      case cancellation
      /// The bodies throw.
      case failingBodies = "failing-bodies"
    }

    package var trigger: Trigger
    /// Whether a task must stop inside synchronous code, between two operations on locks or atomics.
    package var inside: Bool
    package var tasks: Int
    package var limit: Int
    /// What the explorer calls the promise that breaks: `over-admission`.
    package var violation: String

    package init(
      _ trigger: Trigger,
      inside: Bool = false,
      tasks: Int,
      limit: Int,
      violation: String
    ) {
      self.trigger = trigger
      self.inside = inside
      self.tasks = tasks
      self.limit = limit
      self.violation = violation
    }
  }

  package var limit: Limit
  package var waiting: Waiting
  package var order: Order
  package var cancellation: Cancellation
  package var clock: Clock
  /// The kind of work the mechanism's users give it.
  package var defaultKind: ServiceKind
  /// What can be done to it while tasks run.
  package var controls: Set<Control>
  /// Why the others cannot be: each completes "it cannot be done: …".
  package var lacks: [Control: String]
  /// Whether it lends permits, and nothing else can keep a task waiting.
  ///
  /// Only then is it asked that no permit rests while a task waits, and that all permits come back. An
  /// account pays money out, and of two nested limits a task may wait at the second.
  package var lendsPermitsOnly: Bool
  /// Whether it treats all tasks alike: their numbers make no difference, only when they come.
  ///
  /// The explorer then looks at one of several schedules that differ in names only. A claim like the
  /// others: a test explores with and without.
  package var treatsTasksAlike: Bool
  /// Whether its users give it a whole batch, never one visit after the other.
  package var inBatches: Bool
  /// How the mechanism itself says that all it was given is done, where it does.
  package var completionSignal: String?
  /// One line: what it is.
  package var summary: String
  /// Why it cannot run in virtual time, where it cannot; completes "OperationQueue …".
  package var realOnlyReason: String?
  /// Paragraphs for `explain`; the last says where the code is, which the explorer's tip repeats.
  package var explanation: String
  /// What is wrong with it on purpose; only specimens have one.
  package var defect: String?
  /// How the defect is made to show; only specimens have one.
  package var exposure: Exposure?
  /// Whether it ends the program that runs it, or never comes back: only an exploration may run it, in a
  /// program of its own.
  package var endsProgram = false

  /// The claims left out are those of most limiters written with tasks: any limit, waiting tasks are
  /// suspended and leave at once when cancelled, any clock, and suspending work.
  package init(
    limit: Limit = .any,
    waiting: Waiting = .suspendsTask,
    order: Order,
    cancellation: Cancellation = .leavesAtOnce,
    clock: Clock = .any,
    defaultKind: ServiceKind = .suspend,
    controls: Set<Control> = [],
    lacks: [Control: String] = [:],
    lendsPermitsOnly: Bool = true,
    treatsTasksAlike: Bool = false,
    inBatches: Bool = false,
    completionSignal: String? = nil,
    summary: String,
    realOnlyReason: String? = nil,
    explanation: String,
    defect: String? = nil,
    exposure: Exposure? = nil
  ) {
    self.limit = limit
    self.waiting = waiting
    self.order = order
    self.cancellation = cancellation
    self.clock = clock
    self.defaultKind = defaultKind
    self.controls = controls
    self.lacks = lacks
    self.lendsPermitsOnly = lendsPermitsOnly
    self.treatsTasksAlike = treatsTasksAlike
    self.inBatches = inBatches
    self.completionSignal = completionSignal
    self.summary = summary
    self.realOnlyReason = realOnlyReason
    self.explanation = explanation
    self.defect = defect
    self.exposure = exposure
  }
}
