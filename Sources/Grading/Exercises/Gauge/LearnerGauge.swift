internal import Basics
internal import Experiments
internal import Exploration
internal import Foundation
internal import LessonBook
internal import Limiters
internal import Mechanisms
internal import Rendering

/// What a learner writes in the exercise on Little's law: a gauge in a server, which is told when requests come and
/// when they go, and not which.
package protocol LearnerGauge: Sendable {
  init()

  /// A request arrived at that time.
  func arrived(at time: Duration)

  /// A request departed at that time.
  func departed(at time: Duration)

  /// What was measured from time zero to that time.
  func reading(at time: Duration) -> Reading
}

/// What a gauge has measured.
package struct Reading: Equatable, Sendable {
  /// L: how many requests were inside, on average over the time.
  package var inside: Double
  /// λ: how many arrived a second.
  package var rate: Double
  /// W: how long a request was inside, on average; nil while one is, and before the first.
  package var response: Duration?

  package init(inside: Double, rate: Double, response: Duration?) {
    self.inside = inside
    self.rate = rate
    self.response = response
  }
}
