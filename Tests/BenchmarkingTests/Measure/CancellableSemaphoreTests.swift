import TestSupport
import Testing

@testable import Benchmarking

@Suite(.watched) struct `The floor with cancellation` {
  private let executor = HandDrivenExecutor()
  private let journal = Journal()

  private func start(_ name: String, _ semaphore: CancellableSemaphore) -> Task<Void, Never> {
    Task(executorPreference: executor) { [journal] in
      do {
        try await semaphore.run {
          journal.note("\(name) runs")
          await Task.yield()
        }
      } catch {
        journal.note("\(name) is cancelled")
      }
    }
  }

  @Test func `a cancelled task leaves the line, and the others are served in order`() {
    let semaphore = CancellableSemaphore(permits: 1)
    let tasks = (1...200).map { start("\($0)", semaphore) }
    for (index, task) in tasks.enumerated() where index % 3 == 2 { task.cancel() }
    executor.runAll()
    let served = (1...200).filter { $0 % 3 != 0 }
    #expect(journal.entries.filter { $0.hasSuffix("runs") } == served.map { "\($0) runs" })
    #expect(journal.entries.count == 200)
    #expect(semaphore.free == 1)
  }

  @Test(arguments: 1...12) func `a cancellation at any moment loses no permit`(steps: Int) {
    let semaphore = CancellableSemaphore(permits: 1)
    let tasks = (1...3).map { start("\($0)", semaphore) }
    for _ in 1...steps { _ = executor.runOne() }
    tasks[1].cancel()
    executor.runAll()
    #expect(journal.entries.contains("1 runs") && journal.entries.contains("3 runs"))
    #expect(journal.entries.count == 3)
    #expect(semaphore.free == 1)
  }
}
