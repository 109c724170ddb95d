internal import Basics
import DequeModule
import Synchronization

/// A task executor in virtual time: one step after the other, always in the same order.
///
/// The real limiter code runs on it unchanged. Jobs queue first in, first out; one runs at a time;
/// time stands still while any can run and then jumps to the next deadline of the `clock`. Nothing
/// depends on threads, on the wall clock or on addresses, so the same program gives the same run, to
/// the byte, every time and everywhere.
///
/// **What stays here.** Tasks from `spawn` or `Task(executorPreference:)`, their child tasks and
/// `async let`s, and the turns of default actors they call. What escapes: plain `Task {}`,
/// `Task.detached`, `Task.immediate` without an executor (after its first suspension), the main
/// actor, actors with an executor of their own, `Task.sleep` without a clock. Code meant for virtual
/// time takes an executor or starts no task.
///
/// **What a step is.** One job, run until it suspends or ends. `Task.yield` costs two: the yielding
/// task's half and a job of no task that queues it again at the end. A call to an actor is a job for
/// the actor, even when the actor is free; one turn of an actor may run several tasks. A task group's
/// child, when it ends, makes its parent runnable in the same step. Cancelling runs the handlers on
/// the cancelling task's step, before `cancel()` returns. `Task.immediate(executorPreference:)` runs
/// up to its first suspension inside its creator's step.
///
/// **Workers.** The pool is modelled: `workers` jobs may be under way at one instant. A job that
/// suspends or ends gives its worker back in no time; one that calls `hold(for:)`, to block or to
/// spin, keeps it until later, and when all are held nothing runs until time has passed. See
/// `Baton.swift` for how a held job truly stops in the middle.
///
/// **Driving.** Nothing happens until a thread drives: `run`, `runUntilIdle`, `run(until:)`,
/// `advance(by:)`. Between drives tasks may be spawned, cancelled and looked at.
package final class VirtualScheduler: TaskExecutor, @unchecked Sendable {
  // Safe: all variables below the line belong to the thread that has the baton, whose identity is
  // `owner`; handing the baton over goes through the lock of a `Seat`, starting and ending a drive
  // through `isDriven`. Everything above the line is atomic or locked.

  /// What reached the scheduler from a thread without the baton.
  enum Mail {
    case job(UnownedJob)
    case cancelled(Timers.Ticket)
  }

  let inbox = Mutex<[Mail]>([])
  let roots = Mutex(Roots())
  /// Whether there is mail, or the order to stop.
  let attention = Atomic<UInt8>(0)
  let isDriven = Atomic<Bool>(false)
  /// The thread that has the baton; 0 between drives and while it changes hands.
  let owner = Atomic<UInt>(0)
  private let time = Atomic<Int64>(0)

  // ---- with the baton only ----
  //
  // Unchecked: no access lasts while a job, a handler or anything else foreign runs, and the checks
  // would cost as much as a step.

  @exclusivity(unchecked) var ready = Deque<ReadyJob>()
  @exclusivity(unchecked) var timers = Timers()
  @exclusivity(unchecked) var workers: Workers
  @exclusivity(unchecked) var tags = TaskTags()
  /// The step under way; all zero between steps.
  @exclusivity(unchecked) var running = RunningJob()
  /// Whether a deadline that passed is what makes jobs ready now.
  @exclusivity(unchecked) var isFiring = false
  @exclusivity(unchecked) var steps: UInt64 = 0
  @exclusivity(unchecked) var baton = Baton()
  @exclusivity(unchecked) var drain = Drain.no

  /// Whether urgent jobs run before others that have been ready for longer, as on pools that heed
  /// priorities; else first in, first out.
  let heedsPriority: Bool

  /// Makes a scheduler at time 0 with a modelled pool of `workers`.
  package init(workers: Int, heedingPriority: Bool = false) {
    self.workers = Workers(count: workers)
    heedsPriority = heedingPriority
  }

  /// The clock that this scheduler moves.
  package var clock: VirtualClock { VirtualClock(of: self) }

  /// Nanoseconds since the scheduler was made.
  package internal(set) var now: Int64 {
    get { time.load(ordering: .relaxed) }
    set { time.store(newValue, ordering: .relaxed) }
  }

  /// How many steps have run.
  ///
  /// - Precondition: called from a step, or while nobody drives.
  package var stepsRun: UInt64 { steps }

  var hasBaton: Bool { owner.load(ordering: .relaxed) == OSThread.current }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if hasBaton {
      ready.append(ReadyJob(job: job, cause: causeForOthers(), isFromTimer: isFiring))
    } else {
      post(.job(job))
    }
  }

  func post(_ mail: Mail) {
    inbox.withLock { $0.append(mail) }
    attention.bitwiseOr(Attention.mail, ordering: .releasing)
  }
}

/// The bits of `VirtualScheduler.attention`.
enum Attention {
  static let mail: UInt8 = 1
  static let stop: UInt8 = 2
}

/// A job in the ready queue, and what made it ready.
struct ReadyJob {
  /// As urgent as the job was when it became ready.
  var urgency: UInt8 { job.priority.rawValue }
  var job: UnownedJob
  var cause: Int32
  /// Whether it was the task's own deadline.
  var isFromTimer: Bool
}
