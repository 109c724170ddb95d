internal import Mechanisms

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
    /// Nil with fewer than six forks, and over paths where one is not above 0.
    package var interval: Interval?
    /// What the interval covers, as a share.
    package var coverage: Double?
    /// Nil for figures nothing is compared by, and for the reference itself.
    package var comparison: Comparison?
    /// How the bodies spent their service time.
    package var serviceKind: String?
    /// Whether `median` is the mean over paths.
    package var isMean: Bool
    /// In how many forks it is 0 or less: such a figure has no logarithm, and so no ratio.
    package var forksNotAbove0: Int

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
    package var paired: PairedComparison?
    /// The probabilities that the two are equal, and that they differ by the margin, both corrected for the family.
    package var corrected = 1.0
    package var correctedSame = 1.0
    /// How many comparisons the family has.
    package var family = 1
    /// Why nothing can be compared: on either side too few visits waited, or too many ran at once.
    package var exclusion: Exclusion?
    /// Whether there are forks enough for a ratio, but their figures are not above 0.
    package var isNotAbove0 = false
    package var verdict = Verdict.undecided

    package var ratio: Ratio? { paired?.ratio }

    /// The difference that would have been found, as a share; nil where there is no ratio.
    package var detectable: Double? {
      paired?.detectable(significance: Verdict.significance / Double(family))
    }

    /// For people: the verdict, and why nothing could be found.
    func words(forUnit unit: String) -> String {
      guard verdict == .undecided else { return verdict.word(forUnit: unit) }
      if isNotAbove0 { return "undecided: a figure that is not above 0 has no ratio" }
      guard let detectable else { return "undecided: fewer than two forks" }
      return "undecided: \(Quantity.digits(detectable * 100)) % could have been seen"
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

  /// An A/A pair: the reference against itself.
  package struct Pair: Hashable, Sendable {
    package var entry: Int
    package var comparison: PairedComparison
    /// Whether it was judged to differ from itself, as it should not.
    package var isDecided: Bool
  }

  package let plan: Plan
  package let lines: [Line]
  /// By the headline of their cells; those whose figures are constants left out.
  package let pairs: [Pair]
  /// How far apart the processors were, and which blocks count for it.
  package let distances: CountedBlocks
  /// Blocks in which others took much of the machine, which count all the same.
  package let disturbedBlocks: Int
  package let blocks: Int
  /// What others took of the machine in the median block, and in the worst, in percent.
  package let foreign: (middle: Double, most: Double)?
  /// Broken promises, each once, as lines for people.
  package let violations: [String]
  /// Figures that came out the same in every fork and should not have, as lines for people; among the
  /// violations.
  package let constants: [String]
  /// Entries of which more than half of the blocks were disturbed.
  package let tooNoisy: [Int]

  /// Analyses the records of a run, or of as much of it as there is.
  package init(plan: Plan, records: [BlockRecord]) {
    self.plan = plan
    distances = CountedBlocks(records, plan)
    let figures = ForkFigures(records, distances)
    blocks = records.count
    disturbedBlocks = records.count(where: \.isDisturbed)
    let shares = records.compactMap(\.disturbance?.foreignPercent)
    foreign = median(shares).map { ($0, shares.max() ?? 0) }

    var exclusions: [Place: Exclusion] = [:]
    for (index, entry) in plan.entries.enumerated() {
      for contestant in entry.contestants.indices {
        exclusions[Place(entry: index, contestant: contestant)] =
          Self.exclusion(index, contestant, figures, plan)
      }
    }
    self.exclusions = exclusions

    var comparisons: [FigureKey: Comparison] = [:]
    for (index, entry) in plan.entries.enumerated() {
      guard let headline = entry.headline else { continue }
      for contestant in entry.contestants.indices {
        guard let reference = entry.reference(of: contestant) else { continue }
        let key = FigureKey(index, contestant, headline)
        let base = FigureKey(index, reference, headline)
        guard !figures[key].isEmpty, !figures[base].isEmpty else { continue }
        let ratios = figures.ratios(key, to: base, byRound: entry.isPaired)
        var comparison = Comparison(reference: entry.contestants[base.contestant].name ?? "")
        comparison.paired = PairedComparison(rounds: ratios)
        comparison.isNotAbove0 = comparison.paired == nil && ratios.count >= 2
        comparison.exclusion =
          exclusions[Place(entry: index, contestant: contestant)]
          ?? exclusions[Place(entry: index, contestant: reference)]
        comparisons[key] = comparison
      }
    }
    Self.judge(&comparisons, plan)
    pairs = comparisons.compactMap { key, comparison in
      let entry = plan.entries[key.entry]
      guard entry.contestants[key.contestant].isAgain, key.metric == entry.headline?.metric.id,
        key.stat == entry.headline?.stat, let paired = comparison.paired, paired.error > 0
      else { return nil }
      let isDecided = [.faster, .slower].contains(comparison.verdict)
      return Pair(entry: key.entry, comparison: paired, isDecided: isDecided)
    }.sorted { $0.entry < $1.entry }

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
      let interval = isMean ? meanInterval(values) : medianInterval(values)
      let line = Line(
        entry: key.entry,
        contestant: key.contestant,
        metric: key.metric,
        stat: key.stat,
        forks: values.count,
        median: middle,
        interval: interval,
        coverage: interval == nil ? nil : isMean ? Ratio.confidence : medianCoverage(values.count),
        comparison: comparisons[key],
        serviceKind: kinds[who] ?? cell.serviceKind,
        isMean: isMean,
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

    let byEntry = Dictionary(grouping: records, by: \.entry)
    tooNoisy = plan.entries.indices.filter { index in
      let records = byEntry[index] ?? []
      return records.count(where: \.isDisturbed) * 2 > records.count
    }
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

  /// Corrects the probabilities of each family of comparisons together, then judges.
  ///
  /// A family is one question: the comparisons of one figure of one workload on one executor, since on lanes a
  /// mechanism is compared with itself on the global pool. Both tests are corrected by Holm.
  private static func judge(_ comparisons: inout [FigureKey: Comparison], _ plan: Plan) {
    let compared = comparisons.keys.filter { comparisons[$0]?.exclusion == nil }
    let families = Dictionary(grouping: compared) { key in
      // The pairs are the measure, not the measured: they are a family of their own.
      let who = plan.entries[key.entry].contestants[key.contestant]
      return [
        plan.entries[key.entry].cell.workload, key.metric, key.stat, who.isAgain ? "again" : "",
        who.executor == .lanes ? "lanes" : "",
      ]
    }
    for family in families.values {
      let keys = family.sorted { ($0.entry, $0.contestant) < ($1.entry, $1.contestant) }
      let corrected = holmCorrected(keys.map { comparisons[$0]?.paired?.p ?? 1 })
      let same = holmCorrected(keys.map { comparisons[$0]?.paired?.pSame ?? 1 })
      for (index, key) in keys.enumerated() {
        comparisons[key]?.corrected = corrected[index]
        comparisons[key]?.correctedSame = same[index]
        comparisons[key]?.family = keys.count
        guard let ratio = comparisons[key]?.ratio else { continue }
        comparisons[key]?.verdict = Verdict(
          ratio: ratio.value,
          p: corrected[index],
          pSame: same[index],
          lowerIsBetter: Metric.named[key.metric]?.better != .higher
        )
      }
    }
    for key in comparisons.keys {
      switch comparisons[key]?.exclusion {
      case .hardlyWaited: comparisons[key]?.verdict = .incomparable
      case .aboveLimit: comparisons[key]?.verdict = .aboveLimit
      case nil: break
      }
    }
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

  /// How many comparisons of mechanisms there are with each verdict, the pairs left out.
  package var verdicts: [Verdict: Int] {
    lines.reduce(into: [:]) { counts, line in
      guard let comparison = line.comparison,
        !plan.entries[line.entry].contestants[line.contestant].isAgain
      else { return }
      counts[comparison.verdict, default: 0] += 1
    }
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

  /// Whether every promise was kept, and the machine was quiet for at least half of each cell.
  package var isValid: Bool { violations.isEmpty && tooNoisy.isEmpty }
}

extension Contestant {
  /// Whether it is a way to limit, and not what the others are measured against.
  var limits: Bool {
    mechanism.flatMap(Contestants.entry).map { $0.profile.limit != .none } ?? false
  }
}
