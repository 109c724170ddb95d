/// What a run has to say on one metric.
package enum MetricValue: Hashable, Sendable, Codable {
  /// Nanoseconds.
  case duration(Int64)
  case count(Int)
  /// Events a second.
  case rate(Double)
  /// In percent.
  case percent(Double)
  /// A number without a unit.
  case number(Double)
  /// A name, such as a mechanism's.
  case word(String)
  /// The metric exists but this run has no value for it, because of this: "nobody waited".
  case absent(because: String)

  /// What kind of value it is, with an example of how one is written.
  var form: String {
    switch self {
    case .duration: "a duration, such as 15ms"
    case .count: "a whole number"
    case .rate: "a rate, such as 30/s"
    case .percent: "a share, such as 5%"
    case .number: "a number"
    case .word: "a word"
    case .absent: "a value"
    }
  }

  /// The size in the unit of its kind; nil for words and absent values.
  var magnitude: Double? {
    switch self {
    case .duration(let nanoseconds): Double(nanoseconds)
    case .count(let count): Double(count)
    case .rate(let value), .percent(let value), .number(let value): value
    case .word, .absent: nil
    }
  }

  /// The same kind of value with another size.
  func with(magnitude: Double) -> MetricValue {
    switch self {
    case .duration: .duration(Int64(clamping: magnitude))
    case .count:
      magnitude.rounded() == magnitude
        ? .count(Int(clamping: Int64(clamping: magnitude))) : .number(magnitude)
    case .rate: .rate(magnitude)
    case .percent: .percent(magnitude)
    case .number: .number(magnitude)
    case .word, .absent: self
    }
  }

  /// Whether the two can be compared: both of one kind, or a bare number against anything counted.
  func isComparable(with other: MetricValue) -> Bool {
    switch (self, other) {
    case (.duration, .duration), (.rate, .rate), (.percent, .percent), (.word, .word): true
    case (.count, .count), (.count, .number), (.number, .count), (.number, .number): true
    // Nothing is nothing in every unit.
    case (.duration, .count(0)), (.rate, .count(0)), (.percent, .count(0)): true
    default: false
    }
  }
}

extension Int64 {
  /// The nearest whole number, at most the largest there is.
  fileprivate init(clamping value: Double) {
    self = Int64(exactly: value.rounded()) ?? (value < 0 ? .min : .max)
  }
}

extension MetricValue: CustomStringConvertible {
  /// As people read it: `400 ms`, `3`, `30/s`, `5 %`.
  package var description: String {
    switch self {
    case .duration(let nanoseconds): Self.text(ofDuration: nanoseconds)
    case .count(let count): String(count)
    case .rate(let perSecond): Self.text(perSecond) + "/s"
    case .percent(let percent): Self.text(percent) + " %"
    case .number(let number): Self.text(number)
    case .word(let word): word
    case .absent(let reason): "nothing (\(reason))"
    }
  }

  /// In the largest unit that leaves at least 1 before the point.
  private static func text(ofDuration nanoseconds: Int64) -> String {
    let units: [(size: Int64, name: String)] = [
      (1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"),
    ]
    for unit in units where nanoseconds.magnitude >= unit.size.magnitude {
      return text(Double(nanoseconds) / Double(unit.size)) + " " + unit.name
    }
    return "\(nanoseconds) ns"
  }

  /// At most three places after the point, and none that say nothing.
  private static func text(_ value: Double) -> String {
    guard value.isFinite, value.magnitude < 1e15 else { return String(value) }
    let thousandths = Int64((value.magnitude * 1000).rounded())
    var fraction = String(thousandths % 1000 + 1000).dropFirst()
    while fraction.hasSuffix("0") { fraction = fraction.dropLast() }
    let sign = value < 0 && thousandths > 0 ? "-" : ""
    return sign + String(thousandths / 1000) + (fraction.isEmpty ? "" : "." + fraction)
  }
}
