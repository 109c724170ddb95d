internal import Basics
internal import Experiments
internal import Rendering
internal import Synchronization
internal import Tracing

/// The frames of a race, read on the thread that draws them: as it goes on, or played again.
final class RaceFrames: FrameSource {
  private enum Source {
    /// Runs on the wall clock, and how far each log has been read.
    case runs([any LiveRun], [TraceRecorder.Cursor])
    case playback(Playback)
  }

  private struct State {
    var source: Source
    var view: RaceView
    var keys = RaceKeys()
    var isHeld = false
    /// What is shown of a race on the wall clock.
    var moment: Int64 = 0
    /// Where the axis ends.
    var horizon: Int64
  }

  private let state: Mutex<State>
  private let hasEnded = Atomic(false)
  /// What the keys do, in a line.
  private let help: String

  /// A race that goes on, and takes about so long.
  init(
    _ runs: [any LiveRun],
    _ view: RaceView,
    expecting length: Int64,
    keys: String = "space holds the picture, q leaves it, Ctrl-C ends the race"
  ) {
    help = keys
    let cursors = runs.map { _ in TraceRecorder.Cursor() }
    state = Mutex(State(source: .runs(runs, cursors), view: view, horizon: max(1, length)))
  }

  /// A race that is over.
  init(playing view: RaceView) {
    help = "space holds, arrows go event by event, + - speed, q to the end"
    let playback = Playback(end: view.end)
    state = Mutex(State(source: .playback(playback), view: view, horizon: view.end))
  }

  var typedAhead: [UInt8] { state.withLock { $0.keys.typedAhead } }

  func end() { hasEnded.store(true, ordering: .relaxed) }

  func frame(_ format: TextFormat) -> Frame {
    let now = MachineClock.monotonic()
    let mustEnd = hasEnded.load(ordering: .relaxed)
    return state.withLock { state in
      let isOver = Self.goOn(&state, to: now)
      return Frame(lines: lines(state, format), isLast: isOver || mustEnd)
    }
  }

  /// Brings the view up to now.
  ///
  /// - Returns: whether there is nothing more to see.
  private static func goOn(_ state: inout State, to now: Int64) -> Bool {
    switch state.source {
    case .playback(var playback):
      playback.goOn(to: now)
      state.source = .playback(playback)
      return playback.isOver
    case .runs(let runs, var cursors):
      guard !state.isHeld else { return false }
      for (place, run) in runs.enumerated() {
        state.view.take(run.events(since: &cursors[place]), of: place)
      }
      state.source = .runs(runs, cursors)
      let isOver = state.view.isOver
      state.moment = isOver ? state.view.end : state.view.moment(at: runs.map(\.now))
      while state.horizon < state.moment { state.horizon += state.horizon / 2 + 1 }
      return isOver
    }
  }

  private func lines(_ state: State, _ format: TextFormat) -> [String] {
    let moment: Int64
    var told: [String]
    switch state.source {
    case .playback(let playback):
      moment = playback.moment
      let times = format.glyphs.isASCII ? "x" : "×"
      told = [DurationText.text(moment), "\(times)\(NumberText.rate(playback.speed))"]
      if playback.isHeld { told.append("held: space goes on") }
    case .runs:
      moment = state.moment
      told = [DurationText.text(moment)]
      if state.isHeld { told.append("held: space goes on") }
    }
    told += [state.view.standing(at: moment), state.keys.message ?? help]
    let footer = Columns.flow(told, separator: format.glyphs.separator, width: format.width)
    var upper = format
    upper.height = format.height.map { max(1, $0 - footer.count - 1) }
    return state.view.lines(at: moment, until: state.horizon, upper)
      + footer.map { format.style.paint($0, .faint) }
  }

  func press(_ key: UInt8) -> Bool {
    state.withLock { state in
      let action = state.keys.press(key)
      if action == .leave { return true }
      guard case .playback(var playback) = state.source else {
        if action == .hold { state.isHeld.toggle() }
        if action == .typedAhead { state.isHeld = false }
        return false
      }
      let moment = playback.moment
      switch action {
      case .hold: playback.hold()
      case .typedAhead: if playback.isHeld { playback.hold() }
      case .forward: playback.jump(to: state.view.moment(after: moment) ?? moment)
      case .back: playback.jump(to: state.view.moment(before: moment) ?? 0)
      case .faster: playback.change(speedBy: 2)
      case .slower: playback.change(speedBy: 0.5)
      case .leave, nil: break
      }
      state.source = .playback(playback)
      return false
    }
  }
}
