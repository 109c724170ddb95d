package import Experiments
import Mechanisms

/// That a run goes on, said beside what it has come to by now.
package enum UnderWayText {
  /// "at 500 ms the run goes on: 2 in service, 4 waiting, 1 to come"; nil for a run that has ended.
  package static func sentence(_ run: Run) -> String? {
    guard let now = run.now else { return nil }
    let lives = TaskLife.all(in: run.events, tasks: run.facts.tasks)
    let counts = [
      (lives.count(where: \.isInService), "in service"),
      (lives.count(where: \.stillWaits), "waiting"),
      (lives.count { $0.arrived == nil }, "to come"),
    ].filter { $0.0 > 0 }.map { "\(NumberText.grouped($0.0)) \($0.1)" }
    let what = counts.isEmpty ? "" : ": " + counts.joined(separator: ", ")
    return "at \(DurationText.text(now)) the run goes on\(what)"
  }

  /// The same as lines; empty for a run that has ended.
  package static func lines(_ run: Run, _ format: TextFormat) -> String {
    guard let sentence = sentence(run) else { return "" }
    return Columns.wrap(sentence, width: format.width).map { $0 + "\n" }.joined()
  }

  /// The same as a line of JSON; empty for a run that has ended.
  package static func json(_ run: Run) -> String {
    run.isUnderWay ? JSONObject.line(members(run)) : ""
  }

  /// What JSON says of a run under way; nothing of one that has ended.
  package static func members(_ run: Run) -> [(StaticString, JSONObject.Value)] {
    guard let now = run.now else { return [] }
    return [("under_way", .flag(true)), ("now_ns", .number(Int(now)))]
  }

  /// What is counted of times that have not ended, for the figures of a run under way.
  static func counted(_ summary: RunSummary) -> String {
    guard summary.now != nil, summary.stillWaiting + summary.inService > 0 else { return "" }
    let (waiting, serving) = (summary.stillWaiting, summary.inService)
    let parts = [
      (waiting, waiting == 1 ? "still waits" : "still wait"),
      (serving, serving == 1 ? "is in service" : "are in service"),
    ].filter { $0.0 > 0 }.map { "\(NumberText.grouped($0.0)) \($0.1)" }
    return "so far: " + parts.joined(separator: ", ") + "; each counts with its time until now"
  }
}
