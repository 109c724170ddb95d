internal import Foundation

/// Student's t distribution (Gosset, 1908).
package struct StudentT {
  package let degrees: Double

  package init(degrees: Double) { self.degrees = degrees }

  /// The probability of a t at least this far from zero, on either side.
  package func twoSided(_ t: Double) -> Double {
    guard t.isFinite else { return t.isNaN ? 1 : 0 }
    return regularisedBeta(degrees / (degrees + t * t), degrees / 2, 0.5)
  }

  /// How far from zero t lies with this probability at most: 2.262 for 95 % and 9 degrees.
  package func bound(confidence: Double) -> Double {
    var (low, high) = (0.0, 1.0)
    while twoSided(high) > 1 - confidence { high *= 2 }
    for _ in 0..<80 {
      let middle = (low + high) / 2
      if twoSided(middle) > 1 - confidence { low = middle } else { high = middle }
    }
    return high
  }
}

/// The regularised incomplete beta function, by Lentz's continued fraction (Numerical Recipes, 6.4).
private func regularisedBeta(_ x: Double, _ a: Double, _ b: Double) -> Double {
  guard x > 0, x < 1 else { return x <= 0 ? 0 : 1 }
  if x > (a + 1) / (a + b + 2) { return 1 - regularisedBeta(1 - x, b, a) }
  let front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
  let tiny = 1e-300
  var c = 1.0
  var d = 1 / (1 - (a + b) * x / (a + 1))
  var sum = d
  for step in 1...300 {
    let m = Double(step)
    let even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
    let odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
    for term in [even, odd] {
      d = 1 + term * d
      c = 1 + term / c
      if abs(d) < tiny { d = tiny }
      if abs(c) < tiny { c = tiny }
      d = 1 / d
      sum *= d * c
    }
    if abs(d * c - 1) < 1e-15 { break }
  }
  return front * sum / a
}
