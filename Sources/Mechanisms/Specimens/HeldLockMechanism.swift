package import Specimens

/// A semaphore that resumes its waiters under its lock.
typealias HeldLockMechanism = LimiterAdapter<HeldLockSemaphore>

extension HeldLockSemaphore: NamedLimiter, CountingLimiter {
  package static let id = "specimen-held-lock"

  package static let profile = MechanismProfile(
    order: .none,
    summary: "a counting semaphore that resumes its waiters under its lock",
    explanation: """
      Resuming a task waits until a cancellation handler of that task has ended. Here the handler \
      takes the lock that is held while resuming: a departure and a cancellation that meet there \
      wait for each other for ever, and so does everybody behind them.

      The code is Sources/Specimens/HeldLockSemaphore.swift; done right, it is \
      Sources/Limiters/Event.swift.
      """,
    defect: "a waiter is resumed under the lock that its cancellation handler takes",
    exposure: .init(.cancellation, inside: true, tasks: 2, limit: 1, violation: "deadlock")
  )
}
