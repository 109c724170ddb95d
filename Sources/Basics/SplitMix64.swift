/// A small random number generator whose sequence is part of what a seed means.
///
/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014): one 64-bit
/// state, one multiplication chain a draw. The standard library's generators may change between
/// versions and machines; what was found with a seed must be found again with it.
package struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number in `0..<bound`.
  ///
  /// Multiplies instead of dividing; the bias is below `bound` / 2⁶⁴.
  package mutating func next(below bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// Uniform between 0 and 1: never 0, and 1 once in 2⁵³ draws, by rounding.
  package mutating func nextUnit() -> Double {
    (Double(next() >> 11) + 0.5) * 0x1p-53
  }
}
