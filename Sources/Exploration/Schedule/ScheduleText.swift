/// A schedule as one line: `v3:limiter-2-1-any:8c1f03d2:1*2,2,c2,w1,a1`.
///
/// The version, the name of the scenario, a fingerprint of what happened, and the choices: `3` lets
/// agent 3 take a step, or go on in the middle of one, `w3` wakes it, `c3` cancels task 3, `l4` makes the limit 4,
/// `a3` gives its turn to an actor (or half a yield) that agent 3 made ready, `a3.1` the second such turn. `2*4`
/// stands for `2,2,2,2`. The fingerprint covers the choices, which steps each made ready and what tasks reported, so
/// that a schedule recorded for other code is refused instead of leading somewhere else.
package struct Schedule: Hashable, Sendable, CustomStringConvertible {
  /// `v3` since the registration of a cancellation handler is a step: what was recorded before leads elsewhere.
  package static let version = "v3"

  /// Which scenario the schedule belongs to.
  package var scenario: String
  /// What following it led to; nil for choices that nobody has followed yet.
  package var fingerprint: UInt32?
  package var choices: [Choice]

  package init(scenario: String, fingerprint: UInt64? = nil, choices: [Choice]) {
    self.scenario = scenario
    self.fingerprint = fingerprint.map(Self.folded)
    self.choices = choices
  }

  static func folded(_ fingerprint: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: fingerprint ^ fingerprint >> 32)
  }

  package var description: String {
    var parts: [(text: String, count: Int)] = []
    for choice in choices {
      let text = choice.text
      if parts.last?.text == text {
        parts[parts.count - 1].count += 1
      } else {
        parts.append((text, 1))
      }
    }
    let list = parts.map { $0.count == 1 ? $0.text : "\($0.text)*\($0.count)" }
    let digits = fingerprint.map { String($0, radix: 16) } ?? "-"
    return "\(Self.version):\(scenario):\(digits):\(list.joined(separator: ","))"
  }

  /// Reads a schedule back.
  ///
  /// - Throws: `ScheduleError` naming what cannot be read.
  package init(parsing text: String) throws(ScheduleError) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    if parts.count >= 2, parts[0] != Self.version, parts[0].first == "v",
      Int(parts[0].dropFirst()) != nil
    {
      throw .otherVersion(String(parts[0]))
    }
    guard parts.count == 4, parts[0] == Self.version, !parts[1].isEmpty else {
      throw .notASchedule(text)
    }
    scenario = String(parts[1])
    if parts[2] != "-" {
      guard let number = UInt32(parts[2], radix: 16) else { throw .notASchedule(text) }
      fingerprint = number
    }
    choices = []
    if parts[3].isEmpty { return }
    for part in parts[3].split(separator: ",", omittingEmptySubsequences: false) {
      let factors = part.split(separator: "*", omittingEmptySubsequences: false)
      guard let choice = factors.first.flatMap({ Choice(parsing: $0) }) else {
        throw .notAChoice(String(part))
      }
      switch factors.count {
      case 1: choices.append(choice)
      case 2:
        guard let count = Int(factors[1]), (1...100_000).contains(count) else {
          throw .notAChoice(String(part))
        }
        choices.append(contentsOf: repeatElement(choice, count: count))
      default: throw .notAChoice(String(part))
      }
    }
  }
}

/// Why a schedule cannot be replayed.
package enum ScheduleError: Error, Hashable, CustomStringConvertible {
  case notASchedule(String)
  case otherVersion(String)
  case notAChoice(String)
  /// The schedule was made for another scenario.
  case otherScenario(schedule: String, scenario: String)
  /// The choices were possible, and led to something else than when they were recorded.
  case otherRun
  /// The same choices led to different runs, one after the other.
  case diverged(scenario: String)
  /// At this step, counted from 1, the choice was not among those there were.
  case notPossible(step: Int, choice: Choice, options: [Choice])

  package var description: String {
    switch self {
    case .notASchedule(let text):
      "'\(text)' is not a schedule; one looks like v3:SCENARIO:8c1f03d2:1,2,c2 and is printed by explore"
    case .otherVersion(let version):
      "this schedule is of version '\(version)', and \(Schedule.version) is what can be replayed here; "
        + "explore again to get a new one"
    case .notAChoice(let text):
      "'\(text)' is not a step of a schedule; steps are 3 (task 3 goes on), w3 (it wakes), c3 (it is "
        + "cancelled), a3 (a turn that 3 made ready), l3 (the limit becomes 3), each perhaps with *TIMES"
    case .otherScenario(let schedule, let scenario):
      "the schedule belongs to '\(schedule)', not to '\(scenario)'; replay it with what it was made of"
    case .otherRun:
      "the schedule's choices lead to something else than when it was recorded: the code has changed "
        + "since then, the line was altered, or the code does not do the same each time; explore again to get a new one"
    case .diverged(let scenario):
      "the same choices led '\(scenario)' to different runs; it reads a clock, random numbers or state "
        + "that outlives a schedule"
    case .notPossible(let step, let choice, let options):
      "step \(step) of the schedule is '\(choice.text)', but what can happen there is "
        + (options.isEmpty ? "nothing" : options.map(\.text).joined(separator: " or "))
        + "; the code has changed since the schedule was made, or the line was altered: explore again"
    }
  }
}

extension Choice {
  package var text: String {
    switch kind {
    case .run: "\(agent)"
    case .cancel: "c\(agent)"
    case .wake: "w\(agent)"
    case .limit: "l\(agent)"
    case .turn: ordinal == 0 ? "a\(agent)" : "a\(agent).\(ordinal)"
    }
  }

  init?(parsing text: Substring) {
    switch text.first {
    case "c", "w", "l":
      guard let number = Self.number(text.dropFirst()) else { return nil }
      self.init(text.first == "c" ? .cancel : text.first == "w" ? .wake : .limit, number)
    case "a":
      let numbers = text.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
      guard let agent = numbers.first.flatMap(Self.number), numbers.count <= 2 else { return nil }
      guard numbers.count == 2 else {
        self.init(.turn, agent)
        return
      }
      guard let ordinal = Self.number(numbers[1]) else { return nil }
      self.init(.turn, agent, ordinal: ordinal)
    default:
      guard let agent = Self.number(text) else { return nil }
      self.init(.run, agent)
    }
  }

  /// Digits only: no sign, no spaces, few enough for what is counted here.
  private static func number(_ text: Substring) -> Int? {
    guard (1...6).contains(text.count), text.allSatisfy({ $0.isASCII && $0.isNumber }) else {
      return nil
    }
    return Int(text)
  }
}
