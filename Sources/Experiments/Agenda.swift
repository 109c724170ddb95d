internal import HeapModule
internal import Mechanisms

/// What a run is still to do and when: arrivals, cancellations and controls, earliest first.
///
/// At one instant, what was put in first comes first, and a task's arrival before its cancellation.
struct Agenda: Sendable {
  /// One thing to do.
  enum Item: Sendable {
    case arrive(SimulatedTask)
    case cancel(Int)
    case control(Experiment.Control)
  }

  private struct Entry: Comparable {
    let time: Int64
    let sequence: Int
    let item: Item

    static func < (one: Entry, other: Entry) -> Bool {
      (one.time, one.sequence) < (other.time, other.sequence)
    }

    static func == (one: Entry, other: Entry) -> Bool { one.sequence == other.sequence }
  }

  private var entries = Heap<Entry>()
  private var sequence = 0
  /// How many tasks have yet to arrive.
  private var arrivals = 0

  /// Whether somebody has yet to arrive.
  var awaitsTasks: Bool { arrivals > 0 }

  /// When the next thing is to be done, in nanoseconds from the start of the run.
  var nextTime: Int64? { entries.min?.time }

  mutating func add(_ item: Item, at time: Int64) {
    entries.insert(Entry(time: time, sequence: sequence, item: item))
    sequence += 1
    if case .arrive = item { arrivals += 1 }
  }

  mutating func add(_ tasks: [SimulatedTask]) {
    for task in tasks { add(.arrive(task), at: task.arrival) }
    for task in tasks {
      if let time = task.cancelAt { add(.cancel(task.number), at: max(time, task.arrival)) }
    }
  }

  mutating func removeNext() -> Item? {
    let item = entries.popMin()?.item
    if case .arrive = item { arrivals -= 1 }
    return item
  }

  mutating func removeAll() {
    entries = Heap()
    arrivals = 0
  }
}
