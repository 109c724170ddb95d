internal import Basics
internal import Experiments
internal import Exploration
internal import Foundation
internal import Synchronization

// The library that exploring is has an error of that name too.
private typealias Failure = Experiments.ExplorationFailure

extension ExplorationPlace {
  /// In a program of their own: the lab's file, started anew for each request.
  ///
  /// A trap there is a verdict here, and so is a step that does not end.
  static func program(_ lab: String) -> ExplorationPlace {
    ExplorationPlace { request, control throws(Failure) in
      let file = NSTemporaryDirectory() + "concurrency-lab-journal-\(UUID().uuidString)"
      defer { unlink(file) }
      guard let journal = ScheduleJournal(file: file),
        let encoded = try? JSONEncoder().encode(request)
      else {
        throw Failure(description: "no file can be made in \(NSTemporaryDirectory())")
      }
      let look = Look(journal: journal, control: control)
      let child: ChildProcess
      do {
        child = try await ChildProcess.run(
          lab,
          ["--request", String(decoding: encoded, as: UTF8.self), "--journal", file],
          // The report of a crash names threads and frames, takes seconds, and nobody reads it.
          environment: ["SWIFT_BACKTRACE": "enable=no"],
          timeLimit: .seconds(1_000_000),
          holdsLifeline: true,
          isInterrupted: look.shouldEnd
        )
      } catch { throw Failure(description: "\(error)") }
      switch child.ending {
      case .exited(0):
        let line = child.output.split(separator: "\n").last ?? ""
        guard
          let answer = try? JSONDecoder().decode(ExplorationAnswer.self, from: Data(line.utf8))
        else { throw Failure(description: "the program that explores gave no answer") }
        return .answered(answer)
      case .exited(let status), .killed(let status):
        let words = Self.lastWords(child.errors) ?? "the program ended with status \(status)"
        return .broken(.trap(words), journal)
      case .interrupted where look.isStuck, .outOfTime:
        let broken = ExplorationReport.Broken.livelock(
          "the step did not end within \(Look.mostStill / 10) s: an endless loop, or a thread "
            + "that is blocked for ever"
        )
        return .broken(broken, journal)
      case .interrupted: throw Failure(description: "interrupted")
      }
    }
  }

  /// What the runtime said of a program's end: the message without the file's place.
  static func lastWords(_ errors: String) -> String? {
    let marks = [
      "SWIFT TASK CONTINUATION MISUSE: ", "Fatal error: ", "Precondition failed: ",
      "Assertion failed: ",
    ]
    for line in errors.split(separator: "\n") {
      for mark in marks {
        if let range = line.range(of: mark) { return String(line[range.upperBound...]) }
      }
    }
    return nil
  }
}

/// Looks at an exploration in another program, ten times a second.
private final class Look: Sendable {
  /// So many looks at a step that does not end are enough.
  static let mostStill = 100
  /// The same where somebody waits for the end; what is told of a failure may take a second.
  private static let mostStillWhenStopped = 15

  private struct State {
    var pulse: UInt64 = 0
    var still = 0
    var stopping = 0
    var isStuck = false
  }

  private let journal: ScheduleJournal
  private let control: ExplorationControl
  private let state = Mutex(State())

  init(journal: ScheduleJournal, control: ExplorationControl) {
    self.journal = journal
    self.control = control
  }

  var isStuck: Bool { state.withLock { $0.isStuck } }

  /// Whether the program is to be ended: its step does not end, or it was asked to stop and does not.
  func shouldEnd() -> Bool {
    control.follow(journal)
    let pulse = journal.pulse
    return state.withLock { state in
      // A program that has not begun is being started, on a machine that may be busy.
      state.still = pulse != state.pulse || pulse == 0 ? 0 : state.still + 1
      state.pulse = pulse
      state.stopping += journal.isStopAsked ? 1 : 0
      state.isStuck = state.still >= Self.mostStill
      return state.isStuck || state.stopping > Self.mostStill
        || min(state.stopping, state.still) > Self.mostStillWhenStopped
    }
  }
}
