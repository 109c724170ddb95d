/// A broken promise.
package struct Violation: Hashable, Sendable {
  /// What can be broken, the gravest first.
  package enum Kind: String, CaseIterable, Hashable, Sendable {
    /// More bodies in service than the limit.
    case overAdmission = "over-admission"
    /// A continuation resumed twice.
    case doubleResume = "double-resume"
    /// Bodies in service wait for each other for ever.
    case deadlock
    /// A task waits for ever though no body is in service.
    case lostWakeUp = "lost-wake-up"
    /// Permits in use that nobody uses.
    case permitLeak = "permit-leak"
    /// A task cancelled while it waited was admitted.
    case ranAfterCancel = "ran-after-cancel"
    /// A task was admitted before one that had arrived earlier.
    case order
    /// A waiting task was overtaken more often than promised.
    case starvation
  }

  package var kind: Kind
  /// One line: the tasks and the figures.
  package var message: String
  /// The tasks it happened to.
  package var tasks: [Int]
}
