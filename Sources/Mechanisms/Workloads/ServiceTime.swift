package import Basics

/// How long the tasks of a workload serve, as a distribution.
package enum ServiceTime: Hashable, Sendable {
  /// Every task the same, in nanoseconds.
  case fixed(Int64)
  /// Exponential with this mean, in nanoseconds.
  case exponential(mean: Int64)
  /// Evenly over the range, in nanoseconds.
  ///
  /// Rounding makes the two ends half as likely as each length between them.
  case uniform(ClosedRange<Int64>)
  /// Lognormal with this mean, in nanoseconds, and this standard deviation of the logarithm.
  case lognormal(mean: Int64, sigma: Double)

  /// The mean, in nanoseconds.
  package var mean: Double {
    switch self {
    case .fixed(let length): Double(length)
    case .exponential(let mean): Double(mean)
    case .uniform(let range): (Double(range.lowerBound) + Double(range.upperBound)) / 2
    case .lognormal(let mean, _): Double(mean)
    }
  }

  /// The squared coefficient of variation: variance over squared mean.
  package var squaredVariation: Double {
    switch self {
    case .fixed: return 0
    case .exponential: return 1
    case .uniform(let range):
      let width = Double(range.upperBound) - Double(range.lowerBound)
      return mean == 0 ? 0 : width * width / 12 / (mean * mean)
    case .lognormal(_, let sigma): return PortableMath.exp(sigma * sigma) - 1
    }
  }

  /// Draws one service time, in nanoseconds, never negative.
  package func draw(from generator: inout SplitMix64) -> Int64 {
    switch self {
    case .fixed(let length):
      return length
    case .exponential(let mean):
      return rounded(-Double(mean) * PortableMath.log(generator.nextUnit()))
    case .uniform(let range):
      let width = Double(range.upperBound - range.lowerBound)
      return min(range.upperBound, range.lowerBound + rounded(width * generator.nextUnit()))
    case .lognormal(let mean, let sigma):
      // E[e^(μ + σZ)] = e^(μ + σ²/2), so this μ gives the mean asked for.
      let shift = -sigma * sigma / 2
      return rounded(
        Double(mean) * PortableMath.exp(shift + sigma * standardNormal(from: &generator))
      )
    }
  }

  /// Marsaglia's polar method, which needs no sine.
  private func standardNormal(from generator: inout SplitMix64) -> Double {
    while true {
      let first = 2 * generator.nextUnit() - 1
      let second = 2 * generator.nextUnit() - 1
      let square = first * first + second * second
      if square > 0, square < 1 {
        return first * (-2 * PortableMath.log(square) / square).squareRoot()
      }
    }
  }

  /// To whole nanoseconds; a draw beyond all reason stops at about 11 days.
  private func rounded(_ nanoseconds: Double) -> Int64 {
    Int64(min(max(nanoseconds, 0), 1e15).rounded())
  }
}
