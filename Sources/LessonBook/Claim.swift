// What a lesson says of the wall clock.
//
// Three kinds of places say it: the predicates of a transcript (`real:`), the check of a step whose
// solution runs on the wall clock, and a sentence, with a comment directly behind it that says the same as
// something to be judged:
//
//     All operations had ended before a third thread came.
//     <!-- claim: for limit = 200: peak_running <= cores + 2 -->
//     The same with a pool: no image is sent twice.
//     <!-- claim: run 40 pool limit=4 kind=fetch work=20ms shows most_transfers = 1 -->
//
// Without commands it is about the newest run of the transcripts before it that meets its conditions.

/// A sentence about the wall clock, as something that can be judged.
package struct Claim: Hashable, Sendable {
  /// What is run for it; empty where it is about the transcripts before it.
  package var commands: [String]
  package var checks: [Check]
  package var line: Int

  /// Reads `for limit = 3: peak_running = 3; finished = 12` or `COMMAND; COMMAND shows finished = 12`.
  ///
  /// - Throws: `ExpectationError`.
  init(_ text: String, line: Int) throws(ExpectationError) {
    var expectations = text
    commands = []
    if let parts = text.parts(around: " shows ") {
      commands = Self.parts(of: parts.before)
      expectations = parts.after
    }
    checks = []
    for part in Self.parts(of: expectations) {
      checks.append(try Check(part, sentence: part, line: line))
    }
    self.line = line
    if checks.isEmpty {
      throw ExpectationError("a claim says what must be true, as in makespan < 1s", at: text)
    }
  }

  private static func parts(of text: String) -> [String] {
    text.split(whereSeparator: { $0 == ";" || $0 == "\n" }).map { String($0).trimmed }
      .filter { !$0.isEmpty }
  }
}

/// What came of a claim in one run.
package struct ClaimFinding: Hashable, Sendable, Codable {
  package var file: String
  package var line: Int
  /// With its conditions, as it is written.
  package var claim: String
  package var isHeld: Bool
  /// What there was; nil where nothing was run that it is about.
  package var value: MetricValue?
}

extension ClaimFinding {
  init(_ result: CheckResult, in file: String) {
    let conditions = result.check.conditions.map(\.text)
    let value: MetricValue? =
      switch result.verdict {
      case .met(let result), .missed(let result, _): result.got
      case .nothingToJudge: nil
      }
    self.init(
      file: file,
      line: result.check.line,
      claim: (conditions.isEmpty ? "" : "for \(conditions.joined(separator: " and ")): ")
        + result.check.expectation.text,
      isHeld: result.isMet,
      value: value
    )
  }
}

/// What came of a claim in many runs.
package struct ClaimTally: Hashable, Sendable {
  package let file: String
  package let line: Int
  package let claim: String
  package private(set) var runs = 0
  package private(set) var held = 0
  private var values: [MetricValue] = []

  /// The tallies of findings, in the order of files and lines.
  package static func of(_ findings: [ClaimFinding]) -> [ClaimTally] {
    var tallies: [ClaimTally] = []
    for finding in findings {
      let place = tallies.firstIndex { tally in
        (tally.file, tally.line, tally.claim) == (finding.file, finding.line, finding.claim)
      }
      if let place {
        tallies[place].add(finding)
      } else {
        var tally = ClaimTally(file: finding.file, line: finding.line, claim: finding.claim)
        tally.add(finding)
        tallies.append(tally)
      }
    }
    return tallies.sorted { ($0.file, $0.line) < ($1.file, $1.line) }
  }

  private init(file: String, line: Int, claim: String) {
    self.file = file
    self.line = line
    self.claim = claim
  }

  private mutating func add(_ finding: ClaimFinding) {
    runs += 1
    if finding.isHeld { held += 1 }
    if let value = finding.value { values.append(value) }
  }

  /// Whether it held in nineteen runs of twenty, or more.
  package var holds: Bool { held * 20 >= runs * 19 }

  /// One line: how often it held, and what there was.
  package var description: String {
    "\(holds ? " " : "✗") \(held) of \(runs)  \(file):\(line)  \(claim)\(figures.map { " · \($0)" } ?? "")"
  }

  /// The median and the range; for words, how often each came.
  private var figures: String? {
    let sorted = values.filter { $0.magnitude != nil }
      .sorted { ($0.magnitude ?? 0) < ($1.magnitude ?? 0) }
    let others = values.filter { $0.magnitude == nil }.map(\.description)
    var parts: [String] = []
    if let least = sorted.first, let most = sorted.last {
      parts.append(
        least == most
          ? "\(least) each time" : "median \(sorted[sorted.count / 2]), \(least) to \(most)"
      )
    }
    for word in Set(others).sorted() {
      parts.append("\(word) \(others.count { $0 == word }) times")
    }
    if values.count < runs { parts.append("nothing to judge \(runs - values.count) times") }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}

extension Lesson {
  /// Whether the lesson says that it runs something on the wall clock.
  package var usesWallClock: Bool { time.contains("wall clock") }
}

extension MetricSource {
  /// Whether it was measured on the wall clock, so that it is not the same every time.
  package var isOfWallClock: Bool { value(of: Metric("clock")) == .word("real") }
}
