internal import Mechanisms
internal import Synchronization

/// Steers the mechanism of a run, and notes in the log what becomes of its limit.
final class Steering: Sendable {
  private let mechanism: any Mechanism
  private let tracer: any Tracer
  private let limit: Atomic<Int>
  private let suspended = Atomic(false)

  /// Whether the mechanism was last told to admit nobody.
  var isSuspended: Bool { suspended.load(ordering: .relaxed) }

  init(_ mechanism: any Mechanism, limit: Int, _ tracer: any Tracer) {
    self.mechanism = mechanism
    self.tracer = tracer
    self.limit = Atomic(limit)
  }

  func perform(_ control: Experiment.Control) {
    switch control {
    case .changeLimit(let new):
      // A raise is noted before it is made and a cut after: no admission that either allows comes to
      // stand on the wrong side of it.
      let isRaise = new > limit.exchange(new, ordering: .relaxed)
      if isRaise { note(new) }
      mechanism.changeLimit(to: new)
      if !isRaise { note(new) }
    case .suspend: setSuspended(true)
    case .resume: setSuspended(false)
    }
  }

  private func setSuspended(_ isSuspended: Bool) {
    suspended.store(isSuspended, ordering: .relaxed)
    mechanism.setSuspended(isSuspended)
  }

  private func note(_ limit: Int) { tracer.record(.limit(Int32(clamping: limit)), of: .run) }
}
