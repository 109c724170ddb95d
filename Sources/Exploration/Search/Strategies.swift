internal import Basics

/// How an exploration chooses.
protocol SearchStrategy {
  /// Gets ready for the next schedule.
  mutating func begin()

  /// The index of the option to take; nil to give the schedule up.
  mutating func choose(in run: ScheduleRun) -> Int?

  /// Whether the schedule was given up because others stand for it.
  var isDeadEnd: Bool { get }

  /// Learns that the schedule is over; returns whether there is another to look at.
  mutating func finish(steps: Int) -> Bool

  /// About how many schedules it has still to look at; nil where nothing tells.
  var schedulesLeft: Double? { get }

  /// Begins from the beginning, if the schedule that is over has shown that it left too much out.
  mutating func beginsAnew(after run: ScheduleRun) -> Bool
}

extension SearchStrategy {
  var schedulesLeft: Double? { nil }

  mutating func beginsAnew(after run: ScheduleRun) -> Bool { false }
}

/// Every schedule, one after the other, each from the beginning.
///
/// The path keeps for each step which options are still to be taken. Nothing of the scenario is kept:
/// a schedule is repeated by making the same choices, which is what the executor guarantees.
///
/// With a bound on pre-emptions, only the schedules within it (Musuvathi and Qadeer, "Iterative
/// context bounding", PLDI 2007): most defects show with very few. With a bound on length, only those
/// of at most so many steps.
struct DepthFirst: SearchStrategy {
  private struct Fork {
    /// The options not yet looked at, one bit each; the lowest is under way.
    var left: UInt64
    /// How many options there were, those beyond the bound too.
    var count: Int
    /// The course of events up to here.
    var fingerprint: UInt64
    /// What could be seen here, where that is of interest.
    var sight: Sight?
    /// What tells how many schedules are behind it, where that is of interest.
    var place: SizeEstimate.Class
    var preempting: UInt64
    var events: UInt64

    /// How many there are of each kind among some of the options.
    func ways(among options: UInt64) -> SizeEstimate.Ways {
      SizeEstimate.Ways(
        plain: Double((options & ~preempting & ~events).nonzeroBitCount),
        preempting: Double((options & preempting).nonzeroBitCount),
        events: Double((options & events).nonzeroBitCount)
      )
    }
  }

  /// At most this many pre-emptions; nil for any number.
  var preemptions: Int?
  /// At most this many steps; nil for any number.
  var length: Int?
  /// Whether the scenario did something else though it was given the same choices.
  private(set) var hasDiverged = false
  /// Where it did, as far as that was seen.
  private(set) var divergence: Divergence?
  /// Whether the schedule was given up because nothing is within the bound: others stand for it.
  private(set) var isDeadEnd = false
  /// How many schedules were left where they had come to a state that was gone on from before.
  private(set) var merged = 0
  /// How many options there were, once there were more than can be kept account of.
  private(set) var overflow: Int?

  /// About how many schedules there are, if that is asked.
  private var size: SizeEstimate?
  private var path: [Fork] = []
  private var depth = 0
  private var spent = 0
  /// How often something happened that gives nobody a turn.
  private var events = 0
  private var choices: [Choice] = []
  private var value: Divergence.Value?
  private var visited: VisitedStates
  private let states: States
  private let overlooked: Touches.Oversight

  /// What makes two states the same, so that a schedule that comes to the second is left.
  enum States {
    /// What the steps behind it have left.
    case byCourse
    /// That, and what keeps tasks from going round.
    case byCourseAndRounds
    /// Nothing: each schedule is run to its end.
    case apart
  }

  init(
    preemptions: Int? = nil,
    length: Int? = nil,
    states: States = .byCourseAndRounds,
    overlooked: Touches.Oversight = [],
    size: SizeEstimate? = nil
  ) {
    self.preemptions = preemptions
    self.length = length
    self.states = states
    self.overlooked = overlooked
    self.size = size
    visited = VisitedStates(overlooked: overlooked)
  }

  mutating func begin() {
    depth = 0
    spent = 0
    events = 0
    isDeadEnd = false
    choices.removeAll(keepingCapacity: true)
    value = nil
  }

  mutating func choose(in run: ScheduleRun) -> Int? {
    if let length, depth >= length { return nil }
    guard run.options.count <= 64 else {
      overflow = run.options.count
      return nil
    }
    if depth == path.count {
      if hasBeenGoneOnFrom(run) {
        isDeadEnd = true
        merged += 1
        return nil
      }
      path.append(fork(in: run))
      return take(in: run)
    }
    if let seen = path[depth].sight {
      value = value ?? Divergence.Value(step: depth, seen.found, run.found)
    }
    if path[depth].count != run.options.count || path[depth].fingerprint != run.fingerprint {
      hasDiverged = true
      divergence = path[depth].sight.flatMap { seen in
        run.sight.map { Divergence(choices: choices, first: seen, second: $0, value: value) }
      }
      return nil
    }
    return take(in: run)
  }

  /// Whether all that can come behind the state that the run has come to is looked at elsewhere.
  private mutating func hasBeenGoneOnFrom(_ run: ScheduleRun) -> Bool {
    guard states != .apart, let course = run.course(isStrict: states == .byCourseAndRounds) else {
      return false
    }
    guard preemptions != nil else { return !visited.enter(course, turn: 0, spent: 0) }
    return !visited.enter(course, turn: run.turn, spent: spent)
  }

  private mutating func take(in run: ScheduleRun) -> Int? {
    // Within a bound there may be nothing to choose: a task that was cancelled to begin at once cannot
    // take the turn.
    if path[depth].left == 0 {
      isDeadEnd = true
      return nil
    }
    let index = path[depth].left.trailingZeroBitCount
    depth += 1
    choices.append(run.options[index].choice)
    if run.isPreemption(run.options[index]) { spent += 1 }
    if !run.options[index].choice.isTurn { events += 1 }
    return index
  }

  private mutating func fork(in run: ScheduleRun) -> Fork {
    var fork = Fork(
      left: allowed(in: run),
      count: run.options.count,
      fingerprint: run.fingerprint,
      sight: run.sight,
      place: place,
      preempting: 0,
      events: 0
    )
    guard size != nil else { return fork }
    for (index, option) in run.options.enumerated() {
      if !option.choice.isTurn {
        fork.events |= 1 << UInt64(index)
      } else if run.isPreemption(option) {
        fork.preempting |= 1 << UInt64(index)
      }
    }
    size?.note(fork.ways(among: fork.left), at: depth, fork.place)
    return fork
  }

  private var place: SizeEstimate.Class {
    SizeEstimate.Class(preemptions: spent, events: events)
  }

  mutating func beginsAnew(after run: ScheduleRun) -> Bool {
    guard merged > 0, states != .apart, !hasDiverged, overflow == nil else { return false }
    let size = size?.anew
    if !run.unseen.isEmpty {
      self = DepthFirst(preemptions: preemptions, length: length, states: .apart, size: size)
      return true
    }
    guard states == .byCourse, run.keptSomebody else { return false }
    self = DepthFirst(
      preemptions: preemptions,
      length: length,
      overlooked: overlooked,
      size: size
    )
    return true
  }

  mutating func finish(steps: Int) -> Bool {
    if hasDiverged || overflow != nil { return false }
    // Where nothing was within the bound, the fork has been noted as one without ways.
    if depth == path.count {
      let place = place
      size?.noteEnd(at: depth, place, counts: !isDeadEnd)
    }
    // A schedule given up early was cut at `depth`; nothing below was ever entered.
    while let last = path.last {
      let left = last.left & (last.left &- 1)
      if left != 0 {
        path[path.count - 1].left = left
        return true
      }
      path.removeLast()
    }
    return false
  }

  /// By `SizeEstimate`; nil before the first schedule.
  var schedulesLeft: Double? {
    guard let size, let last = path.indices.last else { return nil }
    return size.leaves(
      below: path.indices.map { depth in
        let fork = path[depth]
        // What is under way at a fork is what the deeper ones tell of, and nothing does below the deepest.
        let left = depth == last ? fork.left : fork.left & (fork.left &- 1)
        return (depth, fork.place, fork.ways(among: left))
      }
    )
  }

  private func allowed(in run: ScheduleRun) -> UInt64 {
    guard let preemptions, spent >= preemptions else {
      return run.options.count == 64 ? .max : (1 << UInt64(run.options.count)) - 1
    }
    var mask: UInt64 = 0
    for (index, option) in run.options.enumerated() where !run.isPreemption(option) {
      mask |= 1 << UInt64(index)
    }
    return mask
  }
}

/// Each choice uniformly at random.
///
/// Were every cancellation there is among the options of every step, almost every task of almost every
/// schedule would be cancelled before it did anything. So a schedule first draws which tasks may be
/// cancelled at all.
struct RandomWalk: SearchStrategy {
  var isDeadEnd: Bool { false }
  private var random: SplitMix64
  private var mayCancel: UInt64 = 0

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  mutating func begin() { mayCancel = random.next() }

  mutating func choose(in run: ScheduleRun) -> Int? {
    var count = run.runnable
    for option in run.options[run.runnable...] where isAllowed(option) { count += 1 }
    let drawn = random.next(below: count)
    if drawn < run.runnable { return drawn }
    var seen = run.runnable
    for index in run.runnable..<run.options.count where isAllowed(run.options[index]) {
      if seen == drawn { return index }
      seen += 1
    }
    return 0
  }

  mutating func finish(steps: Int) -> Bool { true }

  private func isAllowed(_ option: ScheduleRun.Option) -> Bool {
    option.choice.kind != .cancel || mayCancel >> UInt64(option.choice.agent & 63) & 1 == 1
  }
}

/// Agents with priorities that change at few places.
///
/// Burckhardt, Kothari, Musuvathi and Nagarakatte, "A randomized scheduler with probabilistic
/// guarantees of finding bugs" (PCT, ASPLOS 2010). Every agent gets a random priority and the highest
/// that can run does; at `depth` − 1 random steps the agent about to run falls to the bottom instead.
/// For a defect that needs `depth` orderings among n agents in k steps, a schedule finds it with
/// probability at least 1 / (n · k^(depth − 1)), however unlikely a fair walk is to.
///
/// Three things are not agents. A sleep ends when its time comes, whatever the sleeper's priority: each
/// sleep draws one of its own. A cancellation has one step, and as the highest of all it would come
/// first, as the lowest never: in each schedule, with a chance of one half, a step is drawn for that of each task,
/// among as many steps as the longest schedule so far had; a task that has ended by then is not cancelled. So it
/// is with the limit, where the scenario changes it.
struct PriorityBased: SearchStrategy {
  var isDeadEnd: Bool { false }
  private let depth: Int
  private var random: SplitMix64
  /// The longest schedule so far: where changes are drawn from.
  private(set) var length: Int
  private var step = 0
  /// The priority of each agent; agents get theirs when they first appear.
  private var priorities: [Int] = []
  /// The priority of each agent's present sleep; 0 until it is drawn.
  private var sleeps: [Int] = []
  private var changes: [Int] = []
  /// The step at which each task is to be cancelled; 0 for never.
  private var cancellations: [Int] = []
  /// The step at which the limit is to change; 0 for never.
  private var resizing = 0

  init(depth: Int, seed: UInt64, length: Int = 8) {
    precondition(
      depth >= 1,
      "the depth of a priority-based exploration must be at least 1, not \(depth)"
    )
    self.depth = depth
    self.length = length
    random = SplitMix64(seed: seed)
  }

  mutating func begin() {
    step = 0
    priorities.removeAll(keepingCapacity: true)
    sleeps.removeAll(keepingCapacity: true)
    cancellations.removeAll(keepingCapacity: true)
    changes.removeAll(keepingCapacity: true)
    resizing = random.next(below: 2) * (random.next(below: length) + 1)
    for _ in 1..<depth { changes.append(random.next(below: length) + 1) }
  }

  mutating func choose(in run: ScheduleRun) -> Int? {
    step += 1
    while cancellations.count < run.scenario.tasks {
      let isCancelled = random.next(below: 2) == 1
      cancellations.append(isCancelled ? random.next(below: length) + 1 : 0)
    }
    for index in run.runnable..<run.options.count
    where (1...step).contains(interference(of: run.options[index].choice)) { return index }
    var best = highest(in: run)
    for (rank, change) in changes.enumerated() where change == step {
      lower(run.options[best], in: run, to: -1 - rank)
      best = highest(in: run)
    }
    // The next sleep is another one.
    if run.options[best].choice.kind == .wake { sleeps[Int(run.options[best].choice.agent)] = 0 }
    return best
  }

  mutating func finish(steps: Int) -> Bool {
    length = max(length, steps)
    return true
  }

  /// The step at which something from outside is to happen; 0 for never.
  private func interference(of choice: Choice) -> Int {
    choice.kind == .cancel ? cancellations[Int(choice.agent) - 1] : resizing
  }

  private mutating func highest(in run: ScheduleRun) -> Int {
    var best = 0
    var highest = Int.min
    for index in 0..<run.runnable {
      let priority = priority(of: run.options[index], in: run)
      if priority > highest {
        highest = priority
        best = index
      }
    }
    return best
  }

  private mutating func priority(of option: ScheduleRun.Option, in run: ScheduleRun) -> Int {
    let agent = Int(option.choice.agent)
    while priorities.count <= agent {
      priorities.append(draw())
      sleeps.append(0)
    }
    guard option.choice.kind == .wake else { return priorities[agent] }
    if sleeps[agent] == 0 { sleeps[agent] = draw() }
    return sleeps[agent]
  }

  private mutating func lower(_ option: ScheduleRun.Option, in run: ScheduleRun, to priority: Int) {
    if option.choice.kind == .wake {
      sleeps[Int(option.choice.agent)] = priority
    } else {
      priorities[Int(option.choice.agent)] = priority
    }
  }

  private mutating func draw() -> Int { random.next(below: 1 << 30) + 1 }
}
