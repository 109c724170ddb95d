package import Experiments
package import Mechanisms

/// A run in plain sentences: what the drawings say, for a reader who hears them.
package enum Describe {
  /// One sentence a line, no glyphs, no columns.
  package static func run(_ run: Run, _ summary: RunSummary) -> String {
    let lives = TaskLife.all(in: run.events, tasks: run.facts.tasks)
    var sentences = [opening(run, lives), ends(summary), pace(run, summary)]
    sentences += [running(run, summary), waiting(run, summary, lives)]
    if summary.service.count > 0 {
      let fixed = summary.service.min == summary.service.max
      let soFar = "with what those in service have had so far, "
      sentences.append(
        summary.now != nil && summary.inService > 0
          ? "A service has taken \(DurationText.text(summary.service.mean)) on average, \(soFar)"
            + "from \(DurationText.text(summary.service.min)) "
            + "to \(DurationText.text(summary.service.max))."
          : fixed
            ? "Every service took \(DurationText.text(summary.service.max))."
            : "A service took \(DurationText.text(summary.service.mean)) on average, "
              + "from \(DurationText.text(summary.service.min)) "
              + "to \(DurationText.text(summary.service.max))."
      )
    }
    sentences.append(order(run, summary))
    if summary.threadsPeak > 0 {
      let noun = run.threadNoun
      let count = NumberText.count(summary.threadsPeak, noun)
      let pool = run.workers.map { max($0, summary.threadsPeak) } ?? summary.threadsPeak
      sentences.append(
        pool > summary.threadsPeak
          ? "It took \(summary.threadsPeak) of \(pool) workers." : "It took \(count)."
      )
    }
    for note in Note.all(for: run, summary) {
      sentences.append(
        "\(note.isViolation ? "Wrong" : "Note"): \(note.text). The command \(note.command) shows it."
      )
    }
    return sentences.filter { !$0.isEmpty }.joined(separator: "\n") + "\n"
  }

  private static func opening(_ run: Run, _ lives: [TaskLife]) -> String {
    let limit = run.limit == nil ? "without a limit" : "with a limit of \(run.limitValues)"
    let clock = run.clock == .virtual ? "in virtual time" : "on the wall clock"
    let went = run.isUnderWay ? "have been given" : "went"
    return
      "\(NumberText.count(lives.count, "task")) \(went) to \(run.mechanism) \(limit), \(clock), "
      + "seed \(run.seed)."
  }

  private static func ends(_ summary: RunSummary) -> String {
    let counts = [
      (summary.finished, "finished"), (summary.failed, "failed"),
      (summary.cancelledWhileWaiting, "left while waiting because of a cancellation"),
      (summary.cancelledWhileRunning, "stopped while running because of a cancellation"),
      (summary.rejected, "were rejected"),
      (
        summary.unended.count,
        summary.now == nil ? "never ended" : "have not ended yet"
      ),
    ].filter { $0.0 > 0 }
    if counts.isEmpty { return "None ended." }
    if counts.count == 1, summary.finished > 0 { return "All finished." }
    return counts.map { "\(NumberText.grouped($0.0)) \($0.1)" }.joined(separator: ", ") + "."
  }

  private static func pace(_ run: Run, _ summary: RunSummary) -> String {
    let length = DurationText.text(summary.makespan)
    let rate = Throughput.words(summary.throughput)
    guard let sentence = UnderWayText.sentence(run) else {
      return "From the first arrival to the last end it took \(length), which is \(rate)."
    }
    return
      "\(sentence.prefix(1).uppercased())\(sentence.dropFirst()). \(length) have passed since the "
      + "first arrival, and \(rate) have finished so far."
  }

  private static func running(_ run: Run, _ summary: RunSummary) -> String {
    let waiting = "at most \(NumberText.grouped(summary.peakWaiting)) waited at once"
    return "At most \(NumberText.grouped(summary.peakRunning)) ran at once, and \(waiting)."
  }

  private static func waiting(_ run: Run, _ summary: RunSummary, _ lives: [TaskLife]) -> String {
    let wait = { (life: TaskLife) in life.waiting(by: summary.now) ?? 0 }
    let waited = lives.filter { wait($0) > 0 }
    guard let longest = waited.max(by: { wait($0) < wait($1) }) else {
      return summary.now == nil
        ? "No task that ran had to wait." : "No task has had to wait so far."
    }
    if summary.now != nil {
      let still = summary.stillWaiting
      return "\(NumberText.count(waited.count, "task")) had to wait so far, and "
        + "\(NumberText.grouped(still)) still \(still == 1 ? "waits" : "wait"): the mean over all, with "
        + "what these have waited so far, is \(DurationText.text(summary.waiting.mean)), and "
        + "\(run.label(of: longest.task)) has waited longest, \(DurationText.text(summary.waiting.max))."
    }
    return
      "\(NumberText.grouped(waited.count)) of the \(NumberText.grouped(summary.waiting.count)) "
      + "that ran had to wait first: the mean over all is \(DurationText.text(summary.waiting.mean)), "
      + "the median \(DurationText.text(summary.waiting.p50)), and \(run.label(of: longest.task)) "
      + "waited longest, \(DurationText.text(summary.waiting.max))."
  }

  private static func order(_ run: Run, _ summary: RunSummary) -> String {
    if run.stoppedBecause != nil, summary.orderBreaks == 0 { return "" }
    if summary.fifoInversions == 0 { return "Tasks were admitted in the order of their arrival." }
    let count = NumberText.grouped(summary.fifoInversions)
    let times = summary.fifoInversions == 1 ? "1 task was" : "\(count) tasks were"
    if summary.orderBreaks == 0 {
      return "\(times) seen to begin before an earlier arrival, which a late start explains: "
        + "nothing shows that permits were handed over out of order."
    }
    return "\(times) admitted before an earlier arrival."
  }
}
