// A run as Chrome trace JSON, the way Perfetto's own trace processor reads it without complaint.
//
// - Process 1 has the tasks, as asynchronous slices ("b", "e"): a root slice with the task's name, its
//   states nested in it. At equal times an "e" is written before the next "b", and every "b" is closed.
// - Process 2 has the workers, as complete slices ("X"). Slices of one lane never overlap: where two
//   tasks hold one worker at once, the second goes to a lane beside the first.
// - Where work suspends, no worker is held and its steps take no time. Each moment at which a worker
//   took steps is then a slice of at most a microsecond, which says in its arguments that the length
//   is the drawing's and not the run's.
// - A wake-up is a flow ("s", "f") from the slice in which the cause departed to the one in which the
//   task was admitted; both ends lie inside a slice, or no flow is written.
// - The numbers running and waiting are counters ("C"), and so is a limit that changes.
// - What is open in a run under way is closed now, and "otherData" says that the run goes on.
//
// Times are microseconds with exact decimals. Process and thread numbers begin at 1, because 0 stands
// for the idle task.

package import Experiments
import Mechanisms

/// A run as a Chrome trace, for Perfetto and `chrome://tracing`.
package enum ChromeTrace {
  /// The whole file.
  ///
  /// - Complexity: O(n log n) for n events.
  package static func text(_ run: Run) -> String { Writer(run).text() }

  private struct Writer {
    private let run: Run
    private let timeline: Timeline

    private static let taskProcess = 1
    private static let workerProcess = 2

    init(_ run: Run) {
      self.run = run
      timeline = run.timeline
    }

    func text() -> String {
      var json = JSONText(capacity: 1_024 + run.events.count * 160)
      let lanes = WorkerLanes(timeline, run)
      json.object { json in
        json.key("displayTimeUnit")
        json.value("ns")
        json.key("traceEvents")
        json.array([()]) { json, _ in
          writeNames(lanes, &json)
          writeWorkers(lanes, &json)
          writeTasks(&json)
          writeWakeUps(lanes, &json)
          writeCounters(&json)
        }
        if let now = run.now {
          json.key("otherData")
          json.object { json in
            json.key("under_way")
            json.value(true)
            json.member("now_ns", now)
          }
        }
      }
      json.newline()
      return json.text
    }

    // MARK: Names

    private func writeNames(_ lanes: WorkerLanes, _ json: inout JSONText) {
      let goesOn = run.now.map { ", goes on at \(DurationText.text($0))" } ?? ""
      let title = "\(run.mechanism), \(run.limitText)\(goesOn)"
      name("process_name", "tasks (\(title))", process: Self.taskProcess, thread: 1, &json)
      guard !lanes.names.isEmpty else { return }
      name("process_name", "workers (\(title))", process: Self.workerProcess, thread: 1, &json)
      for (index, lane) in lanes.names.enumerated() {
        name("thread_name", lane, process: Self.workerProcess, thread: index + 1, &json)
      }
    }

    private func name(
      _ what: String,
      _ name: String,
      process: Int,
      thread: Int,
      _ json: inout JSONText
    ) {
      json.object { json in
        json.member("ph", "M")
        json.member("name", what)
        json.member("pid", process)
        json.member("tid", thread)
        json.key("args")
        json.object { $0.member("name", name) }
      }
    }

    // MARK: Workers

    private func writeWorkers(_ lanes: WorkerLanes, _ json: inout JSONText) {
      for slice in lanes.slices {
        json.object { json in
          json.member("ph", "X")
          json.member("name", slice.name)
          json.member("cat", "worker")
          json.member("pid", Self.workerProcess)
          json.member("tid", slice.lane + 1)
          json.microseconds("ts", slice.start)
          json.microseconds("dur", slice.end - slice.start)
          guard slice.isStep else { return }
          json.key("args")
          json.object { $0.member("length", "drawn longer than it was: a step takes no time") }
        }
      }
    }

    // MARK: Tasks

    private func writeTasks(_ json: inout JSONText) {
      for lane in timeline.tasks {
        guard let first = lane.spans.first?.start ?? lane.life.arrived else { continue }
        let name = run.label(of: lane.life.task)
        let id = "0x" + String(lane.life.task.number, radix: 16)
        // The spans of a faulty log may lie beyond the arrival and the end it names.
        let started = min(first, lane.life.arrived ?? first)
        let ended = max(lane.spans.last?.end ?? first, lane.life.ended ?? timeline.end, started)
        async("b", name, id, at: started, &json)
        for span in lane.spans {
          async("b", Self.name(of: span.phase), id, at: span.start, &json)
          async("e", Self.name(of: span.phase), id, at: span.end, &json)
        }
        async("e", name, id, at: ended, end: LifeText.words(for: lane.life, now: run.now), &json)
      }
    }

    private func async(
      _ phase: String,
      _ name: String,
      _ id: String,
      at time: Int64,
      end: String? = nil,
      _ json: inout JSONText
    ) {
      json.object { json in
        json.member("ph", phase)
        json.member("name", name)
        json.member("cat", "task")
        json.key("id2")
        json.object { $0.member("local", id) }
        json.member("pid", Self.taskProcess)
        json.member("tid", 1)
        json.microseconds("ts", time)
        guard let end else { return }
        json.key("args")
        json.object { $0.member("end", end) }
      }
    }

    private static func name(of phase: Timeline.Phase) -> String {
      switch phase {
      case .waiting: "waiting"
      case .blocked: "waiting, thread blocked"
      case .running: "running"
      case .suspended: "suspended"
      case .ready: "ready, no worker"
      }
    }

    // MARK: Wake-ups

    private func writeWakeUps(_ lanes: WorkerLanes, _ json: inout JSONText) {
      var lastDeparture: [TaskID: TraceEvent] = [:]
      var flows = 0
      for event in run.events {
        if event.kind.isEnd { lastDeparture[event.task] = event }
        guard event.kind == .admitted, let cause = event.cause,
          let departure = lastDeparture[cause],
          let from = lanes.slice(of: departure), let to = lanes.slice(of: event)
        else { continue }
        flows += 1
        let id = "0x" + String(flows, radix: 16)
        flow("s", id, in: from, at: departure.time, &json)
        flow("f", id, in: to, at: event.time, &json)
      }
    }

    private func flow(
      _ phase: String,
      _ id: String,
      in slice: WorkerLanes.Slice,
      at time: Int64,
      _ json: inout JSONText
    ) {
      json.object { json in
        json.member("ph", phase)
        if phase == "f" { json.member("bp", "e") }
        json.member("name", "admits")
        json.member("cat", "wake-up")
        json.member("id", id)
        json.member("pid", Self.workerProcess)
        json.member("tid", slice.lane + 1)
        // A departure ends its slice; a flow that began there would begin outside.
        let latest = max(slice.start, slice.end - 1)
        json.microseconds("ts", min(time, latest))
      }
    }

    // MARK: Counters

    private func writeCounters(_ json: inout JSONText) {
      var functions = [("running", timeline.running), ("waiting", timeline.waiting)]
      if run.limitChanged { functions.append(("limit", timeline.limit)) }
      for (name, function) in functions {
        var samples = function.steps.map { (time: $0.time, value: $0.value) }
        // The last value is held until now, and a counter is drawn as far as its last sample.
        if run.isUnderWay, let last = samples.last, last.time < timeline.end {
          samples.append((timeline.end, last.value))
        }
        for step in samples {
          json.object { json in
            json.member("ph", "C")
            json.member("name", name)
            json.member("pid", Self.taskProcess)
            json.member("tid", 1)
            json.microseconds("ts", step.time)
            json.key("args")
            json.object { $0.member("tasks", step.value) }
          }
        }
      }
    }
  }
}
