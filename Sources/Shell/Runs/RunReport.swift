internal import Experiments
internal import Mechanisms
internal import Rendering

/// A run that has ended, and what is told of it.
///
/// Apart from the session: of a large run it takes seconds to derive, and Ctrl-C is heard meanwhile.
struct RunReport: Sendable {
  /// How a run is to be told.
  struct Manner: Sendable {
    let experiment: Experiment
    /// Notes on what was asked for.
    var notes: [Note] = []
    let format: TextFormat
    /// In sentences, and not in pictures.
    let describes: Bool
    /// In JSON Lines, which are written as they are made.
    let json: Bool
    /// Whether what its downloads reported is still to be told: where frames were shown, that comes now and
    /// stays, as through a pipe.
    let owesReport: Bool
    let isInLesson: Bool
    /// Whether a person is told what helps next.
    let suggests: Bool
  }

  let run: Run
  let summary: RunSummary
  let metrics: RunMetrics
  /// Empty in JSON Lines.
  let text: String

  init(_ run: Run, _ manner: Manner) {
    self.run = run
    summary = run.summary
    metrics = RunMetrics(run)
    text = manner.json ? "" : Self.text(run, summary, manner)
  }

  private static func text(_ run: Run, _ summary: RunSummary, _ manner: Manner) -> String {
    let format = manner.format
    var text = manner.owesReport ? ProgressReporter.text(of: run) : ""
    if let completion = run.completion,
      let signal = manner.experiment.mechanism.profile.completionSignal
    {
      let lastEnd = run.events.last { $0.kind.isEnd }?.time ?? 0
      let when = completion < lastEnd ? "before" : "after"
      text += ProgressReporter.line(at: completion, signal, "\(when) the last task had ended")
    }
    if manner.describes {
      text += Describe.run(run, summary) + Note.text(manner.notes, format)
    } else {
      text += "\n" + Gantt.tasks(run, format) + "\n" + SummaryText.line(run, summary, format)
      text += Note.text(manner.notes + Note.all(for: run, summary), format)
    }
    if run.stoppedBecause == Session.interrupted, manner.isInLesson {
      text += "'check' does not count a run that was stopped.\n"
    }
    if manner.suggests { text += SeeAlso.text(run, summary, format) }
    return text
  }
}
