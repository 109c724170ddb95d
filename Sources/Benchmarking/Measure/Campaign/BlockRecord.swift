/// What one block found: a line of the log that an interrupted run is resumed from.
///
/// A block is all contestants of a cell, measured beside each other: in one process where the workload allows it, else
/// in a process for each, one directly after the other.
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

  /// From 1, in the order of measuring.
  package var number: Int
  package var fork: Int
  /// Which entry of the plan.
  package var entry: Int
  /// In the order they ran.
  package var trials: [Entry]
  /// How busy the machine was with others; nil where it does not say.
  package var disturbance: Disturbance?
  /// How far apart its processors were; nil where that could not be measured.
  package var distance: ProcessorDistance?

  package init(
    number: Int,
    fork: Int,
    entry: Int,
    trials: [Entry],
    disturbance: Disturbance? = nil,
    distance: ProcessorDistance? = nil
  ) {
    self.number = number
    self.fork = fork
    self.entry = entry
    self.trials = trials
    self.disturbance = disturbance
    self.distance = distance
  }

  /// Whether other processes took so much that the figures are theirs as well.
  package var isDisturbed: Bool { disturbance?.reason != nil }
}
