internal import Basics
internal import CExplorable

/// What the steps of a schedule touch, noted for a search that looks at one of several schedules that come to the same.
///
/// Swift's side of `Touches.h`: by what things are known there.
struct Touches {
  func begin() { touches_begin() }

  func end() { touches_end() }

  /// Notes that a step begins that goes on with the agent.
  func beginStep(of agent: Int32, _ value: UInt64) {
    touches_begin_step(value)
    note(agent: agent)
  }

  func endStep() { touches_end_step() }

  /// Notes that the step takes the agent further, makes it ready, or made it.
  func note(agent: Int32) { touch(touch_agent(agent), true) }

  /// Notes that the step changes an object that is known by its number, or only finds it as it is.
  func note(object: Int, isWritten: Bool = true) {
    touch(Carriers.order(of: object), isWritten)
  }

  /// Notes that the step changes what is at the address.
  func note(address: UInt) { touch(address, true) }

  /// Notes that a job, that of a task, has come to the exploration.
  func note(admitted job: UInt) { touch_admitted(job) }

  /// Notes that an actor has jobs to run.
  func noteActors() { touch_actors() }

  func noteMainActor() { touch(Carriers.orderOfMainActor, true) }

  func noteChance() { touch(Self.chance, true) }

  func note(value: UInt64) { touch_value(value) }

  func noteEverything() { touch_everything() }

  /// Tells the agent, as it is now, from others and other times.
  func state(of agent: Int32) -> UInt64 { touch_state(touch_agent(agent)) }

  /// The same of an object that is known by its number.
  func state(ofObject object: Int) -> UInt64 { touch_state(Carriers.order(of: object)) }

  /// Tells the course of events so far from others: which steps were taken, and which of them found what another
  /// left.
  var sum: UInt64 { touches_sum() }

  /// `TOUCH_CHANCE`.
  private static let chance = UInt(7) << 61
}
