// One plain task for each message: the order is lost.
//
// Code that is not asynchronous sends a message to an actor by starting a task. The next message gets the
// next task. It looks like a queue, and most of the time behaves like one.
//
// DEFECT: each message has a task of its own, and no rule says which of two tasks starts first. The
// executor may take them in any order, and on several threads it sometimes does.
//
// The interleaving that shows it: t1 sends, t2 sends; the task of t2 takes its first step before
// the task of t1.
//
// The fix: put the messages in a line in the order in which they are sent, and pass one permit along it.
// See Sources/Limiters/FIFOQueue.swift and ActorQueue.swift.

/// DEFECT: what is sent first may start second.
package final class PlainTasks: Sendable {
  /// Receives the messages; it runs them one at a time between suspensions.
  package actor Receiver {
    fileprivate func take(_ message: @Sendable (isolated Receiver) async -> Void) async {
      await message(self)
    }
  }

  private let receiver = Receiver()
  private let executor: (any TaskExecutor)?

  /// A sender whose tasks start on `executor`; nil for the global pool.
  package init(executor: (any TaskExecutor)? = nil) { self.executor = executor }

  /// Sends a message from code that cannot wait.
  package func send(
    _ message: @escaping @Sendable (isolated Receiver) async -> Void
  ) -> Task<Void, Never> {
    // Here is the defect: nothing ties this task to the one before it.
    Task(executorPreference: executor) { [receiver] in await receiver.take(message) }
  }
}
