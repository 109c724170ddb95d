// What should be true of a run, in one line.
//
// A lesson's check and a script's `expect` are the same thing: the name of a figure, a comparison,
// and what it is compared with.
//
//     makespan = 400ms            exactly
//     makespan = 400ms ~5%        within five percent
//     makespan = 380ms..450ms     in the range, both ends included
//     peak_running <= limit       against another figure of the same run
//     threads_peak <= limit + 1
//     waiting(t10) > 250ms        of one task
//     mechanism = limiter|pool    one of several words
//
// The operators are = != < <= > >=. Kinds do not mix: a duration is compared with a duration.

/// A comparison of one figure with a bound.
package struct Expectation: Hashable, Sendable {
  package enum Comparison: String, CaseIterable, Hashable, Sendable {
    case equal = "="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case more = ">"
    case moreOrEqual = ">="
  }

  package enum Bound: Hashable, Sendable {
    case value(MetricValue)
    case range(MetricValue, MetricValue)
    case words([String])
    /// Another figure of the same source, changed by a number.
    case metric(Metric, Change?)
  }

  /// Arithmetic done on a figure before it is compared with.
  package enum Change: Hashable, Sendable {
    case plus(MetricValue)
    case minus(MetricValue)
    case times(Double)
  }

  package let metric: Metric
  package let comparison: Comparison
  package let bound: Bound
  /// How far from the bound still counts as equal, in percent of the bound; 0 for exactly.
  package let tolerance: Double
  /// As it was written.
  package let text: String
}

/// What came of an expectation.
package struct ExpectationResult: Hashable, Sendable {
  package let isMet: Bool
  package let metric: Metric
  /// What was expected, as people read it: "at most 4 (limit + 1)".
  package let expected: String
  /// What there was: "400 ms".
  package let got: MetricValue
  /// Why the figure is not final, though what was expected is decided: "the run goes on, at 50 ms".
  package let soFar: String?
  /// Which task, and when, where the source can tell.
  package let witness: String?
  /// What there was in plain words, where the metric's name says little.
  let plainly: String?
  /// What the learner did that it was found in.
  let origin: String?

  /// One line: what was expected, what there was, who and when.
  package var sentence: String { line(wanted: isMet ? "" : ", expected \(expected)") }

  /// What was found in which run, and what was wanted if that is to be told.
  func finding(withGoal: Bool) -> String {
    if let plainly { return origin.map { "\($0): \(plainly)" } ?? plainly }
    let place = origin.map { "\($0): " } ?? "in your run "
    return place + line(wanted: "") + (withGoal ? "; wanted: \(expected)" : "")
  }

  private func line(wanted: String) -> String {
    let end = [soFar, witness].compactMap(\.self).joined(separator: "; ")
    return
      "\(metric) is \(got)\(soFar == nil ? "" : " so far")\(wanted)\(end.isEmpty ? "" : ": \(end)")"
  }
}

/// Why an expectation cannot be read or judged.
package struct ExpectationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong and what would be right, without a full stop.
  package let description: String
  /// The part of the text that it is about.
  package let fragment: String
  /// Names the fragment may have been meant for.
  package let candidates: [String]

  init(_ description: String, at fragment: String, candidates: [String] = []) {
    self.description = description
    self.fragment = fragment
    self.candidates = candidates
  }
}

extension Expectation {
  /// Judges the figures of `source`.
  ///
  /// - Throws: `ExpectationError` if the source has no such figure, or one of another kind, or if what may
  ///   still become of a figure would change the judgement.
  package func judge(_ source: some MetricSource) throws(ExpectationError) -> ExpectationResult {
    let got = try Self.value(of: metric, in: source)
    let expected: String
    let isMet: Bool
    // The least size of the figure from which on growing changes nothing, and whether the bound stays.
    var highest: Double?
    var isBoundSettled = true
    switch meaning(of: bound, for: got) {
    case .value(let value):
      isMet = try compare(got, with: value)
      expected = phrase(value)
      highest = value.magnitude.map { $0 + $0.magnitude * tolerance / 100 }
    case .metric(let other, let change):
      let value = try Self.changed(Self.value(of: other, in: source), by: change, of: other)
      isMet = try compare(got, with: value)
      expected = "\(phrase(value)) (\(Self.text(of: other, change)))"
      highest = value.magnitude.map { $0 + $0.magnitude * tolerance / 100 }
      isBoundSettled = source.prospect(of: other) == .settled
    case .range(let low, let high):
      try check(got, isComparableWith: low)
      let size = got.magnitude
      let isInside =
        if let size, let low = low.magnitude, let high = high.magnitude {
          low <= size && size <= high
        } else {
          false
        }
      isMet = size != nil && isInside == (comparison == .equal)
      highest = high.magnitude
      expected = (comparison == .equal ? "from " : "not from ") + "\(low) to \(high)"
    case .words(let words):
      try check(got, isComparableWith: .word(words[0]))
      let isAmong = words.contains { .word($0) == got }
      isMet = isAmong == (comparison == .equal)
      expected = (comparison == .equal ? "" : "not ") + words.joined(separator: " or ")
    }
    let prospect = source.prospect(of: metric)
    let isBeyond =
      if let size = got.magnitude, let highest { size > highest } else { false }
    guard isBoundSettled, stays(isMet, prospect, isAbsent: got.magnitude == nil, isBeyond) else {
      let why = source.unsettledBecause.map { ": \($0)" } ?? ""
      throw ExpectationError(
        "'\(text)' is not decided yet, as \(metric) is \(got) so far\(why)",
        at: metric.description
      )
    }
    return ExpectationResult(
      isMet: isMet,
      metric: metric,
      expected: expected,
      got: got,
      soFar: prospect == .settled ? nil : source.unsettledBecause,
      witness: source.witness(of: metric),
      plainly: source.plainly(metric),
      origin: source.origin
    )
  }

  /// Whether a judgement can no longer change, whatever becomes of the figure.
  ///
  /// `isBeyond` says that it is larger than all that it was to equal.
  private func stays(
    _ isMet: Bool,
    _ prospect: MetricProspect,
    isAbsent: Bool,
    _ isBeyond: Bool
  ) -> Bool {
    switch (prospect, comparison) {
    case (.settled, _): true
    case (.open, _): false
    case (.grows, _) where isAbsent: false
    case (.grows, .more), (.grows, .moreOrEqual): isMet
    case (.grows, .less), (.grows, .lessOrEqual): !isMet
    case (.grows, .equal), (.grows, .notEqual): isBeyond
    }
  }

  /// A single word stands for a figure where the value it is compared with is not a word.
  private func meaning(of bound: Bound, for got: MetricValue) -> Bound {
    guard case .words(let words) = bound, words.count == 1, let metric = Metric(parsing: words[0])
    else { return bound }
    if case .word = got { return bound }
    return .metric(metric, nil)
  }

  private static func value(
    of metric: Metric,
    in source: some MetricSource
  ) throws(ExpectationError) -> MetricValue {
    if let value = source.value(of: metric) { return value }
    if let objection = source.objection(to: metric) {
      throw ExpectationError(objection, at: metric.description)
    }
    throw ExpectationError(
      "there is no figure '\(metric)' here; there are \(source.metricForms.joined(separator: ", "))",
      at: metric.name,
      candidates: source.metricForms
    )
  }

  private func compare(
    _ got: MetricValue,
    with bound: MetricValue
  ) throws(ExpectationError) -> Bool {
    try check(got, isComparableWith: bound)
    guard let size = got.magnitude, let limit = bound.magnitude else {
      // Words are the same or not; of what is absent nothing is true.
      if case .word = got { return (got == bound) == (comparison == .equal) }
      return false
    }
    let slack = limit.magnitude * tolerance / 100
    switch comparison {
    case .equal: return (size - limit).magnitude <= slack
    case .notEqual: return (size - limit).magnitude > slack
    case .less: return size < limit
    case .lessOrEqual: return size <= limit
    case .more: return size > limit
    case .moreOrEqual: return size >= limit
    }
  }

  private func check(
    _ got: MetricValue,
    isComparableWith bound: MetricValue
  ) throws(ExpectationError) {
    if case .absent = got { return }
    if case .absent = bound { return }
    guard got.isComparable(with: bound) else {
      throw ExpectationError(
        "\(metric) is \(got.form), and cannot be compared with \(bound.form)",
        at: metric.name
      )
    }
  }

  private static func changed(
    _ value: MetricValue,
    by change: Change?,
    of metric: Metric
  ) throws(ExpectationError) -> MetricValue {
    guard let change, let size = value.magnitude else { return value }
    switch change {
    case .times(let factor):
      return value.with(magnitude: size * factor)
    case .plus(let other), .minus(let other):
      guard value.isComparable(with: other), let step = other.magnitude else {
        throw ExpectationError(
          "\(metric) is \(value.form); \(other.form) cannot be added to it or taken from it",
          at: metric.name
        )
      }
      let isGrowth = if case .plus = change { true } else { false }
      return value.with(magnitude: isGrowth ? size + step : size - step)
    }
  }

  private func phrase(_ value: MetricValue) -> String {
    let words =
      switch comparison {
      case .equal: ""
      case .notEqual: "anything but "
      case .less: "less than "
      case .lessOrEqual: "at most "
      case .more: "more than "
      case .moreOrEqual: "at least "
      }
    let slack = tolerance > 0 ? " within \(MetricValue.percent(tolerance))" : ""
    return words + value.description + slack
  }

  private static func text(of metric: Metric, _ change: Change?) -> String {
    switch change {
    case nil: metric.description
    case .plus(let value): "\(metric) + \(value)"
    case .minus(let value): "\(metric) - \(value)"
    case .times(let factor): "\(metric) * \(MetricValue.number(factor))"
    }
  }
}
