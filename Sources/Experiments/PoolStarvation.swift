internal import Dispatch
internal import Foundation
internal import Synchronization

// What blocked tasks do to the cooperative pool.
//
// For tasks of one priority the pool has as many threads as the machine has cores, and never more. If each of
// them is held by a task that waits for something another task must do, that other task never gets a thread. The
// process cannot be rescued from inside, so the demonstration has one of its own: it starts the tasks,
// watches from a thread that is not of the pool, tells what it saw, and ends itself.

/// As many tasks as told wait for one event, and one more task is to make it happen.
package enum PoolStarvation {
  /// How the waiting tasks wait.
  package enum Wait: String, CaseIterable, Sendable {
    case block
    case suspend
  }

  /// What was to be seen when the time was up.
  package struct Outcome: Hashable, Sendable, Codable {
    package var wait: String
    package var waiters: Int
    package var cores: Int
    /// Whether the event happened.
    package var event: Bool
    /// How many of the waiters went on.
    package var finished: Int
  }

  /// How long the demonstration watches after the last task was started, in seconds.
  package static let window = 1.0

  /// Runs the demonstration in this process, writes the outcome to standard output as JSON, and
  /// ends the process.
  package static func demonstrate(_ wait: Wait, waiters: Int) -> Never {
    let event = Event()
    for _ in 0..<waiters {
      Task.detached { await event.wait(wait) }
    }
    let cores = ProcessInfo.processInfo.activeProcessorCount
    // The pool is busy with them before the last task comes; more than its width never begin.
    let deadline = Date.now.addingTimeInterval(window)
    while event.begun < min(waiters, cores), Date.now < deadline { usleep(1_000) }
    Task.detached { event.happen() }
    Thread.sleep(forTimeInterval: window)
    let outcome = Outcome(
      wait: wait.rawValue,
      waiters: waiters,
      cores: cores,
      event: event.hasHappened,
      finished: event.finished
    )
    if let line = try? JSONEncoder().encode(outcome) {
      FileHandle.standardOutput.write(line + Data("\n".utf8))
    }
    // Not `exit`: the threads of the pool may be held for ever, and nothing here is to be tidied up.
    _exit(0)
  }

  /// Something that happens once, and that tasks wait for in either way.
  private final class Event: Sendable {
    private let state = Mutex(EventState<CheckedContinuation<Void, Never>>())
    private let semaphore = DispatchSemaphore(value: 0)

    var begun: Int { state.withLock { $0.begun } }
    var finished: Int { state.withLock { $0.finished } }
    var hasHappened: Bool { state.withLock { $0.hasHappened } }

    func wait(_ wait: Wait) async {
      switch wait {
      case .block:
        // Holds the thread this task runs on until somebody signals.
        blockThread()
      case .suspend:
        // Puts this task aside; the thread goes on with another.
        await suspendTask()
      }
      state.withLock { $0.finished += 1 }
    }

    private func blockThread() {
      if state.withLock({ $0.begin(suspendedAs: nil) }) { semaphore.wait() }
    }

    private func suspendTask() async {
      await withCheckedContinuation { continuation in
        let mustWait = state.withLock { $0.begin(suspendedAs: continuation) }
        if !mustWait { continuation.resume() }
      }
    }

    func happen() {
      let (blocked, suspended) = state.withLock { $0.happen() }
      for _ in 0..<blocked { semaphore.signal() }
      for continuation in suspended { continuation.resume() }
    }
  }

  /// Who waits for an event, and whether it has happened: decides, and wakes nobody.
  struct EventState<Suspended> {
    private(set) var begun = 0
    private(set) var hasHappened = false
    var finished = 0
    private var blocked = 0
    private var suspended: [Suspended] = []

    /// A task begins to wait, suspended or blocking its thread.
    ///
    /// - Returns: whether it must: not for an event that has happened, because nobody would wake it.
    mutating func begin(suspendedAs task: Suspended?) -> Bool {
      begun += 1
      guard !hasHappened else { return false }
      if let task { suspended.append(task) } else { blocked += 1 }
      return true
    }

    /// The event happens.
    ///
    /// - Returns: those who wait for it, to be woken.
    mutating func happen() -> (blocked: Int, suspended: [Suspended]) {
      defer { (blocked, suspended) = (0, []) }
      hasHappened = true
      return (blocked, suspended)
    }
  }
}
