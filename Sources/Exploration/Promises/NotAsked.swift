internal import Basics
internal import ExplorableSynchronization

/// What a verdict does not speak of, one noun phrase each.
///
/// There is one such list: the verdicts of the lab and those of `explore` in a test are told with it, so that
/// neither keeps silent about what the other names.
package struct NotAsked: Hashable, Sendable {
  package private(set) var phrases: [String] = []
  /// Those of them that could have been asked: a number, a time, chance or the way the code is built left them out.
  private(set) var reasons: [String] = []

  /// - Parameters:
  ///   - verdict: what was found.
  ///   - scenario: what was explored.
  ///   - preemptions: how many a schedule could have, where the search was exhaustive; nil for any number.
  ///   - longest: how many steps a schedule could have.
  ///   - ended: why the search was ended from outside, in words; empty if it was not.
  ///   - further: what else was not asked, that only the caller knows.
  package init(
    _ verdict: Verdict,
    of scenario: Scenario,
    preemptions: Int?,
    longest: Int,
    ended: String = "",
    further: [String] = []
  ) {
    // Code of which nothing is known, and which knows nothing of the exploration.
    let isAnyCode = scenario.atRest != nil
    if case .exhaustive = verdict.strategy {
      if let preemptions {
        let drawn = verdict.draws == nil ? "" : ", but in those that were drawn"
        add("more than \(preemptions) pre-emption\(preemptions == 1 ? "" : "s")\(drawn)")
      }
      if let draws = verdict.draws {
        for phrase in draws.notCovered { addReason(phrase) }
        if verdict.isHopeless || !ended.isEmpty {
          addReason(Self.schedulesBehind(verdict.schedules, isHopeless: verdict.isHopeless) + ended)
        }
      } else if verdict.isCut {
        let phrase = Self.schedulesBehind(
          verdict.schedules,
          of: verdict.estimate,
          isHopeless: verdict.isHopeless
        )
        addReason(phrase + ended)
      }
    } else {
      addReason(
        verdict.isReplay ? "all other schedules" : "schedules that chance did not choose\(ended)"
      )
    }
    if verdict.merged > 0 {
      let count = verdict.merged
      addReason(
        "the rest of \(count) \(count == 1 ? "schedule" : "schedules"), left where another had come to the same, as "
          + "far as it is seen what steps touch"
      )
      if !verdict.races.isMade {
        addReason("what a data race would come to in those, for races were not looked for")
      }
    }
    if verdict.givenUp > 0 { addReason("what comes behind step \(longest) of a schedule") }
    if verdict.wasKeptFair {
      let ways = ["yields"] + (isAnyCode ? ["sleeps"] : [])
      let looks = scenario.inside ? ["looks at the same lock or atomic"] : []
      addReason(
        "a task that \(ListText.all(ways + looks, "or")) again and again while others could go on"
      )
    }
    if let points = verdict.timerPoints {
      let place = SourceLines(of: [points]).at(points)
      addReason(
        "that a Task.sleep ends by itself, as the one\(place): its time is the runtime's; sleep on a clock "
          + "that the code is given, and give it a VirtualClock() here"
      )
    }
    if isAnyCode {
      for phrase in verdict.unseenParts { addReason(phrase) }
      phrases += verdict.partsNeverSeen
    } else {
      if verdict.sawActorTurn {
        add("steps of others between two jobs that an actor runs in one turn")
        add("steps of others where a task leaves an actor and goes on at once")
      }
      addPlaces(verdict.operations, scenario)
    }
    addOperations(verdict.operations, isAnyCode: isAnyCode)
    if !isAnyCode, verdict.sawStart {
      add(
        "a task that begins before the code that starts it suspends"
          + (scenario.inside ? " or comes to its next operation on a lock or an atomic" : "")
      )
    }
    if isAnyCode {
      let queues = Interception.isLinked ? "" : "dispatch queues, "
      add("\(queues)timers of run loops, and threads that libraries start")
    }
    if !scenario.cancellable {
      add(isAnyCode ? "cancellations that the closure does not make itself" : "cancellation")
    }
    phrases += further
    phrases += verdict.races.notCovered(isAll: verdict.isInstrumented)
    // A verdict that calls itself exhaustive must not keep silent about them.
    let silences = [verdict.races.weakOrders, verdict.races.unknownOrder].compactMap(\.self)
    for phrase in silences + verdict.oneAnswer.phrases {
      if isAnyCode { addReason(phrase) } else { add(phrase) }
    }
  }

  /// Schedules that a search ended before, as it may at a violation or where it was told to.
  ///
  /// - Parameters:
  ///   - count: how many it has looked at.
  ///   - all: about how many there are; nil where nobody knows.
  ///   - isHopeless: whether the last ones came to no end.
  /// - Returns: a noun phrase.
  package static func schedulesBehind(
    _ count: Int,
    of all: Double? = nil,
    isHopeless: Bool = false
  ) -> String {
    let of = all.map { " of about \(Draws.about($0)) (an estimate)" } ?? ""
    let why = isHopeless ? ", the last of which came to no end one after the other" : ""
    return "schedules behind the first \(count)\(of)\(why)"
  }

  private mutating func addPlaces(
    _ operations: Set<SynchronizationOperation.Kind>,
    _ scenario: Scenario
  ) {
    guard scenario.inside, !operations.isEmpty else {
      let why = scenario.inside ? ", which uses no ExplorableSynchronization" : ""
      return add("orders inside synchronous code\(why)")
    }
    add("orders inside synchronous code elsewhere than at its ExplorableSynchronization")
  }

  private mutating func addOperations(
    _ operations: Set<SynchronizationOperation.Kind>,
    isAnyCode: Bool
  ) {
    if !operations.isDisjoint(with: [.lock, .tryLock]) {
      add("switches between an unlock and the next operation")
    }
    if operations.contains(.compare) { add("a weakCompareExchange that fails without cause") }
    if operations.contains(.parkAWhile) {
      add("a park(nanoseconds:) whose time is over while others can go on")
    }
    let parks: Set<SynchronizationOperation.Kind> = [.park, .parkAWhile]
    if !operations.isDisjoint(with: isAnyCode ? parks : parks.union([.join])) {
      add("a pool whose threads are all parked: here it always has another")
    }
  }

  private mutating func add(_ phrase: String) { phrases.append(phrase) }

  private mutating func addReason(_ phrase: String) {
    phrases.append(phrase)
    reasons.append(phrase)
  }
}
