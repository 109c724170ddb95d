internal import Basics
internal import Dispatch
internal import Experiments
internal import Foundation
internal import Mechanisms
internal import Rendering
internal import Synchronization

/// Tells of a run on the wall clock while it goes on, a line for each report of a download.
///
/// Runs on a thread of its own: the run may have blocked every thread of the pool, which is often
/// what one wants to see.
final class ProgressReporter: Sendable {
  /// The most tasks of a run that was drawn while it went on whose reports are written afterwards, line by line.
  static let mostTasksTold = 20

  private let ended = DispatchSemaphore(value: 0)
  /// Who waits in `end()`, from before `ended` is signalled.
  private let waiter = Mutex<CheckedContinuation<Void, Never>?>(nil)

  /// Reports until `end()`; nil where there is nothing worth reporting.
  init?(_ run: any LiveRun, _ experiment: Experiment, _ output: any ShellOutput) {
    guard Self.concerns(experiment) else { return nil }
    let count = run.plan.count
    OSThread("progress") { [self] in
      var cursor = TraceRecorder.Cursor()
      var isOver = false
      while !isOver {
        isOver = ended.wait(timeout: .now() + .milliseconds(50)) == .success
        let lines = run.events(since: &cursor).compactMap { Self.line(for: $0, amongst: count) }
        if !lines.isEmpty { output.write(lines.joined()) }
      }
      waiter.withLock { $0 }?.resume()
    }.detach()
  }

  /// Whether a run has anything to report.
  static func concerns(_ experiment: Experiment) -> Bool {
    experiment.resolvedClock == .real
      && [.download, .copy].contains(experiment.workload.kind)
  }

  /// All that a run reported, for one that has ended.
  static func text(of run: Run) -> String {
    run.events.compactMap { line(for: $0, amongst: run.plan.count) }.joined()
  }

  /// Reports what is left and returns when all is written.
  func end() async {
    await withCheckedContinuation { continuation in
      waiter.withLock { $0 = continuation }
      ended.signal()
    }
  }

  private static func line(for event: TraceEvent, amongst count: Int) -> String? {
    switch event.kind {
    case .progress(let share): line(at: event.time, event.task.label(amongst: count), "\(share) %")
    case .finished, .failed, .cancelled, .rejected:
      line(at: event.time, event.task.label(amongst: count), EventText.name(of: event.kind))
    case .arrived, .blocked, .unblocked, .answered, .error, .holds, .admitted, .suspended,
      .resumed, .limit:
      nil
    }
  }

  /// A line of the report: the time, who, what.
  static func line(at time: Int64, _ who: String, _ what: String) -> String {
    Columns.right(DurationText.text(time), 8) + "  \(who)  \(what)\n"
  }
}
