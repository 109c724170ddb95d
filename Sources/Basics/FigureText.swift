/// How figures are written wherever a person reads them: in the lab, in the bench and in its report.
///
/// ASCII throughout, so that what is read can be typed back and read aloud. Files for machines have plain digits
/// and their units in a column.
package enum FigureText {
  /// The units of time, smallest first, each with its length in nanoseconds.
  package static let durations: [(name: String, nanoseconds: Int64)] = [
    ("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000),
  ]

  /// A whole number with commas between thousands: `12,345`.
  package static func grouped(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return text
  }
}
