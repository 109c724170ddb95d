internal import Basics
import DequeModule
import Synchronization

/// What to do next, and how a run ends.
extension VirtualScheduler {
  /// What a drive came to.
  package enum Outcome: Hashable, Sendable {
    /// Every spawned task has ended.
    case finished
    /// The horizon is reached; something sleeps or holds beyond it.
    case paused
    /// Nothing can run, nothing sleeps, and this many spawned tasks have not ended: a deadlock or a
    /// lost wake-up.
    case stuck(tasks: Int)
    /// `stop` was called. This many spawned tasks did not end though they were cancelled; they and
    /// what they refer to are never freed.
    case stopped(tasksLeft: Int)
  }

  /// Spawns `root` and drives until nothing is left to do.
  @available(*, noasync, message: "drives on the calling thread; use onOwnThread")
  package func run(_ root: @escaping @Sendable () async -> Void) -> Outcome {
    spawn(root)
    return runUntilIdle()
  }

  /// Drives until nothing can run and nothing sleeps.
  @available(*, noasync, message: "drives on the calling thread; use onOwnThread")
  package func runUntilIdle() -> Outcome { drive(until: nil) }

  /// Drives until virtual time is `instant` and nothing more can run then.
  ///
  /// Time ends at `instant` even if nothing happened.
  @available(*, noasync, message: "drives on the calling thread; use onOwnThread")
  package func run(until instant: VirtualClock.Instant) -> Outcome {
    let outcome = drive(until: instant.nanoseconds)
    if case .stopped = outcome { return outcome }
    now = max(now, instant.nanoseconds)
    return outcome
  }

  /// Drives for `nanoseconds` of virtual time; with 0, runs what can run now.
  @available(*, noasync, message: "drives on the calling thread; use onOwnThread")
  package func advance(by nanoseconds: Int64) -> Outcome {
    run(until: VirtualClock.Instant(nanoseconds: now + nanoseconds))
  }

  /// When the next that sleeps or holds its worker goes on; nil where nobody does.
  ///
  /// To be asked between two drives.
  package var nextDeadline: Int64? { timers.next() }

  /// Drives on a thread made for it, so that an asynchronous caller can await the end.
  ///
  /// Cancelling the calling task stops the scheduler. Example:
  /// `await scheduler.onOwnThread { $0.runUntilIdle() }`
  package func onOwnThread<Result: Sendable>(
    _ drive: @escaping @Sendable (VirtualScheduler) -> Result
  ) async -> Result {
    await withTaskCancellationHandler {
      await Basics.onOwnThread { drive(self) }
    } onCancel: {
      stop()
    }
  }

  /// Ends the run, from any thread: the drive under way, or else the next, returns soon.
  ///
  /// Every spawned task is cancelled and run to its end, as far as it gets: time passes at once, and
  /// tasks that go on for too long in spite of it are left. Safe to call more than once.
  package func stop() { attention.bitwiseOr(Attention.stop, ordering: .releasing) }

  /// How far ending a stopped run has come.
  enum Drain: Hashable {
    case no
    /// This many steps may still be spent on it.
    case steps(Int)
  }

  enum Move {
    case run(ReadyJob, worker: Int32)
    case goOn(Seat)
    case over(Outcome)
  }

  func nextMove() -> Move {
    while true {
      if attention.load(ordering: .relaxed) != 0 { attend() }
      // A job that holds goes on before others start: it has its worker already.
      if let seat = baton.due.popFirst() { return .goOn(seat) }
      if !ready.isEmpty, mayStep(), let worker = workers.take() {
        return .run(removeNextReady(), worker: worker)
      }
      guard let next = timers.next(), mayPassTime() else { return .over(outcomeAtRest()) }
      if let horizon = baton.horizon, next > horizon, drain == .no { return .over(.paused) }
      now = max(now, next)
      fireDue()
    }
  }

  /// - Complexity: O(1), or O(n) where priorities are heeded.
  private func removeNextReady() -> ReadyJob {
    guard heedsPriority, let most = ready.lazy.map(\.urgency).max(),
      let index = ready.firstIndex(where: { $0.urgency == most })
    else { return ready.removeFirst() }
    return ready.remove(at: index)
  }

  /// Reads the mail and hears the order to stop.
  private func attend() {
    // The order to stop stays: it holds for whatever is spawned from now on.
    let seen = attention.bitwiseAnd(Attention.stop, ordering: .acquiring).oldValue
    if seen & Attention.mail != 0 {
      for mail in inbox.withLock({ mail in
        let taken = mail
        mail.removeAll(keepingCapacity: taken.count < 1024)
        return taken
      }) {
        switch mail {
        case .job(let job): ready.append(ReadyJob(job: job, cause: 0, isFromTimer: false))
        case .cancelled(let ticket): cancel(ticket)
        }
      }
    }
    if seen & Attention.stop != 0, drain == .no {
      allowDraining()
      cancelAll()
    }
  }

  /// Grants a stopped run the steps to end its tasks.
  ///
  /// Generous for any task that heeds its cancellation, and still over in moments for one that spins
  /// on sleeps that now fail at once.
  func allowDraining() { drain = .steps(10_000 + unfinished * 100) }

  /// Whether one more step may be taken: always, until a stopped run has used up its allowance.
  private func mayStep() -> Bool {
    switch drain {
    case .no: return true
    case .steps(let left):
      drain = .steps(max(0, left - 1))
      return left > 0
    }
  }

  /// Whether sleepers are still waited for.
  ///
  /// Held jobs are, in any case: their threads must come home.
  private func mayPassTime() -> Bool { drain != .steps(0) || baton.holding > 0 }

  private func outcomeAtRest() -> Outcome {
    let left = unfinished
    if drain != .no { return .stopped(tasksLeft: left) }
    return left == 0 ? .finished : .stuck(tasks: left)
  }
}
