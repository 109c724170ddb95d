internal import Limiters

/// What one call of the library costs in the code of its caller, while a permit is free.
///
/// `Uncontended` passes through the adapters that make all mechanisms alike; these are the calls themselves, to
/// be set beside `baseline-compare-and-swap` and `baseline-semaphore-closure`.
package struct Calls: BenchWorkload {
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

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let pool = AsyncPool(maxElements: 1) { 0 }
    let queue = FIFOQueue()
    let budget = trial.request.budget
    // Nobody cancels the task, so nothing is thrown. One closure for each call: of several in one the compiler
    // (6.3.1) inlines none.
    switch call {
    case .permit:
      await measureRepeated(budget: budget, into: &report) { times in
        for _ in 0..<times { try? await limiter.acquire().release() }
      }
    case .run:
      await measureRepeated(budget: budget, into: &report) { times in
        for _ in 0..<times { try? await limiter.run { keep(0) } }
      }
    case .element:
      await measureRepeated(budget: budget, into: &report) { times in
        for _ in 0..<times { try? await pool.withElement { keep($0) } }
      }
    case .enqueue:
      await measureRepeated(budget: budget, into: &report) { times in
        for _ in 0..<times { try? await queue.enqueueAndWait { keep(0) } }
      }
    }
    if limiter.statistics.running != 0 || pool.lent != 0 || queue.isRunning {
      report.violations.append("a permit is still in use though every call has returned")
    }
  }
}
