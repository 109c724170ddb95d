internal import Experiments
internal import Mechanisms
internal import Rendering

/// What helps next after a run: three commands, chosen by what there is to see.
enum SeeAlso {
  static func text(_ run: Run, _ summary: RunSummary, _ format: TextFormat) -> String {
    let commands = commands(run, summary)
    let pieces = ["see also: " + (commands.first ?? "help")] + commands.dropFirst()
    let lines = Columns.flow(pieces, separator: format.glyphs.separator, width: format.width)
    return lines.map { format.style.paint($0, .faint) + "\n" }.joined()
  }

  /// Commands that the notes have not named already.
  static func commands(_ run: Run, _ summary: RunSummary) -> [String] {
    let named = Set(Note.all(for: run, summary).map(\.command))
    let lives = TaskLife.all(in: run.events, tasks: run.facts.tasks)
    var commands: [String] = []
    if let life = lives.first(where: { $0.end == .cancelledWhileWaiting || $0.end == .failed }) {
      commands.append("events \(run.label(of: life.task))")
    }
    if run.facts.serviceHoldsWorker { commands.append("timeline workers") }
    if let longest = lives.max(by: { ($0.waiting ?? 0) < ($1.waiting ?? 0) }),
      longest.waiting ?? 0 > 0
    {
      commands.append("why \(run.label(of: longest.task))")
    }
    // Where all tasks fared alike there is little to tell apart.
    if summary.response.min != summary.response.max { commands.append("stats") }
    commands += ["timeline workers", "export run.html", "stats", "events"]
    var chosen: [String] = []
    for command in commands where !named.contains(command) && !chosen.contains(command) {
      chosen.append(command)
    }
    return Array(chosen.prefix(3))
  }
}
