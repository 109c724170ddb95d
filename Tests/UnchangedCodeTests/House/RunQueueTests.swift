import Exploration
import TestSupport
import Testing

/// The executor's queue over the language's own atomics, whose orders the check of data races knows.
@Suite(.inTurn, .watched) struct `The run queue, unchanged` {
  private final class Job: @unchecked Sendable {
    // Unchecked, and a race where the queue does not order the push before the theft: that is what is looked for.
    var input = 0
  }

  @Test func `shows a thief what its owner wrote before it pushed the job`() throws {
    let verdict = try explore("stolen-job") {
      let queue = RunQueue(capacity: 2)
      let job = Job()
      async let found = queue.steal(into: RunQueue(capacity: 2)) == nil ? 1 : job.input
      job.input = 1
      queue.push(1)
      try require(await found == 1, "the thief does not see the input of its job")
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }
}
