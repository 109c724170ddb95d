extension VirtualScheduler {
  func sleep(until deadline: Int64) async throws {
    precondition(
      hasBaton,
      "a task can sleep on a virtual clock only while its scheduler runs it; start it with spawn or "
        + "Task(executorPreference:)"
    )
    try Task.checkCancellation()
    if deadline <= now { return }
    // The ticket exists before the handler, so that a cancellation before the continuation is known
    // finds something to revoke.
    let ticket = timers.issue()
    try await withTaskCancellationHandler {
      // Resumed once: by the code that takes it out of `timers`, or here when it never got in.
      try await withUnsafeThrowingContinuation {
        (continuation: UnsafeContinuation<Void, any Error>) in
        let waiter = Timers.Waiter.sleeper(continuation, tag: causeForOthers())
        if !timers.set(ticket, at: deadline, for: waiter) {
          continuation.resume(throwing: CancellationError())
        }
      }
    } onCancel: {
      if hasBaton { cancel(ticket) } else { post(.cancelled(ticket)) }
    }
  }

  func cancel(_ ticket: Timers.Ticket) {
    if case .sleeper(let continuation, _) = timers.cancel(ticket) {
      continuation.resume(throwing: CancellationError())
    }
  }

  /// Wakes everybody whose deadline is now, in the order in which the deadlines were set.
  func fireDue() {
    while let waiter = timers.takeDue(by: now) {
      switch waiter {
      case .sleeper(let continuation, let tag):
        isFiring = true
        running = RunningJob(tag: tag)
        continuation.resume()
        running = RunningJob()
        isFiring = false
      case .held(let seat):
        baton.due.append(seat)
      }
    }
  }
}
