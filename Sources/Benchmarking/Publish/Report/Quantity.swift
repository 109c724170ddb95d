internal import Basics
internal import Foundation

/// Numbers for people, in the unit that keeps them short.
///
/// From 0.1 to 999 they have three significant digits. Larger ones are whole, and smaller ones have
/// fewer digits.
package enum Quantity {
  /// A value of a metric's unit: `71.3 ns`, `3.41 us`, `12.0 MB`, `98 %`.
  package static func text(_ value: Double, unit: String) -> String {
    switch unit {
    case "ns": scaled(value, FigureText.durations.map { ($0.name, Double($0.nanoseconds)) })
    case "bytes": scaled(value, [("B", 1), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)])
    case "per_s": scaled(value, [("/s", 1), ("k/s", 1e3), ("M/s", 1e6), ("G/s", 1e9)])
    case "percent": "\(digits(value)) %"
    case "ratio": String(format: "%.3f", value)
    case "count" where value == value.rounded(): String(format: "%.0f", value)
    default: digits(value)
    }
  }

  /// An interval in brackets, each end as `text` writes it.
  static func text(_ interval: Interval, unit: String) -> String {
    "[\(text(interval.low, unit: unit)), \(text(interval.high, unit: unit))]"
  }

  /// `1 figure`, `2 figures`.
  static func count(_ number: Int, _ noun: String) -> String {
    "\(FigureText.grouped(number)) \(noun)\(number == 1 ? "" : "s")"
  }

  private static func scaled(_ value: Double, _ steps: [(String, Double)]) -> String {
    // 999.7 ns rounds to 1.00 us, not to 1000 ns.
    let step = steps.last { abs(value) >= $0.1 * 0.9995 } ?? steps[0]
    return "\(digits(value / step.1)) \(step.0)"
  }

  /// Three significant digits from 0.1 to 999, without an exponent.
  ///
  /// A larger number is whole, a smaller one has fewer digits.
  package static func digits(_ value: Double) -> String {
    let size = abs(value)
    if size == 0 { return "0" }
    if size >= 99.95 { return String(format: "%.0f", value) }
    if size >= 9.995 { return String(format: "%.1f", value) }
    if size >= 0.9995 { return String(format: "%.2f", value) }
    if size >= 0.01 { return String(format: "%.3f", value) }
    // One digit is enough of what is this small: 0.00002.
    return String(format: "%.*f", min(9, Int(ceil(-log10(size)))), value)
  }
}
