import Foundation
import TestSupport
import Testing

@testable import Mechanisms

/// The C library's functions are the reference: they may differ in the last bit between machines, but
/// not in the fourteenth digit.
@Suite(.watched) struct `Portable mathematics` {
  private static let bound = 1e-14

  @Test func `agrees with the C library's logarithm over the whole range`() {
    var worst = 0.0
    for exponent in stride(from: -1000, through: 1000, by: 7) {
      for step in 0..<64 {
        let x = Double(
          sign: .plus,
          exponent: exponent,
          significand: 1 + Double(step) / 64
        )
        worst = max(worst, Self.difference(PortableMath.log(x), Foundation.log(x)))
      }
    }
    #expect(worst < Self.bound)
  }

  @Test func `agrees with the C library's logarithm close to 1`() {
    var worst = 0.0
    for step in 1...2000 {
      let distance = Double(step) * 1e-4
      for x in [1 - distance / 4, 1 + distance] {
        worst = max(worst, Self.difference(PortableMath.log(x), Foundation.log(x)))
      }
    }
    #expect(worst < Self.bound)
    #expect(PortableMath.log(1) == 0)
  }

  @Test func `agrees with the C library's exponential wherever a workload draws`() {
    // A lognormal with a standard deviation of 3 stays within ±30 but for one draw in 10²⁰.
    var worst = 0.0
    for step in -30_000...30_000 {
      let x = Double(step) / 1000
      worst = max(worst, Self.difference(PortableMath.exp(x), Foundation.exp(x)))
    }
    #expect(worst < Self.bound)
    #expect(PortableMath.exp(0) == 1)
  }

  /// Relative where the reference is large, absolute where it is small.
  private static func difference(_ value: Double, _ reference: Double) -> Double {
    abs(value - reference) / max(1e-3, abs(reference))
  }
}
