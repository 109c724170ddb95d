internal import Basics

/// Durations as people write them: three significant digits and the largest unit that fits.
///
/// `250 us`, `40 ms`, `1.5 s`, `2 m 5 s`: ASCII everywhere, so that a text can be typed back into the
/// lab and read aloud.
package enum DurationText {
  /// The duration in words of three significant digits, such as `12.3 ms`.
  ///
  /// Rounds half up, away from zero for negative durations.
  package static func text(_ nanoseconds: Int64) -> String {
    if nanoseconds < 0 {
      let magnitude = nanoseconds == .min ? Int64.max : -nanoseconds
      return "-" + text(magnitude)
    }
    if nanoseconds == 0 { return "0 s" }
    if nanoseconds >= 119_500_000_000 { return minutes(nanoseconds) }
    for (index, unit) in units.enumerated() {
      let isLast = index == units.count - 1
      if let number = threeDigits(nanoseconds, per: unit.nanoseconds, below: isLast ? .max : 1_000)
      {
        return "\(number) \(unit.name)"
      }
    }
    return "\(nanoseconds) ns"
  }

  /// The units an axis or a table may count in, smallest first.
  package static let units = FigureText.durations

  /// `nanoseconds / unit` to three significant digits without trailing zeros; nil from `limit` on.
  private static func threeDigits(_ nanoseconds: Int64, per unit: Int64, below limit: Int64)
    -> String?
  {
    // How many decimals keep three digits: 2 below 10 units, 1 below 100, none above; rounding can
    // carry into the next range (9.996 becomes 10.0), so each range is tried by its rounded value.
    var scale: Int64 = 100
    while true {
      let scaled = divided(nanoseconds, by: unit, times: scale)
      if scaled < 1_000 || scale == 1 {
        if scaled / scale >= limit { return nil }
        return decimal(scaled, scale: scale)
      }
      scale /= 10
    }
  }

  private static func divided(_ value: Int64, by unit: Int64, times scale: Int64) -> Int64 {
    if unit < scale { return value * (scale / unit) }
    let step = unit / scale
    return value / step + (value % step * 2 >= step ? 1 : 0)
  }

  private static func decimal(_ scaled: Int64, scale: Int64) -> String {
    let whole = scaled / scale
    guard scale > 1 else { return String(whole) }
    var fraction = String(scaled % scale + scale).dropFirst()
    while fraction.last == "0" { fraction.removeLast() }
    return fraction.isEmpty ? String(whole) : "\(whole).\(fraction)"
  }

  private static func minutes(_ nanoseconds: Int64) -> String {
    let second: Int64 = 1_000_000_000
    let seconds = nanoseconds / second + (nanoseconds % second * 2 >= second ? 1 : 0)
    let parts =
      seconds >= 3_600
      ? [(seconds / 3_600, "h"), (seconds % 3_600 / 60, "m")]
      : [(seconds / 60, "m"), (seconds % 60, "s")]
    return parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
  }
}
