package import Experiments
import Tracing
import Workloads

/// A run as a table of its tasks, comma-separated, for a spreadsheet or a data frame.
///
/// One row for each task; times in whole nanoseconds from the start of the run; an empty cell where
/// there is nothing to say. The event log itself is the business of JSON Lines.
package enum RunCSV {
  package static let header =
    "task,kind,planned_service_ns,priority,arrived_ns,admitted_ns,ended_ns,end,"
    + "waiting_ns,service_ns,response_ns,worker,cause"

  package static func text(_ run: Run) -> String {
    // Of a run whose limit changed, the one in force at the admission too.
    let limits = run.limits.steps.count > 1 ? run.limits : nil
    var text = header + (limits == nil ? "" : ",limit_when_admitted") + "\n"
    for life in TaskLife.all(in: run.events, tasks: run.facts.tasks) {
      let index = Int(life.task.number) - 1
      let planned = run.plan.indices.contains(index) ? run.plan[index] : nil
      let cells: [String?] =
        [
          run.label(of: life.task),
          planned?.kind.rawValue,
          planned.map { String($0.service) },
          planned?.priority.rawValue,
          life.arrived.map { String($0) },
          life.admitted.map { String($0) },
          life.ended.map { String($0) },
          life.end.map(name(of:)),
          life.waiting.map { String($0) },
          life.service.map { String($0) },
          life.response.map { String($0) },
          life.admittedOn?.label,
          life.admittedBy.map(run.label(of:)),
        ] + (limits.map { [life.admitted.flatMap($0.value(at:)).map { String($0) }] } ?? [])
      text += cells.map { $0 ?? "" }.joined(separator: ",") + "\n"
    }
    return text
  }

  private static func name(of end: TaskLife.End) -> String {
    switch end {
    case .finished: "finished"
    case .failed: "failed"
    case .cancelledWhileWaiting: "cancelled-waiting"
    case .cancelledWhileRunning: "cancelled-running"
    case .rejected: "rejected"
    }
  }
}
