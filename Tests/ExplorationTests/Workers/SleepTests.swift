import Basics
import CExplorable
import Synchronization
import TestSupport
import Testing

@testable import Exploration

@Suite(.watched) struct `Who sleeps for whom` {
  private let waits = ThreadSight.State.sleeps(at: 1, holder: 0)

  private func chain(
    from state: ThreadSight.State,
    _ holders: [Int32: SleepChain.Holder]
  ) -> SleepChain {
    SleepChain(from: state, among: holders.count) { holders[$0] }
  }

  private func holder(
    hasStopped: Bool = false,
    isGivenUp: Bool = false,
    _ state: ThreadSight.State
  ) -> SleepChain.Holder {
    .init(hasStopped: hasStopped, isGivenUp: isGivenUp, state: state)
  }

  @Test
  func `a lock of a thread that has stopped is not released`() {
    #expect(
      chain(from: .sleeps(at: 8, holder: 2), [2: holder(hasStopped: true, waits)]) == .toWhoWaits
    )
    #expect(
      chain(
        from: .sleeps(at: 8, holder: 2),
        [2: holder(.sleeps(at: 9, holder: 3)), 3: holder(hasStopped: true, waits)]
      ) == .toWhoWaits
    )
    #expect(
      chain(from: .sleeps(at: 8, holder: 2), [2: holder(isGivenUp: true, .runs)]) == .toWhoWaits
    )
  }

  @Test
  func `a thread that has stopped and still runs may release what it holds`() {
    #expect(
      chain(from: .sleeps(at: 8, holder: 2), [2: holder(hasStopped: true, .runs)]) == .elsewhere
    )
    let passes = holder(hasStopped: true, .sleeps(at: 9, holder: 3))
    #expect(chain(from: .sleeps(at: 8, holder: 2), [2: passes, 3: holder(.runs)]) == .elsewhere)
  }

  @Test
  func `a lock of a thread that is not explored says nothing`() {
    #expect(
      chain(from: .sleeps(at: 8, holder: 7), [2: holder(hasStopped: true, waits)]) == .elsewhere
    )
    #expect(chain(from: waits, [2: holder(hasStopped: true, waits)]) == .elsewhere)
    #expect(chain(from: .runs, [2: holder(hasStopped: true, waits)]) == .elsewhere)
  }

  @Test
  func `threads that sleep for each other are a circle`() {
    let first = ThreadSight.State.sleeps(at: 8, holder: 2)
    let second = ThreadSight.State.sleeps(at: 9, holder: 1)
    #expect(chain(from: first, [1: holder(first), 2: holder(second)]) == .inCircle)
    #expect(chain(from: second, [1: holder(second)]) == .inCircle)
  }

  @Test
  func `what passes while the machine stands still is no sleep`() {
    var span = SleepSpan()
    let begin = ContinuousClock.now
    #expect(span.look(1, waits, at: begin) == .zero)
    #expect(span.look(1, waits, at: begin + .seconds(60)) < .seconds(1))
    for look in 1...200 {
      _ = span.look(1, waits, at: begin + .seconds(60) + .milliseconds(10 * look))
    }
    #expect(span.look(1, waits, at: begin + .seconds(62)) > .seconds(1))
  }

  @Test
  func `a thread that did something in between, or runs, has slept for no time`() {
    var span = SleepSpan()
    let begin = ContinuousClock.now
    _ = span.look(1, waits, at: begin)
    #expect(span.look(1, waits, at: begin + .milliseconds(5)) == .milliseconds(5))
    #expect(span.look(2, waits, at: begin + .milliseconds(10)) == .zero)
    #expect(span.look(2, .sleeps(at: 2, holder: 0), at: begin + .milliseconds(15)) == .zero)
    #expect(span.look(2, .runs, at: begin + .milliseconds(20)) == .zero)
    #expect(span.look(2, .runs, at: begin + .milliseconds(25)) == .zero)
    _ = span.look(2, waits, at: begin + .milliseconds(30))
    span.reset()
    #expect(span.look(2, waits, at: begin + .milliseconds(35)) == .zero)
  }

  /// The kernel names the one who is next as the holder of such a lock before it wakes that one.
  @Test
  func `a thread that is given a lock is never said to sleep for itself`() {
    let place = Place()
    let threads = (0..<3).map { _ in OSThread { place.compete() } }
    for _ in threads { place.isReady.wait() }
    let sights = place.sights.withLock { $0 }
    var sleeping = 0
    var ofThemselves = 0
    while sleeping < 20_000 {
      for (number, sight) in sights {
        guard case .sleeps(_, let holder) = sight.state else { continue }
        sleeping += 1
        if holder == number { ofThemselves += 1 }
      }
    }
    place.isOver.store(true, ordering: .relaxed)
    for thread in threads { thread.join() }
    #expect(ofThemselves == 0)
  }
}

/// A lock that threads of their own compete for, and a look at each of them.
private final class Place: Sendable {
  let isOver = Atomic(false)
  let isReady = ThreadSemaphore()
  let sights = Mutex<[Int32: ThreadSight]>([:])
  private let lock = Mutex(0)

  func compete() {
    let sight = ThreadSight()
    sights.withLock { $0[thread_number()] = sight }
    isReady.post()
    while !isOver.load(ordering: .relaxed) {
      lock.withLock { count in for _ in 0..<500 { count &+= 1 } }
    }
  }
}
