internal import Foundation

/// The headline figures of a finished run, read back from its `results.csv`.
package struct PublishedFigures: Sendable {
  /// What two runs must have in common to be compared: every column that says what was measured.
  package struct Key: Hashable, Comparable, Sendable {
    package var parts: [String]

    package static func < (one: Key, other: Key) -> Bool {
      one.parts.lexicographicallyPrecedes(other.parts)
    }

    /// For people: `fan-out limiter limit=8 tasks=1000`.
    package var name: String {
      zip(Self.columns, parts).compactMap { column, part in
        switch column {
        case "workload", "mechanism": part.isEmpty ? nil : part
        case "metric", "stat": nil
        default: part.isEmpty ? nil : "\(Self.shortNames[column] ?? column)=\(part)"
        }
      }.joined(separator: " ")
    }

    static let columns = [
      "workload", "mechanism", "limit", "tasks", "service_kind", "service_dist", "service_ns",
      "rho_target", "cancel_fraction", "executor", "processors", "metric", "stat",
    ]
    /// What the first schema did not have; its tasks ran on the global pool.
    static let newColumns: Set<String> = ["executor", "processors"]
    private static let shortNames = [
      "service_kind": "kind", "service_dist": "service", "rho_target": "rho",
      "cancel_fraction": "cancel",
    ]

    var workload: String { parts[0] }
    var mechanism: String { parts[1] }
    var headline: Headline? { BenchWorkloads.named(workload)?.headline }
    var measuresMachine: Bool { BenchWorkloads.named(workload)?.measuresMachine == true }

    func with(mechanism: String) -> Key {
      var key = self
      key.parts[1] = mechanism
      return key
    }
  }

  package enum Failure: Error, CustomStringConvertible {
    case notResults(String)
    case otherSchema(found: String)

    package var description: String {
      switch self {
      case .notResults(let missing): "results.csv has no column '\(missing)'"
      case .otherSchema(let found):
        "results.csv has the schema '\(found)'; this program compares "
          + "\(ResultRow.readableSchemas.map { "'\($0)'" }.joined(separator: " and "))"
      }
    }
  }

  /// By figure and fork; only headlines, and only what was valid.
  private var byFork: [Key: [String: Double]] = [:]
  /// What everything random in the run derives from.
  private var seed = ""

  package var keys: Set<Key> { Set(byFork.keys) }

  /// One value a fork.
  package subscript(_ key: Key) -> [Double] {
    (byFork[key] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
  }

  /// The values of a figure in the forks that both runs have, where both drew the same paths in them.
  fileprivate func paths(_ key: Key, and other: PublishedFigures) -> ([Double], [Double])? {
    guard BenchWorkloads.named(key.workload)?.drawsPaths == true, seed == other.seed,
      let here = byFork[key], let there = other.byFork[key]
    else { return nil }
    let common = here.keys.filter { there[$0] != nil }.sorted()
    return (common.compactMap { here[$0] }, common.compactMap { there[$0] })
  }

  package init(csv: String) throws(Failure) {
    let records = CSV.records(csv)
    let header = records.first ?? []
    var columns: [String: Int] = [:]
    for name in Key.columns + ["schema", "seed", "fork", "value", "valid"]
    where header.contains(name) || !Key.newColumns.contains(name) {
      guard let index = header.firstIndex(of: name) else { throw .notResults(name) }
      columns[name] = index
    }
    var repetitions: [Key: [String: [Double]]] = [:]
    for record in records.dropFirst() where record.count == header.count {
      func cell(_ name: String) -> String { columns[name].map { record[$0] } ?? "" }
      guard ResultRow.readableSchemas.contains(cell("schema"))
      else { throw .otherSchema(found: cell("schema")) }
      seed = cell("seed")
      let key = Key(
        parts: Key.columns.map { name in
          name == "executor" && columns[name] == nil
            ? ResultRow.executor(ofEarlier: cell("mechanism")) : cell(name)
        }
      )
      guard cell("valid") == "true", let headline = key.headline,
        headline.metric.id == cell("metric"), headline.stat == cell("stat"),
        let value = Double(cell("value"))
      else { continue }
      repetitions[key, default: [:]][cell("fork"), default: []].append(value)
    }
    byFork = repetitions.mapValues { $0.compactMapValues(median) }
  }
}

/// This run against an earlier one, mechanism by mechanism.
///
/// Two runs of the same code differ by more than two halves of one run: the machine is not the same an
/// hour later. So a regression must lie beyond a tenth, beyond what the A/A pairs of either run span,
/// and beyond how far the baseline workloads, in which there is none of our code, have moved.
package struct BaselineComparison: Sendable {
  package struct Line: Hashable, Sendable {
    package var key: PublishedFigures.Key
    package var ratio: Ratio
    package var correctedProbability: Double
    package var band: Double
    package var verdict: Verdict
  }

  /// The least difference between two runs that counts.
  package static let leastBand = 0.1

  package let lines: [Line]
  /// Measured in only one of the runs.
  package let unmatched: Int
  /// Measured in both, but with too few forks to compare.
  package let tooFewForks: Int
  /// Measured in both, but not above 0 in some fork: of such a figure there is no ratio.
  package let notAbove0: Int
  /// How far the baseline workloads moved, as a ratio; nil where they were not measured in both.
  package let machineDrift: Double?

  package init(baseline: PublishedFigures, current: PublishedFigures, seed: UInt64) {
    let common = current.keys.intersection(baseline.keys).sorted()
    unmatched = current.keys.symmetricDifference(baseline.keys).count
    let drift = median(
      common.filter(\.measuresMachine).compactMap {
        Ratio.ofMedians(current[$0], to: baseline[$0], seed: seed)?.value
      }
    )
    machineDrift = drift

    struct Judged {
      var key: PublishedFigures.Key
      var ratio: Ratio
      var p: Double
    }
    // The second half of a pair is the same code as the first; one of them is enough.
    let compared = common.filter { !$0.measuresMachine && !$0.mechanism.hasSuffix("-again") }
    let judged = compared.compactMap { key -> Judged? in
      if let (here, there) = current.paths(key, and: baseline) {
        let ratios = zip(here, there).map { [$1 > 0 ? $0 / $1 : 0] }
        return PairedComparison(rounds: ratios).map { pair in
          Judged(key: key, ratio: pair.ratio, p: pair.p)
        }
      }
      let (here, there) = (current[key], baseline[key])
      guard let test = MannWhitney(here, there),
        let ratio = Ratio.ofMedians(here, to: there, seed: seed)
      else { return nil }
      return Judged(key: key, ratio: ratio, p: test.p)
    }
    // A family is one question, as within a run.
    var corrected = judged.map(\.p)
    for places in Dictionary(grouping: judged.indices, by: { judged[$0].key.workload }).values {
      for (place, p) in zip(places, holmCorrected(places.map { judged[$0].p })) {
        corrected[place] = p
      }
    }
    let judgedKeys = Set(judged.map(\.key))
    let others = compared.filter { !judgedKeys.contains($0) }
    tooFewForks = others.count { key in
      let (here, there) =
        current.paths(key, and: baseline) ?? (current[key], baseline[key])
      return min(here.count, there.count) < 2
    }
    notAbove0 = others.count - tooFewForks
    lines = zip(judged, corrected).map { judged, probability in
      let key = judged.key
      let band = max(
        Self.leastBand,
        Self.pairBand(baseline, key, seed),
        Self.pairBand(current, key, seed),
        drift.map { max($0, 1 / $0) - 1 } ?? 0
      )
      return Line(
        key: key,
        ratio: judged.ratio,
        correctedProbability: probability,
        band: band,
        verdict: Verdict(
          ratio: judged.ratio,
          correctedProbability: probability,
          noise: band,
          lowerIsBetter: key.headline?.metric.better != .higher
        )
      )
    }
  }

  package var regressions: [Line] { lines.filter { $0.verdict == .slower } }
  package var improvements: [Line] { lines.filter { $0.verdict == .faster } }

  /// What the A/A pair of the key's cell spans in one run; 0 where it has none.
  private static func pairBand(
    _ figures: PublishedFigures,
    _ key: PublishedFigures.Key,
    _ seed: UInt64
  ) -> Double {
    for candidate in figures.keys where candidate.mechanism.hasSuffix("-again") {
      let first = String(candidate.mechanism.dropLast("-again".count))
      // The kind of service may be each mechanism's own, so it is not compared.
      guard candidate.isSameCell(as: key),
        let ratio = Ratio.ofMedians(
          figures[candidate],
          to: figures[candidate.with(mechanism: first)],
          seed: seed
        )
      else { continue }
      return max(ratio.value, 1 / ratio.value) - 1
    }
    return 0
  }

  /// For people: regressions first, then improvements, then how many are unchanged.
  package var text: String {
    var text = "\nagainst the baseline, \(Quantity.count(lines.count, "figure")) compared\n"
    let moved = regressions + improvements
    text += SummaryTable.aligned(
      moved.map { line in
        [
          "  " + line.key.name,
          Quantity.digits(line.ratio.value),
          Quantity.text(line.ratio.interval, unit: "times"),
          "±\(Quantity.digits(line.band * 100)) %",
          line.verdict.word(forUnit: line.key.headline?.metric.unit ?? ""),
        ]
      }
    )
    text += "  \(lines.count - moved.count) within the noise, or undecided"
    if let machineDrift {
      text += " · the machine itself moved by \(Quantity.digits(machineDrift))"
    }
    if tooFewForks > 0 {
      let have = tooFewForks == 1 ? "has" : "have"
      text += " · \(Quantity.count(tooFewForks, "figure")) \(have) fewer than two forks"
    }
    if notAbove0 > 0 {
      text +=
        notAbove0 == 1
        ? " · 1 figure is not above 0 in some fork, and has no ratio"
        : " · \(notAbove0) figures are not above 0 in some fork, and have no ratio"
    }
    if unmatched > 0 {
      let are = unmatched == 1 ? "is" : "are"
      text += " · \(Quantity.count(unmatched, "figure")) \(are) in one of the runs only"
    }
    return text + "\n"
  }
}

extension PublishedFigures.Key {
  fileprivate func isSameCell(as other: Self) -> Bool {
    let ignored: Set<String> = ["mechanism", "service_kind", "executor"]
    return zip(Self.columns, zip(parts, other.parts)).allSatisfy { column, parts in
      ignored.contains(column) || parts.0 == parts.1
    }
  }
}

extension BaselineComparison {
  /// The same as JSON, an object a figure.
  package func jsonLines() -> String {
    struct Object: Encodable {
      var schema = "bench-comparison/1"
      var figure: String
      var ratio: Double
      var ratioLow: Double
      var ratioHigh: Double
      var p: Double
      var noise: Double
      var verdict: String

      enum CodingKeys: String, CodingKey {
        case schema
        case figure
        case ratio
        case ratioLow = "ratio_ci99_low"
        case ratioHigh = "ratio_ci99_high"
        case p = "p_holm"
        case noise = "noise_pct"
        case verdict
      }
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return lines.compactMap { line in
      try? encoder.encode(
        Object(
          figure: line.key.name,
          ratio: line.ratio.value,
          ratioLow: line.ratio.interval.low,
          ratioHigh: line.ratio.interval.high,
          p: line.correctedProbability,
          noise: line.band * 100,
          verdict: line.verdict.rawValue
        )
      )
    }.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
  }
}
