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

  @Test func `wakes somebody for the yield of a task when another job runs before it`() {
    let crew = Self.computing(workers: 2)
    crew.workers[0].appendYielding(2, of: 1, crew)
    crew.workers[0].wake(3, crew)
    #expect(!crew.workers[1].wasWoken)
    #expect(crew.workers[0].next(crew) == 3)
    #expect(crew.workers[1].wasWoken)
  }

  @Test func `runs the task woken last next, and before the others those that were woken first`() {
    let crew = Crew(workers: 1)
    let worker = crew.workers[0]
    for job in 1...4 as ClosedRange<UInt> { worker.wake(job, crew) }
    let order = (0..<4).map { _ in worker.next(crew) }
    #expect(order == [4, 1, 2, 3])
  }

  /// As `WorkStealingExecutor` promises.
  @Test func `has one job of the queue run after three in a row that were just woken`() {
    let crew = Crew(workers: 1)
    let worker = crew.workers[0]
    for job in 101...102 as ClosedRange<UInt> { worker.append(job, crew) }
    let order = (1...8 as ClosedRange<UInt>).map { job in
      worker.wake(job, crew)
      return worker.next(crew)
    }
    #expect(order == [1, 2, 3, 101, 5, 6, 7, 102])
  }

  @Test func `says of each job how it came to its worker`() {
    let crew = Crew(workers: 2)
    let (first, second) = (crew.workers[0], crew.workers[1])
    for job in 1...3 as ClosedRange<UInt> { _ = crew.inject(job, .ordinary) }
    var came: [JobRoute] = []
    func run(_ job: UInt, on worker: Worker) {
      #expect(worker.next(crew) == job)
      came.append(worker.route)
    }
    run(1, on: first)
    run(2, on: first)
    first.wake(4, crew)
    run(4, on: first)
    run(3, on: second)
    for job in 5...6 as ClosedRange<UInt> { first.append(job, crew) }
    run(5, on: second)
    #expect(came == [.outside, .queue, .slot, .outside, .stolen])
    #expect(first.statistics.steals == 0 && second.statistics.steals == 1)
    // Its own work lasts until it looks outside all the same.
    for job in 10...100 as ClosedRange<UInt> { first.append(job, crew) }
    _ = crew.inject(7, .ordinary)
    let next = (0..<61).map { _ in (job: first.next(crew), route: first.route) }
    #expect(next.contains { $0.job == 7 && $0.route == .outside })
  }

  @Test func `takes background jobs from outside only when there is nothing to steal`() {
    let crew = Crew(workers: 2)
    for (job, band) in [(1, .ordinary), (2, .background), (3, .high)] as [(UInt, Bands.Band)] {
      _ = crew.inject(job, band)
    }
    #expect(crew.workers[0].next(crew) == 3)
    crew.workers[0].append(4, crew)
    crew.workers[0].append(5, crew)
    let order = (0..<4).map { _ in crew.workers[1].next(crew) }
    #expect(order == [1, 4, 5, 2])
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
    #expect(crew.injection.takeLast() == 2)
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
