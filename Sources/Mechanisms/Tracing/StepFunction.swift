internal import Basics

/// A whole number that changes at instants: how many run, how many wait.
package struct StepFunction: Hashable, Sendable {
  /// The value from `time` until the next step.
  package struct Step: Hashable, Sendable {
    package var time: Int64
    package var value: Int
    /// The largest value taken at `time` itself, for no time at all, while several events of one
    /// instant were gone through.
    package var peak: Int
  }

  /// In the order of time, one for each instant at which the value changed.
  package private(set) var steps: [Step] = []
  package private(set) var value = 0
  /// The largest value ever, instants included.
  package private(set) var peak = 0

  package init() {}

  /// Sets the value from `time` on; times never decrease.
  package mutating func set(_ new: Int, at time: Int64) {
    guard new != value else { return }
    if let last = steps.last, last.time == time {
      steps[steps.count - 1].value = new
      steps[steps.count - 1].peak = max(last.peak, new)
    } else {
      steps.append(Step(time: time, value: new, peak: new))
    }
    value = new
    peak = max(peak, new)
  }

  /// The largest value ever held for longer than an instant.
  package var largest: Int { steps.reduce(0) { max($0, $1.value) } }

  /// The value from an instant on; nil before the first step.
  package func value(at time: Int64) -> Int? { steps[..<count(by: time)].last?.value }

  /// How many steps there are by an instant, with those of that instant.
  private func count(by time: Int64) -> Int { steps.sortedIndex(where: { $0.time > time }) }

  /// The same as it was known at an instant, with the steps of that instant.
  package func known(at time: Int64) -> StepFunction {
    var known = StepFunction()
    known.steps = Array(steps[..<count(by: time)])
    known.value = known.steps.last?.value ?? 0
    known.peak = known.steps.reduce(0) { max($0, $1.peak) }
    return known
  }

  /// The value times how long it was held, from one instant to another.
  package func area(from start: Int64, to end: Int64) -> Double {
    let ends = steps.dropFirst().map(\.time) + [end]
    return zip(steps, ends).reduce(0) { sum, held in
      let length = min(held.1, end) - max(held.0.time, start)
      return sum + Double(held.0.value) * Double(max(0, length))
    }
  }

  /// What stands for each of the `count` intervals of `length` that begin at 0.
  ///
  /// - Complexity: O(steps + count).
  package func cells(count: Int, length: Int64, _ choice: GrowingCells.Choice) -> [Int] {
    var cells = GrowingCells(length: length, choice)
    return cells.first(count, of: self)
  }
}
