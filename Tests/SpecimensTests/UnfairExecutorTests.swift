import Specimens
import Synchronization
import TestSupport
import Testing

@Suite(.watched) struct `The unfair executor` {
  @Test func `runs tasks that yield one after the other, each to its end`() async {
    let executor = UnfairExecutor(workers: 1)
    let order = Log()
    await Task(executorPreference: executor) {
      await withDiscardingTaskGroup { group in
        for task in 1...3 {
          group.addTask {
            for _ in 0..<4 {
              order.append(task)
              await Task.yield()
            }
          }
        }
      }
    }.value
    executor.shutdown()
    #expect(order.all == [3, 2, 1].flatMap { Array(repeating: $0, count: 4) })
  }
}

/// Whose turns there were, in order.
private final class Log: Sendable {
  private let entries = Mutex<[Int]>([])

  func append(_ task: Int) { entries.withLock { $0.append(task) } }
  var all: [Int] { entries.withLock { $0 } }
}
