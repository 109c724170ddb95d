internal import Basics
internal import Dispatch
internal import Foundation
internal import LessonBook
internal import Synchronization

/// What a learner writes in the exercise on executors: one thread that runs the jobs of tasks.
package protocol LearnerExecutor: TaskExecutor {
  init()
}
