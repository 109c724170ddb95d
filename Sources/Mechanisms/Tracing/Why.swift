internal import Basics

/// Why one task waited as long as it did, from the log alone.
///
/// Of a run under way it takes events as they come: what was taken is not gone through again.
package struct Why: Sendable {
  package private(set) var life: TaskLife
  /// The tasks that were in service when this one arrived, in the order of their admission.
  package private(set) var inService: [TaskID] = []
  /// The tasks that were waiting when this one arrived, in the order of their arrival.
  package private(set) var ahead: [TaskID] = []
  /// The tasks that arrived later and were admitted while this one waited.
  package private(set) var overtakers: [TaskID] = []
  /// The tasks without need of a permit that were admitted while this one waited.
  package private(set) var passersBy: [TaskID] = []
  /// The task whose step made the admission possible, as a rule its departure.
  package private(set) var admittedBy: TaskID?
  /// Whether the log itself names `admittedBy` as the cause; otherwise it is the departure just
  /// before the admission.
  package private(set) var causeIsKnown = false
  /// The moment of a run under way; nil of one that has ended.
  package var now: Int64?
  /// How many events were taken.
  package private(set) var count = 0

  /// Where a task stands.
  private struct Standing: Sendable {
    enum State {
      case away
      case waiting
      case serving
    }

    var state = State.away
    /// Which event brought it there.
    var since = 0
    var wasAdmitted = false
    /// Whether it arrived after the one that is asked about.
    var isNewcomer = false
    /// What it has while it waits for another permit, until it ends.
    var holds: TraceEvent.Permit?
    var ended: Int64?
  }

  private enum Phase {
    case toArrive
    case waiting
    case settled
  }

  private let withoutPermit: Set<TaskID>
  /// Whether there was ever a limit that a task could wait for.
  private var hasLimit: Bool
  /// The limit as it is now, and as it was when the task arrived.
  private var limit: Int?
  private var limitAtArrival: Int?
  private var phase = Phase.toArrive
  private var standings: [Standing]
  /// Who has arrived, and who was admitted, and by which event, until the task arrives.
  private var arrivals: [(task: TaskID, event: Int)] = []
  private var admissions: [(task: TaskID, event: Int)] = []
  private var lastDeparture: TaskID?
  /// The limit as it was changed last before the admission, if nobody departed in between.
  private var newLimit: Int32?
  /// When the wait ended with an admission.
  private var admission: Int64?

  /// Nothing has happened yet.
  package init(_ task: TaskID, of facts: RunFacts) {
    life = TaskLife(task: task)
    withoutPermit = facts.withoutPermit
    hasLimit = facts.limit != nil || !facts.withoutPermit.isEmpty
    limit = facts.limit
    standings = Array(repeating: Standing(), count: facts.tasks)
  }

  /// `now` is the moment of a run under way.
  ///
  /// - Returns: nil if the log does not name the task.
  /// - Complexity: O(n) for n events.
  package init?(_ task: TaskID, events: [TraceEvent], facts: RunFacts, now: Int64? = nil) {
    self.init(task, of: facts)
    self.now = now
    take(events)
    guard task > .run, standings.indices.contains(Int(task.number) - 1) else { return nil }
  }

  /// Takes the events that follow, in the order of the log.
  package mutating func take(_ events: some Sequence<TraceEvent>) {
    for event in events {
      if case .limit(let now) = event.kind { (hasLimit, limit) = (true, Int(now)) }
      if event.task == life.task {
        if event.kind == .arrived, phase == .toArrive { arrive() }
        life.note(event)
      }
      if event.task > .run { follow(event) }
      if phase == .waiting { wait(event) }
      count += 1
    }
  }

  /// Who waits and who is in service now is what the task waits behind.
  private mutating func arrive() {
    func still(_ state: Standing.State, _ entries: [(task: TaskID, event: Int)]) -> [TaskID] {
      entries.filter { entry in
        let standing = standings[Int(entry.task.number) - 1]
        return standing.state == state && standing.since == entry.event
          && !withoutPermit.contains(entry.task)
      }.map(\.task)
    }
    ahead = still(.waiting, arrivals)
    inService = still(.serving, admissions)
    (arrivals, admissions) = ([], [])
    limitAtArrival = limit
    phase = .waiting
  }

  /// Notes where the task of the event stands.
  private mutating func follow(_ event: TraceEvent) {
    let place = Int(event.task.number) - 1
    while standings.count <= place { standings.append(Standing()) }
    func move(to state: Standing.State) {
      standings[place].state = state
      standings[place].since = count
    }
    switch event.kind {
    case .arrived:
      move(to: .waiting)
      if phase == .toArrive { arrivals.append((event.task, count)) }
      if phase == .waiting { standings[place].isNewcomer = true }
    case .admitted:
      move(to: .serving)
      standings[place].wasAdmitted = true
      if phase == .toArrive { admissions.append((event.task, count)) }
    case .finished, .failed, .cancelled, .rejected:
      move(to: .away)
      standings[place].holds = nil
      standings[place].ended = standings[place].ended ?? event.time
    case .answered(.hit), .answered(.joined): move(to: .away)
    case .holds(let permit):
      if standings[place].ended == nil { standings[place].holds = permit }
    case .blocked, .unblocked, .answered, .error, .progress, .suspended, .resumed, .limit: break
    }
  }

  /// Notes who went by and who made way while the task waits.
  private mutating func wait(_ event: TraceEvent) {
    if case .limit(let limit) = event.kind { (newLimit, lastDeparture) = (limit, nil) }
    guard event.task > .run else { return }
    switch event.kind {
    case .admitted where event.task == life.task:
      let cause = event.cause.flatMap { $0 > .run && $0 != life.task ? $0 : nil }
      causeIsKnown = cause != nil
      admittedBy = cause ?? (life.waiting == 0 ? nil : lastDeparture)
      admission = event.time
      phase = .settled
    case let kind where kind.isEnd:
      if event.task == life.task {
        phase = .settled
      } else if standings[Int(event.task.number) - 1].wasAdmitted {
        (newLimit, lastDeparture) = (nil, event.task)
      }
    case .admitted where withoutPermit.contains(event.task): passersBy.append(event.task)
    case .admitted:
      if standings[Int(event.task.number) - 1].isNewcomer { overtakers.append(event.task) }
    default: break
    }
  }

  /// Whether `admittedBy` had departed by the admission.
  private var causeHadDeparted: Bool {
    guard let admittedBy, let admission else { return false }
    let place = Int(admittedBy.number) - 1
    guard standings.indices.contains(place) else { return false }
    return standings[place].ended.map { $0 <= admission } ?? false
  }

  /// Who holds the permit that this task wants beside the one it has.
  package var holders: [TaskID] {
    guard let held = life.holds, life.admitted == nil, life.ended == nil else { return [] }
    return standings.indices.filter { standings[$0].holds == held.other }.map { TaskID($0 + 1) }
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
      } else if !hasLimit {
        parts.append(
          "\(name) began \(at(admitted - arrived)) after it arrived: no limit held it up"
        )
      } else if let free {
        let taken = "\(at(admitted - arrived)) after it arrived"
        parts.append("\(name) was admitted at \(at(admitted)), \(taken): \(free)")
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

  private func label(_ task: TaskID) -> String { task.label(amongst: standings.count) }

  /// The permits that nobody had when it arrived, where nobody was ahead of it and nothing made way for it.
  private var free: String? {
    guard let limit = limitAtArrival, inService.count < limit, ahead.isEmpty, admittedBy == nil,
      overtakers.isEmpty, life.holds == nil
    else { return nil }
    return limit == 1
      ? "the permit was free" : "\(limit - inService.count) of \(limit) permits were free"
  }

  private var behind: String {
    guard hasLimit else { return "" }
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
    var parts: [String] = []
    if !overtakers.isEmpty { parts.append("\(list(overtakers)) arrived later and went before it") }
    if !passersBy.isEmpty { parts.append("\(list(passersBy)) went before it without a permit") }
    return parts
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

  private func list(_ tasks: [TaskID]) -> String { ListText.some(tasks, label) }
}
