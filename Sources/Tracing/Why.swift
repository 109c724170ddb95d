internal import Basics

/// Why one task waited as long as it did, from the log alone.
package struct Why: Hashable, Sendable {
  package let life: TaskLife
  /// The tasks that were in service when this one arrived, in the order of their admission.
  package private(set) var inService: [TaskID] = []
  /// The tasks that were waiting when this one arrived, in the order of their arrival.
  package private(set) var ahead: [TaskID] = []
  /// The tasks that arrived later and were admitted while this one waited.
  package private(set) var overtakers: [TaskID] = []
  /// The task whose step made the admission possible, as a rule its departure.
  package private(set) var admittedBy: TaskID?
  /// Whether the log itself names `admittedBy` as the cause; otherwise it is the departure just
  /// before the admission.
  package private(set) var causeIsKnown = false

  /// Who holds the permit that this task wants beside the one it has.
  package private(set) var holders: [TaskID] = []

  /// The limit as it was changed last before the admission, if nobody departed in between.
  private var newLimit: Int32?
  /// Whether `admittedBy` had departed by the admission.
  private var causeHadDeparted = false
  private let tasks: Int
  /// The moment of a run under way; nil of one that has ended.
  private let now: Int64?

  /// `now` is the moment of a run under way.
  ///
  /// - Returns: nil if the log does not name the task.
  /// - Complexity: O(n log n) for n events.
  package init?(_ task: TaskID, events: [TraceEvent], facts: RunFacts, now: Int64? = nil) {
    let lives = TaskLife.all(in: events, tasks: facts.tasks)
    guard task > .run, Int(task.number) <= lives.count else { return nil }
    life = lives[Int(task.number) - 1]
    tasks = lives.count
    self.now = now
    guard
      let arrival = events.firstIndex(where: { $0.task == task && $0.kind == .arrived })
    else { return }
    readArrival(events[..<arrival])
    readWait(events[arrival...], lives)
    if let held = life.holds, life.admitted == nil, life.ended == nil {
      holders = lives.filter { $0.holds == held.other && $0.ended == nil }.map(\.task)
    }
  }

  /// Who waited and who was in service at the end of `events`.
  private mutating func readArrival(_ events: ArraySlice<TraceEvent>) {
    var waiting: [TaskID: Int] = [:]
    var serving: [TaskID: Int] = [:]
    for (index, event) in zip(events.indices, events) {
      switch event.kind {
      case .arrived: waiting[event.task] = index
      case .admitted:
        waiting[event.task] = nil
        serving[event.task] = index
      case .finished, .failed, .cancelled, .rejected:
        waiting[event.task] = nil
        serving[event.task] = nil
      case .answered(.hit), .answered(.joined): waiting[event.task] = nil
      case .blocked, .answered, .error, .holds, .progress, .suspended, .resumed, .limit: break
      }
    }
    ahead = waiting.sorted { $0.value < $1.value }.map(\.key)
    inService = serving.sorted { $0.value < $1.value }.map(\.key)
  }

  /// Who went by, and who made way, from the arrival on.
  private mutating func readWait(_ events: ArraySlice<TraceEvent>, _ lives: [TaskLife]) {
    var newcomers: Set<TaskID> = []
    var lastDeparture: TaskID?
    for event in events {
      if case .limit(let limit) = event.kind { (newLimit, lastDeparture) = (limit, nil) }
      guard event.task > .run else { continue }
      switch event.kind {
      case .admitted where event.task == life.task:
        let cause = event.cause.flatMap { $0 > .run && $0 != life.task ? $0 : nil }
        causeIsKnown = cause != nil
        admittedBy = cause ?? (life.waiting == 0 ? nil : lastDeparture)
        causeHadDeparted = admittedBy.map { hasDeparted($0, by: event.time, lives) } ?? false
        return
      case let kind where kind.isEnd:
        if event.task == life.task { return }
        let life = lives[Int(event.task.number) - 1]
        if life.admitted != nil { (newLimit, lastDeparture) = (nil, event.task) }
      case .arrived: newcomers.insert(event.task)
      case .admitted: if newcomers.contains(event.task) { overtakers.append(event.task) }
      default: break
      }
    }
  }

  private func hasDeparted(_ task: TaskID, by time: Int64, _ lives: [TaskLife]) -> Bool {
    let index = Int(task.number) - 1
    guard lives.indices.contains(index), let ended = lives[index].ended else { return false }
    return ended <= time
  }

  /// One line: how long it waited, behind whom, who made way, and how it ended.
  package var text: String {
    let name = label(life.task)
    guard let arrived = life.arrived else {
      return now == nil ? "\(name) never arrived" : "\(name) has not arrived yet"
    }
    var parts: [String] = []
    if let admitted = life.admitted {
      if admitted == arrived {
        parts.append("\(name) arrived at \(at(arrived)) and was admitted at once")
      } else {
        parts.append("\(name) waited \(at(admitted - arrived))\(behind)")
        parts.append(admission(at: admitted))
      }
      parts.append(contentsOf: overtaking)
      parts.append(serviceText(since: admitted))
    } else {
      parts.append(stayed(since: arrived))
      parts.append(contentsOf: holding)
      parts.append(contentsOf: overtaking)
    }
    if let error = life.error { parts.append("its work went wrong: \(error.text)") }
    return parts.joined(separator: "; ")
  }

  private func at(_ time: Int64) -> String { DurationText.text(time) }

  private func label(_ task: TaskID) -> String { task.label(amongst: tasks) }

  private var behind: String {
    var groups: [String] = []
    if !inService.isEmpty { groups.append("\(list(inService)) in service") }
    if !ahead.isEmpty { groups.append("\(list(ahead)) ahead in the queue") }
    return groups.isEmpty ? "" : " behind " + groups.joined(separator: " and ")
  }

  private func admission(at time: Int64) -> String {
    guard let admittedBy else {
      let cause = newLimit.map { ", when the limit had become \($0)" } ?? ""
      return "it was admitted at \(at(time))\(cause)"
    }
    let who = label(admittedBy)
    if causeIsKnown {
      let step = causeHadDeparted ? "\(who)'s departure" : "a step of \(who)"
      return "\(step) admitted it at \(at(time))"
    }
    return "it was admitted at \(at(time)), just after \(who) departed"
  }

  private var holding: [String] {
    guard life.ended == nil, let held = life.holds else { return [] }
    return ["it " + held.words + (holders.isEmpty ? "" : ", which \(list(holders)) has")]
  }

  private var overtaking: [String] {
    if overtakers.isEmpty { return [] }
    return ["\(list(overtakers)) arrived later and went before it"]
  }

  private func serviceText(since admitted: Int64) -> String {
    guard let end = life.end, let ended = life.ended else {
      return now.map { "it has been in service for \(at($0 - admitted)) so far" }
        ?? "it is still in service"
    }
    let verb =
      switch end {
      case .finished: "finished"
      case .failed: "failed"
      case .cancelledWhileRunning, .cancelledWhileWaiting: "was cancelled"
      case .rejected: "was rejected"
      }
    return "it was in service for \(at(ended - admitted)) and \(verb) at \(at(ended))"
  }

  private func stayed(since arrived: Int64) -> String {
    let name = label(life.task)
    if let answer = life.answer, answer != .missed { return served(by: answer, since: arrived) }
    switch (life.end, life.ended) {
    case (.rejected, let ended?): return "\(name) was rejected at \(at(ended))"
    case (_?, let ended?):
      return "\(name) waited \(at(ended - arrived))\(behind); "
        + "it was cancelled while waiting, at \(at(ended)), and never ran"
    default:
      let length = now.map { " \(at($0 - arrived)) so far," } ?? ""
      return "\(name) has waited\(length) since \(at(arrived))\(behind), and has not been admitted"
    }
  }

  /// What became of a task that needed no permit.
  private func served(by answer: TraceEvent.Answer, since arrived: Int64) -> String {
    let name = label(life.task)
    let how =
      answer == .hit
      ? "\(name) found what it wanted and needed no permit"
      : "\(name) joined a fetch that was under way for another task and needed no permit of its own"
    guard let end = life.end, let ended = life.ended else {
      return how + (now.map { "; it has taken \(at($0 - (life.arrived ?? $0))) so far" } ?? "")
    }
    let verb =
      switch end {
      case .finished: "finished"
      case .failed: "failed with it"
      case .cancelledWhileRunning, .cancelledWhileWaiting: "was cancelled"
      case .rejected: "was rejected"
      }
    return "\(how); it \(verb) at \(at(ended)), after \(at(ended - arrived))"
  }

  private func list(_ tasks: [TaskID]) -> String { ListText.some(tasks.map(label)) }
}
