internal import Basics

/// When the tasks of a workload arrive.
package enum Arrivals: Hashable, Sendable {
  /// All at the start.
  case together
  /// One every so many nanoseconds, the first at the start.
  case every(Int64)
  /// A Poisson process with this many arrivals a second on average.
  case poisson(perSecond: Double)

  /// The intended arrivals of `count` tasks, in nanoseconds from the start, ascending.
  package func times(count: Int, seed: UInt64) -> [Int64] {
    switch self {
    case .together:
      return Array(repeating: 0, count: count)
    case .every(let gap):
      return (0..<count).map { gap * Int64($0) }
    case .poisson(let perSecond):
      let gap = ServiceTime.exponential(mean: 1_000_000_000)
      var seconds = 0.0
      return (1...max(1, count)).prefix(count).map { number in
        var generator = SplitMix64(seed: seed, purpose: .arrival, number: number)
        seconds += Double(gap.draw(from: &generator)) / perSecond
        return Int64(min(seconds, 1e18).rounded())
      }
    }
  }
}
