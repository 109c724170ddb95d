import TestSupport
import Testing

@testable import Grading

/// Batches whose files wait, where the limit is not 1.
@Suite(.watched, .serialized) struct `Files that wait at each limit` {
  @Test func `hold one thread at most without a permit, or are refused`() async {
    let name = "waits_at_limits"
    await expect(
      Grader.batch(GatedAtLimits<GateAtOneOnly>.self),
      name,
      refusedSaying: "limit 2, none of whose files ends: 2 are under way, and 6 threads wait"
    )
    await expect(
      Grader.batch(GatedAtLimits<GateForEachPermit>.self),
      name,
      refusedSaying: "limit 2, none of whose files ends: 2 are under way, and 2 threads wait"
    )
    await expect(
      Grader.batch(OneAhead.self),
      name,
      refusedSaying: "limit 1, none of whose files ends: 1 is under way, and 2 threads wait"
    )
    await expect(
      Grader.batch(Gated<LooksEachSecond>.self),
      name,
      refusedSaying: "looks again and again. Wait without a time limit"
    )
    await expect(Grader.batch(GatedAtLimits<OneGate>.self), name)
  }
}
