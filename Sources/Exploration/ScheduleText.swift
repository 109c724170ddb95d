/// A schedule as one line: `v1:limiter-2-1-any-8c1f:1*2,2,c2,a1`.
///
/// The version, the fingerprint of the scenario it belongs to, and its choices: `3` lets agent 3 take
/// a step, `c3` cancels task 3, `a3` gives its turn to an actor (or half a yield) that agent 3 made
/// ready, `a3.1` the second such turn. `2*4` stands for `2,2,2,2`.
package struct Schedule: Hashable, Sendable, CustomStringConvertible {
  package static let version = "v1"

  /// Which scenario the schedule belongs to.
  package var fingerprint: String
  package var choices: [Choice]

  package init(fingerprint: String, choices: [Choice]) {
    self.fingerprint = fingerprint
    self.choices = choices
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
    return "\(Self.version):\(fingerprint):\(list.joined(separator: ","))"
  }

  /// Reads a schedule back.
  ///
  /// - Throws: `ScheduleError` naming what cannot be read.
  package init(parsing text: String) throws(ScheduleError) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .notASchedule(text) }
    guard parts[0] == Self.version else { throw .otherVersion(String(parts[0])) }
    guard !parts[1].isEmpty else { throw .notASchedule(text) }
    fingerprint = String(parts[1])
    choices = []
    if parts[2].isEmpty { return }
    for part in parts[2].split(separator: ",", omittingEmptySubsequences: false) {
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
  /// At this step, counted from 1, the choice was not among those there were.
  case notPossible(step: Int, choice: Choice, options: [Choice])

  package var description: String {
    switch self {
    case .notASchedule(let text):
      "'\(text)' is not a schedule; one looks like v1:SCENARIO:1,2,c2 and is printed by explore"
    case .otherVersion(let version):
      "this schedule is of version '\(version)', and \(Schedule.version) is what can be replayed here; "
        + "explore again to get a new one"
    case .notAChoice(let text):
      "'\(text)' is not a step of a schedule; steps are 3 (task 3 goes on), c3 (task 3 is cancelled), "
        + "a3 (a turn that 3 made ready), each perhaps with *TIMES"
    case .otherScenario(let schedule, let scenario):
      "the schedule belongs to the scenario '\(schedule)', not to '\(scenario)'; replay it with the "
        + "mechanism, tasks, limit and cancel it was made with"
    case .notPossible(let step, let choice, let options):
      "step \(step) of the schedule is '\(choice.text)', but what can happen there is "
        + (options.isEmpty ? "nothing" : options.map(\.text).joined(separator: " or "))
        + "; the code has changed since the schedule was made"
    }
  }
}

extension Choice {
  package var text: String {
    switch kind {
    case .run: "\(agent)"
    case .cancel: "c\(agent)"
    case .turn: ordinal == 0 ? "a\(agent)" : "a\(agent).\(ordinal)"
    }
  }

  init?(parsing text: Substring) {
    switch text.first {
    case "c":
      guard let agent = Self.number(text.dropFirst()) else { return nil }
      self.init(.cancel, agent)
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
