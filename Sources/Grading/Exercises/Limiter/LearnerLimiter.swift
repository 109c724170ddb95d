package import Mechanisms

/// What a learner writes in the exercises on limiters.
package protocol LearnerLimiter: NamedLimiter {
  /// Makes a limiter with so many permits.
  init(limit: Int)

  /// Runs `body` once there is a permit, on the calling task.
  func run<Value>(_ body: () async throws -> Value) async throws -> Value
}

extension LearnerLimiter {
  // As the default of `NamedLimiter`, which a learner's file does not see: it imports `Grading` only.
  package static func make(_ setup: MechanismSetup) -> Self { Self(limit: setup.limit) }

  package static var id: String { Catalogue.yours }

  package static var profile: MechanismProfile {
    MechanismProfile(
      // No order is promised; where an exercise asks for one, it bounds the overtaking instead.
      order: .none,
      summary: "your limiter",
      explanation: "The limiter you have written."
    )
  }
}
