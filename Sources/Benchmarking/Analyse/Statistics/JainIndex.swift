/// Jain's fairness index (1984): (Σx)² / (n·Σx²).
package func jainIndex(_ shares: [Double]) -> Double? {
  let squares = shares.map { $0 * $0 }.reduce(0, +)
  guard squares > 0 else { return nil }
  let sum = shares.reduce(0, +)
  return sum * sum / (Double(shares.count) * squares)
}
