package import Experiments
import Mechanisms

/// What differs between two runs.
package enum RunDiff {
  /// What was asked differently, the figures side by side, and which tasks fared differently.
  package static func text(_ one: Run, _ other: Run, _ format: TextFormat) -> String {
    if one.events == other.events, one.now == other.now, settings(one) == settings(other) {
      let same = "the two runs are the same, event for event"
      return Columns.wrap(same, width: format.width).map { $0 + "\n" }.joined()
    }
    let summaries = (one.summary, other.summary)
    var lines: [String] = []
    for (first, second) in zip(settings(one), settings(other)) where first.value != second.value {
      let line = "\(first.name): \(first.value), then \(second.value)"
      lines += Columns.wrap(line, width: format.width, indent: 2)
    }
    if lines.isEmpty { lines.append("asked for the same") }
    lines.append("")
    lines += table(one, other, summaries, format).lines(format)
    lines.append("")
    for sentence in goingOn(one, other) + [parting(one, other)] + fates(one, other) {
      lines += Columns.wrap(sentence, width: format.width, indent: 2)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// One thing that was asked for.
  private struct Setting: Hashable {
    var name: String
    var value: String
  }

  private static func settings(_ run: Run) -> [Setting] {
    [
      Setting(name: "mechanism", value: run.mechanism),
      Setting(name: "limit", value: run.limit == nil ? "none" : run.limitValues),
      Setting(name: "tasks", value: String(run.plan.count)),
      Setting(name: "seed", value: String(run.seed)),
      Setting(name: "clock", value: run.clock.rawValue),
      Setting(name: "workers", value: run.workers.map { String($0) } ?? "as the system gives"),
    ]
  }

  /// Which of the two goes on: what its figures are worth.
  private static func goingOn(_ one: Run, _ other: Run) -> [String] {
    [(one, "first"), (other, "second")].compactMap { run, place in
      UnderWayText.sentence(run).map { sentence in
        "The \(place): \(sentence). Its figures are as of now, with what still waits and is in service."
      }
    }
  }

  private static func table(
    _ one: Run,
    _ other: Run,
    _ summaries: (RunSummary, RunSummary),
    _ format: TextFormat
  ) -> TextTable {
    let times: [(String, (RunSummary) -> Int64)] = [
      ("makespan", { $0.makespan }),
      ("waiting mean", { $0.waiting.mean }),
      ("waiting p50", { $0.waiting.p50 }),
      ("waiting p99", { $0.waiting.p99 }),
      ("service mean", { $0.service.mean }),
      ("response p99", { $0.response.p99 }),
    ]
    let counts: [(String, (RunSummary) -> Int)] = [
      ("peak running", { $0.peakRunning }),
      ("threads", { $0.threadsPeak }),
      ("overtook", { $0.orderBreaks }),
      ("finished", { $0.finished }),
      ("failed", { $0.failed }),
      ("cancelled", { $0.cancelled }),
      ("rejected", { $0.rejected }),
      ("violations", { $0.violations.count }),
    ]
    let goesOn = one.isUnderWay || other.isUnderWay
    var rows = times.map { name, figure in
      let (first, second) = (figure(summaries.0), figure(summaries.1))
      // How long the one took and how long the other has taken so far cannot be held against each other.
      guard name != "makespan" || !goesOn else {
        return [name, span(one, first), span(other, second), ""]
      }
      return [
        name, DurationText.text(first), DurationText.text(second),
        change(Double(first), Double(second)),
      ]
    }
    rows += counts.compactMap { name, figure in
      let (first, second) = (figure(summaries.0), figure(summaries.1))
      guard first != 0 || second != 0 else { return nil }
      let difference = second - first
      let sign = difference > 0 ? "+" : ""
      return [
        name, String(first), String(second),
        difference == 0 ? "same" : "\(sign)\(NumberText.grouped(difference))",
      ]
    }
    return TextTable(
      columns: [
        TextTable.Column(heading: "", alignsRight: false, rank: 0),
        TextTable.Column(heading: heading(one, other, "first"), rank: 0),
        TextTable.Column(heading: heading(other, one, "second"), rank: 0),
        TextTable.Column(heading: "change", rank: 1),
      ],
      rows: rows
    )
  }

  private static func span(_ run: Run, _ length: Int64) -> String {
    DurationText.text(length) + (run.isUnderWay ? " so far" : "")
  }

  private static func heading(_ run: Run, _ other: Run, _ place: String) -> String {
    run.mechanism == other.mechanism ? place : run.mechanism
  }

  private static func change(_ first: Double, _ second: Double) -> String {
    if first == second { return "same" }
    if first == 0 { return "new" }
    let percent = (second / first - 1) * 100
    if abs(percent) >= 1_000 { return "x\(NumberText.rate(second / first))" }
    return "\(percent > 0 ? "+" : "")\(NumberText.rate(percent)) %"
  }

  /// Where the two logs part.
  private static func parting(_ one: Run, _ other: Run) -> String {
    let common = zip(one.events, other.events).prefix { first, second in
      first.time == second.time && first.task == second.task && first.kind == second.kind
    }.count
    let count = NumberText.count(common, "event")
    switch (one.events.dropFirst(common).first, other.events.dropFirst(common).first) {
    case (nil, nil): return "Both logs have the same \(count)."
    case (let first?, let second?):
      return "The logs agree for \(count); then the first has \(words(for: first, one)), "
        + "the second \(words(for: second, other))."
    case (let first?, nil):
      let ends = other.isUnderWay ? "has come to" : "ends after"
      return "The second log \(ends) \(count); the first has then \(words(for: first, one))."
    case (nil, let second?):
      let ends = one.isUnderWay ? "has come to" : "ends after"
      return "The first log \(ends) \(count); the second has then \(words(for: second, other))."
    }
  }

  private static func words(for event: TraceEvent, _ run: Run) -> String {
    (event.task > .run ? run.label(of: event.task) + " " : "")
      + "\(EventText.words(for: event.kind)) at \(DurationText.text(event.time))"
  }

  /// The first task that ended otherwise, how many more did, and the one whose waiting changed most.
  private static func fates(_ one: Run, _ other: Run) -> [String] {
    let pairs = zip(
      TaskLife.all(in: one.events, tasks: one.facts.tasks),
      TaskLife.all(in: other.events, tasks: other.facts.tasks)
    )
    var sentences: [String] = []
    let changed = pairs.filter { $0.end != $1.end }
    if let (first, second) = changed.first {
      let more =
        changed.count > 1 ? " (and \(NumberText.count(changed.count - 1, "more task")))" : ""
      sentences.append(
        "\(one.label(of: first.task)) \(words(for: first.end, one)) in the first run and "
          + "\(words(for: second.end, other)) in the second\(more)."
      )
    }
    let waits = pairs.compactMap { first, second -> (TaskLife, Int64, Int64)? in
      guard let before = first.waiting, let after = second.waiting, before != after else {
        return nil
      }
      return (first, before, after)
    }
    if let (life, before, after) = waits.max(by: { abs($0.2 - $0.1) < abs($1.2 - $1.1) }) {
      sentences.append(
        "\(NumberText.count(waits.count, "task")) waited longer or shorter; most changed "
          + "\(one.label(of: life.task)), from \(DurationText.text(before)) to \(DurationText.text(after))."
      )
    }
    return sentences
  }

  private static func words(for end: TaskLife.End?, _ run: Run) -> String {
    switch end {
    case .finished: "finished"
    case .failed: "failed"
    case .cancelledWhileWaiting: "was cancelled while waiting"
    case .cancelledWhileRunning: "was cancelled while running"
    case .rejected: "was rejected"
    case nil: run.isUnderWay ? "has not ended yet" : "never ended"
    }
  }
}
