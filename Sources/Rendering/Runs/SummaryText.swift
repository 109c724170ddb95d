package import Experiments
package import Mechanisms

/// The figures of a run as text.
package enum SummaryText {
  /// The line below a run: makespan, throughput, waiting, peak, order, and what did not finish.
  package static func line(_ run: Run, _ summary: RunSummary, _ format: TextFormat) -> String {
    var pieces = pace(summary) + [waiting(summary), peak(run, summary)]
    if run.limitChanged { pieces.append(run.limitText) }
    pieces += claim(run, summary) + troubles(summary) + work(run)
    return Columns.flow(pieces, separator: format.glyphs.separator, width: format.width)
      .joined(separator: "\n") + "\n"
  }

  /// Everything `stats` shows: percentiles, counts, and how the waiting and response times spread.
  package static func stats(_ run: Run, _ summary: RunSummary, _ format: TextFormat) -> String {
    let lives = TaskLife.all(in: run.events, tasks: run.facts.tasks)
    var lines = percentiles(summary, format)
    for counted in [UnderWayText.counted(summary), leftOut(summary)] where !counted.isEmpty {
      let wrapped = Columns.wrap(counted, width: format.width)
      lines += wrapped.map { format.style.paint($0, .faint) }
    }
    lines.append("")
    lines += facts(run, summary, format)
    let spreads = [
      ("waiting", lives.compactMap { $0.waiting(by: summary.now) }),
      ("response", lives.compactMap { $0.response(by: summary.now) }),
    ]
    for (name, values) in spreads where values.count > 1 {
      let histogram = DurationHistogram(values, atMost: 8)
      guard histogram.buckets.count > 1, histogram.isReadable else { continue }
      let soFar = summary.now == nil ? "" : " so far"
      let heading = Columns.wrap("\(name) time\(soFar), number of tasks", width: format.width)
      lines += [""] + heading.map { format.style.paint($0, .heading) }
      lines += histogram.lines(format)
    }
    let wrong =
      summary.violations
      + summary.errors.map { "\(NumberText.count($0.tasks, "task")) failed: \($0.text)" }
    if !wrong.isEmpty {
      lines.append("")
      for line in wrong {
        lines += Columns.wrap("\(format.glyphs.bad) \(line)", width: format.width, indent: 2)
          .map { format.style.paint($0, .bad) }
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func percentiles(_ summary: RunSummary, _ format: TextFormat) -> [String] {
    let columns =
      [TextTable.Column(heading: "", alignsRight: false, rank: 0)]
      + ["mean", "p50", "p90", "p99", "max"].enumerated().map { index, heading in
        // The median and the ninetieth percentile go first where the lines are short.
        TextTable.Column(heading: heading, rank: [0, 1, 2, 0, 0][index])
      }
    let rows = [
      ("waiting", summary.waiting), ("service", summary.service), ("response", summary.response),
    ].map { name, values in
      [name]
        + [values.mean, values.p50, values.p90, values.p99, values.max].map(DurationText.text)
    }
    return TextTable(columns: columns, rows: rows).lines(format)
  }

  private static func facts(
    _ run: Run,
    _ summary: RunSummary,
    _ format: TextFormat
  ) -> [String] {
    var pieces = pace(summary) + [peak(run, summary)]
    if run.limitChanged { pieces.append(run.limitText) }
    if let used = utilisation(run, summary) {
      pieces.append("permits used \(NumberText.percent(used))")
    }
    pieces += [
      "at most \(NumberText.grouped(summary.peakWaiting)) waiting",
      NumberText.count(summary.threadsPeak, run.threadNoun),
    ]
    pieces += claim(run, summary) + ["\(NumberText.grouped(summary.finished)) finished"]
    pieces += troubles(summary) + work(run)
    if let completion = run.completion {
      pieces.append("said to be done at \(DurationText.text(completion))")
    }
    return Columns.flow(pieces, separator: format.glyphs.separator, width: format.width)
  }

  /// How long it took and how much was done in it; of a run under way, so far.
  private static func pace(_ summary: RunSummary) -> [String] {
    let rate = Throughput.text(summary.throughput)
    return summary.now == nil
      ? ["makespan \(DurationText.text(summary.makespan))", rate]
      : ["\(DurationText.text(summary.makespan)) so far, the run goes on", "\(rate) so far"]
  }

  /// What was counted of real work.
  private static func work(_ run: Run) -> [String] {
    WorkFigure.allCases.compactMap { figure in
      run.work[figure].map { "\(figure.words) \(NumberText.grouped($0))" }
    }
  }

  /// The share of the permits' time in which they were in use, of a run with a limit.
  static func utilisation(_ run: Run, _ summary: RunSummary) -> Double? {
    let start = run.events.first { $0.task > .run }?.time ?? 0
    let offered = summary.limit.area(from: start, to: start + summary.makespan)
    guard offered > 0 else { return nil }
    return Double(summary.service.mean) * Double(summary.service.count) / offered
  }

  /// What did not finish.
  private static func troubles(_ summary: RunSummary) -> [String] {
    let counts = [
      (summary.failed, "failed"), (summary.cancelledWhileWaiting, "cancelled while waiting"),
      (summary.cancelledWhileRunning, "cancelled while running"), (summary.rejected, "rejected"),
      (summary.unended.count, summary.now == nil ? "never ended" : "not ended yet"),
    ]
    return counts.filter { $0.0 > 0 }.map { "\(NumberText.grouped($0.0)) \($0.1)" }
  }

  private static func waiting(_ summary: RunSummary) -> String {
    if summary.waiting.count == 0, !summary.unended.isEmpty { return "nobody was admitted" }
    let soFar = summary.now == nil ? "" : " so far"
    let whose = neverAdmitted(summary) == 0 ? "" : " (of \(admitted(summary)))"
    if summary.waiting.max == 0 { return "no waiting" + soFar + whose }
    let still = summary.stillWaiting
    let open = summary.now == nil || still == 0 ? "" : " (\(NumberText.grouped(still)) still wait)"
    return "waiting mean \(DurationText.text(summary.waiting.mean))\(soFar)\(open), "
      + "p99 \(DurationText.text(summary.waiting.p99))\(whose)"
  }

  /// "3 admitted", and of a run under way those that still wait, who are counted too.
  private static func admitted(_ summary: RunSummary) -> String {
    guard summary.now != nil, summary.stillWaiting > 0 else {
      return "\(NumberText.grouped(summary.waiting.count)) admitted"
    }
    let admitted = summary.waiting.count - summary.stillWaiting
    return
      "\(NumberText.grouped(admitted)) admitted and \(NumberText.grouped(summary.stillWaiting)) "
      + "that still wait"
  }

  /// How many came and were never admitted: no waiting time is counted of them.
  private static func neverAdmitted(_ summary: RunSummary) -> Int {
    summary.cancelledWhileWaiting + summary.rejected
      + (summary.now == nil ? summary.stillWaiting : 0)
  }

  /// Whose times the table does not have; empty where it has them all.
  private static func leftOut(_ summary: RunSummary) -> String {
    let left = neverAdmitted(summary)
    guard left > 0, summary.waiting.count > 0 else { return "" }
    return "these are of the \(admitted(summary)); \(NumberText.grouped(left)) "
      + "\(left == 1 ? "other" : "others") asked for a permit and never had one"
  }

  private static func peak(_ run: Run, _ summary: RunSummary) -> String {
    let peak = "peak \(NumberText.grouped(summary.peakRunning))"
    // The limit there is holds for some of the tasks only.
    if !run.facts.withoutPermit.isEmpty { return peak }
    return summary.limitAtPeak.map { "\(peak) of \(NumberText.grouped($0))" } ?? "\(peak), no limit"
  }

  /// What can be said of the order: of a run that was stopped, only that it was broken.
  private static func claim(_ run: Run, _ summary: RunSummary) -> [String] {
    // Of a line that only some of the tasks stand in, the others' order says nothing.
    if !run.facts.withoutPermit.isEmpty { return [] }
    return run.stoppedBecause != nil && summary.orderBreaks == 0 ? [] : [order(run, summary)]
  }

  /// Whether tasks were seen to begin before an earlier arrival, which a late start explains.
  ///
  /// Where the order was promised, that it was not broken is what counts.
  static func seemsEarly(_ run: Run, _ summary: RunSummary) -> Bool {
    !run.facts.promisesOrder && summary.orderBreaks == 0 && summary.fifoInversions > 0
  }

  /// What became of the order of arrival, in a few words.
  ///
  /// Only what no late start of a body explains counts as overtaking; see `ArrivalOrder`.
  package static func order(_ run: Run, _ summary: RunSummary) -> String {
    if summary.orderBreaks == 0 {
      if run.facts.promisesOrder { return "order kept" }
      let early = NumberText.grouped(summary.fifoInversions)
      return seemsEarly(run, summary)
        ? "\(early) began before an earlier arrival" : "in order of arrival"
    }
    return run.facts.promisesOrder
      ? "order broken \(NumberText.count(summary.orderBreaks, "time"))"
      : "\(NumberText.grouped(summary.orderBreaks)) overtook"
  }
}
