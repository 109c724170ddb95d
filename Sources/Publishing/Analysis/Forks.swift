internal import Statistics
package import Trials

/// One figure of one contestant: the forks of a run are gathered by it.
package struct FigureKey: Hashable, Sendable {
  package var entry: Int
  package var contestant: Int
  package var metric: String
  package var stat: String

  init(entry: Int, contestant: Int, metric: String, stat: String) {
    self.entry = entry
    self.contestant = contestant
    self.metric = metric
    self.stat = stat
  }

  init(_ entry: Int, _ contestant: Int, _ headline: Headline) {
    self.init(
      entry: entry,
      contestant: contestant,
      metric: headline.metric.id,
      stat: headline.stat
    )
  }
}

/// The figures of all forks, one value a fork.
package struct ForkFigures: Sendable {
  /// By figure and fork, the values that count.
  private var byFork: [FigureKey: [Int: Double]] = [:]
  /// In the order in which they first appeared, which is the order of the trials' reports.
  package private(set) var keys: [FigureKey] = []

  /// Gathers what counts: of each fork its latest block that nothing disturbed, and of that the trials
  /// that kept all promises.
  ///
  /// A trial with several repetitions contributes their median.
  package init(_ records: [BlockRecord]) {
    var repetitions: [FigureKey: [Int: [Double]]] = [:]
    for (record, trial) in Self.countedTrials(records) {
      for measure in trial.report.measures {
        let key = FigureKey(
          entry: record.entry,
          contestant: trial.contestant,
          metric: measure.metric,
          stat: measure.stat
        )
        if repetitions[key] == nil { keys.append(key) }
        repetitions[key, default: [:]][record.fork, default: []].append(measure.value)
      }
    }
    byFork = repetitions.mapValues { $0.compactMapValues(median) }
  }

  /// The values of the valid forks, in the order of the forks.
  package subscript(_ key: FigureKey) -> [Double] {
    (byFork[key] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
  }

  package subscript(_ entry: Int, _ contestant: Int, _ headline: Headline) -> [Double] {
    self[FigureKey(entry, contestant, headline)]
  }

  /// The values of two figures in the forks that have both.
  func pairs(_ one: FigureKey, _ other: FigureKey) -> ([Double], [Double]) {
    let (first, second) = (byFork[one] ?? [:], byFork[other] ?? [:])
    let common = first.keys.filter { second[$0] != nil }.sorted()
    return (common.compactMap { first[$0] }, common.compactMap { second[$0] })
  }

  /// The records whose figures count: undisturbed, and the latest of their fork and cell.
  package static func counted(_ records: [BlockRecord]) -> [BlockRecord] {
    struct Place: Hashable {
      var fork: Int
      var entry: Int
    }
    var latest: [Place: BlockRecord] = [:]
    for record in records where record.dropReason == nil {
      latest[Place(fork: record.fork, entry: record.entry)] = record
    }
    return latest.values.sorted { $0.number < $1.number }
  }

  /// The trials of those records that kept all promises.
  static func countedTrials(_ records: [BlockRecord]) -> [(BlockRecord, BlockRecord.Entry)] {
    counted(records).flatMap { record in
      record.trials.filter(\.report.violations.isEmpty).map { (record, $0) }
    }
  }
}
