internal import Basics
internal import CExplorable
internal import ExplorableSynchronization

/// What the steps of a schedule touch, noted for a search that looks at one of several schedules that come to the same.
///
/// Swift's side of `Touches.h`: by what things are known there.
struct Touches {
  /// What is overlooked, which is wrong: only a test asks for it, to see that a comparison of searches notices.
  struct Oversight: OptionSet, Hashable, Sendable {
    let rawValue: UInt32
  }

  let overlooked: Oversight

  func begin() { touches_begin(overlooked.rawValue) }

  func end() { touches_end() }

  /// Notes that a step begins that goes on with the agent.
  func beginStep(of agent: Int32, _ value: UInt64) {
    touches_begin_step(value)
    note(agent: agent, touch_of_step)
  }

  func endStep() { touches_end_step() }

  /// Notes that the step takes the agent further, makes it ready, or made it.
  func note(agent: Int32, _ kind: touch_kind = touch_of_ready) {
    touch(kind, touch_agent(agent), true)
  }

  /// Notes that the step changes an object that is known by its number, or only finds it as it is.
  func note(object: Int, _ kind: touch_kind = touch_of_lock, isWritten: Bool = true) {
    let isWritten = isWritten && !(kind == touch_of_atomic && overlooked.contains(.writes))
    touch(kind, Workers.order(of: object), isWritten)
  }

  /// Notes that the step changes what is at the address.
  func note(address: UInt) { touch(touch_of_step, address, true) }

  /// Notes that a job, that of a task, has come to the exploration.
  func note(admitted job: UInt) { touch_admitted(job) }

  /// Notes that an actor has jobs to run.
  func noteActors() { touch_actors() }

  func noteMainActor() { touch(touch_of_main_actor, Workers.orderOfMainActor, true) }

  func noteChance() { touch(touch_of_chance, Self.chance, true) }

  /// Notes whether the task that goes on is cancelled, and its priority: the runtime may have changed both unseen.
  func note(urgency: UInt64) {
    touch_value(touch_of_cancellation, urgency & 0x100)
    touch_value(touch_of_priority, urgency & 0xFF)
  }

  func noteTime() { touch_everything(touch_of_time) }

  func noteEverything() { touch_everything(touch_of_step) }

  /// Tells the agent, as it is now, from others and other times.
  func state(of agent: Int32) -> UInt64 { touch_state(touch_agent(agent)) }

  /// The same of an object that is known by its number.
  func state(ofObject object: Int) -> UInt64 { touch_state(Workers.order(of: object)) }

  /// Tells the course of events so far from others: which steps were taken, and which of them found what another
  /// left.
  var sum: UInt64 { touches_sum() }

  /// `TOUCH_CHANCE`.
  private static let chance = UInt(7) << 61
}

extension Touches.Oversight {
  private init(_ kind: touch_kind) { self.init(rawValue: kind.rawValue) }

  static let atomics = Self(touch_of_atomic)
  static let locks = Self(touch_of_lock)
  static let queues = Self(touch_of_queue)
  static let runtime = Self(touch_of_runtime)
  static let resumptions = Self(touch_of_ready)
  static let actors = Self(touch_of_actor)
  static let mainActor = Self(touch_of_main_actor)
  static let time = Self(touch_of_time)
  static let cancellations = Self(touch_of_cancellation)
  static let chance = Self(touch_of_chance)
  static let owners = Self(touch_of_owner)
  static let priorities = Self(touch_of_priority)

  // What is no kind of thing, and not asked for in C.

  /// Who writes an atomic is taken for one who only looks at it.
  static let writes = Self(rawValue: 1 << 24)
  /// How many pre-emptions were spent on the way to a state.
  static let spent = Self(rawValue: 1 << 25)
  /// Who has the turn in a state.
  static let turns = Self(rawValue: 1 << 26)
  /// What keeps tasks from going round.
  static let rounds = Self(rawValue: 1 << 27)
  /// What there is besides the steps: who is ready, who sleeps until when, who is paused before what.
  static let course = Self(rawValue: 1 << 28)
}

extension SynchronizationOperation.Kind {
  /// What kind of thing it touches.
  var touched: touch_kind {
    switch self {
    case .load, .store, .update, .compare, .exchange: touch_of_atomic
    case .enqueue, .turn, .giveWork, .suspendQueue, .changeTimer: touch_of_queue
    default: touch_of_lock
    }
  }
}
