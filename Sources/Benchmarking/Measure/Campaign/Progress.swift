internal import Basics
internal import Foundation

/// Shows on standard error how far a run is: on a terminal in one line that changes, elsewhere in a new
/// line every ten seconds.
package struct Progress {
  private var expected: Double
  private var done = 0.0
  private var disturbed = 0
  /// Wall time and expected time of what was measured in this process, for the estimate.
  private var spent = 0.0
  private var spentExpected = 0.0
  private var lastLine = ""
  private var lastReport = -Double.infinity
  private var blockStart: Int64 = 0
  private let isTerminal: Bool
  private let start = MachineClock.monotonic()

  package init(_ plan: Plan) {
    expected = plan.expectedSeconds
    isTerminal = isatty(2) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  mutating func skip(_ entry: Plan.Entry) { done += entry.expectedSeconds }

  mutating func expectAgain(_ entry: Plan.Entry) { expected += entry.expectedSeconds }

  mutating func leaveOut(_ entry: Plan.Entry) { expected -= entry.expectedSeconds }

  mutating func begin(_ entry: Plan.Entry) {
    blockStart = MachineClock.monotonic()
    show(entry.cell.name)
  }

  mutating func finish(_ entry: Plan.Entry, _ record: BlockRecord) {
    spent += Double(MachineClock.monotonic() - blockStart) / 1e9
    spentExpected += entry.expectedSeconds
    done += entry.expectedSeconds
    if record.isDisturbed { disturbed += 1 }
    for trial in record.trials where !trial.report.violations.isEmpty {
      let who = Plan.name(entry.cell, entry.contestants[trial.contestant])
      say("invalid: \(who): \(trial.report.violations.joined(separator: "; "))")
    }
  }

  /// A line of its own.
  package mutating func say(_ line: String) {
    erase()
    write(line + "\n")
  }

  /// Takes the changing line away.
  package mutating func erase() {
    guard isTerminal, !lastLine.isEmpty else { return }
    write("\r" + String(repeating: " ", count: lastLine.count) + "\r")
    lastLine = ""
  }

  private mutating func show(_ what: String) {
    let elapsed = Double(MachineClock.monotonic() - start) / 1e9
    // Elsewhere than on a terminal a line every ten seconds says enough.
    guard isTerminal || elapsed - lastReport >= 10 else { return }
    lastReport = elapsed
    let share = expected > 0 ? min(1, done / expected) : 1
    var line = ""
    if isTerminal {
      let filled = Int((share * 20).rounded())
      line += "[" + String(repeating: "█", count: filled)
      line += String(repeating: "░", count: 20 - filled) + "] "
    }
    line += "\(Int(share * 100)) %  \(what) · \(Self.duration(timeLeft)) left"
    if disturbed > 0 { line += " · \(disturbed) block\(disturbed == 1 ? "" : "s") disturbed" }
    if isTerminal {
      erase()
      write(line)
      lastLine = line
    } else {
      write(line + "\n")
    }
  }

  private var timeLeft: Double {
    // What was measured so far corrects the plan's guess.
    let pace = spentExpected > 0 ? spent / spentExpected : 1
    return max(0, expected - done) * pace
  }

  /// For people: `25 s`, `4 min`.
  package static func duration(_ seconds: Double) -> String {
    seconds < 90 ? "\(Int(seconds.rounded(.up))) s" : "\(Int((seconds / 60).rounded())) min"
  }

  /// Progress that nobody can see any more is no reason to stop.
  private func write(_ text: String) { try? OutputWriter.standardError.write(text) }
}
