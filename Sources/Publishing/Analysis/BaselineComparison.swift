internal import Foundation
package import Statistics
internal import Trials

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
      "rho_target", "cancel_fraction", "metric", "stat",
    ]
    private static let shortNames = [
      "service_kind": "kind", "service_dist": "service", "rho_target": "rho",
      "cancel_fraction": "cancel",
    ]

    var workload: String { parts[0] }
    var mechanism: String { parts[1] }
    var headline: Headline? { BenchWorkloads.named(workload)?.headline }

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
        "results.csv has the schema '\(found)'; this program compares '\(ResultRow.schema)'"
      }
    }
  }

  /// By figure, one value a fork; only headlines, and only what was valid.
  package private(set) var values: [Key: [Double]] = [:]

  package init(csv: String) throws(Failure) {
    let records = CSV.records(csv)
    let header = records.first ?? []
    var columns: [String: Int] = [:]
    for name in Key.columns + ["schema", "fork", "value", "valid"] {
      guard let index = header.firstIndex(of: name) else { throw .notResults(name) }
      columns[name] = index
    }
    var byFork: [Key: [String: [Double]]] = [:]
    for record in records.dropFirst() where record.count == header.count {
      func cell(_ name: String) -> String { columns[name].map { record[$0] } ?? "" }
      guard cell("schema") == ResultRow.schema else { throw .otherSchema(found: cell("schema")) }
      let key = Key(parts: Key.columns.map(cell))
      guard cell("valid") == "true", let headline = key.headline,
        headline.metric.id == cell("metric"), headline.stat == cell("stat"),
        let value = Double(cell("value"))
      else { continue }
      byFork[key, default: [:]][cell("fork"), default: []].append(value)
    }
    values = byFork.mapValues { forks in
      forks.sorted { $0.key < $1.key }.compactMap { median($0.value) }
    }
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
  /// How far the baseline workloads moved, as a ratio; nil where they were not measured in both.
  package let machineDrift: Double?

  package init(baseline: PublishedFigures, current: PublishedFigures, seed: UInt64) {
    let common = current.values.keys.filter { baseline.values[$0] != nil }.sorted()
    unmatched = Set(current.values.keys).symmetricDifference(baseline.values.keys).count
    func ratio(_ key: PublishedFigures.Key) -> Ratio? {
      Ratio.ofMedians(current.values[key] ?? [], to: baseline.values[key] ?? [], seed: seed)
    }
    let drift = median(common.filter(\.mechanism.isEmpty).compactMap { ratio($0)?.value })
    machineDrift = drift

    let judged = common.compactMap { key -> (PublishedFigures.Key, Ratio, Double)? in
      // The second half of a pair is the same code as the first; one of them is enough.
      guard !key.mechanism.isEmpty, !key.mechanism.hasSuffix("-again"), let ratio = ratio(key),
        let test = MannWhitney(current.values[key] ?? [], baseline.values[key] ?? [])
      else { return nil }
      return (key, ratio, test.p)
    }
    let corrected = holmCorrected(judged.map(\.2))
    tooFewForks =
      common.count { !$0.mechanism.isEmpty && !$0.mechanism.hasSuffix("-again") } - judged.count
    lines = zip(judged, corrected).map { judged, probability in
      let (key, ratio, _) = judged
      let band = max(
        Self.leastBand,
        Self.pairBand(baseline, key, seed),
        Self.pairBand(current, key, seed),
        drift.map { max($0, 1 / $0) - 1 } ?? 0
      )
      return Line(
        key: key,
        ratio: ratio,
        correctedProbability: probability,
        band: band,
        verdict: Verdict(
          ratio: ratio,
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
    for (candidate, values) in figures.values where candidate.mechanism.hasSuffix("-again") {
      let first = String(candidate.mechanism.dropLast("-again".count))
      // The kind of service may be each mechanism's own, so it is not compared.
      guard candidate.isSameCell(as: key),
        let base = figures.values[candidate.with(mechanism: first)],
        let ratio = Ratio.ofMedians(values, to: base, seed: seed)
      else { continue }
      return NoiseFloor(ratio: ratio).band
    }
    return 0
  }

  /// For people: regressions first, then improvements, then how many are unchanged.
  package var text: String {
    var text = "\nagainst the baseline, \(lines.count) figures compared\n"
    let moved = regressions.map { ("slower", $0) } + improvements.map { ("faster", $0) }
    text += SummaryTable.aligned(
      moved.map { verdict, line in
        [
          "  " + line.key.name,
          Quantity.digits(line.ratio.value),
          Quantity.text(line.ratio.interval, unit: "times"),
          "±\(Quantity.digits(line.band * 100)) %",
          verdict,
        ]
      }
    )
    text += "  \(lines.count - moved.count) within the noise"
    if let machineDrift {
      text += " · the machine itself moved by \(Quantity.digits(machineDrift))"
    }
    if tooFewForks > 0 { text += " · \(tooFewForks) figures have fewer than two forks" }
    if unmatched > 0 { text += " · \(unmatched) figures are in one of the runs only" }
    return text + "\n"
  }
}

extension PublishedFigures.Key {
  fileprivate func isSameCell(as other: Self) -> Bool {
    let ignored: Set<String> = ["mechanism", "service_kind"]
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
