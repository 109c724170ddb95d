internal import Basics
package import Experiments
package import Mechanisms

/// The log of a run that is watched, kept so that any moment of it is drawn quickly.
///
/// Events are taken as they come; what was taken is not gone through again.
package struct TimelineLog: Sendable {
  /// What the run is, without its tasks and their events.
  private let run: Run
  package private(set) var plan: [SimulatedTask]
  private var events: [[TraceEvent]]
  /// All events, in the order in which they became known.
  private var all: [TraceEvent] = []
  /// By when each of them was known.
  private var times: [Int64] = []
  private(set) var running = StepFunction()
  private(set) var waiting = StepFunction()
  private(set) var limit: StepFunction
  private(set) var limitChanged = false
  /// How many of those that wait hold a thread.
  private var blocked = StepFunction()
  private var ended = StepFunction()
  /// The first task that has not ended; the number of tasks where all have.
  private var firstUnended = StepFunction()
  private var board: LiveBoard
  /// The time of the latest event.
  package private(set) var lastTime: Int64 = 0

  package init(_ run: Run) {
    self.run = run
    plan = run.plan
    events = Array(repeating: [], count: run.plan.count)
    limit = StepFunction(limit: run.facts.limit, in: [])
    board = LiveBoard(plan: run.plan)
    take(run.events)
  }

  /// Takes events that came since the last taking.
  package mutating func take(_ new: [TraceEvent]) {
    for event in new {
      board.take(event)
      // The threads' logs are read one after the other: what was read later may have come a little earlier.
      lastTime = max(lastTime, event.time)
      all.append(event)
      times.append(lastTime)
      running.set(board.running, at: lastTime)
      waiting.set(board.waiting, at: lastTime)
      blocked.set(board.blocked, at: lastTime)
      ended.set(board.ended, at: lastTime)
      firstUnended.set(nextUnended, at: lastTime)
      if case .limit(let new) = event.kind {
        limitChanged = true
        limit.set(Int(new), at: lastTime)
      }
      let place = Int(event.task.number) - 1
      if events.indices.contains(place) { events[place].append(event) }
    }
  }

  /// The first task that has not ended, from the one on that was the first.
  private var nextUnended: Int {
    var first = firstUnended.value
    while first < plan.count, case .ended = board.states[first] { first += 1 }
    return first
  }

  /// Whether nothing was known to come after the moment: what is asked of it is then known without searching.
  private func isNow(_ moment: Int64) -> Bool { moment >= lastTime }

  /// The first task that had not ended by a moment.
  func firstUnended(at moment: Int64) -> Int? {
    let first = firstUnended.value(at: moment) ?? 0
    return first < plan.count ? first : nil
  }

  /// How many ran, waited and might have run, by a moment.
  func curves(by moment: Int64) -> (
    running: StepFunction, waiting: StepFunction, limit: StepFunction
  ) {
    if isNow(moment) { return (running, waiting, limit) }
    return (running.known(at: moment), waiting.known(at: moment), limit.known(at: moment))
  }

  /// The limit that the run promised to keep at its start; nil where it promised none.
  var promisedLimit: Int? { run.facts.limit }

  /// Whether every task has ended.
  package var isOver: Bool { board.isOver }

  /// The next moment at which something happened.
  package func moment(after moment: Int64) -> Int64? {
    let next = times.sortedIndex(where: { $0 > moment })
    return next < times.endIndex ? times[next] : nil
  }

  /// The moment before at which something happened.
  package func moment(before moment: Int64) -> Int64? {
    times[..<times.sortedIndex(where: { $0 >= moment })].last
  }

  /// What has happened to a task by a moment.
  func events(of place: Int, by moment: Int64) -> ArraySlice<TraceEvent> {
    let all = events[place]
    if isNow(moment) { return all[...] }
    return all[..<(all.lastIndex { $0.time <= moment }.map { $0 + 1 } ?? 0)]
  }

  /// Where a task stood at a moment.
  func state(of place: Int, at moment: Int64) -> State {
    if isNow(moment) { return State(board.states[place]) }
    for event in events(of: place, by: moment).reversed() {
      switch event.kind {
      case .arrived, .unblocked, .answered: return .waiting
      case .blocked: return .blocked
      case .admitted, .suspended, .resumed: return .running
      case .finished, .failed, .cancelled, .rejected: return .ended
      case .progress, .error, .holds, .limit: continue
      }
    }
    return .toCome
  }

  /// Where tasks stand, in the order in which they are counted.
  enum State: Int {
    case running
    case blocked
    case waiting
    case ended
    case toCome

    fileprivate init(_ state: LiveBoard.State) {
      switch state {
      case .pending: self = .toCome
      case .waiting: self = .waiting
      case .blocked: self = .blocked
      case .running: self = .running
      case .ended: self = .ended
      }
    }

    static let all: [State] = [.running, .blocked, .waiting, .ended, .toCome]

    /// How many stand there: "3 waiting with a thread each".
    func text(_ count: Int) -> String {
      let name =
        switch self {
        case .running: "running"
        case .blocked: "waiting with a thread\(count == 1 ? "" : " each")"
        case .waiting: "waiting"
        case .ended: "ended"
        case .toCome: "to come"
        }
      return "\(NumberText.grouped(count)) \(name)"
    }
  }

  /// How many of all tasks stood where at a moment, by the number of the state.
  func counts(at moment: Int64) -> [Int] {
    let all = [running, blocked, waiting, ended].map { $0.value(at: moment) ?? 0 }
    return [all[0], all[1], all[2] - all[1], all[3], plan.count - all[0] - all[2] - all[3]]
  }

  /// How many of some tasks stood where at a moment, by the number of the state.
  func counts(of places: some Collection<Int>, at moment: Int64) -> [Int] {
    places.reduce(into: Array(repeating: 0, count: State.all.count)) { counts, place in
      counts[state(of: place, at: moment).rawValue] += 1
    }
  }

  /// The run of some of its tasks, numbered from 1, as it stood at a moment.
  func run(of places: some Collection<Int>, at moment: Int64) -> Run {
    var part = run
    part.plan = places.map { plan[$0] }
    part.facts.tasks = places.count
    part.facts.withoutPermit = Set(
      places.enumerated().filter { run.facts.withoutPermit.contains(TaskID($0.element + 1)) }
        .map { TaskID($0.offset + 1) }
    )
    part.now = isOver && moment >= lastTime ? nil : moment
    var known: [TraceEvent] = []
    for (number, place) in places.enumerated() {
      for var event in events(of: place, by: moment) {
        event.task = TaskID(number + 1)
        known.append(event)
      }
    }
    known.sort { $0.time < $1.time }
    part.events = known
    return part
  }

  /// Why a task waited, as far as that was known at a moment; what was read of this log before is not read again.
  func why(_ place: Int, at moment: Int64, keeping kept: inout Why?) -> String {
    let task = TaskID(place + 1)
    let known = isNow(moment) ? all.count : times.sortedIndex(where: { $0 > moment })
    var facts = run.facts
    facts.tasks = plan.count
    var why = kept.take() ?? Why(task, of: facts)
    if why.life.task != task || why.count > known { why = Why(task, of: facts) }
    why.take(all[why.count..<known])
    why.now = isOver && moment >= lastTime ? nil : moment
    kept = why
    return why.text
  }
}
