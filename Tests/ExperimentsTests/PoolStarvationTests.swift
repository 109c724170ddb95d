import TestSupport
import Testing

@testable import Experiments

/// Who is woken by the event of the demonstration of a starved pool.
@Suite(.watched) struct PoolStarvationTests {
  @Test
  func `every task that must wait is woken, whenever it begins and however it waits`() {
    // Each task blocks or suspends; the event happens before, between or after their beginnings.
    for ways in 0..<8 {
      for place in 0...3 {
        var event = PoolStarvation.EventState<Int>()
        var (mustBlock, mustSuspend) = (0, [Int]())
        var woken: (blocked: Int, suspended: [Int]) = (0, [])
        for task in 0...3 {
          if task == place { woken = event.happen() }
          guard task < 3 else { break }
          let suspends = ways & (1 << task) != 0
          if event.begin(suspendedAs: suspends ? task : nil) {
            if suspends { mustSuspend.append(task) } else { mustBlock += 1 }
          }
        }
        #expect(woken.blocked == mustBlock, "ways \(ways), event before task \(place)")
        #expect(woken.suspended == mustSuspend, "ways \(ways), event before task \(place)")
        #expect(event.begun == 3)
        #expect(event.hasHappened)
      }
    }
  }
}
