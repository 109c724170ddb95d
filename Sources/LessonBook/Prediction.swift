/// A question the learner answers before running anything.
package struct Prediction: Hashable, Sendable {
  /// What kind of answer is asked for.
  package enum Form: Hashable, Sendable {
    case duration
    case count
    case rate
    case share
    case number
    /// One of these words.
    case choice([String])

    /// One that would be taken.
    package var example: String {
      switch self {
      case .duration: "15ms"
      case .count: "17"
      case .rate: "30/s"
      case .share: "5%"
      case .number: "1.5"
      case .choice(let words): words.first ?? ""
      }
    }

    /// As in "a duration, such as 15ms".
    package var description: String {
      switch self {
      case .duration: MetricValue.duration(0).form
      case .count: "a whole number, such as 17"
      case .rate: MetricValue.rate(0).form
      case .share: MetricValue.percent(0).form
      case .number: "a number, such as 1.5"
      case .choice(let words): words.joined(separator: " or ")
      }
    }
  }

  /// What the answer is compared with once it is known.
  package enum Answer: Hashable, Sendable {
    /// A figure of the learner's own run; the conditions say of which one.
    case figure(Metric, conditions: [Expectation])
    /// Known beforehand.
    case value(MetricValue)
  }

  package let question: String
  package let form: Form
  package let answer: Answer
  /// How far off still counts as right, in percent.
  package let tolerance: Double
  package let line: Int

  /// The figure that the answer is taken from, if the learner sets it; nil if it is found out.
  var chosenByLearner: Metric? {
    figure.flatMap { $0.isChosen ? $0 : nil }
  }

  /// The figure that the answer is taken from; nil if it is known beforehand.
  var figure: Metric? { if case .figure(let metric, _) = answer { metric } else { nil } }

  /// What is told to a command, and not told by it.
  fileprivate static let settings: Set = [
    "limit", "tasks", "workers", "seed", "kind", "clock", "mechanism", "executor", "permits",
    "body",
    "waiters", "explored", "explored_tasks", "explored_limit", "explored_cancel", "explored_fail",
    "explored_bound", "strategy",
  ]

  /// Whether the answer is written in the lesson, and nothing has to be run to know it.
  package var isKnownBeforehand: Bool { if case .value = answer { true } else { false } }

  /// Reads a guess; nil where it is not of the form asked for.
  package func guess(_ text: String) -> MetricValue? {
    let text = text.trimmed.lowercased()
    if case .choice(let words) = form {
      let matches = words.filter { $0.lowercased().hasPrefix(text) }
      let exact = words.first { $0.lowercased() == text }
      guard !text.isEmpty, let word = exact ?? (matches.count == 1 ? matches[0] : nil) else {
        return nil
      }
      return .word(word)
    }
    guard let value = MetricValue(GuessSyntax.plain(text, of: form, asking: question)) else {
      return nil
    }
    switch (form, value) {
    case (.duration, .duration), (.count, .count), (.rate, .rate), (.share, .percent),
      (.number, .number), (.number, .count):
      return value
    case (.duration, .count(0)): return .duration(0)
    case (.share, .count(let count)): return .percent(Double(count))
    // A part of one, as in 0.5: nobody means half a percent by it. With a sign, 0.5% is what it says.
    case (.share, .number(let number)): return .percent(number <= 1 ? number * 100 : number)
    case (.rate, .count(let count)): return .rate(Double(count))
    case (.rate, .number(let number)): return .rate(number)
    default: return nil
    }
  }

  /// What there was, and whether the guess was right; nil while the learner's runs cannot tell.
  package func comparison(
    of guess: MetricValue,
    with evidence: [any MetricSource]
  ) -> (got: MetricValue, isRight: Bool)? {
    let got: MetricValue
    switch answer {
    case .value(let value): got = value
    case .figure(let metric, let conditions):
      let newest = evidence.last { source in
        source.value(of: metric) != nil && Check.meets(conditions, source)
      }
      guard let value = newest?.value(of: metric) else { return nil }
      got = value
    }
    guard let there = got.magnitude, let said = guess.magnitude else { return (got, got == guess) }
    var slack = there.magnitude * tolerance / 100
    // A part of nothing is nothing: where a guess need not be exact, one percent is close to none.
    if tolerance > 0, case .percent = got { slack = max(slack, 1) }
    return (got, (there - said).magnitude <= slack)
  }
}

extension Metric {
  /// Whether the learner sets it.
  var isChosen: Bool { Prediction.settings.contains(name) }
}
