/// A broken promise.
package struct Violation: Hashable, Sendable {
  /// What can be broken, the gravest first.
  package enum Kind: String, CaseIterable, Hashable, Sendable {
    /// The code under study stopped the program.
    case trap
    /// A step that did not come to its end in the time allowed.
    case runaway
    /// A requirement of the code under study (`require`) is not met.
    case requirement
    /// The code under study threw an error that nobody caught.
    case thrown
    /// Two tasks use the same memory, one of them writes, and nothing puts one before the other.
    case race
    /// More bodies in service than the limit.
    case overAdmission = "over-admission"
    /// A continuation resumed twice.
    case doubleResume = "double-resume"
    /// The body of one visit ran more than once.
    case ranTwice = "ran-twice"
    /// Bodies in service wait for each other for ever.
    case deadlock
    /// A task waits for ever though no body is in service.
    case lostWakeUp = "lost-wake-up"
    /// Permits in use that nobody uses.
    case permitLeak = "permit-leak"
    /// Tasks block all threads of the pool, and what would let them go on has none.
    case blockedPool = "blocked-pool"
    /// Tasks retry for ever and nothing happens.
    case livelock
    /// A schedule got so long that it was left before its end.
    case tooManySteps = "too-many-steps"
    /// A task that nobody cancelled ended without its body having run, or without its result.
    case notServed = "not-served"
    /// A task that nobody cancelled was told that it is cancelled.
    case cancelledWrongly = "cancelled-wrongly"
    /// A task cancelled while it waited was admitted.
    case ranAfterCancel = "ran-after-cancel"
    /// A task was admitted before one that had arrived earlier.
    case order
    /// A waiting task was overtaken more often than promised.
    case overtaken
    /// A task waited though a permit was free, and nothing was under way to give it.
    case idlePermit = "idle-permit"
  }

  package var kind: Kind
  /// One line: the tasks and the figures.
  package var message: String
  /// The tasks it happened to.
  package var tasks: [Int]
}
