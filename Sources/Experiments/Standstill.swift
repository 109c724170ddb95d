internal import Basics
internal import Mechanisms

/// Who waits for what in a run in which nothing can run, nothing sleeps, and tasks remain.
///
/// Read from the log and the permits alone, so it says no more than these show. `explore` shows how
/// such a thing comes about.
struct Standstill {
  /// The tasks that were never admitted, in the order of their arrival.
  private let waiters: [TaskLife]
  /// The tasks that never departed.
  private let inService: [TaskLife]
  private let tasks: Int
  private let limit: Int?
  private let permitsInUse: Int?

  init(events: [TraceEvent], facts: RunFacts, permitsInUse: Int?) {
    let left = TaskLife.all(in: events, tasks: facts.tasks)
      .filter { $0.arrived != nil && $0.ended == nil }
    waiters = left.filter { $0.admitted == nil }
      .sorted { ($0.arrived ?? 0, $0.task) < ($1.arrived ?? 0, $1.task) }
    inService = left.filter { $0.admitted != nil }
    tasks = facts.tasks
    limit = facts.limit == nil ? nil : StepFunction(limit: facts.limit, in: events).value
    self.permitsInUse = permitsInUse
  }

  /// One line: "t03 has waited since 120 ms behind t01 and t02, in service, who can never go on".
  var text: String {
    "nothing can run and nothing sleeps: " + (waiters.isEmpty ? bodies : waits + reason)
  }

  private var waits: String {
    let told = list(waiters) { life in
      "\(label(life)) since \(DurationText.text(life.arrived ?? 0))"
    }
    return "\(told) \(waiters.count == 1 ? "waits" : "wait") for ever"
  }

  private var reason: String {
    if !inService.isEmpty { return " behind " + bodies }
    guard let permitsInUse, permitsInUse > 0 else {
      return ", though nobody is in service: a lost wake-up"
    }
    // Where two limits are nested, more permits may be in use than one of them has.
    let all = limit.flatMap { permitsInUse <= $0 ? " of \($0)" : nil } ?? ""
    let start = ", though nobody is in service: permits in use are \(permitsInUse)\(all)"
    let holders = waiters.filter { $0.holds != nil }
    if holders.isEmpty { return start + ", lost or held by tasks that wait for each other" }
    let told = holders.prefix(4).map { "\(label($0)) \($0.holds?.words ?? "")" }
    return start + ": " + told.joined(separator: ", ")
  }

  private var bodies: String {
    if inService.isEmpty { return "a task of the mechanism's own has not ended" }
    return "\(list(inService, label)), in service, which can never go on: a deadlock"
  }

  private func label(_ life: TaskLife) -> String { life.task.label(amongst: tasks) }

  private func list(_ lives: [TaskLife], _ text: (TaskLife) -> String) -> String {
    ListText.some(lives.map(text))
  }
}
