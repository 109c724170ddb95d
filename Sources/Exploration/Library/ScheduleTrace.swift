internal import Basics
internal import CExplorable
internal import ExplorableSynchronization
internal import Glibc
internal import Synchronization

/// A schedule run once more, to be told: who took each step, and at which line of the code under test.
struct ScheduleTrace {
  struct Step {
    var choice: Choice
    /// The agent that could have gone on instead; 0 for none.
    var preempted = 0
    var isFirst = false
    /// Whether it is the second half of a yield.
    var isYield = false
    /// What it begins with, if it goes on in the middle of a job.
    var operation: SynchronizationOperation?
    /// What that found and left, where it is known.
    var values: OperationValues?
    /// Whom that is about, or whose turn it is.
    var subject: StepSubject?
    /// How many nanoseconds have passed before it, where that is why it can be.
    var passed: Int64 = 0
    /// The work of a queue that it begins.
    var work: Work?
    /// Where the task goes on from.
    var from: [UInt] = []
    /// Where it stands afterwards, if it waits.
    var waitsAt: [UInt] = []
    /// What it came to, if it did not come to its end.
    var endsAt: [UInt] = []
    var hasEnded = false
    /// Whether it had before: an actor's turn may begin in the name of such a task.
    var hadEnded = false
    /// The tasks it made, by their serial numbers, and where.
    var made: [(serial: UInt64, at: [UInt])] = []
    /// The agents it began, and those it made ready.
    var began: [Int] = []
    var woke: [Int] = []
  }

  /// A block that was given to a dispatch queue.
  struct Work {
    var queue: Int
    var given: [UInt]
  }

  private(set) var schedule: Schedule
  private(set) var steps: [Step] = []
  private var actors = ActorNames()
  private(set) var violation: Violation?
  /// The two accesses that race, with their lines, if that is what it shows.
  private(set) var raceText: String?
  /// What was done to find such.
  private(set) var races = Race.Search()
  /// How many steps come behind those that are told.
  private(set) var further = 0
  /// Two steps whose order matters, that race, or that hold each other up.
  var race: (first: Int, second: Int)?
  /// What these two have to do with each other.
  private(set) var relation = StepRelation.comesBefore
  /// What left the exploration, if that is why nothing can run.
  private(set) var escape: String?
  private let place: String
  /// How often threads that are not explored had signalled before it was run.
  private let signals: UInt32
  /// Where each agent was started.
  private var starts: [Int: [UInt]] = [:]
  /// The number of each thread, by its agent.
  private var threads: [Int: Int] = [:]
  /// Where those wait that never finish.
  private var waiting: [(agent: Int, at: [UInt])] = []
  /// The same as lines, the innermost first, where all of them are told.
  private var chains: [[SourcePlace]] = []
  private var lines = SourceLines(of: [])
  /// What the source calls the locks and atomics, by their numbers.
  private var names: [Int: String] = [:]

  /// - Parameters:
  ///   - schedule: what to run.
  ///   - scenario: what it was found in.
  ///   - place: where the closure stands.
  ///   - longest: where the schedule stops in the middle, it goes on, taking the turn from nobody, to its end or until
  ///     it has so many steps.
  /// - Throws: `ScheduleError` when the schedule cannot be followed.
  init(of schedule: Schedule, in scenario: Scenario, place: String, longest: Int)
    throws(ScheduleError)
  {
    guard schedule.scenario == scenario.name else {
      throw .otherScenario(schedule: schedule.scenario, scenario: scenario.name)
    }
    self.place = place
    self.schedule = schedule
    signals = signals_from_outside()
    let run = ScheduleRun(scenario, reduction: .none)
    defer { run.close() }
    let witness = Witness()
    run.notePlaces()
    FollowedTasks.begin(noting: run.executor.escapes)
    defer { FollowedTasks.end() }
    run.executor.onFirstJob = { [unowned executor = run.executor] agent in
      witness.starts[Int(agent)] = SourceLines.here()
      FollowedTasks.add(serial: executor.serials[Int(agent)])
    }
    run.executor.onMade = { witness.made.append(($0.taskSerial, SourceLines.here())) }
    run.executor.onWork = { witness.work = Work(queue: $0, given: $1) }
    run.executor.onThread = { witness.note(agent: $0, thread: $1) }
    run.begin()
    defer { run.end() }
    var seen: Set<Int32> = []
    for choice in schedule.choices {
      guard let index = run.index(of: choice) else {
        throw .notPossible(step: run.steps + 1, choice: choice, options: run.options.map(\.choice))
      }
      var step = Self.take(index, in: run, witness)
      step.isFirst = choice.kind == .run && seen.insert(choice.agent).inserted
      if let points = run.trapPoints { step.endsAt = points }
      append(step)
      if run.isOver { break }
    }
    if let recorded = schedule.fingerprint, recorded != Schedule.folded(run.fingerprint) {
      throw .otherRun
    }
    self.schedule = Schedule(
      scenario: scenario.name,
      fingerprint: run.fingerprint,
      choices: steps.map(\.choice)
    )
    // What comes again and again is told once.
    for _ in 0..<Self.mostOfALoop where !run.isOver && run.steps < longest {
      guard run.runnable > 0 else { break }
      append(Self.take(run.plainOption, in: run, witness))
    }
    run.points = nil
    run.drive { run in run.isOver || run.steps >= longest ? nil : run.plainOption }
    if !run.isOver { run.note(run.judgeLength()) }
    further = run.steps - steps.count
    violation = run.violation
    races = Race.Search(isMade: run.workers?.looksForRaces ?? false)
    starts = witness.starts
    noteMakers(run.executor.serials)
    threads = witness.threads
    // Where the first was started is the call of `explore`.
    starts[1] = nil
    if violation?.kind == .deadlock {
      let paused = run.workers?.paused ?? []
      waiting = run.executor.unfinished.map { agent in
        let worker = paused.first { Int($0.choice.agent) == agent }
        return (agent, worker?.points ?? run.executor.resumePoints(of: agent))
      }
      // Threads, and work of queues.
      let known = Set(waiting.map(\.agent)).union(witness.unkept.keys)
      waiting += paused.map { (Int($0.choice.agent), $0.points) }
        .filter { !known.contains($0.0) }
      waiting += witness.unkept.map { agent, job in
        let worker = paused.first { Int($0.choice.agent) == agent }
        return (agent, worker?.points ?? job.resumePoints)
      }
      noteSleepers(in: run.workers)
      waiting.sort { $0.agent < $1.agent }
    } else if violation?.kind == .blockedPool, let workers = run.workers {
      waiting = workers.agentsOnBlockedThreads.map { (Int($0), workers.points(of: Int($0)) ?? []) }
      noteSleepers(in: workers)
      waiting.sort { $0.agent < $1.agent }
    }
    guard violation != nil else { return }
    let race = violation?.kind == .race ? run.race : nil
    findLines(scenario, of: race.map { $0.first.stacks + $0.second.stacks } ?? [])
    raceText = race?.text(lines)
    self.race = race?.steps.flatMap { $0.second <= steps.count ? $0 : nil }
    // Memory is used after it was given back in that order.
    if let race, !race.first.givesBack { relation = .unordered }
    if let workers = run.workers { noteWhoWaits(in: workers) }
    if !scenario.besides.isEmpty {
      // Each address by itself: all lines of the code under test, not the innermost only.
      let all = SourceLines(of: waiting.flatMap { $0.at.map { [$0] } }, besides: scenario.besides)
      chains = waiting.map { all.places(of: $0.at) }
    }
    if violation?.kind == .deadlock { findEscape(in: run) }
  }

  /// Says of those who sleep in the middle of a job where they do.
  private mutating func noteSleepers(in workers: Workers?) {
    for (agent, points) in workers?.placesOfBlocked ?? [] {
      guard let index = waiting.firstIndex(where: { $0.agent == agent }) else { continue }
      waiting[index].at = points
    }
  }

  /// Of a schedule whose last step does not come to its end: all others are taken again.
  ///
  /// - Parameters:
  ///   - schedule: what was run.
  ///   - scenario: what it was found in.
  ///   - place: where the closure stands.
  ///   - points: what the last step came to.
  /// - Throws: `ScheduleError` when the schedule cannot be followed.
  init(
    unfinished schedule: Schedule,
    in scenario: Scenario,
    place: String,
    at points: [UInt]
  ) throws(ScheduleError) {
    self.place = place
    self.schedule = schedule
    signals = signals_from_outside()
    let run = ScheduleRun(scenario, reduction: .none)
    let witness = Witness()
    run.notePlaces()
    run.executor.onFirstJob = { witness.starts[Int($0)] = SourceLines.here() }
    run.executor.onMade = { witness.made.append(($0.taskSerial, SourceLines.here())) }
    run.executor.onWork = { witness.work = Work(queue: $0, given: $1) }
    run.executor.onThread = { witness.note(agent: $0, thread: $1) }
    run.begin()
    defer {
      run.leave()
      run.close()
    }
    var seen: Set<Int32> = []
    for (number, choice) in schedule.choices.enumerated() {
      guard let index = run.index(of: choice) else {
        throw .notPossible(step: run.steps + 1, choice: choice, options: run.options.map(\.choice))
      }
      let isLast = number == schedule.choices.count - 1
      var step = isLast ? Self.step(index, in: run, witness) : Self.take(index, in: run, witness)
      step.isFirst = choice.kind == .run && seen.insert(choice.agent).inserted
      if isLast { step.endsAt = points }
      append(step)
    }
    starts = witness.starts
    noteMakers(run.executor.serials)
    threads = witness.threads
    starts[1] = nil
    findLines(scenario)
  }

  /// Says of each task that it was started in the step that made it.
  ///
  /// One that begins in the turn of an actor becomes known later, where it does something that can be seen: perhaps
  /// behind the step that has cancelled it.
  private mutating func noteMakers(_ serials: [UInt64]) {
    for index in steps.indices {
      steps[index].subject = steps[index].subject?.known(by: serials)
      for (serial, points) in steps[index].made {
        guard let agent = serials.firstIndex(of: serial), !steps[index].began.contains(agent)
        else { continue }
        for later in steps.indices {
          steps[later].began.removeAll { $0 == agent }
          // It went on: it had begun before anybody knew.
          if steps[later].choice.agent == agent { steps[later].isFirst = false }
        }
        steps[index].began.append(agent)
        starts[agent] = points
      }
    }
  }

  /// Marks the two steps by which two hold each other up, or block all threads of the pool, whatever else comes first.
  private mutating func noteWhoWaits(in workers: Workers) {
    switch violation?.kind {
    case .deadlock:
      let takings = workers.heldInCircle.map { held in
        steps.lastIndex { $0.choice.agent == held.agent && $0.operation?.object == held.object }
      }
      mark(takings, as: .holdUp)
    case .blockedPool:
      let last = workers.agentsOnBlockedThreads.map { agent in
        steps.lastIndex { $0.choice.agent == agent }
      }
      mark(last, as: .blockThreads)
    default: break
    }
  }

  private mutating func mark(_ indices: [Int?], as relation: StepRelation) {
    let indices = indices.compactMap(\.self).sorted()
    guard indices.count == 2 else { return }
    race = (indices[0] + 1, indices[1] + 1)
    self.relation = relation
  }

  private mutating func findLines(_ scenario: Scenario, of accesses: [[UInt]] = []) {
    lines = SourceLines(
      of: steps.flatMap { [$0.from, $0.work?.given ?? [], $0.waitsAt, $0.endsAt] }
        + waiting.map(\.at) + starts.values
        + accesses,
      besides: scenario.besides,
      deep: Environment.showsStacks ? Self.mostFrames : 1
    )
    names = ObjectNames.names(
      of: steps.compactMap { step in
        guard let operation = step.operation,
          let place = lines.place(of: step.from, for: operation)
        else {
          return nil
        }
        return (operation, place)
      }
    )
    for (agent, thread) in threads { names[thread] = Self.name(agent) }
  }

  private final class Witness {
    var starts: [Int: [UInt]] = [:]
    var work: Work?
    var made: [(serial: UInt64, at: [UInt])] = []
    /// The tasks of each `async let` that has begun and not ended.
    ///
    /// Nobody keeps one: its memory is there until it has ended, so after each step those that have are left out.
    var unkept: [Int: UnownedJob] = [:]
    /// The number of each thread, by its agent.
    var threads: [Int: Int] = [:]

    /// Notes that the calling thread starts another.
    func note(agent: Int32, thread: Int) {
      starts[Int(agent)] = SourceLines.here()
      threads[Int(agent)] = thread
    }
  }

  /// The step that the option would be, as far as that is known before it is taken.
  private static func step(_ index: Int, in run: ScheduleRun, _ witness: Witness) -> Step {
    let option = run.options[index]
    var step = Step(choice: option.choice)
    if run.isPreemption(option), let last = run.last.choice { step.preempted = Int(last.agent) }
    switch option.source {
    case .ready where option.choice.kind == .turn:
      let turn = run.executor.ready[option.slot]
      step.isYield = !turn.isActor
      if turn.isActor { step.subject = turn.job.actorOfTurn.flatMap(StepSubject.actor) }
    case .paused: step.subject = run.workers?.paused[option.slot].subject
    default: break
    }
    (step.from, step.operation) = origin(of: option, in: run)
    if step.from.isEmpty, let job = witness.unkept[Int(option.choice.agent)] {
      step.from = job.resumePoints
    }
    return step
  }

  private static func take(_ index: Int, in run: ScheduleRun, _ witness: Witness) -> Step {
    var step = step(index, in: run, witness)
    let choice = step.choice
    let agent = Int(choice.agent)
    let executor = run.executor
    let known = executor.seen
    let time = executor.now
    witness.work = nil
    witness.made = []
    if run.options[index].source == .ready, choice.kind == .run {
      let job = executor.ready[run.options[index].slot].job
      if job.isAsyncLet { witness.unkept[agent] = job }
    }
    run.take(index)
    step.work = witness.work
    step.made = witness.made
    step.passed = executor.now - time
    step.values = run.values
    step.began = (known..<max(known, executor.seen)).filter { $0 != agent && executor.isTask($0) }
    for ready in executor.ready where ready.wokenAt == run.steps {
      let other = Int(ready.agent)
      if other != agent, !step.began.contains(other), !step.woke.contains(other) {
        step.woke.append(other)
      }
    }
    step.hasEnded = executor.hasEnded(agent)
    if witness.unkept[agent]?.asTask.hasEnded == true { step.hasEnded = true }
    // An actor's turn may have come to the end of others too.
    witness.unkept = witness.unkept.filter { !$0.value.asTask.hasEnded }
    // Of a task that is in the middle of its end nothing is known.
    if run.trapPoints == nil, !executor.ready.contains(where: { $0.agent == choice.agent }),
      run.workers?.paused.contains(where: { $0.choice == choice }) != true
    {
      step.waitsAt = witness.unkept[agent]?.resumePoints ?? executor.resumePoints(of: agent)
    }
    return step
  }

  /// Where the option would go on from, and what it would begin with, if that is an operation.
  static func origin(of option: ScheduleRun.Option, in run: ScheduleRun)
    -> (points: [UInt], operation: SynchronizationOperation?)
  {
    switch option.source {
    case .paused:
      let worker = run.workers?.paused[option.slot]
      return (worker?.points ?? [], worker?.operation)
    // Its own job says it even of an `async let`, which is not kept.
    case .ready where option.choice.kind == .run:
      return (run.executor.ready[option.slot].job.resumePoints, nil)
    case .ready, .sleeper, .thread, .outside:
      return (run.executor.resumePoints(of: Int(option.choice.agent)), nil)
    }
  }

  /// Looks whether the tasks wait for something that is not explored.
  private mutating func findEscape(in run: ScheduleRun) {
    // Who is paused in the middle waits for a lock there, be it the runtime's.
    for (agent, points) in waiting
    where lines.isSleeping(at: points) && run.workers?.points(of: agent) == nil
      && !run.executor.sleepsForEver(Int32(agent))
    {
      escape =
        "task \(agent) is in Task.sleep\(at(points)), whose time is the runtime's and is not explored; "
        + "sleep on a clock that the code is given, and give it a VirtualClock() here"
      return
    }
    // A thread that is not explored may be about to resume a task. It gets a moment: as long as one that begins
    // only now takes for as many turns, which on a busy machine is longer.
    let turns = Turns()
    OSThread { while !turns.areOver { turns.take() } }.detach()
    func isSignalled() -> Bool { run.workers?.isSignalled(fromOutsideSince: signals) == true }
    func goesOn() -> Bool { run.workers?.hasOneThatCanGoOn == true }
    while !run.executor.escaped, !isSignalled(), !goesOn(), !turns.areOver { Turns.pause() }
    if run.executor.escaped {
      escape =
        "a task that waited\(at(run.executor.escapes.resumePoints)) was resumed by a thread that is not "
        + "explored; the closure may wait only for what it starts itself"
    } else if isSignalled() || goesOn() {
      escape =
        "\(run.workers?.stuck { Self.name(Int($0.agent)) }.first ?? "a task waits"), and a thread that is not explored has "
        + "signalled meanwhile; the closure may wait only for what it starts itself, and not for a thread that was "
        + "there before"
    }
  }

  /// How often a thread has had its turn.
  private final class Turns: Sendable {
    private let left = Synchronization.Atomic(20)

    var areOver: Bool { left.load(ordering: .acquiring) <= 0 }

    func take() {
      Self.pause()
      left.subtract(1, ordering: .releasing)
    }

    static func pause() {
      var time = timespec(tv_sec: 0, tv_nsec: 5_000_000)
      nanosleep(&time, nil)
      sched_yield()
    }
  }

  private func at(_ points: [UInt]) -> String { lines.at(points) }
}

// MARK: Text

extension ScheduleTrace {
  /// `task 1`.
  static func name(_ agent: Int) -> String { "task \(agent)" }

  /// `task 1 and task 3`.
  static func names(_ agents: [Int]) -> String { ListText.all(agents.map(name)) }

  /// How many calls are told of a step, where that is wanted.
  private static let mostFrames = 4

  /// How many steps are told of a schedule that goes on behind what has to be known to run it again.
  private static let mostOfALoop = 12

  /// What a person reads; the schedule has all.
  private static let mostLines = 60

  /// The steps, one a line, and where tasks wait that never finish.
  var text: String {
    var rows = steps.enumerated().map { row(of: $1, number: $0 + 1) }
    let widths = (0..<3).map { column in rows.map { $0[column].count }.max() ?? 0 }
    for index in rows.indices {
      for column in 0..<3 {
        let gap = String(repeating: " ", count: widths[column] - rows[index][column].count)
        rows[index][column] = column == 0 ? gap + rows[index][0] : rows[index][column] + gap
      }
    }
    var text = rows.map { "  " + $0.joined(separator: "  ") }
    let excess = text.count - Self.mostLines
    if excess > 0 {
      let middle = (Self.mostLines / 2)..<(Self.mostLines / 2 + excess)
      text.replaceSubrange(middle, with: shortened(text, middle))
    }
    if further > 0 { text.append("  … and so on, \(further) more steps") }
    text += waiting.enumerated().map { index, waiting in
      let chain = chains.indices.contains(index) ? chains[index] : []
      let told = chain.isEmpty ? at(waiting.at) : " " + Self.text(of: chain)
      let what = violation?.kind == .blockedPool ? "blocks a thread of the pool" : "waits for ever"
      return "  task \(waiting.agent) \(what)\(told)"
    }
    if let race { text.append("  what matters: \(relation.text(race.first, race.second))") }
    return text.joined(separator: "\n")
  }

  /// Where a task stands and in the middle of what: `at Copier.swift:12 (files.run {), inside Copier.swift:11 (…)`.
  private static func text(of chain: [SourcePlace]) -> String {
    var told: [SourcePlace] = []
    for place in chain where told.last != place { told.append(place) }
    return told.enumerated().map { index, place in
      let code = place.code.map { " (\($0))" } ?? ""
      return "\(index == 0 ? "at" : "inside") \(place)\(code)"
    }.joined(separator: ", ")
  }

  /// What is told of rows that are left out: how many, and those between whose order matters.
  private func shortened(_ rows: [String], _ left: Range<Int>) -> [String] {
    let marked = race.map { [$0.first - 1, $0.second - 1] } ?? []
    var told: [String] = []
    var begin = left.lowerBound
    for end in marked.filter(left.contains) + [left.upperBound] {
      if end > begin { told.append("  … \(end - begin) more steps") }
      if end < left.upperBound { told.append(rows[end]) }
      begin = end + 1
    }
    return told
  }

  private mutating func append(_ step: Step) {
    var step = step
    step.hadEnded =
      step.hasEnded && steps.contains { $0.hasEnded && $0.choice.agent == step.choice.agent }
    steps.append(step)
    actors.add(step.subject)
  }

  /// What the step does.
  func words(of step: Step) -> String {
    var what: [String] =
      switch step.choice.kind {
      case .run:
        [
          subjectText(of: step)
            ?? step.operation.map { $0.text(of: names[$0.object], step.values) }
            ?? step.work.map { "begins a block of \(queueName($0.queue))" }
            ?? (step.isFirst ? "begins\(threadName(of: step))" : "goes on")
        ]
      case .turn:
        [subjectText(of: step) ?? (step.isYield ? "ends its yield" : "takes its turn on an actor")]
      case .wake:
        [
          step.operation.flatMap {
            $0.kind == .sleep ? nil : "has waited long enough for \($0.objectName)"
          }
            ?? "wakes from its sleep\(Self.later(step.passed))"
        ]
      case .cancel, .limit: []
      }
    if step.preempted != 0 { what.append("pre-empts task \(step.preempted)") }
    if !step.began.isEmpty { what.append("starts \(Self.names(step.began))") }
    if !step.woke.isEmpty { what.append("lets \(Self.names(step.woke)) go on") }
    if step.hasEnded, !step.hadEnded { what.append("ends") }
    if let place = lines.place(of: step.waitsAt) { what.append("waits at \(place)") }
    if let place = lines.place(of: step.endsAt) { what.append("stops at \(place)") }
    return what.joined(separator: "; ")
  }

  private func subjectText(of step: Step) -> String? {
    step.subject.flatMap { subject in
      subject.text(of: step.operation?.kind, actors)
    }
  }

  private func threadName(of step: Step) -> String {
    threads[Int(step.choice.agent)].map { " as thread \($0)" } ?? ""
  }

  private func queueName(_ queue: Int) -> String {
    "queue \(queue)" + (names[queue].map { " (\($0))" } ?? "")
  }

  /// `, 1,000 s later`, where it is much.
  private static func later(_ nanoseconds: Int64) -> String {
    guard let unit = FigureText.durations.last(where: { nanoseconds >= $0.nanoseconds }) else {
      return ""
    }
    return ", \(FigureText.grouped(Int(nanoseconds / unit.nanoseconds))) \(unit.name) later"
  }

  /// Where it goes on from, or where what it begins was started: a line, or several where that is wanted.
  func placeText(of step: Step) -> String? {
    let agent = Int(step.choice.agent)
    if let work = step.work { return text(of: work.given) }
    if step.isFirst { return agent == 1 ? place : start(of: agent) }
    return text(of: step.from, for: step.operation)
  }

  /// The line that says most about these addresses.
  func place(of points: [UInt]) -> SourcePlace? { lines.place(of: points) }

  private func row(of step: Step, number: Int) -> [String] {
    let isMarked = race.map { $0.first == number || $0.second == number } ?? false
    return [
      "\(number)", Self.name(Int(step.choice.agent)), placeText(of: step) ?? "",
      words(of: step) + (isMarked ? "  ◀" : ""),
    ]
  }

  private func text(of points: [UInt], for operation: SynchronizationOperation? = nil) -> String? {
    Environment.showsStacks
      ? lines.stack(of: points, atMost: Self.mostFrames)
      : (lines.place(of: points, for: operation) ?? lines.start(of: points))?.description
  }

  private func start(of agent: Int) -> String? {
    lines.place(of: starts[agent] ?? [])?.description
  }
}
