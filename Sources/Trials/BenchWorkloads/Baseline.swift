internal import Basics
internal import Foundation
internal import Synchronization
internal import Tracing

/// The costs of the parts that every limiter is made of; a limiter's own cost is what it takes beyond.
package struct Baseline: BenchWorkload {
  private enum Part: String, CaseIterable {
    case loop
    case clock
    case lock
    case spawn
    case yield
    case continuation
    case recordedEvent = "recorded-event"
  }

  private let part: Part

  package static let all: [any BenchWorkload] = Part.allCases.map { Baseline(part: $0) }

  package var id: String { "baseline-\(part.rawValue)" }
  package let headline: Headline? = Headline(.timePerOperation, "mean")
  package let measuresMechanisms = false

  package var question: String {
    switch part {
    case .loop: "What does a turn of an empty loop cost?"
    case .clock: "What does one reading of the monotonic clock cost?"
    case .lock: "What does locking and unlocking an uncontended Mutex cost?"
    case .spawn: "What does starting a task and awaiting its value cost?"
    case .yield: "What does one Task.yield() cost with nothing else to run?"
    case .continuation: "What does a checked continuation, resumed at once, cost?"
    case .recordedEvent: "What does recording one event of the trace cost the thread it happens on?"
    }
  }

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] { [Cell(id)] }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    let lock = Mutex(0)
    await measureRepeated(budget: trial.request.budget, into: &report) { times in
      switch part {
      case .loop: for turn in 0..<times { keep(turn) }
      case .clock: for _ in 0..<times { keep(MachineClock.monotonic()) }
      case .lock: for _ in 0..<times { lock.withLock { $0 &+= 1 } }
      case .spawn: for _ in 0..<times { await Task {}.value }
      case .yield: for _ in 0..<times { await Task.yield() }
      case .continuation:
        for _ in 0..<times { await withCheckedContinuation { $0.resume() } }
      case .recordedEvent: recordEvents(times)
      }
    }
  }

  /// A new recorder now and then, because one keeps every event it was given.
  private func recordEvents(_ times: Int) {
    var left = times
    while left > 0 {
      let recorder = TraceRecorder(source: WallTraceSource())
      for _ in 0..<min(left, 100_000) { recorder.record(.resumed, of: TaskID(1)) }
      left -= min(left, 100_000)
    }
  }
}

/// Does nothing with the value in a place the optimiser cannot look into, so that the loop around it
/// stays.
@inline(never) @_optimize(none)
func keep<Value>(_ value: Value) {}
