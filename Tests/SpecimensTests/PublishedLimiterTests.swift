import Specimens
import Synchronization
import TestSupport
import Testing

/// A specimen must show its defect, or it teaches nothing.
@Suite(.watched) struct `The published limiter` {
  @Test func `admits one after the other when nobody is cancelled`() {
    let executor = HandDrivenExecutor()
    let limiter = PublishedLimiter(concurrency: 1)
    let peak = PeakCount()
    for _ in 1...5 {
      Task(executorPreference: executor) {
        await limiter.run {
          peak.enter()
          await Task.yield()
          peak.leave()
        }
      }
    }
    executor.runAll()
    #expect(peak.entries == 5)
    #expect(peak.highest == 1)
  }

  @Test
  func `runs the body of a task cancelled while it waits, beside the one that has the permit`() {
    let executor = HandDrivenExecutor()
    let limiter = PublishedLimiter(concurrency: 1)
    let peak = PeakCount()
    let gate = AsyncStream<Void>.makeStream()
    Task(executorPreference: executor) {
      await limiter.run {
        peak.enter()
        for await _ in gate.stream {}
        peak.leave()
      }
    }
    executor.runAll()
    let second = Task(executorPreference: executor) {
      await limiter.run {
        peak.enter()
        peak.leave()
      }
    }
    executor.runAll()
    #expect(peak.entries == 1)
    second.cancel()
    executor.runAll()
    #expect(peak.entries == 2)
    #expect(peak.highest == 2)
    gate.continuation.finish()
    executor.runAll()
  }
}
