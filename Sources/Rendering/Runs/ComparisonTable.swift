internal import Basics
package import Experiments
internal import Mechanisms

/// The same work on several mechanisms, side by side, and what differs in words.
package enum ComparisonTable {
  /// A row for each run with small bars for the makespan, then what differs.
  package static func text(_ runs: [Run], _ format: TextFormat) -> String {
    guard !runs.isEmpty else { return "nothing to compare\n" }
    let entries = runs.map { Entry(run: $0, summary: $0.summary) }
    var lines = table(entries, format).lines(format)
    let sentences = differences(entries)
    if !sentences.isEmpty { lines.append("") }
    for sentence in sentences { lines += Columns.wrap(sentence, width: format.width, indent: 2) }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The same in sentences only, for a reader who hears it.
  package static func describe(_ runs: [Run]) -> String {
    let entries = runs.map { Entry(run: $0, summary: $0.summary) }
    let each = entries.map { entry in
      let summary = entry.summary
      return "\(entry.name): ended after \(DurationText.text(summary.makespan)), "
        + "\(Throughput.words(summary.throughput)), "
        + "half waited at most \(DurationText.text(summary.waiting.p50)), "
        + "at most \(summary.peakRunning) ran at once, "
        + "\(NumberText.count(summary.threadsPeak, entry.run.threadNoun)), "
        + "\(SummaryText.order(entry.run, summary))."
    }
    return (each + differences(entries)).map { $0 + "\n" }.joined()
  }

  /// One line of JSON for each run: its summary, with the mechanism's name inside.
  package static func jsonLines(_ runs: [Run]) -> String {
    runs.map { RunJSONLines.summaryLine($0, $0.summary) }.joined()
  }

  /// The table's headings and its rows, without the bars.
  static func cells(_ runs: [Run]) -> (headings: [String], rows: [[String]]) {
    let table = table(runs.map { Entry(run: $0, summary: $0.summary) }, TextFormat(width: 1_000))
    let kept = table.columns.indices.filter { !table.columns[$0].heading.isEmpty }
    return (
      kept.map { table.columns[$0].heading }, table.rows.map { row in kept.map { row[$0] } }
    )
  }

  /// What differs, in words.
  static func sentences(_ runs: [Run]) -> [String] {
    differences(runs.map { Entry(run: $0, summary: $0.summary) })
  }

  /// What a table can be sorted by, the best first.
  package enum Order: String, CaseIterable, Sendable {
    case makespan
    case waiting
    case peak
    case threads
    case order
    case name
  }

  package static func sorted(_ runs: [Run], by order: Order) -> [Run] {
    // The places settle what is equal, as sorting alone need not.
    runs.enumerated().map { place, run in
      let summary = run.summary
      let key: Int64 =
        switch order {
        case .makespan: summary.makespan
        case .waiting: summary.waiting.p99
        case .peak: Int64(summary.peakRunning)
        case .threads: Int64(summary.threadsPeak)
        case .order: Int64(summary.orderBreaks)
        case .name: 0
        }
      return (key, order == .name ? run.label : "", place, run)
    }
    .sorted { ($0.0, $0.1, $0.2) < ($1.0, $1.1, $1.2) }
    .map(\.3)
  }

  private struct Entry {
    var run: Run
    var summary: RunSummary
    var name: String { run.label }

    /// Whether there was a limit, and never more ran.
    var keptLimit: Bool { run.limit != nil && summary.overAdmissions == 0 }

    /// Whether tasks were seen to begin before an earlier arrival, which a late start explains.
    var seemsEarly: Bool { SummaryText.seemsEarly(run, summary) }

    /// Whether it runs one at a time whatever limit is asked for.
    var isOneByNature: Bool { Catalogue.entry(run.mechanism)?.profile.limit == .one }
  }

  private static func table(_ entries: [Entry], _ format: TextFormat) -> TextTable {
    let longest = Double(entries.map(\.summary.makespan).max() ?? 0)
    let unit = Throughput.unit(for: entries.map(\.summary.throughput))
    let rows = entries.map { entry in
      let summary = entry.summary
      return [
        entry.name,
        Bar.text(Double(summary.makespan), of: longest, width: 6, format.glyphs),
        DurationText.text(summary.makespan),
        Throughput.figure(summary.throughput, per: unit),
        DurationText.text(summary.waiting.p50),
        DurationText.text(summary.waiting.p99),
        "\(summary.peakRunning)\(summary.limitAtPeak.map { "/\($0)" } ?? "")",
        String(summary.threadsPeak),
        order(entry),
      ]
    }
    return TextTable(
      columns: [
        TextTable.Column(heading: "mechanism", alignsRight: false, rank: 0),
        TextTable.Column(heading: "", alignsRight: false, rank: 9),
        TextTable.Column(heading: "makespan", rank: 0),
        TextTable.Column(heading: unit.heading, rank: 6),
        TextTable.Column(heading: "wait p50", rank: 7),
        TextTable.Column(heading: "wait p99", rank: 3),
        TextTable.Column(heading: "peak", rank: 2),
        TextTable.Column(heading: "threads", rank: 4),
        TextTable.Column(heading: "order", alignsRight: false, rank: 5),
      ],
      rows: rows
    )
  }

  /// Whether the order of arrival was kept; if not, how many overtook, or were seen to begin early.
  private static func order(_ entry: Entry) -> String {
    let breaks = entry.summary.orderBreaks
    if entry.seemsEarly { return "\(NumberText.grouped(entry.summary.fifoInversions)) early" }
    return breaks == 0 ? "kept" : "no, \(NumberText.grouped(breaks))"
  }

  // MARK: In words

  private static func differences(_ entries: [Entry]) -> [String] {
    guard entries.count > 1 else { return [] }
    return [
      clocks(entries), work(entries), pace(entries), unlimited(entries),
    ].compactMap { $0 } + oneByNature(entries) + narrow(entries)
      + [threads(entries), order(entries)].compactMap { $0 } + violations(entries)
  }

  private static func clocks(_ entries: [Entry]) -> String? {
    let real = entries.filter { $0.run.clock == .real }
    guard !real.isEmpty, real.count < entries.count else { return nil }
    return "\(ListText.all(real.map(\.name))) ran on the wall clock, the others in virtual time, "
      + "where everything but the work itself takes no time: compare the shapes, not the last digits."
  }

  private static func work(_ entries: [Entry]) -> String? {
    let first = entries[0].run.plan.map(\.service)
    let others = entries.dropFirst().filter { $0.run.plan.map(\.service) != first }
    guard !others.isEmpty else { return nil }
    return
      "Not the same work: the tasks of \(ListText.all(others.map(\.name))) differ from those of "
      + "\(entries[0].name)."
  }

  /// Of those that kept the limit: to be faster without one is no merit.
  private static func pace(_ all: [Entry]) -> String? {
    let kept = all.filter { $0.keptLimit && !$0.isOneByNature }
    let entries = kept.count > 1 ? kept : all
    let makespans = entries.map(\.summary.makespan)
    guard let fastest = makespans.min(), let slowest = makespans.max(), fastest > 0 else {
      return nil
    }
    // Within a fiftieth, an order of finish is no news.
    if Double(slowest) <= Double(fastest) * 1.02 {
      let who = entries.count == all.count ? "All" : "All that kept the limit"
      return "\(who) ended after \(DurationText.text(fastest)), give or take 2 %."
    }
    let first = entries.filter { Double($0.summary.makespan) <= Double(fastest) * 1.02 }
    let last = entries.filter { Double($0.summary.makespan) >= Double(slowest) / 1.02 }
    let factor = NumberText.rate(Double(slowest) / Double(fastest))
    let whose = entries.count == all.count ? "" : "Of those that kept the limit, "
    return
      "\(whose)\(ListText.all(first.map(\.name))) ended first, after \(DurationText.text(fastest)); "
      + "\(ListText.all(last.map(\.name))) took \(factor) times as long."
  }

  private static func unlimited(_ entries: [Entry]) -> String? {
    let free = entries.filter { $0.run.limit == nil }
    guard !free.isEmpty, free.count < entries.count else { return nil }
    let peaks = free.map { "\($0.name) keeps no limit: \($0.summary.peakRunning) at once" }
    return ListText.all(peaks) + "."
  }

  /// Those that an actor keeps one at a time do so only up to where a task suspends.
  private static func oneByNature(_ entries: [Entry]) -> [String] {
    let single = entries.filter(\.isOneByNature)
    guard single.count < entries.count else { return [] }
    let strict = single.filter { $0.run.facts.limit != nil }.map(\.name)
    let lax = single.filter { $0.run.facts.limit == nil }.map(\.name)
    var sentences: [String] = []
    if !strict.isEmpty {
      let run = strict.count == 1 ? "runs" : "run"
      sentences.append("\(ListText.all(strict)) \(run) one at a time by nature.")
    }
    if !lax.isEmpty {
      let start = lax.count == 1 ? "starts" : "start"
      sentences.append(
        "\(ListText.all(lax)) \(start) one at a time by nature; tasks that suspend overlap."
      )
    }
    return sentences
  }

  /// Those that stayed below their limit, though tasks waited, because their tasks hold threads.
  private static func narrow(_ entries: [Entry]) -> [String] {
    entries.compactMap { entry in
      let (run, summary) = (entry.run, entry.summary)
      let (peak, threads, limit) = (summary.peakRunning, summary.threadsPeak, summary.limit.peak)
      guard run.lackedWorkers(summary), peak < limit, threads <= peak else { return nil }
      return "\(entry.name): peak \(peak) of \(NumberText.grouped(limit)): the pool gave only "
        + NumberText.count(threads, run.threadNoun) + "."
    }
  }

  private static func threads(_ entries: [Entry]) -> String? {
    let greedy = entries.filter { entry in
      let limit = entry.summary.limit.peak
      return limit > 0 && entry.summary.threadsPeak > limit && entry.summary.blockedPeak > 1
    }
    guard !greedy.isEmpty else { return nil }
    let named = greedy.map { "\($0.name) held \($0.summary.threadsPeak) threads" }
    return "\(ListText.all(named)): a waiting task blocks one each."
  }

  private static func order(_ entries: [Entry]) -> String? {
    let overtaking = entries.filter { $0.summary.orderBreaks > 0 }
    if overtaking.count == entries.count { return "None admitted in the order of arrival." }
    let early = entries.filter(\.seemsEarly).map(\.name)
    let late =
      early.isEmpty
      ? nil
      : "Tasks of \(ListText.all(early)) were seen to begin before an earlier arrival, "
        + "which a late start explains."
    if overtaking.isEmpty { return late ?? "Every one admitted in the order of arrival." }
    let broken = "\(ListText.all(overtaking.map(\.name))) did not admit in the order of arrival"
    return late.map { "\(broken). \($0)" } ?? "\(broken); the others did."
  }

  private static func violations(_ entries: [Entry]) -> [String] {
    entries.flatMap { entry in
      entry.summary.violations.map { "\(entry.name): \($0)." }
        + entry.summary.errors.map {
          "\(entry.name): \(NumberText.count($0.tasks, "task")) failed: \($0.text)."
        }
    }
  }
}
