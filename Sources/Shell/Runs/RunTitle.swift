internal import Experiments
internal import Mechanisms
internal import Rendering

/// What a run was asked for, in one line: "12 tasks of 100 ms · limiter, limit 3 · virtual time, seed 1".
enum RunTitle {
  static func text(_ experiment: Experiment, _ format: TextFormat) -> String {
    let clock =
      switch experiment.resolvedClock {
      case .virtual: "virtual time\(model(experiment))"
      case .real: "wall clock\(lanes(experiment))"
      }
    let server = experiment.serverCapacity.map { "a server that takes \(NumberText.grouped($0))" }
    let pieces = [
      [tasks(experiment.workload), server].compactMap(\.self).joined(separator: ", "),
      mechanism(experiment),
      "\(clock), seed \(experiment.workload.seed)",
    ]
    let lines = Columns.flow(pieces, separator: format.glyphs.separator, width: format.width)
    return lines.map { $0 + "\n" }.joined()
  }

  private static func model(_ experiment: Experiment) -> String {
    guard experiment.mechanism.platform != nil else { return "" }
    return ", a model of \(NumberText.count(experiment.workers, "processor"))"
  }

  private static func lanes(_ experiment: Experiment) -> String {
    guard case .lanes(let workers) = experiment.executor else { return "" }
    return " on lanes" + (workers.map { " of \(NumberText.count($0, "worker"))" } ?? "")
  }

  static func tasks(_ workload: Workload) -> String {
    let noun =
      switch workload.kind {
      case .suspend, .block, .spin: "task"
      case .download: "download"
      case .fetch: "image"
      case .query: "statement"
      case .copy: "file"
      }
    let count = NumberText.count(workload.count, noun)
    let kind =
      switch workload.kind {
      case .suspend, .download: ""
      case .fetch, .copy: ", over HTTP"
      case .query: ", in SQLite"
      case .block: ", blocking"
      case .spin: ", computing"
      }
    switch workload.service {
    case .fixed(let length): return "\(count) of \(DurationText.text(length))\(kind)"
    case .exponential(let mean):
      return "\(count) of \(DurationText.text(mean)) on average, exponential\(kind)"
    case .uniform(let range):
      let low = DurationText.text(range.lowerBound)
      return "\(count) of \(low) to \(DurationText.text(range.upperBound))\(kind)"
    case .lognormal(let mean, let sigma):
      return "\(count) of \(DurationText.text(mean)) on average, lognormal \(sigma)\(kind)"
    }
  }

  private static func mechanism(_ experiment: Experiment) -> String {
    let id = experiment.mechanism.id
    // Tasks of an actor's queue overlap where they suspend, and its one place is no limit then.
    let limit = experiment.facts(tasks: 0).limit.map { "limit \(NumberText.grouped($0))" }
    return "\(id), \(limit ?? "no limit")"
  }
}
