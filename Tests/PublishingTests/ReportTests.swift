import Basics
import Foundation
import FoundationXML
import Publishing
import TestSupport
import Testing
import Trials
import Workloads

/// A run that was never run, with figures for everything that is drawn.
struct ImaginedRun {
  let plan: Plan
  let records: [BlockRecord]
  let files: RunFiles

  init(_ selection: Selection = Selection(scale: .standard)) throws {
    plan = try Plan(selection)
    let plan = plan
    records = plan.blocks().enumerated().map { index, block in
      BlockRecord(
        number: index + 1,
        fork: block.fork,
        entry: block.entry,
        trials: block.order.map { contestant in
          var generator = SplitMix64(seed: UInt64(index * 100 + contestant))
          var report = TrialReport()
          let name = plan.entries[block.entry].contestants[contestant].mechanism ?? ""
          let cost = Double(100 + 40 * name.utf8.count) * (1 + 0.02 * generator.nextUnit())
          for metric in Metric.all { report.add(metric, "mean", cost) }
          for metric in Metric.all { report.add(metric, "p99", cost * 3) }
          report.add(.makespan, "max", cost)
          report.add(.recovery, "total", cost)
          report.add(.response, of: (1...100).map { Int64(cost) * $0 })
          report.series = [
            Series(metric: Metric.peakThreads.id, times: [0, 5, 9, 12], values: [4, 4, 5, 5])
          ]
          return BlockRecord.Entry(contestant: contestant, report: report)
        }
      )
    }
    files = RunFiles(
      runID: "2026-11-20-default-1",
      plan: plan,
      records: records,
      summary: Summary(plan: plan, records: records)
    )
  }

  var environment: EnvironmentRecord {
    EnvironmentRecord(
      runID: "2026-11-20-default-1",
      command: ["bench", "--filter", "a<b & c"],
      seed: plan.seed,
      forks: plan.forks,
      toolchain: "Swift version 6.3.1"
    )
  }
}

@Suite(.watched) struct `The report and the plots` {
  /// Made once: the bootstrap takes a while in a debug build.
  private static let imagined = Result {
    let run = try ImaginedRun(
      Selection(forks: 6, mechanisms: ["operation-queue", "limiter", "none"])
    )
    let files = try run.files.all(run.environment).map { ($0.name, $0.text) }
    return (run, Dictionary(uniqueKeysWithValues: files))
  }

  private let run: ImaginedRun
  private let all: [String: String]

  init() throws { (run, all) = try Self.imagined.get() }

  @Test func `every kind of plot is drawn`() {
    let drawn = all.keys.filter { $0.hasSuffix(".svg") }
    for prefix in [
      "forks-", "ratios-", "latency-", "percentiles", "throughput-", "cancellation", "memory",
      "threads-",
    ] {
      #expect(drawn.contains { $0.hasPrefix(prefix) }, "\(prefix)")
    }
  }

  @Test func `every plot is well-formed and names the mechanisms it shows`() throws {
    for (name, text) in all where name.hasSuffix(".svg") {
      let parser = XMLParser(data: Data(text.utf8))
      #expect(parser.parse(), "\(name): \(String(describing: parser.parserError))")
      let namesLimiter = text.contains(">limiter</text>")
      #expect(namesLimiter, "\(name)")
      let hasNoNumber = text.contains("nan") || text.contains("inf\"")
      #expect(!hasNoNumber, "\(name)")
    }
  }

  @Test func `the report needs nothing from elsewhere`() throws {
    let report = try #require(all["report.html"])
    for reference in ["src=", "<script", "<link", "url(", "@import"] {
      #expect(!report.contains(reference), "\(reference)")
    }
    let addresses = report.matches(of: /https?:\/\/[^"]*/).map { String($0.output) }
    #expect(Set(addresses) == ["http://www.w3.org/2000/svg"])
  }

  @Test func `the report answers, section by section`() throws {
    let report = try #require(all["report.html"])
    for heading in [
      "Can it be believed?", "In short", "How to read it", "Where theory disagrees",
      "How to do it again", "What the figures mean",
    ] {
      #expect(report.contains("<h2>\(heading)</h2>"), "\(heading)")
    }
    for workload in BenchWorkloads.all where workload.measuresMechanisms {
      #expect(report.contains("id=\"w-\(workload.id)\""), "\(workload.id)")
    }
  }

  @Test func `what the user typed is escaped`() throws {
    let report = try #require(all["report.html"])
    #expect(report.contains("a&lt;b &amp; c"))
    #expect(!report.contains("a<b"))
  }

  @Test func `the spectrum of a latency rises to the last value`() {
    for key in run.files.histograms.keys {
      let steps = run.files.histograms.spectrum(key)
      #expect(steps.map(\.count) == steps.map(\.count).sorted())
      #expect(steps.last?.count == steps.last?.total)
      #expect(steps.last?.percentile == 100)
    }
  }

  @Test func `every table has the columns its header says`() throws {
    for name in ["results.csv", "summary.csv", "histograms.csv", "series.csv"] {
      let table = CSV.records(try #require(all[name]))
      #expect(table.count > 1, "\(name)")
      #expect(table.allSatisfy { $0.count == table[0].count }, "\(name)")
    }
  }

  /// The format's grammar: a configuration line, or a name, a count, and pairs of value and unit.
  @Test func `the Go benchmark file has a line a fork in the format's grammar`() throws {
    let text = try #require(all["benchmarks.txt"])
    let lines = text.split(separator: "\n")
    let results = lines.filter { $0.hasPrefix("Benchmark") }
    #expect(results.count == run.plan.trials)
    for line in results {
      #expect(line.wholeMatch(of: /Benchmark[A-Z]\S* 1 [0-9.e+-]+ \S+/) != nil, "\(line)")
    }
    for line in lines where !line.hasPrefix("Benchmark") {
      #expect(line.wholeMatch(of: /[a-z]+: .+/) != nil, "\(line)")
    }
  }
}

@Suite(.watched) struct `Quantities for people` {
  @Test(arguments: [
    (0.0, "ns", "0 ns"), (71.34, "ns", "71.3 ns"), (3_410.0, "ns", "3.41 µs"),
    (999.7, "ns", "1.00 µs"), (2_000_000.0, "ns", "2.00 ms"), (12.0e9, "ns", "12.0 s"),
    (2_955.0, "bytes", "2.96 kB"), (1_234_567.0, "per_s", "1.23 M/s"), (0.5, "percent", "0.500 %"),
    (17.0, "count", "17"), (8.0, "count", "8"), (0.0004, "count", "0.0004"),
    (0.000021, "count", "0.00002"),
  ])
  func `three digits and the unit that keeps them short`(
    value: Double,
    unit: String,
    text: String
  ) {
    #expect(Quantity.text(value, unit: unit) == text)
  }
}

@Suite(.watched) struct `The comparison with a baseline` {
  /// `results.csv` of an imagined run in which the mechanism `slowed` costs `factor` times as much.
  private func results(seed: UInt64, slowed: String = "", factor: Double = 1) throws -> String {
    let plan = try Plan(
      Selection(scale: .quick, filter: "uncontended.* (limiter|pool|task-group)$|baseline")
    )
    var generator = SplitMix64(seed: seed)
    // The machine of one run is not quite that of another.
    let machine = 1 + 0.04 * (2 * generator.nextUnit() - 1)
    let records = plan.blocks().enumerated().map { index, block in
      let entry = plan.entries[block.entry]
      return BlockRecord(
        number: index + 1,
        fork: block.fork,
        entry: block.entry,
        trials: block.order.map { contestant in
          let who = entry.contestants[contestant].mechanism
          var report = TrialReport()
          let noise = 1 + 0.03 * (2 * generator.nextUnit() - 1)
          report.add(
            .timePerOperation,
            "mean",
            100 * machine * noise * (who == slowed ? factor : 1)
          )
          return BlockRecord.Entry(contestant: contestant, report: report)
        }
      )
    }
    let summary = Summary(plan: plan, records: records)
    return RunFiles(runID: "r", plan: plan, records: records, summary: summary).results()
  }

  private func comparison(_ seed: UInt64, slowed: String, factor: Double) throws
    -> BaselineComparison
  {
    BaselineComparison(
      baseline: try PublishedFigures(csv: results(seed: seed)),
      current: try PublishedFigures(csv: results(seed: ~seed, slowed: slowed, factor: factor)),
      seed: 1
    )
  }

  @Test(arguments: 1...10)
  func `a mechanism made a fifth slower is the one regression`(seed: UInt64) throws {
    let comparison = try comparison(seed, slowed: "pool", factor: 1.25)
    #expect(comparison.regressions.map(\.key.parts[1]) == ["pool"])
    #expect(comparison.improvements.isEmpty)
    #expect(comparison.text.contains("pool"))
  }

  @Test(arguments: 1...10)
  func `unchanged code is no regression, ten times out of ten`(seed: UInt64) throws {
    let comparison = try comparison(seed, slowed: "", factor: 1)
    #expect(comparison.regressions.isEmpty)
    #expect(comparison.improvements.isEmpty)
    #expect(comparison.unmatched == 0)
  }

  @Test func `a mechanism made a fifth faster is an improvement`() throws {
    #expect(
      try comparison(3, slowed: "limiter", factor: 0.75).improvements.map(\.key.parts[1])
        == ["limiter"]
    )
  }

  @Test func `invalid rows take no part`() throws {
    let text = try results(seed: 1).replacingOccurrences(of: ",true,", with: ",false,")
    #expect(try PublishedFigures(csv: text).values.isEmpty)
  }

  @Test func `another schema and another file are refused with what they are`() throws {
    let other = try results(seed: 1).replacingOccurrences(
      of: "bench-results/1",
      with: "bench-results/9"
    )
    #expect(throws: PublishedFigures.Failure.self) { try PublishedFigures(csv: other) }
    let error = #expect(throws: PublishedFigures.Failure.self) {
      try PublishedFigures(csv: "a,b\r\n1,2\r\n")
    }
    #expect(error.map { "\($0)" }?.contains("workload") == true)
  }
}
