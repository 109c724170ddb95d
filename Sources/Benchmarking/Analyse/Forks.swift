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

/// The figures of all forks, which are the blocks of a run: one value for each, and for each of its rounds.
package struct ForkFigures: Sendable {
  /// By figure and fork: the values of its rounds, by round; of one that has no rounds a single one.
  private var byFork: [FigureKey: [Int: [Int: Double]]] = [:]
  private var middles: [FigureKey: [Int: Double]] = [:]
  /// In the order in which they first appeared, which is the order of the trials' reports.
  package private(set) var keys: [FigureKey] = []

  /// Gathers what counts: of the trials that kept all promises, what is not left out for the processors' distance.
  package init(_ records: [BlockRecord], _ counted: CountedBlocks) {
    for (record, trial) in Self.countedTrials(records) {
      for measure in trial.report.measures
      where counted.counts(measure, of: trial.contestant, in: record) {
        let key = FigureKey(record.entry, trial.contestant, measure)
        if byFork[key] == nil { keys.append(key) }
        byFork[key, default: [:]][record.fork, default: [:]][measure.repetition ?? 0] =
          measure.value
      }
    }
    middles = Dictionary(
      uniqueKeysWithValues: byFork.map { key, forks in
        (key, forks.compactMapValues { Self.ofFork(Array($0.values), stat: key.stat) })
      }
    )
  }

  /// The figure of a fork from those of its rounds: their median, but of a maximum the largest.
  static func ofFork(_ rounds: [Double], stat: String) -> Double? {
    stat == "max" ? rounds.max() : median(rounds)
  }

  /// The values of the valid forks, in the order of the forks: of each the median of its rounds, or the largest of a
  /// maximum.
  package subscript(_ key: FigureKey) -> [Double] {
    (middles[key] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
  }

  package subscript(_ entry: Int, _ contestant: Int, _ headline: Headline) -> [Double] {
    self[FigureKey(entry, contestant, headline)]
  }

  /// How many times one figure is another, in each fork that has both: round by round, or, where each has a process
  /// of its own, once.
  package func ratios(_ one: FigureKey, to other: FigureKey, byRound: Bool) -> [[Double]] {
    let (first, second) = (byFork[one] ?? [:], byFork[other] ?? [:])
    return first.keys.filter { second[$0] != nil }.sorted().map { fork in
      guard byRound, let here = first[fork], let there = second[fork] else {
        let (here, there) = (middles[one]?[fork], middles[other]?[fork])
        return [Self.ratio(here ?? 0, there ?? 0)]
      }
      return here.keys.filter { there[$0] != nil }.sorted()
        .map { Self.ratio(here[$0] ?? 0, there[$0] ?? 0) }
    }
  }

  /// 0 where there is none.
  private static func ratio(_ one: Double, _ other: Double) -> Double {
    one > 0 && other > 0 ? one / other : 0
  }

  /// The trials that kept all promises.
  static func countedTrials(_ records: [BlockRecord]) -> [(BlockRecord, BlockRecord.Entry)] {
    records.flatMap { record in
      record.trials.filter(\.report.violations.isEmpty).map { (record, $0) }
    }
  }
}
