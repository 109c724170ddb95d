internal import Basics
internal import Dispatch
internal import Foundation
internal import LessonBook
internal import Mechanisms
internal import Synchronization

// A storm: rounds of tasks on the machine's own threads, which meet where no explored step ends, as
// between two locks.
//
// A few racers are tasks that live for thousands of rounds and begin each together, at a barrier, since
// tasks made anew would rarely meet. A round has a fresh limiter, and after the race as many bodies as
// there are permits must meet in service: a permit lost in the race is missed at once, and not when
// all are lost.
//
// The thread that watches is not one of the pool's. A storm in which nothing moves for a while is
// over, and says who waits for what.

/// One kind of round.
private struct Shape: Sendable {
  var racers: Int
  var limit: Int
  /// How many other tasks keep a permit while the racers race for those that are left.
  var seated = 0
  /// How many times the racers race in a round, beginning each time together.
  var laps = 1
  /// How many visits each racer makes in a lap, one after the other.
  var visits = 1
  /// How many tasks each racer has beside it, all visiting at once.
  var crowd = 1
  /// How often a body yields, at most.
  var yields = 0
  var failing = false
  /// Whether a body stays until another task is about to arrive, and leaves just then: when that one
  /// has seen that no permit is free, with luck, and does not wait yet.
  var lurks = false
  /// Whether some visits are cancelled, from outside, at any moment.
  var cancelled = false
  var rounds: Int
  /// How many looks at it, ten a second, end it early, on a machine that is slow or busy.
  var looks = 100

  /// Every visit is a task of its own.
  var hasTasks: Bool { crowd > 1 || cancelled }
  var visitors: Int { racers * crowd }
  var tasks: Int { visitors + seated }
}

/// What a storm found.
struct StormReport: Sendable {
  var rounds: Int
  /// What went wrong; nil if nothing did.
  var fault: String?
}

/// Sends tasks at a mechanism on real threads.
struct Storm: Sendable {
  let entry: CatalogueEntry
  let cancels: Bool
  let fails: Bool
  let seed: UInt64
  var share = 1.0
  /// What runs the racers; nil for the pool.
  var executor: (any TaskExecutor)?
  /// How many looks at the storm, ten a second, see nothing move until it is taken to hang.
  var looks = 50

  /// How many processors this program may use.
  static var processors: Int { Processors.allowed }

  private var shapes: [Shape] {
    var shapes = [
      Shape(racers: 2, limit: 1, lurks: true, rounds: 10_000),
      Shape(racers: 2, limit: 1, rounds: 3_000),
      Shape(racers: 2, limit: 1, visits: 2, yields: 1, rounds: 1_500),
      Shape(racers: 3, limit: 2, visits: 2, rounds: 1_500),
      Shape(racers: 4, limit: 3, visits: 3, yields: 2, failing: fails, rounds: 300),
      Shape(racers: 2, limit: 5, crowd: 80, yields: 1, failing: fails, rounds: 30),
    ]
    if entry.profile.lendsPermitsOnly {
      shapes.append(Shape(racers: 2, limit: 33, seated: 32, laps: 20, lurks: true, rounds: 300))
    }
    if cancels {
      shapes += [
        Shape(racers: 2, limit: 1, cancelled: true, rounds: 2_000),
        Shape(racers: 3, limit: 2, visits: 2, yields: 1, cancelled: true, rounds: 500),
        Shape(racers: 2, limit: 3, crowd: 80, yields: 1, cancelled: true, rounds: 30),
      ]
    }
    return shapes
  }

  /// Storms on the calling thread, until something is wrong or all rounds are over.
  @available(*, noasync, message: "holds the calling thread; use onOwnThread")
  func run() -> StormReport {
    var rounds = 0
    for (index, shape) in shapes.enumerated() {
      var shape = shape
      shape.rounds = max(2, Int(Double(shape.rounds) * share))
      let gang = Gang(shape, entry, seed: seed &+ UInt64(index), on: executor)
      let fault = watch(gang)
      rounds += min(gang.rounds, shape.rounds)
      if let fault { return StormReport(rounds: rounds, fault: fault) }
    }
    return StormReport(rounds: rounds, fault: nil)
  }

  private func watch(_ gang: Gang) -> String? {
    let ended = DispatchSemaphore(value: 0)
    for racer in 0..<gang.shape.racers {
      Task.detached(executorPreference: executor) {
        await gang.race(racer)
        ended.signal()
      }
    }
    var left = gang.shape.racers
    var seen = 0
    var looksLeft = looks
    var looked = 0
    while left > 0 {
      if ended.wait(timeout: .now() + .milliseconds(100)) == .success {
        left -= 1
        continue
      }
      looked += 1
      if looked == gang.shape.looks { gang.stop() }
      let moved = gang.moves
      looksLeft = moved == seen ? looksLeft - 1 : looks
      seen = moved
      if looksLeft == 0 {
        let fault = gang.fault ?? gang.standstill(isPoolFree: isPoolFree())
        gang.stop()
        return fault
      }
    }
    return gang.fault
  }

  /// Whether a new task gets a thread.
  private func isPoolFree() -> Bool {
    let isFree = DispatchSemaphore(value: 0)
    Task.detached(executorPreference: executor) { isFree.signal() }
    return isFree.wait(timeout: .now() + .seconds(2)) == .success
  }
}

/// What has happened to one task of a round, in bits.
private struct Marks: OptionSet {
  let rawValue: UInt16

  static let arrived = Marks(rawValue: 1)
  static let admitted = Marks(rawValue: 2)
  static let admittedAgain = Marks(rawValue: 4)
  /// Its body ended, however.
  static let served = Marks(rawValue: 8)
  /// It was told that it was cancelled, and its body never ran.
  static let left = Marks(rawValue: 16)
  static let rejected = Marks(rawValue: 32)
  /// Its body ended, and the limiter did not say how.
  static let lostResult = Marks(rawValue: 64)
  static let cancelled = Marks(rawValue: 128)
}

/// The racers of one shape, and all that they share.
private final class Gang: Tracer, World {
  let shape: Shape
  private let entry: CatalogueEntry
  private let seed: UInt64
  private let executor: (any TaskExecutor)?
  private let lendsPermits: Bool
  private let marks: [Mark]
  private let mechanism: Mutex<any Mechanism>
  /// How often a racer came to the barrier, over all rounds.
  private let arrivals = Atomic(0)
  /// Two gates each round: to the race, and to the meeting.
  private let gate = Atomic(0)
  private let running = Atomic(0)
  private let meeting = Atomic(0)
  private let isMeeting = Atomic(false)
  private let admissions = Atomic(0)
  /// Those who keep their permits, until all racers are through with their visits of this round.
  private let seats = Mutex(Seats())

  private struct Seats {
    var through = 0
    var isOver = false
    var seated: [CheckedContinuation<Void, Never>] = []

    /// Lets all go, for as long as the round lasts.
    mutating func end() -> [CheckedContinuation<Void, Never>] {
      isOver = true
      defer { seated = [] }
      return seated
    }
  }
  /// How many racers have found somebody in service and are about to arrive.
  private let come = Atomic(0)
  /// How often a racer has ended a lap of this round, and how many laps all have ended.
  private let lapsEnded = Atomic(0)
  private let laps = Atomic(0)
  private let isStopped = Atomic(false)
  private let trouble = Mutex<String?>(nil)

  private final class Mark: Sendable {
    let bits = Atomic<UInt16>(0)
  }

  init(
    _ shape: Shape,
    _ entry: CatalogueEntry,
    seed: UInt64,
    on executor: (any TaskExecutor)?
  ) {
    self.shape = shape
    self.entry = entry
    self.seed = seed
    self.executor = executor
    lendsPermits = entry.profile.lendsPermitsOnly
    marks = (0..<shape.tasks).map { _ in Mark() }
    mechanism = Mutex(entry.make(MechanismSetup(limit: shape.limit).noting(in: faults)))
  }

  /// What the mechanism itself saw go wrong.
  private let faults = FaultLog()

  var fault: String? { trouble.withLock { $0 } ?? faults.first }

  /// How many rounds have begun.
  var rounds: Int { (gate.load(ordering: .relaxed) + 1) / 2 }

  /// Grows while anything moves.
  var moves: Int { arrivals.load(ordering: .relaxed) + admissions.load(ordering: .relaxed) }

  func stop() {
    isStopped.store(true, ordering: .relaxed)
    for seated in seats.withLock({ $0.end() }) { seated.resume() }
  }

  // MARK: The racers

  func race(_ racer: Int) async {
    var random = SplitMix64(seed: seed &+ UInt64(racer) &* 0x1_0000)
    for round in 0..<shape.rounds {
      guard await pass(2 * round) else { return }
      let current = mechanism.withLock { $0 }
      if shape.hasTasks {
        await crowd(racer, current, &random)
      } else if shape.seated > 0 {
        await raceBesideSeated(racer, current, round, &random)
      } else {
        await race(racer, current, round, &random)
      }
      guard await pass(2 * round + 1) else { return }
      if lendsPermits { await meet(racer, current) }
    }
    _ = await pass(2 * shape.rounds)
  }

  /// One racer's visits of a round.
  private func race(
    _ racer: Int,
    _ mechanism: any Mechanism,
    _ round: Int,
    _ random: inout SplitMix64
  ) async {
    for lap in 0..<shape.laps {
      for _ in 0..<shape.visits {
        marks[racer].bits.store(0, ordering: .relaxed)
        if shape.lurks, racer != round % shape.racers { comeUpon() }
        // A task that comes a little later meets the others elsewhere.
        spin(random.next(below: 1 << random.next(below: 9)))
        await visit(racer, mechanism, &random)
      }
      if shape.laps > 1 { await end(lap) }
    }
  }

  /// Waits until all racers have ended a lap.
  private func end(_ lap: Int) async {
    let all = shape.racers * (lap + 1)
    if lapsEnded.add(1, ordering: .acquiringAndReleasing).newValue == all {
      come.store(0, ordering: .relaxed)
      laps.store(lap + 1, ordering: .releasing)
    }
    await wait(spins: 2_000) { laps.load(ordering: .acquiring) > lap }
  }

  /// The same when all permits but one are taken: what is wrong at a large limit only is not met otherwise,
  /// because a permit is free.
  private func raceBesideSeated(
    _ racer: Int,
    _ mechanism: any Mechanism,
    _ round: Int,
    _ random: inout SplitMix64
  ) async {
    await withTaskGroup(of: Void.self) { group in
      for task in stride(from: shape.visitors + racer, to: shape.tasks, by: shape.racers) {
        marks[task].bits.store(0, ordering: .relaxed)
        let visit = Visit(
          SimulatedTask(number: task + 1, service: Self.untilAllAreThrough),
          tracer: self,
          world: self
        )
        group.addTask(executorPreference: executor) {
          await mechanism.carry(visit)
          self.judge(task)
        }
      }
      await wait(spins: 0) { running.load(ordering: .relaxed) >= shape.seated }
      await race(racer, mechanism, round, &random)
      let seated = seats.withLock { seats in
        seats.through += 1
        return seats.through == shape.racers ? seats.end() : []
      }
      for one in seated { one.resume() }
    }
  }

  /// The service of a task that keeps its permit until the racers are through.
  private static let untilAllAreThrough = Int64.max

  private func visit(_ task: Int, _ mechanism: any Mechanism, _ random: inout SplitMix64) async {
    let simulated = SimulatedTask(
      number: task + 1,
      service: Int64(random.next(below: shape.yields + 1)),
      fails: shape.failing && random.next(below: 2) == 0
    )
    await mechanism.carry(Visit(simulated, tracer: self, world: self))
    judge(task)
  }

  /// Sends this racer's share of as many tasks as there are permits, each to stay until all are in.
  private func meet(_ racer: Int, _ mechanism: any Mechanism) async {
    let tasks = stride(from: racer, to: shape.limit, by: shape.racers).map { task in
      Visit(SimulatedTask(number: task + 1, service: 0), tracer: self, world: self)
    }
    if tasks.count == 1 { return await mechanism.carry(tasks[0]) }
    await withTaskGroup(of: Void.self) { group in
      for task in tasks { group.addTask { await mechanism.carry(task) } }
    }
  }

  /// Visits as tasks, and some of them cancelled meanwhile.
  private func crowd(_ racer: Int, _ mechanism: any Mechanism, _ random: inout SplitMix64) async {
    for _ in 0..<shape.visits {
      let first = racer * shape.crowd
      let visits = (first..<(first + shape.crowd)).map { task in
        marks[task].bits.store(0, ordering: .relaxed)
        let seed = random.next()
        return Task.detached(executorPreference: executor) { [self] in
          var random = SplitMix64(seed: seed)
          await visit(task, mechanism, &random)
        }
      }
      if shape.cancelled {
        for _ in 0..<random.next(below: 3) { await Task.yield() }
        spin(random.next(below: 400))
        for (place, visit) in visits.enumerated() where random.next(below: 3) > 0 {
          marks[first + place].bits.bitwiseOr(Marks.cancelled.rawValue, ordering: .relaxed)
          visit.cancel()
        }
      }
      for visit in visits { await visit.value }
    }
  }

  /// Waits until somebody is in service, and lets them know.
  private func comeUpon() {
    var patience = 10_000
    while running.load(ordering: .relaxed) <= shape.seated, patience > 0 { patience -= 1 }
    come.add(1, ordering: .relaxed)
  }

  private func spin(_ times: Int) {
    for _ in 0..<times where isStopped.load(ordering: .relaxed) { return }
  }

  /// Waits until all racers are here; the last one gets the next part ready.
  ///
  /// - Returns: false when the storm is over.
  private func pass(_ number: Int) async -> Bool {
    let all = shape.racers * (number + 1)
    if arrivals.add(1, ordering: .acquiringAndReleasing).newValue == all {
      if number.isMultiple(of: 2) {
        isMeeting.store(false, ordering: .relaxed)
        admissions.store(0, ordering: .relaxed)
        come.store(0, ordering: .relaxed)
        lapsEnded.store(0, ordering: .relaxed)
        laps.store(0, ordering: .relaxed)
        seats.withLock { $0 = Seats() }
        let fresh = entry.make(MechanismSetup(limit: shape.limit).noting(in: faults))
        mechanism.withLock { $0 = fresh }
      } else {
        if !lendsPermits { judgePayments() }
        meeting.store(0, ordering: .relaxed)
        isMeeting.store(lendsPermits, ordering: .relaxed)
        for mark in marks { mark.bits.store(0, ordering: .relaxed) }
      }
      if trouble.withLock({ $0 != nil }) { stop() }
      gate.store(number + 1, ordering: .releasing)
    }
    await wait(spins: 2_000) { gate.load(ordering: .acquiring) > number }
    return !isStopped.load(ordering: .relaxed)
  }

  /// Waits for what other racers do, or for the end of the storm.
  ///
  /// They mostly do it at once. If not, the pool's thread is left to them: what they wait for may need it.
  private func wait(spins: Int, until isDone: () -> Bool) async {
    var looks = 0
    while !isDone(), !isStopped.load(ordering: .relaxed) {
      looks += 1
      if looks > spins + 1_000 {
        await Moment.pass()
      } else if looks > spins {
        await Task.yield()
      }
    }
  }

  // MARK: What is promised

  private func fail(_ what: String) {
    let place = "in round \(rounds) of \(describe)"
    trouble.withLock { $0 = $0 ?? "\(place), \(what)" }
  }

  private var describe: String {
    "\(shape.tasks) tasks at limit \(shape.limit)\(shape.cancelled ? ", some cancelled" : "")"
  }

  private func name(_ task: Int) -> String { TaskLabel.text(task + 1, amongst: shape.tasks) }

  private func state(_ task: Int) -> Marks {
    Marks(rawValue: marks[task].bits.load(ordering: .relaxed))
  }

  /// Judges a visit that has come back.
  private func judge(_ task: Int) {
    let state = state(task)
    if state.contains(.admittedAgain) { fail("the body of \(name(task)) ran twice") }
    if state.contains(.lostResult) {
      fail("\(name(task)) was not told how its body ended: run returned something else")
    }
    if state.contains(.cancelled) { return }
    if state.contains(.left) {
      fail("\(name(task)), whom nobody cancelled, was not served: run threw and its body never ran")
    } else if state.isDisjoint(with: [.served, .rejected]) {
      fail("\(name(task)) was not served: run returned without running its body")
    }
  }

  /// Judges withdrawals, of which as many can be paid as there are permits.
  private func judgePayments() {
    let paid = admissions.load(ordering: .relaxed)
    let due = min(shape.limit, shape.tasks * shape.visits)
    if paid != due { fail("\(paid) withdrawals were paid and not \(due)") }
  }

  /// Who waits for what, when nothing has moved for long.
  func standstill(isPoolFree: Bool) -> String {
    let tasks = marks.indices.filter { state($0).contains(.arrived) }
    let inService = tasks.filter {
      state($0).contains(.admitted) && !state($0).contains(.served)
    }
    let waiting = tasks.filter { state($0).isDisjoint(with: [.admitted, .left, .rejected]) }
    let names = { (tasks: [Int]) in ListText.some(tasks.map(self.name)) }
    let place = "in round \(rounds) of \(describe)"
    guard isPoolFree else {
      return "\(place), nothing moves and no new task gets a thread: tasks block the pool's "
        + "threads" + (waiting.isEmpty ? "" : "; \(names(waiting)) wait for a permit")
    }
    if isMeeting.load(ordering: .relaxed), !waiting.isEmpty {
      return "\(place), after the race, \(names(waiting)) can get no permit though only "
        + "\(inService.count) of \(shape.limit) are in use: a permit was lost"
    }
    if waiting.isEmpty {
      return "\(place), nothing moves: "
        + (inService.isEmpty ? "run does not return" : "run does not return to \(names(inService))")
    }
    let verb = waiting.count == 1 ? "waits" : "wait"
    if !inService.isEmpty, inService.count < shape.limit {
      return
        "\(place), \(names(waiting)) \(verb) for ever for a permit, though only \(inService.count) of "
        + "\(shape.limit) are in use: the task that gave one back did not see that another was about to wait (a lost "
        + "wake-up), or a permit was lost"
    }
    return "\(place), \(names(waiting)) \(verb) for ever for a permit, "
      + (inService.isEmpty
        ? "though nobody is in service: the task that gave the last permit back did not see that somebody "
          + "was about to wait (a lost wake-up)"
        : "behind \(names(inService)), in service, who cannot go on")
  }

  // MARK: What tasks tell

  func record(_ kind: TraceEvent.Kind, of id: TaskID) {
    let task = Int(id.number) - 1
    switch kind {
    case .arrived: mark(task, .arrived)
    case .admitted:
      if mark(task, .admitted).contains(.admitted) { mark(task, .admittedAgain) }
      admissions.add(1, ordering: .relaxed)
      let count = running.add(1, ordering: .acquiringAndReleasing).newValue
      if count > shape.limit {
        let others = marks.indices.filter {
          state($0).contains(.admitted) && !state($0).contains(.served)
        }
        let who = ListText.some(others.map(name))
        fail("\(who) are in service at once: \(count), limit \(shape.limit)")
      }
    case .finished, .failed, .cancelled(.running):
      running.subtract(1, ordering: .acquiringAndReleasing)
      mark(task, .served)
    case .cancelled(.waiting): mark(task, .left)
    case .rejected: mark(task, .rejected)
    case .blocked, .unblocked, .answered, .error, .holds, .progress, .suspended, .resumed, .limit:
      break
    }
  }

  func noteLostResult(of id: TaskID, toldCancelled: Bool) {
    mark(Int(id.number) - 1, .lostResult)
  }

  @discardableResult
  private func mark(_ task: Int, _ mark: Marks) -> Marks {
    Marks(rawValue: marks[task].bits.bitwiseOr(mark.rawValue, ordering: .relaxed).oldValue)
  }

  // MARK: A world in which service is some yields

  var now: Int64 { 0 }

  func suspend(for nanoseconds: Int64) async throws {
    if isMeeting.load(ordering: .relaxed) {
      meeting.add(1, ordering: .relaxed)
      // All permits are in use together, or one is lost.
      await wait(spins: 0) { meeting.load(ordering: .relaxed) >= shape.limit }
      return
    }
    if nanoseconds == Self.untilAllAreThrough {
      await withCheckedContinuation { continuation in
        let isOver = seats.withLock { seats in
          if !seats.isOver { seats.seated.append(continuation) }
          return seats.isOver
        }
        if isOver { continuation.resume() }
      }
      return
    }
    if shape.lurks {
      var patience = 10_000
      while come.load(ordering: .relaxed) == 0, patience > 0 { patience -= 1 }
      return
    }
    for _ in 0..<nanoseconds { await Task.yield() }
    try Task.checkCancellation()
  }

  func leaveStartingThread() async {}

  func block(for nanoseconds: Int64) {}

  func spin(for nanoseconds: Int64) {}
}

extension Storm {
  /// The storm as a question.
  static func question(
    _ entry: CatalogueEntry,
    cancels: Bool = false,
    fails: Bool = true,
    processors: Int = processors
  ) -> GradeBook.Question {
    GradeBook.Question(name: "storm") { terms in
      guard processors > 1 else {
        return GradeItem(
          "storm",
          passed: true,
          "a storm on real threads: not judged, because on one processor no two tasks run at once. "
            + "Grade again on a machine with two"
        )
      }
      let seed = terms.seed
      let report = Storm(
        entry: entry,
        cancels: cancels,
        fails: fails,
        seed: seed,
        share: terms.storm,
        executor: terms.executor
      ).run()
      return GradeItem(
        "storm",
        passed: report.fault == nil,
        "a storm on real threads, seed \(seed): "
          + (report.fault ?? "in \(report.rounds) rounds every task came through")
      )
    }
  }
}
