package import Experiments
import Mechanisms

/// The drawings over time, for those who do not see them: in sentences, and as data.
package enum TimelineText {
  /// More rows than this nobody wants read to them.
  private static let most = 40

  /// A sentence for each task.
  package static func describeTasks(_ run: Run) -> String {
    let lanes = run.timeline.tasks
    let lines = lanes.prefix(most).map { lane in
      let name = run.label(of: lane.life.task)
      guard lane.life.arrived != nil else {
        return "\(name) \(LifeText.words(for: lane.life, now: run.now))."
      }
      let spans = lane.spans.filter { $0.end > $0.start }.map { span in
        "\(words(for: span.phase)) from \(DurationText.text(span.start)) "
          + "to \(DurationText.text(span.end))"
      }
      return "\(name) "
        + (spans + [LifeText.words(for: lane.life, now: run.now)]).joined(separator: ", ")
        + "."
    }
    return text(lines, left: lanes.count - lines.count, "task")
  }

  /// A sentence for each worker.
  package static func describeWorkers(_ run: Run) -> String {
    let lanes = run.timeline.workers
    let noun = run.threadNoun
    let lines = lanes.prefix(most).map { lane in
      let name = "\(noun) w\(lane.worker.number)"
      if lane.spans.isEmpty {
        return
          "\(name) was held by no task; \(NumberText.count(lane.marks.count, "step")) ran on it."
      }
      let spans = lane.spans.prefix(most).map { span in
        "\(span.phase == .blocked ? "blocked by" : "worked for") \(run.label(of: span.task)) from "
          + "\(DurationText.text(span.start)) to \(DurationText.text(span.end))"
      }
      let more = lane.spans.count - spans.count
      return "\(name) was " + spans.joined(separator: ", ")
        + (more > 0 ? ", and \(NumberText.count(more, "span")) more." : ".")
    }
    return text(lines, left: lanes.count - lines.count, noun)
  }

  /// An object for each span of a task's life, and of a run under way one that says so.
  package static func jsonTasks(_ run: Run) -> String {
    run.timeline.tasks.map { lane in
      lane.spans.map { span in
        json("task", run.label(of: lane.life.task), span.phase, span.start, span.end, [])
      }.joined()
    }.joined() + UnderWayText.json(run)
  }

  /// An object for each span in which a worker was held, and of a run under way one that says so.
  package static func jsonWorkers(_ run: Run) -> String {
    run.timeline.workers.map { lane in
      lane.spans.map { span in
        json(
          "worker",
          "w\(lane.worker.number)",
          span.phase,
          span.start,
          span.end,
          [("task", .string(run.label(of: span.task)))]
        )
      }.joined()
    }.joined() + UnderWayText.json(run)
  }

  private static func json(
    _ key: StaticString,
    _ name: String,
    _ phase: Timeline.Phase,
    _ start: Int64,
    _ end: Int64,
    _ more: [(StaticString, JSONObject.Value)]
  ) -> String {
    JSONObject.line(
      [(key, .string(name))] + more
        + [
          ("phase", .string("\(phase)")), ("from", .number(Int(start))), ("to", .number(Int(end))),
        ]
    )
  }

  private static func words(for phase: Timeline.Phase) -> String {
    switch phase {
    case .waiting: "waited"
    case .blocked: "waited with its thread blocked"
    case .running: "ran"
    case .suspended: "was suspended"
    case .ready: "was ready, but had no worker,"
    }
  }

  private static func text(_ lines: [String], left: Int, _ noun: String) -> String {
    let last = left > 0 ? ["And \(NumberText.count(left, "more \(noun)"))."] : []
    return (lines + last).map { $0 + "\n" }.joined()
  }
}
