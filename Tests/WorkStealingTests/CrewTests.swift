import Basics
import TestSupport
import Testing

@testable import WorkStealing

// What several workers decide one after the other, each step called by hand. No thread runs, and a worker
// that was woken is one whose parker has its token.

@Suite(.watched) struct `A crew` {
  /// A crew whose first worker runs job 1 while the others sleep, the second one on watch.
  private static func computing(workers: Int) -> Crew {
    let crew = Crew(workers: workers)
    _ = crew.inject(1, .ordinary)
    #expect(crew.workers[0].next(crew) == 1)
    for worker in 1..<workers { _ = crew.fallAsleep(worker) }
    return crew
  }

  /// The same, but the second worker computes too, and nobody has the watch.
  private static func unwatched(workers: Int) -> Crew {
    let crew = computing(workers: workers)
    let rose = crew.rise(1)
    #expect(rose)
    crew.endSearch()
    return crew
  }

  @Test func `gives the watch to another when the one woken for a full slot finds other work`() {
    let crew = Self.unwatched(workers: 4)
    let first = crew.workers[0]
    first.wake(2, crew)
    #expect(crew.workers[3].wasWoken)
    // Made ready while the woken one searches, so it wakes nobody.
    first.append(3, crew)
    #expect(!crew.workers[2].wasWoken)
    #expect(first.queue.steal(into: crew.workers[3].queue) == 3)
    crew.endSearch()
    #expect(crew.workers[2].wasWoken)
  }

  @Test func `wakes nobody for empty slots when the last searcher has found work`() {
    let crew = Self.unwatched(workers: 4)
    crew.workers[0].append(2, crew)
    #expect(crew.workers[3].wasWoken)
    #expect(crew.workers[0].queue.steal(into: crew.workers[3].queue) == 2)
    crew.endSearch()
    #expect(!crew.workers[2].wasWoken)
  }

  @Test func `wakes somebody for the yield of a task inside the job of another`() {
    for (task, isWoken) in [(1, false), (7, true)] as [(UInt, Bool)] {
      let crew = Self.computing(workers: 2)
      crew.workers[0].appendYielding(2, of: task, crew)
      #expect(crew.workers[1].wasWoken == isWoken)
    }
  }

  @Test func `stays open under a job that came late, for what that job makes ready`() {
    let crew = Crew(workers: 2)
    crew.beginEnding()
    #expect(crew.fallAsleep(0) == .onWatch)
    #expect(crew.fallAsleep(1) == .lastOfAll)
    // Its watch is over just when a job comes.
    let rose = crew.rise(0)
    #expect(rose)
    let isTaken = crew.inject(1, .ordinary)
    #expect(isTaken && crew.injection.takeShare(of: 2)?.job == 1)
    crew.endSearch()
    #expect(!crew.end(butFor: 1))
    let isOpen = crew.inject(2, .background)
    #expect(isOpen)
    #expect(crew.workers[1].wasWoken)
    #expect(crew.injection.takeShare(of: 2)?.job == 2)
    crew.endSearch()
    #expect(crew.fallAsleep(0) == .onWatch)
    #expect(crew.fallAsleep(1) == .lastOfAll)
    #expect(crew.end(butFor: 1))
    #expect(crew.workers[0].wasWoken)
  }
}

extension Crew {
  fileprivate func fallAsleep(_ worker: Int) -> Resting.Rest {
    beginSearch()
    return lieDown(worker)
  }
}

extension Worker {
  /// Whether somebody has woken it since it was last asked.
  fileprivate var wasWoken: Bool { parker.park(nanoseconds: 1) }
}
