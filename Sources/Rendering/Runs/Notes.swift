package import Experiments
package import Mechanisms

/// What looks wrong in a run, or what it teaches, each with the command that shows it.
package struct Note: Hashable, Sendable {
  package var text: String
  /// The command of the lab that shows more.
  package var command: String
  /// Whether a rule was broken, rather than something being worth a look.
  package var isViolation: Bool

  package init(text: String, command: String, isViolation: Bool) {
    (self.text, self.command, self.isViolation) = (text, command, isViolation)
  }

  /// The notes of a run, the broken rules first.
  package static func all(for run: Run, _ summary: RunSummary) -> [Note] {
    var notes = summary.violations.map { line in
      Note(text: line, command: command(for: line, run, summary), isViolation: true)
    }
    // Two say enough of what is wrong; `stats` has all of them.
    for failure in CommonFailure.all(in: summary.errors).prefix(2) {
      let tasks = NumberText.count(failure.tasks, "task")
      notes.append(
        Note(
          text: "\(tasks) failed: \(failure.text)",
          command: "why \(run.label(of: failure.first))",
          isViolation: true
        )
      )
    }
    if let reason = run.stoppedBecause {
      let first = summary.unended.first
      let command = first.map { "why \(run.label(of: $0))" } ?? "events"
      notes.append(Note(text: reason, command: command, isViolation: true))
    }
    notes += observations(run, summary).map { Note(text: $0, command: $1, isViolation: false) }
    return notes
  }

  /// The notes as lines; empty for a run with nothing to say about it.
  package static func text(_ notes: [Note], _ format: TextFormat) -> String {
    notes.flatMap { note in
      let mark = note.isViolation ? format.glyphs.bad : "note:"
      return Columns.wrap(
        "\(mark) \(note.text). See: \(note.command)",
        width: format.width,
        indent: 2
      )
      .map { note.isViolation ? format.style.paint($0, .bad) : $0 }
    }.map { $0 + "\n" }.joined()
  }

  /// The view that shows a violation best.
  private static func command(for line: String, _ run: Run, _ summary: RunSummary) -> String {
    switch line.prefix(while: { $0 != ":" }) {
    case "over-admission": return "timeline"
    case "permit-leak": return "events"
    case "never-ended":
      return summary.unended.first.map { "why \(run.label(of: $0))" } ?? "timeline"
    case "order":
      let lives = TaskLife.all(in: run.events, tasks: run.facts.tasks)
      let order = ArrivalOrder(
        events: run.events,
        lives: lives,
        limit: run.facts.limit,
        withoutPermit: run.facts.withoutPermit
      )
      return order.firstBreak.map { "why \(run.label(of: $0.overtaken))" } ?? "events"
    default:
      // The others name the task first.
      let task = line.drop { $0 != " " }.dropFirst().prefix { $0 != " " }
      return task.first == "t" ? "events \(task)" : "events"
    }
  }

  private static func observations(
    _ run: Run,
    _ summary: RunSummary
  ) -> [(text: String, command: String)] {
    var found: [(String, String)] = []
    let tasks = run.facts.tasks
    let limit = summary.limit.peak
    // Between a departure and the admission that follows, nobody works, but one of those threads is about to.
    let waiting = min(summary.blockedPeak, summary.threadsPeak - min(limit, summary.peakRunning))
    if limit > 0, summary.threadsPeak > limit, waiting > 1 {
      found.append(
        (
          "peak \(summary.threadsPeak) threads for a limit of \(NumberText.grouped(limit)): "
            + "waiting tasks blocked up to \(waiting) of them",
          run.mechanism == "gcd-semaphore"
            ? comparison(with: "gcd-gate", run, limit) : "timeline workers"
        )
      )
    }
    if limit > 0, !summary.reachedLimit, summary.overAdmissions == 0 {
      let lackedWorkers = run.lackedWorkers(summary)
      if run.platform != nil, lackedWorkers, summary.threadsPeak < limit {
        found.append(
          (
            "the pool gave \(NumberText.count(summary.threadsPeak, "thread")), so at most "
              + "\(summary.peakRunning) ran although the limit is \(NumberText.grouped(limit))",
            "timeline workers"
          )
        )
      } else if let workers = run.workers, run.platform == nil, lackedWorkers,
        summary.threadsPeak >= workers
      {
        found.append(
          (
            "blocking work held \(workers == 1 ? "the only worker" : "all \(workers) workers"), "
              + "so at most \(summary.peakRunning) ran although the limit is \(NumberText.grouped(limit))",
            "timeline workers"
          )
        )
      } else if run.workers == nil, run.platform == nil, lackedWorkers, summary.threadsPeak < limit
      {
        found.append(
          (
            "blocking work held every thread that the pool gave it, so at most \(summary.peakRunning) ran "
              + "although the limit is \(NumberText.grouped(limit))",
            "timeline workers"
          )
        )
      } else if summary.unended.isEmpty, !run.isUnderWay, tasks > limit || summary.peakWaiting > 0 {
        found.append(
          (
            "the limit of \(NumberText.grouped(limit)) was never reached: at most \(summary.peakRunning) ran at once",
            "stats"
          )
        )
      }
    }
    if let completion = run.completion,
      let last = run.events.last(where: { $0.kind.isEnd }), completion < last.time
    {
      found.append(
        (
          "the mechanism said it was done at \(DurationText.text(completion)), "
            + "but \(run.label(of: last.task)) ended at \(DurationText.text(last.time))",
          "events \(run.label(of: last.task))"
        )
      )
    }
    return found
  }

  /// The command that sets the same number of tasks of the same kind against another mechanism.
  private static func comparison(with other: String, _ run: Run, _ limit: Int) -> String {
    let kind = run.plan.first.map { " kind=\($0.kind.rawValue)" } ?? ""
    return "compare \(run.facts.tasks) \(run.mechanism) \(other) limit=\(limit)\(kind)"
  }
}
