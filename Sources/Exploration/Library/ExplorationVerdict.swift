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
  /// What the exploration did not look at, one noun phrase each.
  public internal(set) var notCovered: [String]

  /// All of it in a line.
  public var description: String {
    "\(coverage.rawValue): \(schedules) schedules, \(steps) steps; not covered: "
      + notCovered.joined(separator: "; ")
  }
}

extension ExplorationVerdict {
  init(_ verdict: Verdict, of scenario: Scenario, preemptionBound: Int?, longest: Int) {
    // A task that retries is made to wait, and nobody knows whether the retries would have ended.
    let isWhole = !verdict.wasKeptFair && verdict.timerPoints == nil
    coverage = verdict.coverage == .exhaustive && isWhole ? .exhaustive : .bounded
    schedules = verdict.schedules
    steps = verdict.steps
    givenUp = verdict.givenUp
    self.preemptionBound = preemptionBound
    notCovered =
      NotAsked(verdict, of: scenario, preemptions: preemptionBound, longest: longest).phrases
  }
}
