/// Where it leads to ask whom a thread sleeps for, whom that one sleeps for, and so on.
enum SleepChain: Equatable {
  /// To a thread that has stopped in the middle of a job or rests, and goes on only when it is told to: however
  /// busy the machine is, no time that passes ends the sleep.
  case toWhoWaits
  /// Into a circle: each thread in it sleeps for a lock that the next one holds.
  case inCircle
  /// To a thread that has something to do, or to nobody who is known.
  case elsewhere

  /// A thread that holds a lock.
  struct Holder {
    /// Whether it has given the turn to another, or has left its thread for ever.
    ///
    /// It may be about to go to sleep then, and release a lock before it does.
    var hasStopped: Bool
    var isGivenUp: Bool
    var state: ThreadSight.State
  }

  /// Follows the chain from a thread in that state.
  ///
  /// - Parameters:
  ///   - state: of the thread that is asked about.
  ///   - count: how many threads there are; a chain that is longer is a circle.
  ///   - holder: the explored thread of that number, if it is one.
  init(
    from state: ThreadSight.State,
    among count: Int,
    holder: (Int32) -> Holder?
  ) {
    var state = state
    for _ in 0...count {
      guard case .sleeps(_, let number) = state, let next = holder(number) else {
        self = .elsewhere
        return
      }
      // At its place it sleeps for what nobody holds.
      if next.isGivenUp || next.hasStopped && next.state.isSleepForNobody {
        self = .toWhoWaits
        return
      }
      state = next.state
    }
    self = .inCircle
  }
}

extension ThreadSight.State {
  /// Whether the thread sleeps for something that nobody is known to hold.
  var isSleepForNobody: Bool { if case .sleeps(_, holder: 0) = self { true } else { false } }
}
