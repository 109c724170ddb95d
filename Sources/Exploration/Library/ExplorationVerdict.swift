internal import Basics
internal import ExplorableSynchronization

/// What an exploration that found no failure looked at.
public struct ExplorationVerdict: Hashable, Sendable, CustomStringConvertible {
  /// How much of what there is was looked at.
  public enum Coverage: String, Hashable, Sendable {
    /// Every schedule within ``ExplorationVerdict/preemptionBound`` was run to its end, as far as the
    /// exploration can switch between tasks: ``ExplorationVerdict/notCovered`` says where it cannot.
    case exhaustive
    /// Some were not, because a number, a time, chance or the reduction left them out:
    /// ``ExplorationVerdict/notCovered`` says which.
    case bounded
  }

  /// How much of what there is was looked at.
  public internal(set) var coverage: Coverage
  /// How many schedules were run: each to its end, but for those in ``givenUp``.
  public internal(set) var schedules: Int
  /// How many more the reduction left, each where it had come to what another had gone on from, as far as was seen.
  public internal(set) var merged: Int
  /// How many of ``schedules`` were drawn: all that a strategy at random runs, or those that it goes over to where
  /// there are too many to be searched in order.
  public internal(set) var drawn: Int
  /// About how many schedules there are within ``preemptionBound``, where the search in order has ended before its end
  /// and looked at a hundred at least; else nil.
  ///
  /// The documentation says how it is made, and how far off it may be.
  public internal(set) var estimate: Double?
  /// With which chance, at least, each schedule that PCT drew shows a defect of PCT's depth; nil if it drew none.
  public internal(set) var chance: Double?
  /// Over all schedules.
  public internal(set) var steps: Int
  /// How many of ``schedules`` got too long and were left before their end.
  public internal(set) var givenUp: Int
  /// The bound on pre-emptions of the search in order; nil for none.
  ///
  /// Those in ``drawn`` keep to none.
  public internal(set) var preemptionBound: Int?
  /// Whether every schedule within the bound was run, as far as the code showed where it can switch.
  package internal(set) var ranEverySchedule: Bool
  /// What the exploration did not look at, one noun phrase each.
  public internal(set) var notCovered: [String]

  /// Whether schedules could be left where others stand for them.
  private var isReduced: Bool
  /// Among which schedules it looked, in words; of those in order, where it went over to drawn ones.
  private var bounds: String
  /// How those were drawn that it went over to, in words; nil if there were none.
  private var way: String?
  /// Those of `notCovered` that could have been covered.
  private var reasons: [String]

  /// All of it in a line, with the bounds; of ``notCovered`` what could have been covered.
  public var description: String {
    coverage.rawValue + (isBoundOfSome ? "" : ", \(bounds)") + (isReduced ? ", reduced: " : ": ")
      + counted(schedules, "schedule")
      + (way.map(parts) ?? "")
      + (isReduced ? " run and \(merged == 0 ? "none" : "\(merged)") left" : "")
      + ", \(counted(steps, "step"))"
      + (reasons.isEmpty ? "" : "; not covered: " + reasons.joined(separator: "; "))
  }

  /// Whether the bound is not that of all schedules, because those that were drawn keep to none.
  private var isBoundOfSome: Bool { way != nil && preemptionBound != nil }

  private func parts(drawnBy way: String) -> String {
    let (inOrder, drawn) = ("\(schedules - drawn) in order", "then \(drawn) drawn by \(way)")
    return isBoundOfSome
      ? " (\(inOrder), with \(bounds); \(drawn), with any number)" : " (\(inOrder), \(drawn))"
  }

  /// Says that the exploration began anew, once what outlives the closure had been set up.
  mutating func noteSetUp() {
    let phrase =
      "runs in which something that outlives the closure, as a static, is set up or changed for the first time: the "
      + "exploration began anew behind them"
    notCovered.insert(phrase, at: 0)
    reasons.insert(phrase, at: 0)
  }

  /// The same, and all of ``notCovered``, one a line.
  package var inFull: String {
    ([description] + notCovered.map { "  not covered: \($0)" }).joined(separator: "\n")
  }
}

/// Why an exploration was ended from outside.
enum ExplorationStop: Hashable, Sendable {
  /// The time that it was allowed was over.
  case time(Duration)
  /// The task that asked for it was cancelled.
  case cancelled

  var text: String {
    switch self {
    case .time(let limit): "; the time allowed, \(limit), was over"
    case .cancelled: "; the task that explores was cancelled"
    }
  }
}

extension ExplorationVerdict {
  init(
    _ verdict: Verdict,
    of scenario: Scenario,
    preemptionBound: Int?,
    longest: Int,
    stop: ExplorationStop? = nil
  ) {
    // A task that retries is made to wait, and nobody knows whether the retries would have ended.
    let isWhole = !verdict.wasKeptFair && verdict.timerPoints == nil
    ranEverySchedule = verdict.coverage == .exhaustive && isWhole && verdict.merged == 0
    coverage = ranEverySchedule && verdict.sawAll ? .exhaustive : .bounded
    schedules = verdict.schedules
    merged = verdict.merged
    isReduced = verdict.isReduced
    drawn =
      verdict.strategy == .exhaustive || verdict.isReplay
      ? verdict.draws?.drawn ?? 0 : verdict.schedules
    estimate = verdict.estimate
    chance = verdict.draws?.chance
    way = verdict.draws?.way
    steps = verdict.steps
    givenUp = verdict.givenUp
    self.preemptionBound = preemptionBound
    bounds =
      verdict.isReplay
      ? "one schedule"
      : verdict.strategy != .exhaustive
        ? "schedules drawn at random"
        : preemptionBound.map { "at most \($0) \($0 == 1 ? "pre-emption" : "pre-emptions")" }
          ?? "any number of pre-emptions"
    let notAsked = NotAsked(
      verdict,
      of: scenario,
      preemptions: preemptionBound,
      longest: longest,
      ended: stop?.text ?? ""
    )
    notCovered = notAsked.phrases
    reasons = notAsked.reasons
  }
}

extension Verdict {
  /// Whether all of the code under study was seen at its locks, its atomics and its hops.
  fileprivate var sawAll: Bool {
    isInstrumented && unseenCalls.isEmpty && leftThread == nil
  }

  /// Whether all of the code under study was built with the instrumentation.
  var isInstrumented: Bool {
    Interception.isLinked && Interception.hasInstrumentedCode && unseen.isEmpty
      && !isClosureUnseen
  }

  /// What was not seen of the code under study, for it was built so that nobody can.
  var unseenParts: [String] {
    var parts: [String] = []
    if !Interception.isLinked {
      parts.append(
        "locks, atomics and hops, but those of ExplorableSynchronization: this program takes none over (the product "
          + "Exploration does, on Linux, without --sanitize=thread)"
      )
    } else if !isInstrumented {
      let lines = SourceLines(of: unseen.map { [$0] })
      let places = unseen.compactMap { lines.place(of: [$0]) }
      let which =
        places.isEmpty ? "" : " where it begins at \(ListText.all(places.map(\.description)))"
      parts.append(
        "atomics and locks of Synchronization, in code built without the instrumentation\(which) "
          + "(swift package explore shows them)"
      )
    }
    let lines = SourceLines(of: Array(unseenCalls.values))
    for (name, points) in unseenCalls.sorted(by: { $0.key < $1.key }) {
      parts.append("what comes of \(name)\(lines.at(points)), which is not taken over")
    }
    if let points = leftThread {
      let place = SourceLines(of: [points]).at(points)
      parts.append(
        "what a thread does later that still waits\(place) when all else has ended: it was let go of; end it, and "
          + "wait for its end, before the closure returns"
      )
    }
    return parts
  }

  /// What nobody sees of the code under study, where it was built like this.
  var partsNeverSeen: [String] {
    var parts: [String] = []
    if !Interception.isLinked, sawActorTurn {
      parts.append(
        "steps of other tasks between what a task does on an actor and what it goes on to do at once on "
          + "the pool or on an actor that is free"
      )
    }
    if !isInstrumented {
      if sawActorTurn {
        parts.append("steps of other tasks between two jobs that an actor runs in one turn")
      }
      parts.append(
        "a task that begins before the code that starts it suspends or comes to its next lock or atomic"
      )
    }
    if sawLockInside {
      parts.append(
        "races between two calls of Foundation that take the same lock inside of it: the lock puts in an order what "
          + "tasks do around the calls"
      )
    }
    if sawThread {
      parts.append(
        "switches where a Thread is cancelled, or asked whether it is, or is executing or finished: that is memory of "
          + "Foundation"
      )
    }
    parts.append("switches inside synchronous code elsewhere than at its locks and atomics")
    return parts
  }
}
