import Testing

@testable import Workloads

@Suite struct `A task started on a thread of the harness` {
  @Test func `does the work that would hold the thread elsewhere`() async {
    let tasks = 5_000
    let world = WallWorld()
    let started = await withCheckedContinuation { done in
      StartingThread.start("starter") {
        // Immediate, so that they begin on this thread, as visits do.
        let started = (1...tasks).map { _ in
          Task.immediateDetached {
            await world.leaveStartingThread()
            return StartingThread.isCurrent
          }
        }
        done.resume(returning: started)
      }
    }
    var stayed = 0
    for task in started where await task.value { stayed += 1 }
    #expect(stayed == 0)
  }

  @Test func `knows where it is`() async {
    #expect(!StartingThread.isCurrent)
    let isCurrent = await withCheckedContinuation { found in
      StartingThread.start("starter") { found.resume(returning: StartingThread.isCurrent) }
    }
    #expect(isCurrent)
  }
}
