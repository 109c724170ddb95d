internal import Basics
internal import Experiments
internal import Exploration
internal import LessonBook
internal import Limiters

/// What a learner mends in the exercise on lost wake-ups: a door that is shut until somebody opens it.
package protocol LearnerDoor: Sendable {
  init()

  /// Returns once the door is open.
  func wait() async

  /// Opens the door, for good.
  func open()
}
