internal import Glibc

/// What whoever starts a program asks of all its explorations: `swift package explore`, or a person by hand.
enum Environment {
  /// The schedule in `EXPLORATION_REPLAY`, if it is one of that scenario.
  static func schedule(of scenario: String) -> String? {
    guard let text = value(of: "EXPLORATION_REPLAY") else { return nil }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[1] == scenario ? text : nil
  }

  /// How long each may look for a failure, at most: `EXPLORATION_WITHIN`, in seconds.
  static var limit: Duration? {
    guard let text = value(of: "EXPLORATION_WITHIN") else { return nil }
    guard let seconds = Double(text), seconds > 0, seconds < 1e9 else {
      fatalError("EXPLORATION_WITHIN is a number of seconds more than 0, not '\(text)'")
    }
    return .seconds(seconds)
  }

  /// To which file to write a page of a failing schedule, where the exploration names none: `EXPLORATION_REPORT`.
  static var report: String? { value(of: "EXPLORATION_REPORT") }

  /// Whether a step is told with the callers of its line: `EXPLORATION_STACKS` is 1.
  static var showsStacks: Bool { value(of: "EXPLORATION_STACKS") == "1" }

  /// Whether each verdict is printed, for a test that passes says nothing: `EXPLORATION_VERDICTS` is 1, or 2.
  static var tellsVerdicts: Bool { ["1", "2"].contains(value(of: "EXPLORATION_VERDICTS")) }

  /// Whether all is printed that a verdict does not cover: `EXPLORATION_VERDICTS` is 2.
  static var tellsVerdictsInFull: Bool { value(of: "EXPLORATION_VERDICTS") == "2" }

  private static func value(of name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }
}
