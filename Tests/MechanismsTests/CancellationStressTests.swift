import Basics
import Limiters
import Mechanisms
import TestSupport
import Testing

/// Many tasks, each cancelled at some moment of its life, on the machine's own threads.
///
/// The seed fixes who is cancelled and how long everybody dawdles; the threads add what no seed can. What
/// is judged does not depend on either. Eight thousand tasks a mechanism, all of them cancelled;
/// forty thousand where long searches run.
@Suite(.watched, .serialized)
struct `Random cancellations` {
  static let mechanisms = Catalogue.mechanisms
    .filter { $0.profile.clock == .any || $0.profile.waiting == .suspendsTask }
    .filter { $0.profile.limit != .none }
    .map(\.id)

  @Test(arguments: mechanisms)
  func `lose no permit, exceed no limit, run no body of a task that left`(id: String) async throws {
    let entry = try #require(Catalogue.entry(id))
    for round in 1...(searchesRun ? 20 : 4) {
      let limit = entry.profile.limit == .any ? 1 + round % 4 : 1
      let mechanism = entry.make(MechanismSetup(limit: limit))
      let tally = Tally(tasks: 2000, limit: limit)
      let kind = entry.profile.defaultKind
      // In portions, so that lines form and run empty again and again.
      for portion in 0..<2 {
        var choices = SplitMix64(seed: UInt64(round), purpose: .cancellation, number: portion)
        let tasks = (portion * 1000..<(portion + 1) * 1000).map { number in
          let work = SimulatedTask(
            number: number,
            service: Int64(choices.next() % 4),
            kind: kind,
            fails: choices.next() % 8 == 0
          )
          let visit = Visit(work, tracer: tally, world: DawdlingWorld())
          return Task { await mechanism.carry(visit) }
        }
        for victim in tasks.shuffled(using: &choices) {
          victim.cancel()
          if choices.next() % 16 == 0 { await Task.yield() }
        }
        for task in tasks { await task.value }
      }
      #expect(tally.faults == [])
      #expect(mechanism.permitsInUse ?? 0 == 0)
      let peak = await Self.peak(of: mechanism, kind: kind, asking: limit)
      #expect(peak == limit)
    }
  }

  /// How many of as many tasks as there are permits run at once, if each waits for the others.
  private static func peak(
    of mechanism: any Mechanism,
    kind: ServiceKind,
    asking count: Int
  ) async -> Int {
    let log = EventLog()
    let gates = GatedWorld()
    let tasks = (1...count).map { number in
      let work = SimulatedTask(number: number, service: Int64(number), kind: kind)
      let visit = Visit(work, tracer: log, world: gates)
      // Work that holds its thread at the gate must not hold one of the pool's, which opens it.
      let threads: ThreadsExecutor? = kind.holdsWorker ? .shared : nil
      return Task(executorPreference: threads) { await mechanism.carry(visit) }
    }
    // Ends with the test's time if a permit is missing.
    try? await log.reaches { $0.running.count == count }
    gates.openAll()
    for task in tasks { await task.value }
    return log.history.peak
  }
}

/// A world in which work is a few turns at the back of the line.
private struct DawdlingWorld: World {
  var now: Int64 { 0 }

  func suspend(for turns: Int64) async throws {
    for _ in 0..<turns {
      try Task.checkCancellation()
      await Task.yield()
    }
    try Task.checkCancellation()
  }

  func leaveStartingThread() async {}
  func block(for turns: Int64) {}
  func spin(for turns: Int64) {}
}

/// Judges as it goes what `History` judges afterwards, for runs too long to keep.
private final class Tally: Tracer {
  private enum Life {
    case absent
    case waiting
    case running
    case over
  }

  private struct State {
    var lives: [Life]
    var running = 0
    var ended = 0
    var faults: [String] = []
  }

  private let state: Lock<State>
  private let tasks: Int
  private let limit: Int

  init(tasks: Int, limit: Int) {
    self.tasks = tasks
    self.limit = limit
    state = Lock(State(lives: Array(repeating: .absent, count: tasks)))
  }

  /// The first few offences; all tasks must have ended by now.
  var faults: [String] {
    state.withLock { state in
      let missing = tasks - state.ended
      return state.faults.prefix(5) + (missing == 0 ? [] : ["\(missing) never ended"])
    }
  }

  func record(_ kind: TraceEvent.Kind, of task: TaskID) {
    let number = Int(task.number)
    state.withLock { state in
      let life = state.lives[number]
      func fault(_ what: String) { state.faults.append("task \(number) \(what), being \(life)") }
      switch kind {
      case .arrived:
        if life != .absent { fault("arrived") }
        state.lives[number] = .waiting
      case .admitted:
        if life != .waiting { fault("was admitted") }
        state.lives[number] = .running
        state.running += 1
        if state.running > limit { fault("was number \(state.running) of \(limit)") }
      case .finished, .failed, .cancelled(.running):
        if life != .running { fault("departed") }
        state.lives[number] = .over
        state.running -= 1
        state.ended += 1
      case .cancelled(.waiting), .rejected:
        if life != .waiting { fault("was turned away") }
        state.lives[number] = .over
        state.ended += 1
      case .blocked, .unblocked, .answered, .error, .holds, .progress, .suspended, .resumed, .limit:
        break
      }
    }
  }
}
