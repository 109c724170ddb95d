internal import Foundation

/// A run read back from its folder, so that what is derived from its figures can be written anew without
/// measuring again: its summary, its report and its plots.
package struct PublishedRun {
  package enum Failure: Error, CustomStringConvertible {
    case unreadable(String, String)
    case cannotWrite(String, String)

    package var description: String {
      switch self {
      case .unreadable(let folder, let reason):
        "--republish \(folder) is not the folder of a run of this program's kind: \(reason). Name one "
          + "such as Results/2026-11-20-quick-1"
      case .cannotWrite(let path, let reason): "cannot write \(path): \(reason)"
      }
    }
  }

  package let files: RunFiles
  private let folder: String
  private let environment: EnvironmentRecord

  /// What the run was told on its command line, without the program's name.
  package static func command(of folder: String) throws(Failure) -> [String] {
    Array(try environment(of: folder).command.dropFirst())
  }

  /// Reads a run whose cells are all in `plan`; who was measured in them is read too.
  package init(folder: String, plan: Plan) async throws {
    self.folder = folder
    environment = try Self.environment(of: folder)
    var reader = try Reader(
      plan,
      try await Table(folder, "results.csv", schemas: ResultRow.publishedSchemas),
      folder
    )
    try reader.addRounds(await Table(folder, "rounds.csv.gz", schemas: [RunFiles.roundsSchema]))
    try reader.addSeries(await Table(folder, "series.csv.gz", schemas: ["bench-series/2"]))
    let (plan, records) = reader.run
    files = RunFiles(
      runID: environment.runID,
      plan: plan,
      records: records,
      summary: Summary(plan: plan, records: records)
    )
  }

  /// Writes what is derived, over what is there.
  ///
  /// - Returns: the names of the files written.
  package func rewrite() throws(Failure) -> [String] {
    // The full distributions are not in the tables, so the picture of them stays as it is.
    let spectrum = try? String(
      contentsOfFile: "\(folder)/\(RunPlots.spectrumFile)",
      encoding: .utf8
    )
    let derived = files.derived(environment, spectrum: spectrum)
    for file in derived {
      let path = "\(folder)/\(file.name)"
      do {
        try file.text.write(toFile: path, atomically: true, encoding: .utf8)
      } catch {
        throw .cannotWrite(path, "\(error)")
      }
    }
    return derived.map(\.name)
  }

  private static func environment(of folder: String) throws(Failure) -> EnvironmentRecord {
    guard let text = try? String(contentsOfFile: "\(folder)/env.json", encoding: .utf8),
      let record = try? EnvironmentRecord(json: text)
    else { throw .unreadable(folder, "it has no readable env.json") }
    return record
  }
}

/// A file of a run, row by row.
private struct Table {
  let rows: [Row]

  struct Row {
    fileprivate let columns: [String: Int]
    fileprivate let cells: [String]

    /// What the row has in a column; nil where that is empty.
    subscript(_ name: String) -> String? {
      guard let index = columns[name], !cells[index].isEmpty else { return nil }
      return cells[index]
    }

    func whole(_ name: String) -> Int? { self[name].flatMap { Int($0) } }
    func number(_ name: String) -> Double? { self[name].flatMap { Double($0) } }
  }

  init(_ folder: String, _ name: String, schemas: [String]) async throws {
    let path = "\(folder)/\(name)"
    let isPacked = name.hasSuffix(Compression.suffix)
    let text =
      isPacked
      ? try? await Compression.text(of: path) : try? String(contentsOfFile: path, encoding: .utf8)
    guard let text else {
      throw PublishedRun.Failure.unreadable(folder, "it has no readable \(name)")
    }
    let records = CSV.records(text)
    var columns: [String: Int] = [:]
    for (index, column) in (records.first ?? []).enumerated() { columns[column] = index }
    rows = records.dropFirst().filter { $0.count == columns.count }
      .map { Row(columns: columns, cells: $0) }
    if let other = rows.first(where: { !schemas.contains($0["schema"] ?? "") }) {
      throw PublishedRun.Failure.unreadable(
        folder,
        "\(name) has the schema '\(other["schema"] ?? "")', not "
          + schemas.map { "'\($0)'" }.joined(separator: " or ")
      )
    }
  }
}

/// Puts the rows together again: a record for each block, a report for each trial.
private struct Reader {
  private var plan: Plan
  /// How many contestants each entry had before the rows were read, which may name others.
  private let planned: [Int]
  private var records: [BlockRecord] = []
  private let folder: String

  /// The plan without what was not measured, and the records in the order of measuring.
  var run: (Plan, [BlockRecord]) {
    var plan = plan
    var measured: [Int: Set<Int>] = [:]
    for record in records {
      measured[record.entry, default: []].formUnion(record.trials.map(\.contestant))
    }
    let kept = measured.keys.sorted()
    let places = kept.map { (measured[$0] ?? []).sorted() }
    plan.entries = zip(kept, places).map { index, contestants in
      var entry = plan.entries[index]
      let share = Double(contestants.count) / Double(planned[index])
      entry.contestants = contestants.map { entry.contestants[$0] }
      entry.expectedSeconds *= share
      return entry
    }
    let records = records.sorted { $0.number < $1.number }.map { record in
      var record = record
      record.entry = kept.firstIndex(of: record.entry) ?? 0
      record.trials = record.trials.map { trial in
        var trial = trial
        trial.contestant = places[record.entry].firstIndex(of: trial.contestant) ?? 0
        return trial
      }
      return record
    }
    return (plan, records)
  }

  init(_ plan: Plan, _ results: Table, _ folder: String) throws(PublishedRun.Failure) {
    self.plan = plan
    self.folder = folder
    planned = plan.entries.map(\.contestants.count)
    var places: [Int: Int] = [:]
    for row in results.rows {
      guard let block = row.whole("block"), let fork = row.whole("fork") else { continue }
      let entry = try entry(of: row)
      let contestant = contestant(of: row, in: entry)
      let place: Int
      if let known = places[block] {
        place = known
      } else {
        place = records.count
        places[block] = place
        records.append(BlockRecord(number: block, fork: fork, entry: entry, trials: []))
      }
      add(row, of: contestant, to: &records[place])
    }
  }

  /// Puts the rounds in the place of the figures that were made of them.
  mutating func addRounds(_ table: Table) throws(PublishedRun.Failure) {
    var blocks: [[Int]: Int] = [:]
    for (index, record) in records.enumerated() { blocks[[record.entry, record.fork]] = index }
    var entries: [[String]: Int] = [:]
    for row in table.rows {
      let name = RunFiles.keyColumns.map { row[$0] ?? "" }
      let entry: Int
      if let known = entries[name] {
        entry = known
      } else {
        entry = try self.entry(of: row)
        entries[name] = entry
      }
      guard let fork = row.whole("fork"), let block = blocks[[entry, fork]],
        let order = row.whole("order_in_block"), records[block].trials.indices.contains(order - 1),
        let metric = row["metric"], let stat = row["stat"], let value = row.number("value")
      else { continue }
      records[block].trials[order - 1].report.addRound(
        Measure(
          metric: metric,
          stat: stat,
          value: value,
          count: 1,
          repetition: row.whole("round")
        )
      )
    }
  }

  /// Adds what was found over time.
  mutating func addSeries(_ table: Table) throws(PublishedRun.Failure) {
    for row in table.rows {
      let entry = try entry(of: row)
      let contestant = contestant(of: row, in: entry)
      guard let time = row.whole("time_ns"), let value = row.number("value"),
        let metric = row["metric"],
        let block = records.firstIndex(where: {
          $0.entry == entry && $0.fork == row.whole("fork")
        }),
        let trial = records[block].trials.firstIndex(where: { $0.contestant == contestant })
      else { continue }
      var series = records[block].trials[trial].report.series
      if series.last?.metric != metric {
        series.append(Series(metric: metric, times: [], values: []))
      }
      series[series.count - 1].times.append(Int64(time))
      series[series.count - 1].values.append(value)
      records[block].trials[trial].report.series = series
    }
  }

  private func entry(of row: Table.Row) throws(PublishedRun.Failure) -> Int {
    let found = plan.entries.indices.filter { index in
      let cell = plan.entries[index].cell
      let parts: [(String, String)] = [
        ("workload", cell.workload), ("limit", CSV.number(cell.limit)),
        ("tasks", CSV.number(cell.tasks)), ("arrivals", cell.arrivals ?? ""),
        ("service_dist", cell.serviceDistribution ?? ""), ("service_ns", CSV.number(cell.service)),
        ("rho_target", CSV.number(cell.utilisation)),
        ("cancel_fraction", CSV.number(cell.cancelFraction)),
        ("processors", CSV.number(cell.processors)),
      ]
      return parts.allSatisfy { (row[$0] ?? "") == $1 }
        && (cell.serviceKind == nil || cell.serviceKind == row["service_kind"])
    }
    // A kind that was asked for is one cell, and each mechanism's own another.
    guard
      let entry = found.first(where: { plan.entries[$0].cell.serviceKind != nil }) ?? found.first
    else {
      let words = ["workload", "limit", "tasks", "service_kind"].compactMap { row[$0] }
      throw .unreadable(folder, "this program has no cell '\(words.joined(separator: " "))'")
    }
    return entry
  }

  /// Its place in the entry, which it is given if it is new there.
  private mutating func contestant(of row: Table.Row, in entry: Int) -> Int {
    let label = row["mechanism"]
    let isAgain = label?.hasSuffix(Contestant.againSuffix) == true
    let name = isAgain ? label.map { String($0.dropLast(Contestant.againSuffix.count)) } : label
    let who = Contestant(
      // A part of the machine that was measured twice has no name.
      mechanism: name == "" ? nil : name,
      isAgain: isAgain,
      executor: row["executor"].flatMap { Executor(rawValue: $0) }
    )
    if let known = plan.entries[entry].contestants.firstIndex(of: who) { return known }
    plan.entries[entry].contestants.append(who)
    return plan.entries[entry].contestants.count - 1
  }

  private func add(_ row: Table.Row, of contestant: Int, to record: inout BlockRecord) {
    let order = row.whole("order_in_block") ?? 1
    while record.trials.count < order {
      record.trials.append(BlockRecord.Entry(contestant: contestant, report: TrialReport()))
    }
    record.trials[order - 1].contestant = contestant
    var report = record.trials[order - 1].report
    report.serviceKind = row["service_kind"]
    report.achievedUtilisation = row.number("rho_achieved")
    if let metric = row["metric"], let stat = row["stat"], let value = row.number("value") {
      report.measures.append(
        Measure(
          metric: metric,
          stat: stat,
          value: value,
          count: row.whole("n") ?? 1,
          repetition: row.whole("rep")
        )
      )
    }
    if let before = row.number("distance_before_ns"), let after = row.number("distance_after_ns") {
      record.distance = ProcessorDistance(before: before, after: after)
    }
    // What does not count for the distance is found again from it, and breaks no promise.
    if let reason = row["invalid_reason"], !reason.hasPrefix(CountedBlocks.prefixOfReason) {
      report.violations = [reason]
    }
    record.trials[order - 1].report = report
    if let share = row.number("foreign_cpu_pct") {
      record.disturbance = Disturbance(foreignPercent: share, stealPercent: 0)
    }
  }
}

extension TrialReport {
  /// Adds a round, the first of a figure in place of what was made of all.
  fileprivate mutating func addRound(_ round: Measure) {
    let known = measures.lastIndex { $0.metric == round.metric && $0.stat == round.stat }
    if let known, measures[known].repetition == nil {
      measures[known] = round
    } else {
      measures.insert(round, at: known.map { $0 + 1 } ?? measures.count)
    }
  }
}
