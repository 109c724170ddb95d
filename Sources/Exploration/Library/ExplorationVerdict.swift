internal import ExplorableSynchronization

/// What an exploration that found no failure looked at.
public struct ExplorationVerdict: Hashable, Sendable, CustomStringConvertible {
  /// How much of what there is was looked at.
  public enum Coverage: String, Hashable, Sendable {
    /// Every schedule within ``ExplorationVerdict/preemptionBound`` was run, as far as the exploration
    /// can switch between tasks: ``ExplorationVerdict/notCovered`` says where it cannot.
    case exhaustive
    /// Some were not: ``ExplorationVerdict/notCovered`` says which.
    case bounded
  }

  /// How much of what there is was looked at.
  public internal(set) var coverage: Coverage
  /// How many schedules were run.
  public internal(set) var schedules: Int
  /// Over all schedules.
  public internal(set) var steps: Int
  /// Schedules that got too long and were left before their end.
  public internal(set) var givenUp: Int
  /// How many pre-emptions a schedule had at most; nil for no bound.
  public internal(set) var preemptionBound: Int?
  /// What the exploration did not look at, one sentence each.
  public internal(set) var notCovered: [String]

  /// All of it in a line.
  public var description: String {
    "\(coverage.rawValue): \(schedules) schedules, \(steps) steps; not covered: "
      + notCovered.joined(separator: "; ")
  }
}

extension ExplorationVerdict {
  init(_ verdict: Verdict, preemptionBound: Int?, longest: Int, stoppedAt most: Int) {
    // A task that retries is made to wait, and nobody knows whether the retries would have ended.
    let isWhole = !verdict.wasKeptFair && verdict.timerPoints == nil
    coverage = verdict.coverage == .exhaustive && isWhole ? .exhaustive : .bounded
    schedules = verdict.schedules
    steps = verdict.steps
    givenUp = verdict.givenUp
    self.preemptionBound = preemptionBound
    notCovered = []
    if case .exhaustive = verdict.strategy {
      if let preemptionBound {
        notCovered.append("more than \(preemptionBound) pre-emptions")
      }
      if verdict.coverage == .bounded, schedules >= most || verdict.isHopeless {
        let why = verdict.isHopeless ? ", the last of which came to no end one after the other" : ""
        notCovered.append("schedules behind the first \(schedules)\(why)")
      }
    } else {
      notCovered.append(
        verdict.isReplay ? "all other schedules" : "schedules that chance did not choose"
      )
    }
    if givenUp > 0 { notCovered.append("what comes behind step \(longest) of a schedule") }
    if verdict.wasKeptFair {
      notCovered.append(
        "a task that yields, sleeps, or looks at the same lock or atomic, again and again while others could go on"
      )
    }
    if let points = verdict.timerPoints {
      let place = SourceLines(of: [points]).at(points)
      notCovered.append(
        "that a Task.sleep ends by itself, as the one\(place): its time is the runtime's; sleep on a clock "
          + "that the code is given, and give it a VirtualClock() here"
      )
    }
    if verdict.sawActorTurn {
      notCovered.append("steps of other tasks between two jobs that an actor runs in one turn")
      notCovered.append(
        "steps of other tasks between what a task does on an actor and what it goes on to do at once on "
          + "the pool or on an actor that is free"
      )
    }
    notCovered.append(
      verdict.operations.isEmpty
        ? "switches inside synchronous code, which uses no ExplorableSynchronization"
        : "switches inside synchronous code elsewhere than at its ExplorableSynchronization"
    )
    notCovered.append(
      "a task that begins before the code that starts it suspends or comes to its next operation of "
        + "ExplorableSynchronization"
    )
    if !verdict.operations.isDisjoint(with: [.lock, .tryLock]) {
      notCovered.append("switches between an unlock and the next operation")
    }
    if verdict.operations.contains(.compare) {
      notCovered.append("a weakCompareExchange that fails without cause")
    }
    if verdict.operations.contains(.parkAWhile) {
      notCovered.append("a park(nanoseconds:) whose time is over while others can go on")
    }
    if !verdict.operations.isDisjoint(with: [.park, .parkAWhile, .join]) {
      notCovered.append("a pool whose threads are all parked: here it always has another")
    }
    notCovered.append("dispatch queues, threads and timers that the exploration does not see")
    notCovered.append("cancellations that the closure does not make itself")
    notCovered.append("data races and weak memory: one step runs at a time")
  }
}
