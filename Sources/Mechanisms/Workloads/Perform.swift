extension SimulatedTask {
  /// Serves on the calling task.
  ///
  /// Suspending work and downloads suspend; blocking and spinning work hold the worker. Real work only
  /// suspends here, for its service time; the visit carries the closure that does the work.
  ///
  /// - Throws: `CancellationError` if the task is cancelled while it serves, `SimulatedFailure` at
  ///   the end if the task was drawn to fail.
  package func perform(in world: some World, report: (UInt8) -> Void) async throws {
    switch kind {
    case .suspend, .fetch, .query, .copy:
      try await world.suspend(for: service)
    case .download:
      for (part, share) in zip(parts, Self.progressReports) {
        try await world.suspend(for: part)
        report(share)
      }
    case .block, .spin:
      try performOnThread(in: world, isCancelled: { Task.isCancelled }, report: report)
      return
    }
    if fails { throw SimulatedFailure(task: number) }
  }

  /// Serves on the calling thread, holding it; work that would suspend blocks instead.
  ///
  /// `isCancelled` is asked before the work and after each part of at most 10 ms, as code that
  /// cooperates would.
  ///
  /// - Throws: as `perform(in:report:)` does.
  package func performOnThread(
    in world: some World,
    isCancelled: () -> Bool,
    report: (UInt8) -> Void
  ) throws {
    switch kind {
    case .download:
      for (part, share) in zip(parts, Self.progressReports) {
        try hold(for: part, in: world, isCancelled: isCancelled)
        report(share)
      }
    case .suspend, .block, .spin, .fetch, .query, .copy:
      try hold(for: service, in: world, isCancelled: isCancelled)
    }
    if fails { throw SimulatedFailure(task: number) }
  }

  private func hold(
    for nanoseconds: Int64,
    in world: some World,
    isCancelled: () -> Bool
  ) throws {
    var left = nanoseconds
    while true {
      if isCancelled() { throw CancellationError() }
      if left <= 0 { return }
      let slice = min(left, 10_000_000)
      let before = world.now
      if kind == .spin {
        world.spin(for: slice)
        left -= slice
      } else {
        world.block(for: slice)
        // What a sleep overran is not slept again.
        left -= max(slice, world.now - before)
      }
    }
  }
}
