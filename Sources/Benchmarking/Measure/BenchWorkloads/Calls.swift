internal import Limiters

/// What one call of the library costs in the code of its caller, while a permit is free.
///
/// They are the calls that the adapters' loops of `uncontended` make, without an adapter. They are to be set beside
/// `baseline-compare-and-swap` and `baseline-semaphore-closure`.
package struct Calls: PairedWorkload {
  private enum Call: String, CaseIterable {
    case permit
    case run
    case element
    case enqueue
  }

  private let call: Call

  package static let all: [any BenchWorkload] = Call.allCases.map { Calls(call: $0) }

  package var id: String { "call-\(call.rawValue)" }
  package let headline: Headline? = Headline(.timePerOperation, "mean")
  package let measuresMechanisms = false

  package var question: String {
    switch call {
    case .permit: "What do acquiring a free permit of a ConcurrencyLimiter and releasing it cost?"
    case .run: "What does ConcurrencyLimiter.run cost with a free permit and an empty body?"
    case .element: "What does AsyncPool.withElement cost with an idle element and an empty body?"
    case .enqueue: "What does FIFOQueue.enqueueAndWait cost with an empty queue and an empty body?"
    }
  }

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] { [Cell(id)] }

  package func runner(_ trial: Trial) -> Runner {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let pool = AsyncPool(maxElements: 1) { 0 }
    let queue = FIFOQueue()
    @Sendable func check(_ report: inout TrialReport) {
      if limiter.statistics.running != 0 || pool.lent != 0 || queue.isRunning {
        report.violations.append("a permit is still in use though every call has returned")
      }
    }
    // Nobody cancels the task, so nothing is thrown.
    switch call {
    case .permit:
      return .timed(trial) { times in
        for _ in 0..<times { try? await limiter.acquire().release() }
      } conclude: {
        check(&$0)
      }
    case .run:
      return .timed(trial) { times in
        for _ in 0..<times { try? await limiter.run {} }
      } conclude: {
        check(&$0)
      }
    case .element:
      return .timed(trial) { times in
        for _ in 0..<times { try? await pool.withElement { _ in } }
      } conclude: {
        check(&$0)
      }
    case .enqueue:
      return .timed(trial) { times in
        for _ in 0..<times { try? await queue.enqueueAndWait {} }
      } conclude: {
        check(&$0)
      }
    }
  }
}
