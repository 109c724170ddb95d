/// Whether two numbers are the same but for rounding: `tolerance` is a share of the expected one.
package func isClose(
  _ value: Double,
  _ expected: Double,
  within tolerance: Double = 1e-9
) -> Bool {
  abs(value - expected) <= tolerance * max(1e-300, abs(expected))
}
