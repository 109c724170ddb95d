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
      func cell(_ nanoseconds: Int64?) -> String? { nanoseconds.map { "\($0)" } }
      // One by one: a literal of so many optionals takes the compiler seconds.
      var cells: [String?] = [run.label(of: life.task), planned?.kind.rawValue]
      cells += [cell(planned?.service), planned?.priority.rawValue]
      cells += [cell(life.arrived), cell(life.admitted), cell(life.ended)]
      cells.append(life.end.map(name(of:)))
      cells += [cell(life.waiting), cell(life.service), cell(life.response)]
      cells += [life.admittedOn?.label, life.admittedBy.map(run.label(of:))]
      if let limits { cells.append(life.admitted.flatMap(limits.value(at:)).map { "\($0)" }) }
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
