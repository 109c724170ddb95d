package import Experiments
import Mechanisms

/// A run as a table of its tasks, comma-separated, for a spreadsheet or a data frame.
///
/// One row for each task; times in whole nanoseconds from the start of the run; an empty cell where
/// there is nothing to say. Of a run under way a last column says what time it was. The event log itself is the
/// business of JSON Lines.
package enum RunCSV {
  package static let header =
    "task,kind,planned_service_ns,priority,arrived_ns,admitted_ns,ended_ns,end,"
    + "waiting_ns,service_ns,response_ns,worker,cause"

  package static func text(_ run: Run) -> String {
    var text = header + (run.limitChanged ? ",limit_when_admitted" : "")
    text += (run.isUnderWay ? ",now_ns" : "") + "\n"
    addRows(of: run, withLimit: run.limitChanged, to: &text)
    return text
  }

  /// The tables of several runs as one, with a first column that says which run a row is of.
  package static func text(comparing runs: [Run]) -> String {
    let withLimit = runs.contains(where: \.limitChanged)
    var text = "run,\(header)\(withLimit ? ",limit_when_admitted" : "")\n"
    for run in runs { addRows(of: run, named: run.label, withLimit: withLimit, to: &text) }
    return text
  }

  private static func addRows(
    of run: Run,
    named name: String? = nil,
    withLimit: Bool,
    to text: inout String
  ) {
    // Of a run whose limit changed, the one in force at the admission too.
    let limits = run.limits
    for life in TaskLife.all(in: run.events, tasks: run.facts.tasks) {
      let index = Int(life.task.number) - 1
      let planned = run.plan.indices.contains(index) ? run.plan[index] : nil
      func cell(_ nanoseconds: Int64?) -> String? { nanoseconds.map { "\($0)" } }
      // One by one: a literal of so many optionals takes the compiler seconds.
      var cells: [String?] = name.map { [$0] } ?? []
      cells += [run.label(of: life.task), planned?.kind.rawValue]
      cells += [cell(planned?.service), planned?.priority.rawValue]
      cells += [cell(life.arrived), cell(life.admitted), cell(life.ended)]
      cells.append(life.end.map(name(of:)))
      cells += [cell(life.waiting), cell(life.service), cell(life.response)]
      cells += [life.admittedOn?.label, life.admittedBy.map(run.label(of:))]
      if withLimit { cells.append(life.admitted.flatMap(limits.value(at:)).map { "\($0)" }) }
      if let now = run.now { cells.append("\(now)") }
      text += cells.map { $0 ?? "" }.joined(separator: ",") + "\n"
    }
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
