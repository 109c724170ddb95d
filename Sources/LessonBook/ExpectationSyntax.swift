internal import Basics

extension Expectation {
  /// Reads `makespan = 400ms ~5%`; spaces around the operators may be left out.
  ///
  /// - Throws: `ExpectationError` that says what would be right.
  package init(_ text: String) throws(ExpectationError) {
    let text = text.trimmed
    guard let sign = Self.comparison(in: text) else {
      throw ExpectationError(
        "'\(text)' compares nothing; write a figure, one of = != < <= > >=, and a value, "
          + "as in makespan = 400ms",
        at: text
      )
    }
    let left = String(text[..<sign.range.lowerBound]).trimmed
    var right = String(text[sign.range.upperBound...]).trimmed
    var tolerance = 0.0
    if let mark = right.lastIndex(of: "~") {
      let written = String(right[right.index(after: mark)...]).trimmed
      guard case .percent(let percent)? = MetricValue(written),
        sign.comparison == .equal || sign.comparison == .notEqual
      else {
        throw ExpectationError(
          "after ~ comes how far from equal still counts, in percent, and only after = or !=, "
            + "as in makespan = 400ms ~5%",
          at: "~" + written
        )
      }
      tolerance = percent
      right = String(right[..<mark]).trimmed
    }
    guard let metric = Metric(parsing: left) else {
      throw ExpectationError(
        "'\(left)' is not the name of a figure; write one such as makespan or waiting(t10)",
        at: left
      )
    }
    let bound = try Self.bound(right, after: sign.comparison)
    self.init(
      metric: metric,
      comparison: sign.comparison,
      bound: bound,
      tolerance: tolerance,
      text: text
    )
  }

  private static func comparison(
    in text: String
  ) -> (comparison: Comparison, range: Range<String.Index>)? {
    guard let start = text.firstIndex(where: { "=!<>".contains($0) }) else { return nil }
    var end = text.index(after: start)
    if end < text.endIndex, text[end] == "=" { end = text.index(after: end) }
    let written = text[start..<end] == "==" ? "=" : String(text[start..<end])
    return Comparison(rawValue: written).map { ($0, start..<end) }
  }

  private static func bound(
    _ text: String,
    after comparison: Comparison
  ) throws(ExpectationError) -> Bound {
    let decidesEquality = comparison == .equal || comparison == .notEqual
    if let dots = text.firstRange(of: "..") {
      let low = MetricValue(String(text[..<dots.lowerBound]).trimmed)
      let high = MetricValue(String(text[dots.upperBound...]).trimmed)
      guard decidesEquality, let low, let high, low.isComparable(with: high),
        let from = low.magnitude, let to = high.magnitude, from <= to
      else {
        throw ExpectationError(
          "'\(text)' is not a range; write the smaller value first, both in a unit, after = or !=, "
            + "as in makespan = 380ms..450ms",
          at: text
        )
      }
      return .range(low, high)
    }
    if let value = MetricValue(text) { return .value(value) }
    if let (metric, change) = reference(text) {
      // After an equality a bare name may be a word, as in `mechanism = limiter`, or a figure, as in
      // `peak_running = limit`: the left side's value tells, when there is one.
      let mayBeWord = decidesEquality && change == nil && metric.argument == nil
      if !mayBeWord { return .metric(metric, change) }
    }
    let words = text.split(separator: "|", omittingEmptySubsequences: false)
      .map { String($0).trimmed }
    guard decidesEquality, !text.isEmpty, words.allSatisfy(\.isPlainWord) else {
      throw ExpectationError(
        "'\(text)' is not a value; write a duration such as 400ms, a number, a rate such as 30/s, "
          + "a share such as 5%, a word, or another figure such as limit + 1",
        at: text
      )
    }
    return .words(words)
  }

  private static func reference(_ text: String) -> (Metric, Change?)? {
    if let metric = Metric(parsing: text) { return (metric, nil) }
    for (sign, make) in operators {
      guard let place = text.firstIndex(of: sign) else { continue }
      guard let metric = Metric(parsing: String(text[..<place]).trimmed),
        let value = MetricValue(String(text[text.index(after: place)...]).trimmed)
      else { return nil }
      return make(value).map { (metric, $0) }
    }
    return nil
  }

  private static let operators: [(Character, @Sendable (MetricValue) -> Change?)] = [
    ("+", { .plus($0) }),
    ("-", { .minus($0) }),
    ("*", { $0.magnitude.map(Change.times) }),
  ]
}

extension Metric {
  /// Reads `makespan` or `waiting(t10)`.
  package init?(parsing text: String) {
    guard let bracket = text.firstIndex(of: "(") else {
      guard text.isFigureName else { return nil }
      self.init(text)
      return
    }
    let name = String(text[..<bracket])
    let rest = text[text.index(after: bracket)...]
    guard name.isFigureName, rest.hasSuffix(")") else { return nil }
    let argument = String(rest.dropLast()).trimmed
    guard argument.isPlainWord else { return nil }
    self.init(name, argument)
  }
}

extension MetricValue {
  /// Reads a value with its unit: `400ms`, `3`, `0.5`, `30/s`, `5%`; nil for anything else.
  package init?(_ text: String) {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    guard let number = Double(digits), digits.first?.isNumber == true else { return nil }
    let unit = String(text[digits.endIndex...]).trimmed
    switch unit {
    case "": self = Int(digits).map(MetricValue.count) ?? .number(number)
    case "%": self = .percent(number)
    case let unit where unit.hasPrefix("/"):
      guard let rate = UnitSyntax.rate(number, per: String(unit.dropFirst())) else { return nil }
      self = .rate(rate)
    default:
      guard let duration = UnitSyntax.duration(number, in: unit) else { return nil }
      self = .duration(duration)
    }
  }
}

extension String {
  /// Without white space at both ends.
  var trimmed: String {
    var rest = self[...]
    while let last = rest.last, last.isWhitespace { rest = rest.dropLast() }
    return String(rest.drop { $0.isWhitespace })
  }

  /// Small letters, digits and underscores, starting with a letter.
  var isFigureName: Bool {
    guard let first, first.isASCII, first.isLowercase else { return false }
    return allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "_") }
  }

  /// Letters, digits and `-_.@`, at least one.
  var isPlainWord: Bool {
    !isEmpty && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.@".contains($0)) }
  }
}
