/// The largest values of a step function in intervals of one length that begin at 0.
///
/// While the function grows, those of the intervals that no further step can change are kept.
package struct GrowingMaxima: Sendable {
  private let length: Int64
  /// Whether a value taken for no time at all counts.
  private let instants: Bool
  /// The largest values in the intervals that had a step behind them: steps are only added at the last time.
  private var kept: [Int] = []
  /// The place of the first step that is not before an interval, of those that are kept and the next.
  private var firsts = [0]

  package init(length: Int64, instants: Bool) {
    self.length = length
    self.instants = instants
  }

  /// The largest value in each of the first `count` intervals; every function that is asked about is an earlier
  /// or later state of the first.
  ///
  /// - Complexity: O(steps + count), of which nothing is gone through again in the intervals that are kept.
  package mutating func first(_ count: Int, of function: StepFunction) -> [Int] {
    let steps = function.steps
    let settled = min(count, steps.last.map { Int(max(0, $0.time) / length) } ?? 0)
    while kept.count < settled {
      var next = firsts[kept.count]
      kept.append(largest(in: kept.count, from: &next, steps))
      firsts.append(next)
    }
    var maxima = Array(kept.prefix(settled))
    var next = firsts[settled]
    for interval in settled..<count { maxima.append(largest(in: interval, from: &next, steps)) }
    return maxima
  }

  /// The largest value in an interval; `next` is the first step that is not before it, and then the first that
  /// is behind it.
  private func largest(
    in interval: Int,
    from next: inout Int,
    _ steps: [StepFunction.Step]
  ) -> Int {
    let start = Int64(interval) * length
    let end = start + length
    let before = next > 0 ? steps[next - 1].value : 0
    // A value that ends exactly where the interval begins is not of this interval.
    var largest = next < steps.count && steps[next].time == start ? 0 : before
    while next < steps.count, steps[next].time < end {
      largest = max(largest, instants ? steps[next].peak : steps[next].value)
      next += 1
    }
    return largest
  }
}
