internal import Basics
internal import Experiments
internal import Limiters
internal import Mechanisms

/// Sends visitors of any urgency to a limiter, who come, depart and are cancelled at any moment, and watches what
/// becomes of them.
final class VisitsAtAnyMoment: Tracer {
  /// Something that is done, and how many turns later than what else is done in that moment.
  private struct Act {
    enum Kind {
      case come(Int, TaskPriority, fails: Bool, heedsCancellation: Bool, isCancelled: Bool)
      case end(Int)
      case cancel(Int)
    }

    var kind: Kind
    var turns = 0
  }

  private struct State {
    var owed: OwedVisits
    var bodies: [Int: Crowd] = [:]
    var tasks: [Int: Task<Void, Never>] = [:]
    var moment = 0
  }

  /// How many turns others get before who was cancelled must have left: some for an actor, to which it may have to go.
  private static let turnsToLeave = 6

  private let mechanism: any Mechanism
  private let limit: Int
  private let cancels: Bool
  private let state: Lock<State>

  init(_ entry: CatalogueEntry, limit: Int, cancels: Bool, overtakings: Int) {
    mechanism = entry.make(MechanismSetup(limit: limit))
    self.limit = limit
    self.cancels = cancels
    state = Lock(State(owed: OwedVisits(limit: limit, overtakings: overtakings)))
  }

  /// What has been done, the last of it, a line for each moment.
  var story: String { told.withLock { $0.suffix(Self.mostTold).joined(separator: "\n") } }

  private let told = Lock<[String]>([])
  private static let mostTold = 12

  /// By how much two moments differ at least: within one, those who come a few turns apart are in no order.
  private static let apart = 100

  // MARK: A course of moments

  /// Plays so many moments, and then has all depart.
  ///
  /// - Returns: what is wrong; nil if nothing is.
  @available(*, noasync, message: "drives on the calling thread; use onOwnThread")
  func play(_ moments: Int, _ random: inout SplitMix64, on scheduler: VirtualScheduler) -> String? {
    let room = [6, 20, 60][random.next(below: 3)]
    play(come(limit + random.next(below: 6), &random), on: scheduler)
    for _ in 0..<moments where fault == nil { play(draw(room, &random), on: scheduler) }
    while fault == nil, !owed.running.isEmpty {
      play(owed.running.map { Act(kind: .end($0)) }, on: scheduler)
    }
    // Whether all permits are there.
    if fault == nil { play(come(limit + 1, &random), on: scheduler) }
    return fault
  }

  private var owed: OwedVisits { state.withLock { $0.owed } }

  private var fault: String? { owed.fault }

  /// What is done in one moment, by who is there.
  private func draw(_ room: Int, _ random: inout SplitMix64) -> [Act] {
    let (waiting, running) = (owed.waiting, owed.running)
    let hasRoom = waiting.count < room
    let end = running.randomElement(using: &random).map { Act(kind: .end($0)) }
    switch random.next(below: 6) {
    case 0 where hasRoom: return come(1 + random.next(below: 4), &random)
    case 1 where hasRoom:
      // One after the other, each when the one before has had time to join the line.
      return come(2 + random.next(below: 3), &random).enumerated().map { place, act in
        Act(kind: act.kind, turns: place * Self.turnsToLeave)
      }
    case 2 where cancels && !waiting.isEmpty:
      let most = 1 + random.next(below: waiting.count)
      let some = waiting.shuffled(using: &random).prefix(most)
      return some.map { Act(kind: .cancel($0)) }
    case 3 where cancels:
      // A permit is handed over, and who gets it is cancelled, just before or just after.
      let first = waiting.first.map { Act(kind: .cancel($0), turns: random.next(below: 2)) }
      return [end, first].compactMap(\.self).shuffled(using: &random)
    case 4:
      let most = cancels ? random.next(below: 4) : 0
      let some = (waiting + running).shuffled(using: &random).prefix(most)
      let ends = running.shuffled(using: &random).prefix(1 + random.next(below: 3))
      let newcomers = hasRoom ? come(random.next(below: 4), &random) : []
      let acts = some.map { Act(kind: .cancel($0)) } + ends.map { Act(kind: .end($0)) } + newcomers
      return acts.shuffled(using: &random).map {
        Act(kind: $0.kind, turns: random.next(below: 3))
      }
    default: return [end].compactMap(\.self)
    }
  }

  private func come(_ count: Int, _ random: inout SplitMix64) -> [Act] {
    let first = state.withLock { $0.tasks.count }
    return (0..<count).map { place in
      Act(
        kind: .come(
          first + place + 1,
          Self.urgencies[random.next(below: Self.urgencies.count)].priority,
          fails: random.next(below: 4) == 0,
          heedsCancellation: random.next(below: 2) == 0,
          isCancelled: random.next(below: 20) == 0 && cancels
        )
      )
    }
  }

  private static let urgencies: [(word: String, priority: TaskPriority)] = [
    ("background", .background), ("low", .low), ("medium", .medium), ("high", .high),
    ("highest", TaskPriority(rawValue: 33)),
  ]

  private static func word(_ priority: TaskPriority) -> String {
    urgencies.first { $0.priority == priority }?.word ?? "medium"
  }

  // MARK: One moment

  @available(*, noasync, message: "drives on the calling thread; use onOwnThread")
  private func play(_ acts: [Act], on scheduler: VirtualScheduler) {
    if acts.isEmpty { return }
    told.withLock { $0.append(describe(acts)) }
    let onlyCancels = acts.allSatisfy { if case .cancel = $0.kind { true } else { false } }
    for act in acts { begin(act, permitsMove: !onlyCancels, on: scheduler) }
    if onlyCancels {
      Task(executorPreference: scheduler) { [self] in
        for _ in 1...Self.turnsToLeave { await Task.yield() }
        state.withLock { $0.owed.lookForLate(after: Self.turnsToLeave) }
      }
    }
    _ = scheduler.runUntilIdle()
    state.withLock { state in
      state.owed.lookAtRest()
      state.moment += Self.apart
    }
  }

  private func begin(_ act: Act, permitsMove: Bool, on scheduler: VirtualScheduler) {
    let turns = act.turns
    switch act.kind {
    case .come(let number, let priority, let fails, let heeds, let isCancelled):
      let body = Crowd(heedsCancellation: heeds)
      let task = Task(executorPreference: scheduler, priority: priority) { [self] in
        for _ in 0..<turns { await Task.yield() }
        if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
        state.withLock { state in
          let name = "number \(number) (\(Self.word(priority)))"
          state.owed.comes(number, at: state.moment + turns / Self.turnsToLeave, called: name)
          if isCancelled { state.owed.isCancelled(number, permitsMove: true) }
        }
        let visit = SimulatedTask(number: number, service: 1, fails: fails)
        await mechanism.carry(Visit(visit, tracer: self, world: body, hasArrived: true))
      }
      state.withLock { state in
        state.bodies[number] = body
        state.tasks[number] = task
      }
    case .end(let number):
      let body = state.withLock { $0.bodies.removeValue(forKey: number) }
      Task(executorPreference: scheduler) {
        for _ in 0..<turns { await Task.yield() }
        body?.goOn()
      }
    case .cancel(let number):
      let task = state.withLock { $0.tasks[number] }
      Task(executorPreference: scheduler) { [self] in
        for _ in 0..<turns { await Task.yield() }
        state.withLock { $0.owed.isCancelled(number, permitsMove: permitsMove) }
        task?.cancel()
      }
    }
  }

  private func describe(_ acts: [Act]) -> String {
    let words = acts.map { act in
      let later = act.turns == 0 ? "" : ", \(act.turns) turns later"
      switch act.kind {
      case .come(let number, let priority, let fails, _, let isCancelled):
        let how = (fails ? ", will throw" : "") + (isCancelled ? ", cancelled before" : "")
        return "\(number) comes (\(Self.word(priority))\(how))\(later)"
      case .end(let number): return "\(number) departs\(later)"
      case .cancel(let number): return "\(number) is cancelled\(later)"
      }
    }
    return "  " + ListText.first(8, of: words)
  }

  // MARK: What is seen

  func record(_ kind: TraceEvent.Kind, of id: TaskID) {
    let number = Int(id.number)
    state.withLock { state in
      switch kind {
      case .admitted: state.owed.isAdmitted(number)
      case .finished, .failed, .cancelled(.running): state.owed.hasEnded(number)
      case .cancelled(.waiting): state.owed.hasLeft(number)
      default: break
      }
    }
  }

  func noteLostResult(of id: TaskID, toldCancelled: Bool) {
    state.withLock { $0.owed.lostItsResult(Int(id.number)) }
  }
}
