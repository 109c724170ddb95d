internal import CExplorable

/// Tells tasks that go round in circles from tasks that get on; pure decisions.
///
/// Who only looks at one thing again and again, nothing being written, is taken to wait for somebody, as who yields
/// is. What an agent does itself does not make it worth its while to go on: only what others write does. Fair stateless
/// model checking: Musuvathi and Qadeer, PLDI 2008.
struct Rounds {
  /// What an operation did, as far as it tells who only waits for somebody.
  enum Effect {
    case wrote
    /// It left what it looked at as it was: a load, a comparison that failed, a try of a lock that another holds.
    case looked
    /// It took a lock, and nobody knows whether it changes what that guards.
    case took
  }

  /// What follows from an operation for the agents.
  enum Consequence: Equatable {
    case nothing
    /// The agent waits for another, as if it had yielded.
    case waits
    /// The others may find what they wait for: their yields count no more.
    case letsOthersGoOn
  }

  private struct Look: Hashable {
    var agent: Int
    var object: Int
  }

  private struct Overtaking: Hashable {
    var agent: Int32
    var overtaken: Int32
  }

  /// How often every agent that can run has used up its yields, with nothing happening.
  private(set) var idle = 0
  /// The agents that could run when all had used up their yields, the last time.
  private(set) var retrying: Set<Int> = []
  /// The last step that may have changed anything.
  private var lastNews = 0
  /// How deep the calls of each agent were under way some steps after that.
  private var depths: [Int: Int] = [:]
  /// How often each agent has looked at each object, or taken it, since anything was written.
  private var looks: [Look: Int] = [:]
  /// How often each agent has woken since another one that could go on has last stepped.
  private var overtakings: [Overtaking: Int] = [:]

  /// A task that looks at one object so often, while nothing is written, waits for another task.
  static let mostLooks = 4
  /// A task that takes one lock so often waits for what the lock guards.
  static let mostTakings = 16
  /// A task may try again so often in time, while another one gets no processor.
  static let mostOvertakings = 3
  /// How many steps without news have to pass before the depths of calls are looked at.
  static let stepsBeforeMark = 2_000
  /// A call that gets so much deeper while nothing changes repeats itself in another way than a livelock.
  static let mostDepth = 64

  mutating func begin() {
    idle = 0
    retrying = []
    lastNews = 0
    looks.removeAll(keepingCapacity: true)
    overtakings.removeAll(keepingCapacity: true)
  }

  // MARK: What happens

  mutating func note(
    _ effect: Effect,
    on object: Int,
    by agent: Int,
    at step: Int
  ) -> Consequence {
    // What is done under a lock does not show by itself.
    if effect != .looked { noteNews(at: step) }
    if effect == .wrote {
      looks.removeAll(keepingCapacity: true)
      return othersMayGoOn(behind: agent)
    }
    let count = looks[Look(agent: agent, object: object), default: 0] + 1
    looks[Look(agent: agent, object: object)] = count
    // Those who all wait behind one lock must not wake each other for ever.
    if effect == .took, count <= Self.mostLooks { return othersMayGoOn(behind: agent) }
    return count > (effect == .took ? Self.mostTakings : Self.mostLooks) ? .waits : .nothing
  }

  /// An agent may have written what others wait for.
  private mutating func othersMayGoOn(behind agent: Int) -> Consequence {
    if retrying != [agent] { idle = 0 }
    return .letsOthersGoOn
  }

  /// Notes that the step may have changed something.
  mutating func noteNews(at step: Int) { lastNews = step }

  /// Notes that the step was reported, ended something, or came from outside: whoever waits may look again.
  mutating func noteEvent(at step: Int) {
    looks.removeAll(keepingCapacity: true)
    idle = 0
    lastNews = step
  }

  /// Notes that all who can go on have yielded enough, and may go on again; that counts as one round.
  mutating func noteIdleRound(of agents: Set<Int>) {
    idle += 1
    retrying = agents
  }

  /// Forgets the rounds in which nothing happened.
  mutating func forgetIdleRounds() { idle = 0 }

  // MARK: Overtaking

  /// Whether anybody was overtaken who has not stepped since.
  var hasOvertakings: Bool { !overtakings.isEmpty }

  /// Notes that a sleeper wakes while others could go on.
  mutating func noteOvertaking(of others: some Sequence<Int32>, by agent: Int32) {
    for other in others { overtakings[Overtaking(agent: agent, overtaken: other), default: 0] += 1 }
  }

  /// Notes that an agent steps, which nobody has overtaken then.
  mutating func noteStep(of agent: Int32) {
    if overtakings.isEmpty { return }
    overtakings = overtakings.filter { $0.key.overtaken != agent }
  }

  /// Whether a sleeper has woken so often, while the other could have gone on, that it has to wait for that one.
  ///
  /// Without this, a task that does something every second does it for ever, and no other task takes a step.
  func hasOvertaken(_ other: Int32, by agent: Int32) -> Bool {
    overtakings[Overtaking(agent: agent, overtaken: other), default: 0] >= Self.mostOvertakings
  }

  // MARK: A schedule that is too long

  /// Whether it is time to look how deep calls are.
  func isMark(_ step: Int) -> Bool { step - lastNews == Self.stepsBeforeMark }

  mutating func mark(_ depths: [Int: Int]) { self.depths = depths }

  /// Judges a schedule that is as long as one may get, and has not ended.
  ///
  /// For half of it at least all that can go on must have had its turn again and again, found the same and
  /// changed nothing: that is a livelock. Anything else is only long. A recursion without an end gets nowhere
  /// either, but it is never twice in one place.
  ///
  /// - Parameters:
  ///   - steps: how long it is.
  ///   - canGoOn: who could go on.
  ///   - callDepths: how deep the calls of each agent are under way.
  /// - Returns: what is wrong with it.
  func judgeLength(_ steps: Int, canGoOn: Set<Int>, _ callDepths: () -> [Int: Int]) -> Violation {
    let since = steps - lastNews
    let now = since > max(steps / 2, Self.stepsBeforeMark) ? callDepths() : [:]
    let isDeepening = now.contains { $1 - depths[$0, default: $1] > Self.mostDepth }
    let going = canGoOn.union(retrying).sorted()
    if now.isEmpty || isDeepening || retrying.isEmpty {
      return Violation(
        kind: .tooManySteps,
        message: "it comes to no end: it was left after \(steps) steps"
          + (isDeepening ? ", and calls that get ever deeper" : ""),
        tasks: going
      )
    }
    return Violation(
      kind: .livelock,
      message:
        "all that can go on has had its turn again and again for \(since) steps, has found the "
        + "same each time and, as far as can be seen, changed nothing",
      tasks: going
    )
  }

  // MARK: Telling states apart

  /// Adds what keeps tasks from going round to what tells a state from others.
  func add(_ add: (UInt64, UInt64, UInt64) -> Void, _ touches: Touches) {
    for (look, count) in looks {
      let object = touches.state(ofObject: look.object)
      add(9, touch_mix(touches.state(of: Int32(look.agent)), object), UInt64(count))
    }
    for (overtaking, count) in overtakings {
      let overtaken = touches.state(of: overtaking.overtaken)
      add(10, touch_mix(touches.state(of: overtaking.agent), overtaken), UInt64(count))
    }
    add(11, UInt64(idle), 0)
  }
}
