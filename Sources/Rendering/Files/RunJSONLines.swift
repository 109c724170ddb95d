package import Experiments
package import Mechanisms
internal import WorkStealing

/// A run as JSON Lines: a header, the events in the order of time, a summary.
///
/// The form is part of the program's face (`lab-run/1`): the order of the members never changes, times
/// are whole nanoseconds, and the same run gives the same bytes everywhere.
package enum RunJSONLines {
  package static func text(_ run: Run) -> String {
    var text = ""
    write(run) { text += $0 }
    return text
  }

  /// Hands the lines over in pieces of about 64 KB, so that a log of millions of events needs no more
  /// memory than that.
  package static func write<Failure: Error>(
    _ run: Run,
    to sink: (String) throws(Failure) -> Void
  ) throws(Failure) {
    let pieceLength = 64 * 1_024
    var json = JSONText(capacity: pieceLength + 1_024)
    header(of: run, &json)
    let labels = TaskLabels(count: max(run.plan.count, run.facts.tasks))
    for event in run.events {
      line(for: event, in: run, labels, &json)
      if json.bytes.count >= pieceLength {
        try sink(json.text)
        json.removeAll()
      }
    }
    json.object { json in
      json.key("summary")
      json.object { members(of: run.summary, run, &$0) }
    }
    json.newline()
    try sink(json.text)
  }

  /// The events alone, of all tasks or of one, in pieces as `write` does; of a run under way, last what time
  /// it is.
  package static func writeEvents<Failure: Error>(
    of run: Run,
    only task: TaskID?,
    to sink: (String) throws(Failure) -> Void
  ) throws(Failure) {
    let pieceLength = 64 * 1_024
    var json = JSONText(capacity: pieceLength + 1_024)
    let labels = TaskLabels(count: max(run.plan.count, run.facts.tasks))
    for event in run.events where task == nil || event.task == task {
      line(for: event, in: run, labels, &json)
      if json.bytes.count >= pieceLength {
        try sink(json.text)
        json.removeAll()
      }
    }
    if let now = run.now {
      json.object { json in
        json.member("t", now)
        json.member("event", "now")
        json.key("under_way")
        json.value(true)
      }
      json.newline()
    }
    try sink(json.text)
  }

  /// The summary alone, with the mechanism's name in it: a line of `compare`.
  package static func summaryLine(_ run: Run, _ summary: RunSummary) -> String {
    var json = JSONText(capacity: 1_024)
    json.object { json in
      json.member("mechanism", run.mechanism)
      members(of: summary, run, &json)
    }
    json.newline()
    return json.text
  }

  private static func header(of run: Run, _ json: inout JSONText) {
    json.object { json in
      json.member("schema", "lab-run/1")
      json.member("mechanism", run.mechanism)
      json.key("limit")
      if let limit = run.limit { json.value(limit) } else { json.null() }
      json.member("tasks", max(run.plan.count, run.facts.tasks))
      json.key("seed")
      json.raw(String(run.seed))
      json.member("clock", run.clock.rawValue)
      json.member("unit", "ns")
      if run.lanes != nil { json.member("executor", "lanes") }
      if let workers = run.workers { json.member("workers", workers) }
    }
    json.newline()
  }

  private static func line(
    for event: TraceEvent,
    in run: Run,
    _ labels: TaskLabels,
    _ json: inout JSONText
  ) {
    json.object { json in
      json.member("t", event.time)
      if event.task > .run {
        json.key("task")
        json.raw(labels[event.task])
      }
      json.member("event", EventText.name(of: event.kind))
      switch event.kind {
      case .progress(let percent): json.member("percent", Int(percent))
      case .limit(let limit): json.member("limit", Int(limit))
      case .holds(let permit): json.member("permit", permit.rawValue)
      case .cancelled(let phase): json.member("phase", phase.rawValue)
      case .error(let error): json.member("text", error.text)
      default: break
      }
      if let worker = event.worker { json.member("worker", worker.label) }
      if let cause = event.cause {
        json.key("cause")
        json.raw(labels[cause])
      }
      let index = Int(event.task.number) - 1
      if event.kind == .arrived, run.plan.indices.contains(index) {
        json.member("kind", run.plan[index].kind.rawValue)
        json.member("service_ns", run.plan[index].service)
      }
    }
    json.newline()
  }

  private static func members(of summary: RunSummary, _ run: Run, _ json: inout JSONText) {
    // Nobody knows yet how long a run under way will have taken.
    json.key("makespan_ns")
    if summary.now == nil { json.value(summary.makespan) } else { json.null() }
    json.member("peak_running", summary.peakRunning)
    if run.limitChanged, let limit = summary.limitAtPeak {
      json.member("limit_at_peak", limit)
    }
    json.key("throughput_per_s")
    json.raw(NumberText.fixed(summary.throughput, decimals: 3))
    json.key("waiting_ns")
    json.object { members(of: summary.waiting, &$0) }
    json.key("service_ns")
    json.object { members(of: summary.service, &$0) }
    json.key("response_ns")
    json.object { members(of: summary.response, &$0) }
    json.member("threads_peak", summary.threadsPeak)
    json.member("fifo_inversions", summary.fifoInversions)
    json.member("finished", summary.finished)
    json.member("failed", summary.failed)
    json.member("cancelled", summary.cancelled)
    json.member("rejected", summary.rejected)
    if let lanes = run.lanes {
      json.key("lanes")
      json.object { json in
        json.member("jobs", lanes.jobs)
        json.member("steals", lanes.steals)
        json.member("sleeps", lanes.sleeps)
        json.member("wakes", lanes.wakes)
      }
    }
    if !run.work.isEmpty {
      json.key("work")
      json.object { json in
        for figure in WorkFigure.allCases {
          if let value = run.work[figure] { json.member(named: figure.rawValue, value) }
        }
      }
    }
    if let completion = run.completion { json.member("completion_ns", completion) }
    if let permits = run.permitsLeft { json.member("permits_left", permits) }
    if let reason = run.stoppedBecause { json.member("stopped_because", reason) }
    if let now = summary.now {
      json.key("under_way")
      json.value(true)
      json.member("now_ns", now)
      json.member("elapsed_ns", summary.makespan)
      json.member("still_waiting", summary.stillWaiting)
      json.member("in_service", summary.inService)
      json.member("unended", summary.unended.count)
    }
    if !summary.errors.isEmpty {
      json.key("errors")
      json.array(summary.errors) { json, error in
        json.object { json in
          json.member("text", error.text)
          json.member("tasks", error.tasks)
        }
      }
    }
    json.key("violations")
    json.array(summary.violations) { $0.value($1) }
  }

  private static func members(of values: Percentiles, _ json: inout JSONText) {
    json.member("mean", values.mean)
    json.member("p50", values.p50)
    json.member("p90", values.p90)
    json.member("p99", values.p99)
    json.member("max", values.max)
  }
}

/// The names of a run's tasks in quotes, made once: most of a long log is names.
private struct TaskLabels {
  private let count: Int
  private let labels: [String]

  init(count: Int) {
    self.count = count
    labels = (0...count).map { "\"\(TaskID($0).label(amongst: count))\"" }
  }

  subscript(task: TaskID) -> String {
    let number = Int(task.number)
    return labels.indices.contains(number)
      ? labels[number] : "\"\(task.label(amongst: count))\""
  }
}
