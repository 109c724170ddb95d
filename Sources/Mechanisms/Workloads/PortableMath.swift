/// Logarithm and exponential from additions, multiplications and divisions alone.
///
/// The C library's may differ in the last bit from one machine to another, and a workload must have
/// the same bytes everywhere. IEEE 754 fixes the result of each basic operation, so these have them.
/// Accurate to about 1e-15, relative; speed does not matter here.
enum PortableMath {
  private static let ln2 = 0.693_147_180_559_945_3

  /// The natural logarithm of a positive, finite number.
  static func log(_ x: Double) -> Double {
    var exponent = Double(x.exponent)
    var significand = x.significand
    // Centre the significand on 1 so that the series below converges fast.
    if significand > 1.414_213_562_373_095 {
      significand /= 2
      exponent += 1
    }
    // ln(m) = 2 artanh((m − 1)/(m + 1)), with |argument| < 0.1716.
    let ratio = (significand - 1) / (significand + 1)
    let square = ratio * ratio
    var term = ratio
    var sum = 0.0
    var denominator = 1.0
    for _ in 0..<14 {
      sum += term / denominator
      term *= square
      denominator += 2
    }
    return 2 * sum + exponent * ln2
  }

  /// e to the power of `x`, for |x| up to about 700.
  static func exp(_ x: Double) -> Double {
    let halvings = (x / ln2).rounded()
    let rest = x - halvings * ln2
    var term = 1.0
    var sum = 1.0
    for index in 1...18 {
      term *= rest / Double(index)
      sum += term
    }
    return sum * Double(sign: .plus, exponent: Int(halvings), significand: 1)
  }
}
