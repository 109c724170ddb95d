import Basics
import TestSupport
import Testing

@Suite(.watched) struct `A parker` {
  @Test func `does not sleep when the token came before`() {
    let parker = ThreadParker()
    parker.unpark()
    parker.park()
  }

  @Test func `holds one token, however many come`() {
    let parker = ThreadParker()
    parker.unpark()
    parker.unpark()
    parker.park()
    #expect(!parker.park(nanoseconds: 1_000))
  }

  @Test func `loses no wake-up between two threads that wake each other`() async {
    let (here, there) = (ThreadParker(), ThreadParker())
    let rounds = 20_000
    let other = OSThread("other") {
      for _ in 0..<rounds {
        there.park()
        here.unpark()
      }
    }
    await onOwnThread("parker") {
      for round in 0..<rounds {
        there.unpark()
        // Now and then with an end that is near, so that the token comes around the same time.
        while !here.park(nanoseconds: round.isMultiple(of: 3) ? 5_000 : 1_000_000_000) {}
      }
    }
    other.join()
  }
}
