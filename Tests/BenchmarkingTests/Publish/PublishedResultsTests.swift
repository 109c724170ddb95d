import Foundation
import Mechanisms
import TestSupport
import Testing

@testable import Benchmarking

/// `Results/`: what it tells must be what its files say.
@Suite(.watched) struct `The published results` {
  private let folder: URL
  private let story: String
  /// What files, figures and questions are called.
  private let reference: String

  init() throws {
    folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Results")
    story = try String(contentsOf: folder.appendingPathComponent("README.md"), encoding: .utf8)
    reference = try String(
      contentsOf: folder.appendingPathComponent("REFERENCE.md"),
      encoding: .utf8
    )
  }

  private func text(_ path: String) throws -> String {
    try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
  }

  /// The run the story is about, or another page: the first one that it links to.
  private func publishedRun(of page: String = "README.md") throws -> String {
    String(try #require(text(page).firstMatch(of: /\]\(([0-9-]+default-[0-9]+)\//)?.output.1))
  }

  /// A summary's figure by the name that the story gives it.
  private struct Figure {
    var median: Double
    var unit: String
    var ratio: Double?
    var verdict: String
  }

  /// By `uncontended limit=1 tasks=1 limiter time_per_op mean`.
  ///
  /// The kind of the service may be left out where nothing else is then called the same. `.ci/renew-figures` names
  /// them alike.
  private func figures(of page: String = "README.md") throws -> [String: Figure] {
    let run = try publishedRun(of: page)
    let table = CSV.records(try text("\(run)/summary.csv"))
    let header = table[0]
    var figures: [String: Figure] = [:]
    var ambiguous: Set<String> = []
    for record in table.dropFirst() {
      let row = Dictionary(uniqueKeysWithValues: zip(header, record))
      func value(_ name: String) -> String? { row[name].flatMap { $0.isEmpty ? nil : $0 } }
      var cell = Cell(
        value("workload") ?? "",
        limit: value("limit").flatMap { Int($0) },
        tasks: value("tasks").flatMap { Int($0) },
        serviceKind: value("service_kind"),
        serviceDistribution: value("service_dist"),
        utilisation: value("rho_target").flatMap { Double($0) },
        cancelFraction: value("cancel_fraction").flatMap { Double($0) },
        processors: value("processors").flatMap { Int($0) }
      )
      let contestant = Contestant(
        mechanism: value("mechanism"),
        executor: value("executor").flatMap { Executor(rawValue: $0) }
      )
      let figure = Figure(
        median: try #require(value("median").flatMap { Double($0) }),
        unit: value("unit") ?? "",
        ratio: value("ratio").flatMap { Double($0) },
        verdict: value("verdict") ?? ""
      )
      for kind in Set([cell.serviceKind, nil]) {
        cell.serviceKind = kind
        let words = [cell.name, contestant.name, value("metric"), value("stat")]
        let name = words.compactMap { $0 }.joined(separator: " ")
        if figures.updateValue(figure, forKey: name) != nil { ambiguous.insert(name) }
      }
    }
    let rows = table.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(header, $0)) }
    return figures.filter { !ambiguous.contains($0.key) }.merging(try wholeRun(run, rows)) { $1 }
  }

  /// What is said of the run as a whole, by `comparisons decided`.
  ///
  /// What was measured twice is compared with itself, and counts apart.
  private func wholeRun(_ run: String, _ rows: [[String: String]]) throws -> [String: Figure] {
    let compared = rows.filter { $0["verdict"] != "" }
    let others = compared.filter { $0["mechanism"]?.hasSuffix("-again") == false }
    func count(_ verdicts: String...) -> Double {
      Double(others.count { verdicts.contains($0["verdict"] ?? "") })
    }
    let detectable = others.filter { $0["verdict"] == "undecided" }
      .compactMap { $0["detectable_pct"].flatMap { Double($0) } }
    let results = CSV.records(try text("\(run)/results.csv"))
    let block = try #require(results[0].firstIndex(of: "block"))
    let record = try EnvironmentRecord(json: text("\(run)/env.json"))
    func figure(_ value: Double?, _ unit: String) -> Figure? {
      value.map { Figure(median: $0, unit: unit, verdict: "") }
    }
    return [
      "blocks": figure(Double(Set(results.dropFirst().map { $0[block] }).count), "count"),
      "load most": figure(record.loadDuringMost.map { $0 * 100 }, "percent"),
      "comparisons": figure(Double(others.count), "count"),
      "comparisons decided": figure(count("faster", "slower"), "count"),
      "comparisons same": figure(count("same"), "count"),
      "comparisons undecided": figure(count("undecided"), "count"),
      "comparisons too-few-waited": figure(count("too-few-waited"), "count"),
      "comparisons with itself": figure(Double(compared.count - others.count), "count"),
      "detectable least": figure(detectable.min(), "percent"),
      "detectable most": figure(detectable.max(), "percent"),
    ].compactMapValues { $0 }
  }

  /// Each figure follows a comment that names it: `<!-- name -->107 ns`, `<!-- ratio name -->16.4`,
  /// `<!-- verdict name -->slower`.
  @Test(arguments: ["README.md", "PEERS.md"])
  func `every figure of a page is in its run's files`(page: String) throws {
    let figures = try figures(of: page)
    let told = try text(page).matches(of: /<!-- (?!holds: )(ratio |verdict )?(.+?) -->([^|<\n]+)/)
    #expect(told.count >= 20)
    let memory = ["faster": "less", "slower": "more"]
    for match in told {
      let name = String(match.output.2)
      let figure = try #require(figures[name], "no figure '\(name)'")
      let expected =
        switch match.output.1 {
        case "ratio ": Quantity.digits(try #require(figure.ratio, "no ratio of '\(name)'"))
        case "verdict ":
          figure.unit == "bytes" ? memory[figure.verdict] ?? figure.verdict : figure.verdict
        default: Quantity.text(figure.median, unit: figure.unit)
        }
      #expect(
        match.output.3.hasPrefix(expected),
        "\(name): the files say \(expected), \(page) \(match.output.3)"
      )
    }
  }

  /// What one side of a comparison says: a figure's name, `ratio` before it or not, and a factor.
  private func value(_ side: Substring, _ figures: [String: Figure]) throws -> Double {
    let parts = side.split(separator: " × ")
    let factor = parts.count == 2 ? try #require(Double(parts[0]), "\(side)") : 1
    let name = String(try #require(parts.last)).trimmingCharacters(in: .whitespaces)
    if name.hasPrefix("ratio ") {
      let figure = try #require(figures[String(name.dropFirst(6))], "no figure '\(name)'")
      return try #require(figure.ratio) * factor
    }
    return try #require(figures[name], "no figure '\(name)'").median * factor
  }

  /// `<!-- holds: name < 0.1 × name -->` stands before what it carries.
  @Test(arguments: ["README.md", "PEERS.md"])
  func `what a page says of two figures together holds in its run's files`(page: String) throws {
    let figures = try figures(of: page)
    let told = try text(page).matches(of: /<!-- holds: (.+?) ([<>]) (.+?) -->/)
    #expect(told.count >= 3)
    for match in told {
      let (one, other) = try (
        value(match.output.1, figures), value(match.output.3, figures)
      )
      #expect(match.output.2 == "<" ? one < other : one > other, "\(match.output.0)")
    }
  }

  /// Words that compare, outside of tables and of the parts that say how the run was made.
  @Test func `no sentence of the story compares without a figure that is checked`() throws {
    let start = try #require(story.range(of: "## What it costs")).lowerBound
    let end = try #require(story.range(of: "## How to read a figure")).lowerBound
    let lines = story[start..<end].split(separator: "\n").filter { !$0.hasPrefix("|") }
    let compares =
      /\b(faster|slower|cheaper|dearer|better|worse|best|worst|quicker|fraction|hardly|near|as long|as much|less|longer) ?/
    var unchecked: [String] = []
    for line in lines {
      // A figure ends its comment; what is in comments is no sentence.
      let sentences = line.replacing(/([.:;]) ([A-Z0-9<`])/) { "\($0.output.1)\n\($0.output.2)" }
      for sentence in sentences.split(separator: "\n") {
        let words = sentence.replacing(/<!--.+?-->/, with: "")
        if words.contains(compares), !sentence.contains("<!--"), !sentence.contains("|") {
          unchecked.append(String(words))
        }
      }
    }
    #expect(unchecked.isEmpty, "\(unchecked)")
  }

  @Test func `the guide opens the story, as the report's does, and every mechanism has a row`()
    throws
  {
    let first = try #require(story.firstRange(of: "## ")).lowerBound
    #expect(story[first...].hasPrefix("## Which should I use?"))
    let plain = story.replacing("`", with: "")
    for need in Guide.needs {
      #expect(plain.contains("| \(need.need) | \(need.mechanism) | \(need.reason) | "))
      #expect(plain.contains(" | \(need.trap) |"))
    }
    for entry in Catalogue.mechanisms {
      let row = Guide.features(of: entry).joined(separator: " | ")
      #expect(reference.contains("| \(row) |"), "\(row)")
    }
  }

  /// A quantity with a unit must be one that is checked.
  @Test(arguments: ["README.md", "PEERS.md"])
  func `no figure of a page is without its name`(page: String) throws {
    let unnamed = try text(page).replacing(/<!-- (.+?) -->[0-9.]+ ?\S+/, with: "")
      .matches(of: /[0-9.]+ (ns|us|ms|kB|MB)\b/).map { String($0.output.0) }
    #expect(unnamed.isEmpty, "\(unnamed)")
  }

  @Test func `every metric's unit and meaning is in the table`() {
    for metric in Metric.all {
      #expect(
        reference.contains(
          "| `\(metric.id)` | \(metric.unit) | \(metric.better.rawValue) | \(metric.meaning) |"
        )
      )
    }
  }

  @Test func `every workload's question is in the table`() {
    for workload in BenchWorkloads.all {
      #expect(reference.contains("| `\(workload.id)` | \(workload.question) |"))
    }
  }

  @Test func `every column of results is explained`() {
    for column in ResultRow.columns { #expect(reference.contains("| `\(column)` | "), "\(column)") }
  }

  @Test func `the published run can be a baseline for the program as it is`() throws {
    let run = try EarlierRun(folder: folder.appendingPathComponent(publishedRun()).path)
    #expect(run.figures.keys.count > 200)
    #expect(run.figures.keys.contains { $0.name.contains("limiter") && $0.name.contains("global") })
  }

  @Test(arguments: ["README.md", "PEERS.md"])
  func `a published run is whole, valid and optimised`(page: String) throws {
    let run = try publishedRun(of: page)
    // The names that the files of every schema have.
    for name in ["results.csv", "summary.csv", "env.json", "report.html"] {
      #expect(throws: Never.self) { try text("\(run)/\(name)") }
    }
    let record = try EnvironmentRecord(json: text("\(run)/env.json"))
    #expect(record.runID == run)
    #expect(record.optimised)
    let table = CSV.records(try text("\(run)/results.csv"))
    // A later schema has more columns behind those of an earlier one.
    #expect(ResultRow.columns.starts(with: table[0]))
    let reasons = Set(table.dropFirst().map { $0[27] }.filter { !$0.isEmpty })
    // Processors may have been moved; no promise may have been broken.
    #expect(reasons.allSatisfy { $0.hasPrefix(CountedBlocks.prefixOfReason) })
  }
}
