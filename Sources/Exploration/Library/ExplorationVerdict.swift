/// What an exploration that found no failure looked at.
public struct ExplorationVerdict: Hashable, Sendable, CustomStringConvertible {
  /// How much of what there is was looked at.
  public enum Coverage: String, Hashable, Sendable {
    /// Every schedule within ``ExplorationVerdict/preemptionBound`` was run to its end, as far as the
    /// exploration can switch between tasks: ``ExplorationVerdict/notCovered`` says where it cannot.
    case exhaustive
    /// Some were not, because a number, a time or chance left them out: ``ExplorationVerdict/notCovered`` says
    /// which.
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
  /// What the exploration did not look at, one noun phrase each.
  public internal(set) var notCovered: [String]

  /// Among which schedules it looked, in words.
  private var bounds: String

  /// All of it in a line, the bounds first.
  public var description: String {
    "\(coverage.rawValue), \(bounds): \(schedules) schedules, \(steps) steps; not covered: "
      + notCovered.joined(separator: "; ")
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
    coverage = verdict.coverage == .exhaustive && isWhole ? .exhaustive : .bounded
    schedules = verdict.schedules
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
    notCovered =
      NotAsked(
        verdict,
        of: scenario,
        preemptions: preemptionBound,
        longest: longest,
        ended: stop?.text ?? ""
      ).phrases
  }
}
