internal import Mechanisms
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
    /// Of the forks; where every fork has a path of its own, their mean.
    package var median: Double
    /// At `confidence` percent; nil with fewer than six forks, and over paths where one is not above 0.
    package var interval: Interval?
    /// Nil for figures nothing is compared by, and for the reference itself.
    package var comparison: Comparison?
    /// How the bodies spent their service time.
    package var serviceKind: String?
    /// Whether `median` is the mean over paths.
    package var isMean: Bool
    /// The two groups that the forks fall into; empty where they are one.
    package var modes: [Mode]
    /// In how many forks it is 0 or less: such a figure has no logarithm, and so no ratio.
    package var forksNotAbove0: Int

    /// Of the interval, in percent.
    package var confidence: Int { isMean ? Int((Ratio.confidence * 100).rounded()) : 95 }

    /// Why there is no interval; nil where there is one.
    package var reasonForNoInterval: String? {
      if interval != nil { return nil }
      return forks < 6
        ? "fewer than 6 forks" : "not above 0 in \(forksNotAbove0) of \(forks) forks"
    }
  }

  /// One contestant against the reference of its cell.
  package struct Comparison: Hashable, Sendable {
    package var reference: String
    package var ratio: Ratio?
    package var probability: Double
    package var correctedProbability: Double
    /// The smallest probability that so many forks can give.
    package var leastProbability: Double
    /// Why nothing can be compared: on either side too few visits waited, or too many ran at once.
    package var exclusion: Exclusion?
    /// Whether there are forks enough for a ratio, but their figures are not above 0.
    package var isNotAbove0 = false
    package var verdict: Verdict

    /// For people: the verdict, and why nothing could be found where there is no ratio.
    func words(forUnit unit: String) -> String {
      verdict == .inconclusive && isNotAbove0
        ? "inconclusive: a figure that is not above 0 has no ratio" : verdict.word(forUnit: unit)
    }
  }

  /// Why the figures of a contestant in a cell are compared with nothing, and rank nowhere.
  package enum Exclusion: Hashable, Sendable {
    /// The question is about waiting, and so few of the visits waited, in percent.
    case hardlyWaited(percent: Double)
    /// It limits, and so many were seen at once.
    case aboveLimit(seen: Int)
  }

  private struct Place: Hashable {
    var entry: Int
    var contestant: Int
  }

  package let plan: Plan
  package let lines: [Line]
  /// By entry of the plan: how far the two halves of its A/A pair lay apart in the headline.
  package let noise: [Int: NoiseFloor]
  /// The same in the tail, which varies more: by entry of the plan, where its workload compares one.
  package let tailNoise: [Int: NoiseFloor]
  /// Blocks that were dropped because others disturbed them.
  package let droppedBlocks: Int
  package let blocks: Int
  /// Broken promises, each once, as lines for people.
  package let violations: [String]
  /// Figures that came out the same in every fork and should not have, as lines for people; among the
  /// violations.
  package let constants: [String]
  /// Entries of which fewer than half of the forks are left: too few to say anything.
  package let tooNoisy: [Int]

  /// Analyses the records of a run, or of as much of it as there is.
  package init(plan: Plan, records: [BlockRecord]) {
    self.plan = plan
    let figures = ForkFigures(records)
    blocks = records.count
    droppedBlocks = records.count { $0.dropReason != nil }

    var exclusions: [Place: Exclusion] = [:]
    for (index, entry) in plan.entries.enumerated() {
      for contestant in entry.contestants.indices {
        exclusions[Place(entry: index, contestant: contestant)] =
          Self.exclusion(index, contestant, figures, plan)
      }
    }
    self.exclusions = exclusions

    var (noise, tailNoise): ([Int: NoiseFloor], [Int: NoiseFloor]) = ([:], [:])
    var comparisons: [FigureKey: Comparison] = [:]
    for (index, entry) in plan.entries.enumerated() {
      guard let workload = BenchWorkloads.named(entry.cell.workload) else { continue }
      for contestant in entry.contestants.indices {
        guard let reference = entry.reference(of: contestant) else { continue }
        for headline in workload.compared {
          let key = FigureKey(index, contestant, headline)
          let base = FigureKey(index, reference, headline)
          guard var comparison = Self.compare(key, base, figures, workload, plan) else { continue }
          comparison.exclusion =
            exclusions[Place(entry: index, contestant: contestant)]
            ?? exclusions[Place(entry: index, contestant: reference)]
          comparisons[key] = comparison
          guard entry.contestants[contestant].isAgain else { continue }
          let varies = [key, base].allSatisfy { Set(figures[$0]).count > 1 }
          let floor = comparison.ratio.map { NoiseFloor(ratio: $0, varies: varies) }
          if headline == workload.headline {
            noise[index] = floor
          } else {
            tailNoise[index] = floor
          }
        }
      }
    }
    self.noise = Self.withTypical(noise)
    self.tailNoise = Self.withTypical(tailNoise)
    Self.judge(&comparisons, noise: self.noise, tailNoise: self.tailNoise, plan)

    var kinds: [FigureKey: String] = [:]
    for (record, trial) in ForkFigures.countedTrials(records) {
      let key = FigureKey(entry: record.entry, contestant: trial.contestant, metric: "", stat: "")
      kinds[key] = kinds[key] ?? trial.report.serviceKind
    }
    var byKey: [FigureKey: Line] = [:]
    lines = figures.keys.compactMap { key in
      let values = figures[key]
      let cell = plan.entries[key.entry].cell
      let isMean = BenchWorkloads.named(cell.workload)?.drawsPaths == true
      guard let middle = isMean ? mean(values) : median(values) else { return nil }
      let who = FigureKey(entry: key.entry, contestant: key.contestant, metric: "", stat: "")
      let line = Line(
        entry: key.entry,
        contestant: key.contestant,
        metric: key.metric,
        stat: key.stat,
        forks: values.count,
        median: middle,
        interval: isMean ? meanInterval(values) : medianInterval(values),
        comparison: comparisons[key],
        serviceKind: kinds[who] ?? cell.serviceKind,
        isMean: isMean,
        modes: isMean ? [] : modes(values),
        forksNotAbove0: values.count { $0 <= 0 }
      )
      byKey[key] = line
      return line
    }
    self.byKey = byKey

    // A figure with nothing of the measured in it comes out the same every time.
    constants = figures.keys.compactMap { key in
      let values = figures[key]
      guard values.count >= Self.forksOfConstants, let value = values.first,
        values.allSatisfy({ $0 == value }),
        Metric.named[key.metric]?.mayRepeat(key.stat, value) == false
      else { return nil }
      let entry = plan.entries[key.entry]
      return
        "\(Plan.name(entry.cell, entry.contestants[key.contestant])): \(key.metric) \(key.stat) "
        + "is \(value) in all of \(values.count) forks, so it is a constant and no measurement"
    }

    var said: Set<String> = []
    violations =
      records.flatMap { record in
        record.trials.flatMap { trial in
          let entry = plan.entries[record.entry]
          let who = Plan.name(entry.cell, entry.contestants[trial.contestant])
          return trial.report.violations.map { "\(who): \($0)" }
        }
      }.filter { said.insert($0).inserted } + constants

    let counted = Dictionary(grouping: ForkFigures.counted(records), by: \.entry)
    tooNoisy = plan.entries.indices.filter { (counted[$0]?.count ?? 0) * 2 < plan.forks }
  }

  /// The pairs, each knowing how far those of the run lie apart typically.
  private static func withTypical(_ noise: [Int: NoiseFloor]) -> [Int: NoiseFloor] {
    let typical = median(noise.values.filter(\.varies).map(\.distance)) ?? 0
    return noise.mapValues { pair in
      var pair = pair
      pair.typical = typical
      return pair
    }
  }

  /// Nil where one of the two was not measured.
  private static func compare(
    _ key: FigureKey,
    _ base: FigureKey,
    _ figures: ForkFigures,
    _ workload: any BenchWorkload,
    _ plan: Plan
  ) -> Comparison? {
    let entry = plan.entries[key.entry]
    var comparison = Comparison(
      reference: entry.contestants[base.contestant].name ?? "",
      ratio: nil,
      probability: 1,
      correctedProbability: 1,
      leastProbability: 0,
      verdict: .inconclusive
    )
    if workload.drawsPaths {
      let (subject, reference) = figures.pairs(key, base)
      guard !subject.isEmpty else { return nil }
      let paths = PairedComparison(subject, to: reference)
      comparison.ratio = paths?.ratio
      comparison.probability = paths?.p ?? 1
      comparison.leastProbability = subject.count < PairedComparison.leastPaths ? 1 : 0
      comparison.isNotAbove0 = paths == nil && subject.count >= 2
    } else {
      let (subject, reference) = (figures[key], figures[base])
      guard let test = MannWhitney(subject, reference) else { return nil }
      comparison.ratio = Ratio.ofMedians(
        subject,
        to: reference,
        seed: plan.seed &+ UInt64(key.entry)
      )
      comparison.probability = test.p
      comparison.leastProbability = MannWhitney.leastProbability(subject.count, reference.count)
      comparison.isNotAbove0 =
        comparison.ratio == nil && subject.count >= 2 && reference.count >= 2
    }
    comparison.correctedProbability = comparison.probability
    return comparison
  }

  private static func exclusion(
    _ entry: Int,
    _ contestant: Int,
    _ figures: ForkFigures,
    _ plan: Plan
  ) -> Exclusion? {
    func values(_ metric: Metric, _ stat: String) -> [Double] {
      figures[entry, contestant, Headline(metric, stat)]
    }
    let (cell, who) = (plan.entries[entry].cell, plan.entries[entry].contestants[contestant])
    // Where a server counts, what is limited is its requests, and not the bodies that ask for them.
    let requests = values(.peakRequests, "max")
    let peak = (requests.isEmpty ? values(.peakRunning, "max") : requests).max()
    if let peak, let limit = cell.limit, peak > Double(limit), who.limits {
      return .aboveLimit(seen: Int(peak))
    }
    guard BenchWorkloads.named(cell.workload)?.needsWaiting == true,
      let share = median(values(.waited, "mean")), share < leastWaitedPercent
    else { return nil }
    return .hardlyWaited(percent: share)
  }

  /// Why a contestant's figures in a cell are compared with nothing, and rank nowhere; nil where they are.
  package func exclusion(_ entry: Int, _ contestant: Int) -> Exclusion? {
    exclusions[Place(entry: entry, contestant: contestant)]
  }

  /// Corrects the probabilities of the whole run together, then judges.
  private static func judge(
    _ comparisons: inout [FigureKey: Comparison],
    noise: [Int: NoiseFloor],
    tailNoise: [Int: NoiseFloor],
    _ plan: Plan
  ) {
    // The pairs are the measure, not the measured: they take no part in the correction.
    let judged = comparisons.keys.filter {
      !plan.entries[$0.entry].contestants[$0.contestant].isAgain
    }
    .sorted { ($0.entry, $0.contestant, $0.stat) < ($1.entry, $1.contestant, $1.stat) }
    let corrected = holmCorrected(judged.compactMap { comparisons[$0]?.probability })
    for (key, probability) in zip(judged, corrected) {
      guard var comparison = comparisons[key] else { continue }
      comparison.correctedProbability = probability
      let floors = isHeadline(key.metric, key.stat, of: key.entry, plan) ? noise : tailNoise
      switch comparison.exclusion {
      case .hardlyWaited: comparison.verdict = .incomparable
      case .aboveLimit: comparison.verdict = .aboveLimit
      case nil:
        comparison.verdict = Verdict(
          ratio: comparison.ratio,
          correctedProbability: probability,
          noise: floors[key.entry]?.band ?? .infinity,
          lowerIsBetter: Metric.named[key.metric]?.better != .higher
        )
        .unlessUndecidable(
          leastProbability: comparison.leastProbability,
          comparisons: judged.count
        )
      }
      comparisons[key] = comparison
    }
  }

  private static func isHeadline(
    _ metric: String,
    _ stat: String,
    of entry: Int,
    _ plan: Plan
  ) -> Bool {
    let headline = plan.entries[entry].headline
    return headline?.metric.id == metric && headline?.stat == stat
  }

  /// The noise of the figure that the line is of.
  func noise(of line: Line) -> NoiseFloor? {
    Self.isHeadline(line.metric, line.stat, of: line.entry, plan)
      ? noise[line.entry] : tailNoise[line.entry]
  }

  /// From so many equal forks on, a figure is taken for a constant.
  package static let forksOfConstants = 5
  /// Below this share of visits that waited, in percent, limiters are not compared.
  package static let leastWaitedPercent = 90.0

  /// The line of a figure, if it was measured.
  package func line(_ entry: Int, _ contestant: Int, _ headline: Headline) -> Line? {
    line(entry, contestant, headline.metric.id, headline.stat)
  }

  func line(_ entry: Int, _ contestant: Int, _ metric: String, _ stat: String) -> Line? {
    byKey[FigureKey(entry: entry, contestant: contestant, metric: metric, stat: stat)]
  }

  /// The A/A pairs whose headlines vary, and those of them that agree: a constant always agrees.
  package var pairs: (agreeing: Int, all: Int) {
    let varying = noise.values.filter(\.varies)
    return (varying.count(where: \.agrees), varying.count)
  }

  /// The headline figures of a cell, best first, and behind them those that rank nowhere; nil where nothing
  /// is compared.
  package func ranking(_ index: Int) -> [Line]? {
    let entry = plan.entries[index]
    guard let headline = entry.headline else { return nil }
    return entry.compared.compactMap { line(index, $0, headline) }.sorted { one, other in
      let ranks = [one, other].map { exclusion(index, $0.contestant) == nil }
      if ranks[0] != ranks[1] { return ranks[0] }
      return headline.metric.better == .higher
        ? one.median > other.median : one.median < other.median
    }
  }

  private let byKey: [FigureKey: Line]
  private let exclusions: [Place: Exclusion]

  /// Whether every promise was kept and enough of the run counts.
  package var isValid: Bool { violations.isEmpty && tooNoisy.isEmpty }
}

extension Contestant {
  /// Whether it is a way to limit, and not what the others are measured against.
  var limits: Bool {
    mechanism.flatMap(Contestants.entry).map { $0.profile.limit != .none } ?? false
  }
}
