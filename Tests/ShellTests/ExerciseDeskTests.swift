import TestSupport
import Testing

@testable import Shell

/// What the desk makes of a learner's file before it is built.
@Suite(.watched) struct ExerciseDeskTests {
  @Test func `a learner's locks and limiters become those that an exploration can stop at`() {
    let code = """
      import Grading
      import Limiters
      internal import struct Synchronization.Mutex
      @preconcurrency import Synchronization
      // import Limiters
      let Limiters = "import Synchronization"
      import LimitersOfMyOwn

      """
    let explorable = """
      import Grading
      import ExplorableLimiters
      internal import struct ExplorableSynchronization.Mutex
      @preconcurrency import ExplorableSynchronization
      // import Limiters
      let Limiters = "import Synchronization"
      import LimitersOfMyOwn

      """
    #expect(ExerciseDesk.explorable(code) == explorable)
  }
}
