/// What one block found: a line of the log that an interrupted run is resumed from.
package struct BlockRecord: Hashable, Codable, Sendable {
  package struct Entry: Hashable, Codable, Sendable {
    /// Which contestant of the plan's entry.
    package var contestant: Int
    package var report: TrialReport

    package init(contestant: Int, report: TrialReport) {
      self.contestant = contestant
      self.report = report
    }
  }

  /// From 1, in the order of measuring; a block measured again has a new one.
  package var number: Int
  package var fork: Int
  /// Which entry of the plan.
  package var entry: Int
  /// In the order they ran.
  package var trials: [Entry]
  /// How busy the machine was with others; nil where it does not say.
  package var disturbance: Disturbance?
  /// Why its figures do not count; nil where they do.
  package var dropReason: String?

  package init(
    number: Int,
    fork: Int,
    entry: Int,
    trials: [Entry],
    disturbance: Disturbance? = nil,
    dropReason: String? = nil
  ) {
    self.number = number
    self.fork = fork
    self.entry = entry
    self.trials = trials
    self.disturbance = disturbance
    self.dropReason = dropReason
  }
}
