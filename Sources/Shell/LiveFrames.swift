internal import Experiments
internal import Mechanisms
internal import Rendering
internal import Synchronization
internal import Tracing

/// What is shown in place until it is over or a person leaves it, and takes keys meanwhile.
protocol FrameSource: Sendable {
  func frame(_ format: TextFormat) -> Frame

  /// Takes a key.
  ///
  /// - Returns: whether the person wants to leave.
  func press(_ key: UInt8) -> Bool

  /// Lets the next frame be the last.
  func end()

  /// What was typed for the prompt meanwhile.
  var typedAhead: [UInt8] { get }
}

/// The frames of a live view, read on the thread that draws them.
final class LiveFrames: FrameSource {
  private let background: Background
  private struct State {
    var view: LiveView
    var cursor = TraceRecorder.Cursor()
    var now: Int64 = 0
  }

  private let state: Mutex<State>
  private let hasEnded = Atomic(false)

  init(_ background: Background, facts: RunFacts, hint: String) {
    self.background = background
    state = Mutex(
      State(view: LiveView(LiveBoard(plan: background.run.plan), facts: facts, hint: hint))
    )
  }

  var typedAhead: [UInt8] { state.withLock { $0.view.keys.typedAhead } }

  func end() { hasEnded.store(true, ordering: .relaxed) }

  func frame(_ format: TextFormat) -> Frame {
    let hasEnded = hasEnded.load(ordering: .relaxed)
    return state.withLock { state in
      if !state.view.keys.isPaused {
        state.view.take(background.run.events(since: &state.cursor))
        state.now = background.now
      }
      let isOver = state.view.board.isOver && !state.view.keys.isPaused
      return Frame(lines: state.view.lines(now: state.now, format), isLast: isOver || hasEnded)
    }
  }

  func press(_ key: UInt8) -> Bool {
    let action = state.withLock { $0.view.keys.press(key) }
    switch action {
    case nil: return false
    case .leave: return true
    case .cancel(let number):
      let count = background.run.plan.count
      guard number <= count else { return tell("there are \(count) tasks") }
      background.run.cancel(number)
      return tell("task \(number) was told to cancel")
    case .limit(let limit):
      let mechanism = background.experiment.mechanism
      guard mechanism.profile.controls.contains(.limit), limit <= 1_000_000 else {
        return tell("\(mechanism.id) cannot change to that limit")
      }
      background.run.perform(.changeLimit(limit))
      return tell("the limit is \(limit) now")
    }
  }

  private func tell(_ message: String) -> Bool {
    state.withLock { $0.view.keys.message = message }
    return false
  }
}
