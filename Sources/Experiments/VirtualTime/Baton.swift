internal import Basics
import DequeModule
import Synchronization

/// How a job can stop in the middle.
///
/// A job that suspends gives its thread back. One that blocks or spins does not: the rest of it, the
/// actor it is on and the locks it has stay where they are, while other workers go on. In virtual
/// time that is `hold(for:)`, and it needs a stack to come back to, so it costs a thread.
///
/// The threads share one baton: the thread that has it chooses and runs jobs, all others wait on a
/// `Seat`. A job that holds sets a deadline for its own seat, passes the baton to a helper thread,
/// and waits. When the deadline is due, the current leader passes the baton back, and sits down to
/// be the next helper. So exactly one thread runs at any moment, the order of everything is decided
/// by the leader alone, and a run with held workers is as repeatable as one without.
///
/// A drive returns to its caller from the thread that it began on, its home. A home whose own job
/// holds cannot return, so a drive that may end while jobs hold (one with a horizon) leads from a
/// helper throughout. Helpers are made on demand, used again, and joined when a drive ends with
/// nobody holding. A drive without a horizon, in which nobody holds, makes none.
struct Baton {
  /// Where the current drive began; nil between drives.
  var home: Seat?
  /// The seat of the thread that has the baton.
  var leader: Seat?
  /// Seats of helpers that wait for something to do.
  var idle: [Seat] = []
  /// Threads made and not yet joined.
  var helpers: [OSThread] = []
  /// How many jobs hold their worker.
  var holding = 0
  /// Jobs whose time to go on has come, first come first.
  var due = Deque<Seat>()
  /// What the drive came to.
  var outcome = VirtualScheduler.Outcome.finished
  /// The time up to which the drive may go; nil for all of it.
  var horizon: Int64?
}

extension VirtualScheduler {
  /// Keeps the calling job's worker until `nanoseconds` have passed, as blocking or spinning would.
  ///
  /// The job stops here, with everything it has, and goes on in the same step later. Other jobs run
  /// meanwhile if a worker is free for them. Once the scheduler is stopped, time passes at once.
  ///
  /// A lock that the job has stays locked meanwhile. If another job then blocks on it, everything
  /// stands still for good, virtual time included: nobody is left to let it pass.
  ///
  /// - Precondition: called from a job that runs on this scheduler.
  package func hold(for nanoseconds: Int64) {
    guard hasBaton, running.worker != 0, let seat = baton.leader else {
      preconditionFailure(
        "only a job that runs on the virtual scheduler can hold a worker; start its task with spawn "
          + "or Task(executorPreference:)"
      )
    }
    if nanoseconds <= 0 { return }
    if drain != .no {
      now += nanoseconds
      return
    }
    seat.job = running
    baton.holding += 1
    guard timers.set(timers.issue(), at: now + nanoseconds, for: .held(seat)) else {
      preconditionFailure("a deadline that nobody else knows was cancelled")
    }
    pass(to: helper(), .lead)
    guard case .goOn = seat.wait() else {
      preconditionFailure("a thread whose job holds its worker was told to do something else")
    }
    take(at: seat)
    baton.holding -= 1
    running = seat.job
  }

  /// Drives on the calling thread, or on a helper for it, until nothing more is to do by `horizon`.
  func drive(until horizon: Int64?) -> Outcome {
    guard
      isDriven.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing)
        .exchanged
    else { preconditionFailure("two threads drive one virtual scheduler at the same time") }
    let home = Seat()
    take(at: home)
    baton.home = home
    baton.horizon = horizon
    if drain != .no { allowDraining() }
    if horizon == nil {
      lead(at: home)
    } else {
      pass(to: helper(), .lead)
      _ = waitForOrder(at: home)
    }
    let outcome = baton.outcome
    if baton.holding == 0 { dismissHelpers() }
    baton.home = nil
    baton.leader = nil
    owner.store(0, ordering: .relaxed)
    isDriven.store(false, ordering: .releasing)
    return outcome
  }

  /// Chooses and runs jobs on the calling thread, which has the baton, until it has no more part in
  /// the drive.
  private func lead(at seat: Seat) {
    while true {
      switch nextMove() {
      case .run(let job, let worker):
        beginStep(job, on: worker)
        job.job.runSynchronously(on: asUnownedTaskExecutor())
        running = RunningJob()
        workers.giveBack(worker)
      case .goOn(let holder):
        guard handOver(from: seat, to: holder, .goOn) else { return }
      case .over(let outcome):
        baton.outcome = outcome
        guard let home = baton.home, home !== seat else { return }
        guard handOver(from: seat, to: home, .finish) else { return }
      }
    }
  }

  /// Passes the baton on and waits for it; false when the thread is to lead no more.
  private func handOver(from seat: Seat, to other: Seat, _ order: Seat.Order) -> Bool {
    // The home is not lent out as a helper: its next order is to finish.
    if seat !== baton.home { baton.idle.append(seat) }
    pass(to: other, order)
    return waitForOrder(at: seat)
  }

  /// Waits to be called; true when the calling thread is to lead.
  private func waitForOrder(at seat: Seat) -> Bool {
    switch seat.wait() {
    case .lead:
      take(at: seat)
      return true
    case .finish:
      take(at: seat)
      return false
    case .leave: return false
    case .goOn: preconditionFailure("a thread whose job holds no worker was told to go on with it")
    }
  }

  private func helper() -> Seat {
    if let seat = baton.idle.popLast() { return seat }
    let seat = Seat()
    baton.helpers.append(
      OSThread { if self.waitForOrder(at: seat) { self.lead(at: seat) } }
    )
    return seat
  }

  private func dismissHelpers() {
    for seat in baton.idle { seat.give(.leave) }
    for thread in baton.helpers { thread.join() }
    baton.idle = []
    baton.helpers = []
  }

  private func pass(to seat: Seat, _ order: Seat.Order) {
    running = RunningJob()
    // Between here and `take` no thread has the baton: whatever arrives goes to the inbox.
    owner.store(0, ordering: .relaxed)
    seat.give(order)
  }

  private func take(at seat: Seat) {
    owner.store(OSThread.current, ordering: .relaxed)
    baton.leader = seat
  }
}
