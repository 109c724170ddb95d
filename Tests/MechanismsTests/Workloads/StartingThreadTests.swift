import Basics
import TestSupport
import Testing

@testable import Mechanisms

@Suite(.watched) struct `A task started on a thread of the harness` {
  @Test func `does the work that would hold the thread elsewhere`() async {
    let tasks = 5_000
    let world = WallWorld()
    let started = await withCheckedContinuation { done in
      OSThread("starter", startsTasks: true) {
        // Immediate, so that they begin on this thread, as visits do.
        let started = (1...tasks).map { _ in
          Task.immediateDetached {
            await world.leaveStartingThread()
            return OSThread.isStartingTasks
          }
        }
        done.resume(returning: started)
      }.detach()
    }
    var stayed = 0
    for task in started where await task.value { stayed += 1 }
    #expect(stayed == 0)
  }

  @Test func `knows where it is`() async {
    #expect(!OSThread.isStartingTasks)
    let isCurrent = await withCheckedContinuation { found in
      OSThread("starter", startsTasks: true) {
        found.resume(returning: OSThread.isStartingTasks)
      }.detach()
    }
    #expect(isCurrent)
  }
}
