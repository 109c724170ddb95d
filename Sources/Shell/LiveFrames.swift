internal import Experiments
internal import Rendering
internal import Synchronization
internal import Tracing

/// The frames of a live view, read on the thread that draws them.
final class LiveFrames: Sendable {
  private let background: Background
  private let view: Mutex<(LiveView, TraceRecorder.Cursor)>
  private let hasEnded = Atomic(false)

  init(_ background: Background, facts: RunFacts, hint: String) {
    self.background = background
    view = Mutex(
      (
        LiveView(LiveBoard(plan: background.run.plan), facts: facts, hint: hint),
        TraceRecorder.Cursor()
      )
    )
  }

  /// Lets the next frame be the last.
  func end() { hasEnded.store(true, ordering: .relaxed) }

  func frame(_ format: TextFormat) -> Frame {
    view.withLock { view in
      view.0.take(background.run.events(since: &view.1))
      return Frame(
        lines: view.0.lines(now: background.now, format),
        isLast: view.0.board.isOver || hasEnded.load(ordering: .relaxed)
      )
    }
  }
}
