internal import Basics

/// Who runs, and who made it run.
///
/// A task has the tag that was given to it, not its children: a child task or the drain task of a
/// queue has none until it is tagged itself. An untagged task is a mere messenger: what it makes
/// runnable was caused by the task that made the messenger runnable. So the child that a task group
/// starts when another ended was caused by that other, though the group's parent stands between them.
///
/// The cause of a step is the tag of the task whose step made it runnable: resumed, started or
/// cancelled it. Three rules make it useful:
/// - A deadline of one's own that passed is caused by oneself.
/// - A yield, or a call to an actor, does not change the cause: a task woken by t03 that then calls
///   an actor is still there because of t03.
/// - A task that is tagged anew in mid-step (one drain task serving one customer after the other) was
///   caused by whom it served before.
/// - The driver, between steps, is 0.
///
/// One turn of an actor may serve several tasks. The first has the cause of the turn. What made the
/// others runnable reached only the actor's own queue, so they keep the cause of their last step.
extension VirtualScheduler {
  /// What is going on, as seen from a step.
  package struct Current: Hashable, Sendable {
    /// Nanoseconds since the scheduler was made.
    package var now: Int64
    /// The modelled worker the step runs on, from 1; 0 outside steps.
    package var worker: Int32
    /// The number of the step, from 1; 0 outside steps.
    package var step: UInt64
    /// The tag of the running task; 0 where it has none.
    package var tag: Int32
    /// The tag of the task that made the running one runnable; 0 for the driver.
    package var cause: Int32
  }

  /// The step under way on the calling thread; outside steps only the time is told.
  ///
  /// - Complexity: O(1), some nanoseconds; under an actor's turn a look-up more.
  package var current: Current {
    guard hasBaton else { return Current(now: now, worker: 0, step: 0, tag: 0, cause: 0) }
    refreshTag()
    return Current(
      now: now,
      worker: running.worker,
      step: running.step,
      tag: running.tag,
      cause: running.cause
    )
  }

  /// Gives the calling task a number, to stand for it in `current` from now on.
  ///
  /// - Precondition: called by a task that runs on this scheduler; `tag` is not 0.
  package func tagCurrentTask(_ tag: Int32) {
    precondition(tag != 0, "0 stands for the driver; a task needs another number")
    guard hasBaton else { Self.mustTagItself(tag) }
    refreshTag()
    if running.tag == tag { return }
    guard let job = UnownedJob.ofCurrentTask else { Self.mustTagItself(tag) }
    if running.tag != 0 { running.cause = running.tag }
    running.tag = tag
    tags.set(job.address, serial: job.taskSerial, tag: tag, cause: running.cause)
  }

  private static func mustTagItself(_ tag: Int32) -> Never {
    preconditionFailure("task \(tag) can be tagged only by itself, on the virtual scheduler")
  }

  func untagCurrentTask() {
    guard !tags.isEmpty, let job = UnownedJob.ofCurrentTask else { return }
    tags.remove(job.address)
  }

  /// The cause of what the calling step makes runnable.
  func causeForOthers() -> Int32 {
    refreshTag()
    return running.tag != 0 ? running.tag : running.cause
  }

  /// Notes which task a ready job belongs to and why it runs.
  func beginStep(_ ready: ReadyJob, on worker: Int32) {
    steps += 1
    running = RunningJob(step: steps, worker: worker, tag: 0, cause: ready.cause, isTask: true)
    if tags.isEmpty { return }
    let serial = ready.job.taskSerial
    running.isTask = serial != 0
    if serial != 0 { recall(ready.job.address, serial: serial, isFromTimer: ready.isFromTimer) }
  }

  /// In the turn of an actor, finds out which task runs just now; elsewhere that is known.
  private func refreshTag() {
    // A task that has just ended is nobody any more: what its end makes runnable it still caused.
    if running.isTask || running.step == 0 { return }
    guard !tags.isEmpty, let job = UnownedJob.ofCurrentTask else { return }
    if running.tag != 0, let entry = tags.find(job.address, serial: job.taskSerial),
      entry.tag != running.tag
    {
      running.tag = entry.tag
      running.cause = entry.cause
      return
    }
    recall(job.address, serial: job.taskSerial, isFromTimer: false)
  }

  private func recall(_ address: UInt, serial: UInt64, isFromTimer: Bool) {
    guard let entry = tags.find(address, serial: serial) else {
      running.tag = 0
      return
    }
    running.tag = entry.tag
    if running.cause == entry.tag, !isFromTimer {
      running.cause = entry.cause
    } else if running.cause != entry.cause {
      tags.setCause(address, to: running.cause)
    }
  }
}
