/// Durations and rates as people write them.
package enum UnitSyntax {
  private static let sizes: [String: Double] = [
    "ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "m": 6e10,
    "h": 3.6e12,
  ]

  /// `40ms`, `1.5s`: nanoseconds; nil for what is none.
  package static func duration(_ text: String) -> Int64? {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    return Double(digits).flatMap { duration($0, in: String(text[digits.endIndex...])) }
  }

  /// So many of a unit in nanoseconds; nil for an unknown unit, and for more than a hundred days:
  /// that is more than any run needs, and far from where the arithmetic would overflow.
  package static func duration(_ number: Double, in unit: String) -> Int64? {
    let nanoseconds = sizes[unit].map { number * $0 }
    return nanoseconds.flatMap { $0 <= 8.64e15 ? Int64($0.rounded()) : nil }
  }

  /// So many for each `ms`, `s`, `m` or `h`, as a number for each second; nil for an unknown unit.
  package static func rate(_ number: Double, per unit: String) -> Double? {
    switch unit {
    case "ms": number * 1000
    case "s": number
    case "m": number / 60
    case "h": number / 3_600
    default: nil
    }
  }
}
