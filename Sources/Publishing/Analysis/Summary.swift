package import Statistics
package import Trials

/// What a run found: a line for each figure, with a verdict for those that mechanisms are compared by.
package struct Summary: Sendable {
  package struct Line: Hashable, Sendable {
    package var entry: Int
    package var contestant: Int
    package var metric: String
    package var stat: String
    /// How many forks count.
    package var forks: Int
    package var median: Double
    /// At 95 %; nil with fewer than six forks.
    package var interval: Interval?
    /// Nil for figures nothing is compared by, and for the reference itself.
    package var comparison: Comparison?
  }

  /// One contestant against the reference of its cell.
  package struct Comparison: Hashable, Sendable {
    package var reference: String
    package var ratio: Ratio?
    package var probability: Double
    package var correctedProbability: Double
    package var verdict: Verdict
  }

  package let plan: Plan
  package let lines: [Line]
  /// By entry of the plan: how far the two halves of its A/A pair lay apart.
  package let noise: [Int: NoiseFloor]
  /// Blocks that were dropped because others disturbed them.
  package let droppedBlocks: Int
  package let blocks: Int
  /// Broken promises, each once, as lines for people.
  package let violations: [String]
  /// Entries of which too few forks are left to say anything.
  package let tooNoisy: [Int]

  /// Analyses the records of a run, or of as much of it as there is.
  package init(plan: Plan, records: [BlockRecord]) {
    self.plan = plan
    let figures = ForkFigures(records)
    blocks = records.count
    droppedBlocks = records.count { $0.dropReason != nil }

    var noise: [Int: NoiseFloor] = [:]
    var comparisons: [FigureKey: Comparison] = [:]
    for (index, entry) in plan.entries.enumerated() {
      guard let reference = entry.reference,
        let headline = entry.headline,
        let first = entry.contestants.firstIndex(where: {
          $0.mechanism == reference && !$0.isAgain
        })
      else { continue }
      let base = figures[index, first, headline]
      for (contestant, who) in entry.contestants.enumerated() where contestant != first {
        let values = figures[index, contestant, headline]
        guard let test = MannWhitney(values, base) else { continue }
        let ratio = Ratio.ofMedians(values, to: base, seed: plan.seed &+ UInt64(index))
        if who.isAgain { noise[index] = ratio.map(NoiseFloor.init) }
        comparisons[FigureKey(index, contestant, headline)] = Comparison(
          reference: reference,
          ratio: ratio,
          probability: test.p,
          correctedProbability: test.p,
          verdict: .inconclusive
        )
      }
    }
    Self.judge(&comparisons, noise: noise, plan)
    self.noise = noise
    var byKey: [FigureKey: Line] = [:]
    lines = figures.keys.compactMap { key in
      guard let values = figures.values[key], let middle = median(values) else { return nil }
      let line = Line(
        entry: key.entry,
        contestant: key.contestant,
        metric: key.metric,
        stat: key.stat,
        forks: values.count,
        median: middle,
        interval: medianInterval(values),
        comparison: comparisons[key]
      )
      byKey[key] = line
      return line
    }
    self.byKey = byKey

    var said: Set<String> = []
    violations = records.flatMap { record in
      record.trials.flatMap { trial in
        let entry = plan.entries[record.entry]
        let who = Plan.name(entry.cell, entry.contestants[trial.contestant])
        return trial.report.violations.map { "\(who): \($0)" }
      }
    }.filter { said.insert($0).inserted }

    let counted = Dictionary(grouping: ForkFigures.counted(records), by: \.entry)
    tooNoisy = plan.entries.indices.filter { (counted[$0]?.count ?? 0) * 2 < plan.forks }
  }

  /// Corrects the probabilities of the whole run together, then judges.
  private static func judge(
    _ comparisons: inout [FigureKey: Comparison],
    noise: [Int: NoiseFloor],
    _ plan: Plan
  ) {
    // The pairs are the measure, not the measured: they take no part in the correction.
    let judged = comparisons.keys.filter {
      !plan.entries[$0.entry].contestants[$0.contestant].isAgain
    }
    .sorted { ($0.entry, $0.contestant) < ($1.entry, $1.contestant) }
    let corrected = holmCorrected(judged.compactMap { comparisons[$0]?.probability })
    for (key, probability) in zip(judged, corrected) {
      guard var comparison = comparisons[key] else { continue }
      comparison.correctedProbability = probability
      comparison.verdict = Verdict(
        ratio: comparison.ratio,
        correctedProbability: probability,
        noise: noise[key.entry]?.band ?? .infinity,
        lowerIsBetter: Metric.named[key.metric]?.better != .higher
      )
      comparisons[key] = comparison
    }
  }

  /// The line of a figure, if it was measured.
  package func line(_ entry: Int, _ contestant: Int, _ headline: Headline) -> Line? {
    byKey[FigureKey(entry, contestant, headline)]
  }

  /// The headline figures of a cell, best first; nil where nothing is compared.
  func ranking(_ index: Int) -> [Line]? {
    let entry = plan.entries[index]
    guard let headline = entry.headline else { return nil }
    return entry.compared.compactMap { line(index, $0, headline) }
      .sorted { headline.metric.better == .higher ? $0.median > $1.median : $0.median < $1.median }
  }

  private let byKey: [FigureKey: Line]

  /// Whether every promise was kept and enough of the run counts.
  package var isValid: Bool { violations.isEmpty && tooNoisy.isEmpty }
}
