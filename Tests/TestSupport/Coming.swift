internal import Basics
internal import Synchronization

// What a test waits for, and a fault would keep from ever coming.
//
// The test that waits in this way fails where it waits, with a word about what did not come. One that waits for
// ever is ended by the watchdog, and all other tests with it.

/// Waits until something is so, looking each millisecond; false if it has not come when a third of the time is
/// over after which the watchdog ends the tests.
package func comes(
  within time: Duration = Watchdog.ofThisProgram.limit / 3,
  _ isSo: () async -> Bool
) async -> Bool {
  var patience = Patience(time)
  while await !isSo() {
    if patience.isOver() { return false }
    await Moment.pass()
  }
  return true
}

/// Waits for the end of a task, as `comes` waits; whether it has ended.
package func ends<Success: Sendable, Failure>(_ task: Task<Success, Failure>) async -> Bool {
  let hasEnded = Atomic(false)
  Task {
    _ = await task.result
    hasEnded.store(true, ordering: .releasing)
  }
  return await comes { hasEnded.load(ordering: .acquiring) }
}
