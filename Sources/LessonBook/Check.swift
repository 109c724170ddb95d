// What a learner's runs must show.
//
// A check is an expectation and a sentence that is true when it is met. Written before it, `for`
// says which of the learner's runs it is about:
//
//     - `peak_running = 3`: never more than three ran at once
//     - `for mechanism = gcd-gate and limit = 4: threads_peak <= limit + 1`: the gate needs …
//
// Checks with the same conditions are about one and the same run: the newest that meets them all,
// or, if none does, the newest of those the conditions ask for.

/// Something that must be true of one of the learner's runs.
package struct Check: Hashable, Sendable {
  /// Which runs it is about.
  package let conditions: [Expectation]
  package let expectation: Expectation
  /// True when it is met, in words.
  package let sentence: String
  package let line: Int

  package init(
    conditions: [Expectation],
    expectation: Expectation,
    sentence: String,
    line: Int
  ) {
    self.conditions = conditions
    self.expectation = expectation
    self.sentence = sentence
    self.line = line
  }

  /// Reads `peak_running = 3` or `for mechanism = pool and limit = 4: peak_running = 4`.
  ///
  /// - Throws: `ExpectationError`.
  package init(_ text: String, sentence: String, line: Int) throws(ExpectationError) {
    let (conditions, rest) = try Self.conditions(in: text)
    self.init(
      conditions: conditions,
      expectation: try Expectation(rest),
      sentence: sentence,
      line: line
    )
  }

  /// Takes `for A and B:` from the front of a text.
  static func conditions(
    in text: String
  ) throws(ExpectationError) -> (conditions: [Expectation], rest: String) {
    let text = text.trimmed
    guard text.hasPrefix("for ") else { return ([], text) }
    guard let colon = text.firstIndex(of: ":") else {
      throw ExpectationError(
        "after 'for' come conditions joined by 'and', a colon and what is expected, "
          + "as in for mechanism = pool: peak_running = limit",
        at: text
      )
    }
    var conditions: [Expectation] = []
    for part in text[..<colon].dropFirst(4).split(separator: " and ") {
      conditions.append(try Expectation(String(part)))
    }
    return (conditions, String(text[text.index(after: colon)...]).trimmed)
  }

  static func meets(_ conditions: [Expectation], _ source: some MetricSource) -> Bool {
    conditions.allSatisfy { (try? $0.judge(source).isMet) == true }
  }

  /// Whether the check can be asked of this source at all: an exploration has no makespan.
  func concerns(_ source: some MetricSource) -> Bool {
    (try? expectation.judge(source)) != nil && Self.meets(conditions, source)
  }
}

/// What came of one check.
package struct CheckResult: Hashable, Sendable {
  package enum Verdict: Hashable, Sendable {
    case met(ExpectationResult)
    /// What was run later may not be what it is about.
    case missed(ExpectationResult, newest: Stranger? = nil)
    /// The learner has run nothing yet that it is about.
    case nothingToJudge(nearest: Stranger?)
  }

  /// A run that the check is not about.
  package struct Stranger: Hashable, Sendable {
    /// What the learner did; nil where nobody can tell.
    let origin: String?
    /// What it has in place of what is asked for.
    let differences: [String]
    /// What it should have, where that is no secret.
    var wanted: [String] = []

    var text: String {
      differences.joined(separator: " and ")
        + (wanted.isEmpty ? "" : "; wanted " + wanted.joined(separator: " and "))
    }
  }

  package let check: Check
  package let verdict: Verdict

  package var isMet: Bool { if case .met = verdict { true } else { false } }

  /// What to tell the lesson's author: nil when it is met.
  package var complaint: String? {
    switch verdict {
    case .met: nil
    case .missed(let result, _): result.sentence
    case .nothingToJudge:
      "nothing was run with " + check.conditions.map(\.text).joined(separator: " and ")
    }
  }

  /// What to tell the learner: nil when it is met.
  ///
  /// What the figure should be is told where it is not what is asked.
  package func remark(asking asked: Metric? = nil) -> String? {
    switch verdict {
    case .met: return nil
    case .missed(let result, let newest):
      let isSecret = result.metric == asked || result.metric.isChosen
      let later = newest.map {
        "\($0.origin ?? "your newest run") had \($0.text) and does not count; "
      }
      return (later ?? "") + result.finding(withGoal: !isSecret)
    // It may have been run on an earlier page.
    case .nothingToJudge(nil):
      return "you have not run anything since this page began that shows it"
    case .nothingToJudge(let nearest?):
      let origin = nearest.origin.map { ", \($0)," } ?? ""
      return "you have not run yet what this is about: the run that comes nearest\(origin) had "
        + nearest.text
    }
  }
}

extension [Check] {
  /// Judges what the learner has run, oldest first.
  package func judge(_ evidence: [any MetricSource]) -> [CheckResult] {
    map { check in
      guard let place = place(of: check, in: evidence),
        let result = try? check.expectation.judge(evidence[place])
      else {
        return CheckResult(check: check, verdict: .nothingToJudge(nearest: check.nearest(evidence)))
      }
      if result.isMet { return CheckResult(check: check, verdict: .met(result)) }
      let newest = evidence[(place + 1)...].last.flatMap(check.nearMiss)
      return CheckResult(check: check, verdict: .missed(result, newest: newest))
    }
  }
}

extension [Check] {
  /// Where the run is that decides one of these checks; nil where none does.
  private func place(of check: Check, in evidence: [any MetricSource]) -> Int? {
    let candidates = evidence.indices.filter { check.concerns(evidence[$0]) }
    let chosen = candidates.last { place in
      allSatisfy { other in
        other.conditions != check.conditions || !other.concerns(evidence[place])
          || other.isMet(by: evidence[place])
      }
    }
    return chosen ?? candidates.last
  }

  /// Where the runs are that decide these checks.
  fileprivate func places(in evidence: [any MetricSource]) -> Set<Int> {
    Set(compactMap { place(of: $0, in: evidence) })
  }
}

extension LessonSection {
  /// Of what a learner has run, the figures that decide the checks and the question, so that they can be
  /// judged again another day.
  func kept(of evidence: [any MetricSource]) -> [MetricTable] {
    var metrics = Set(checks.flatMap { ($0.conditions + [$0.expectation]).flatMap(\.metrics) })
    var places = checks.places(in: evidence)
    if case .figure(let metric, let conditions) = prediction?.answer {
      metrics.formUnion([metric] + conditions.flatMap(\.metrics))
      let newest = evidence.lastIndex { source in
        source.value(of: metric) != nil && Check.meets(conditions, source)
      }
      if let newest { places.insert(newest) }
    }
    return places.sorted().map { MetricTable(metrics, of: evidence[$0]) }
  }
}

extension Expectation {
  /// The figures it reads; a word may be the name of one.
  fileprivate var metrics: [Metric] {
    switch bound {
    case .metric(let other, _): [metric, other]
    case .words(let words): [metric] + words.compactMap(Metric.init(parsing:))
    case .value, .range: [metric]
    }
  }
}

extension MetricTable {
  fileprivate init(_ metrics: Set<Metric>, of source: any MetricSource) {
    self.init([:])
    for metric in metrics {
      // A figure that is not finite cannot be written as JSON.
      guard let value = source.value(of: metric), value.magnitude?.isFinite ?? true else {
        continue
      }
      values[metric.description] = value
      witnesses[metric.description] = source.witness(of: metric)
    }
  }
}

extension Check {
  /// What the run that meets the most conditions, the newest of those, has in place of the others.
  fileprivate func nearest(_ evidence: [any MetricSource]) -> CheckResult.Stranger? {
    let strangers = evidence.reversed().compactMap { source -> CheckResult.Stranger? in
      guard let missed = missed(by: source) else { return nil }
      return CheckResult.Stranger(
        origin: source.origin,
        differences: missed.map { "\($0.metric) = \($0.got)" },
        // Which clock is no secret: the task names it.
        wanted: missed.filter { $0.metric.name == "clock" }.map { "\($0.metric) = \($0.expected)" }
      )
    }
    let nearest = strangers.min { $0.differences.count < $1.differences.count }
    return nearest?.differences.isEmpty == false ? nearest : nil
  }

  /// What a run has in place of the one condition that it does not meet; nil where it is about something else.
  fileprivate func nearMiss(_ source: any MetricSource) -> CheckResult.Stranger? {
    guard let missed = missed(by: source), missed.count == 1, missed[0].metric.name != "mechanism"
    else { return nil }
    return CheckResult.Stranger(
      origin: source.origin,
      differences: ["\(missed[0].metric) = \(missed[0].got)"]
    )
  }

  /// The conditions that a source does not meet; nil where they cannot be asked of it.
  private func missed(by source: any MetricSource) -> [ExpectationResult]? {
    let results = conditions.map { try? $0.judge(source) }
    guard results.allSatisfy({ $0 != nil }) else { return nil }
    return results.compactMap(\.self).filter { !$0.isMet }
  }

  fileprivate func isMet(by source: some MetricSource) -> Bool {
    (try? expectation.judge(source).isMet) == true
  }
}
