package import Experiments
package import Tracing

/// The figures of a run as text.
package enum SummaryText {
  /// The line below a run: makespan, throughput, waiting, peak, order, and what did not finish.
  package static func line(_ run: Run, _ summary: RunSummary, _ format: TextFormat) -> String {
    var pieces = [
      "makespan \(DurationText.text(summary.makespan))",
      "\(NumberText.rate(summary.throughput)) tasks/s",
      waiting(summary),
      peak(run, summary),
      order(run, summary),
    ]
    if summary.failed > 0 { pieces.append("\(NumberText.grouped(summary.failed)) failed") }
    if summary.cancelled > 0 { pieces.append("\(NumberText.grouped(summary.cancelled)) cancelled") }
    if summary.rejected > 0 { pieces.append("\(NumberText.grouped(summary.rejected)) rejected") }
    if !summary.unended.isEmpty {
      pieces.append("\(NumberText.grouped(summary.unended.count)) never ended")
    }
    return Columns.flow(pieces, separator: format.glyphs.separator, width: format.width)
      .joined(separator: "\n") + "\n"
  }

  private static func waiting(_ summary: RunSummary) -> String {
    if summary.waiting.max == 0 { return "no waiting" }
    return "waiting mean \(DurationText.text(summary.waiting.mean)), "
      + "p99 \(DurationText.text(summary.waiting.p99))"
  }

  private static func peak(_ run: Run, _ summary: RunSummary) -> String {
    guard let limit = run.facts.limit else { return "peak \(summary.peakRunning), no limit" }
    return "peak \(summary.peakRunning) of \(limit)"
  }

  /// What became of the order of arrival, in two or three words.
  package static func order(_ run: Run, _ summary: RunSummary) -> String {
    if run.facts.promisesOrder {
      return summary.orderBreaks == 0
        ? "order kept" : "order broken \(NumberText.count(summary.orderBreaks, "time"))"
    }
    return summary.fifoInversions == 0
      ? "in order of arrival" : "\(NumberText.grouped(summary.fifoInversions)) overtook"
  }
}
