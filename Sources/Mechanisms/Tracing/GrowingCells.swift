/// What a step function comes to in intervals of one length that begin at 0.
///
/// While the function grows, what no further step can change is kept.
package struct GrowingCells: Sendable {
  /// Which of an interval's values stands for it.
  package enum Choice: Hashable, Sendable {
    /// The largest that was held for some time.
    case largest
    /// The one that was held longest at a stretch, of those that are not 0; or the largest, where that is above `cap`:
    /// a limit overstepped must show.
    ///
    /// A value taken for no time at all counts where no other does, if it was risen to and not passed on the way down.
    case lasting(cap: Int?)
  }

  private let length: Int64
  private let choice: Choice
  /// The values of the intervals that had a step behind them: steps are only added at the last time.
  private var kept: [Int] = []
  /// The place of the first step that is not before an interval, of those that are kept and the next.
  private var firsts = [0]

  package init(length: Int64, _ choice: Choice) {
    self.length = length
    self.choice = choice
  }

  /// The value of each of the first `count` intervals; every function that is asked about is an earlier
  /// or later state of the first.
  ///
  /// - Complexity: O(steps + count), of which nothing is gone through again in the intervals that are kept.
  package mutating func first(_ count: Int, of function: StepFunction) -> [Int] {
    let steps = function.steps
    let settled = min(count, steps.last.map { Int(max(0, $0.time) / length) } ?? 0)
    while kept.count < settled {
      var next = firsts[kept.count]
      kept.append(value(of: kept.count, from: &next, steps))
      firsts.append(next)
    }
    var values = Array(kept.prefix(settled))
    var next = firsts[settled]
    for interval in settled..<count { values.append(value(of: interval, from: &next, steps)) }
    return values
  }

  /// The value of an interval; `next` is the first step that is not before it, and then the first that
  /// is behind it.
  private func value(
    of interval: Int,
    from next: inout Int,
    _ steps: [StepFunction.Step]
  ) -> Int {
    let start = Int64(interval) * length
    let end = start + length
    var value = next > 0 ? steps[next - 1].value : 0
    var since = start
    var largest = 0
    var instant = 0
    var lasting: (value: Int, length: Int64) = (0, 0)
    func close(at time: Int64) {
      guard time > since else { return }
      largest = max(largest, value)
      // Of two as long, the later.
      if value != 0, time - since >= lasting.length { lasting = (value, time - since) }
    }
    while next < steps.count, steps[next].time < end {
      let step = steps[next]
      close(at: step.time)
      if step.peak > max(value, step.value) { instant = max(instant, step.peak) }
      (value, since) = (step.value, step.time)
      next += 1
    }
    close(at: end)
    switch choice {
    case .largest: return largest
    case .lasting(let cap):
      let most = max(largest, instant)
      if let cap, most > cap { return most }
      return lasting.length > 0 ? lasting.value : instant
    }
  }
}
