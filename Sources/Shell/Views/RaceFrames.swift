internal import Basics
internal import Experiments
internal import Mechanisms
internal import Rendering
internal import Synchronization

/// The frames of a race, read on the thread that draws them: as it goes on, or played again.
final class RaceFrames: FrameSource {
  private enum Source {
    /// Runs that go on, and how far each log has been read.
    case runs([any LiveRun], [TraceRecorder.Cursor])
    case playback(Playback)
  }

  private struct State {
    var source: Source
    var view: RaceView
    var keys = RaceKeys()
    var isHeld = false
    /// What is shown of a race that goes on.
    var moment: Int64 = 0
    /// How far such a race has come.
    var now: Int64 = 0
    /// How much faster than the machine's clock virtual time passes in it.
    var speed: Double
    /// What the machine's clock showed last.
    var seen: Int64?
    /// Where the axis ends of a race that goes on.
    var horizon: Int64
    var ending = ViewEnding()

    /// Where the axis ends.
    var axisEnd: Int64 { view.isOver ? view.end : horizon }
  }

  private let state: Mutex<State>
  private let hasEnded = Atomic(false)
  /// What the keys do, in a line.
  private let hint: String

  /// A race that goes on, and takes about so long; runs in virtual time go on while they are shown.
  init(
    _ runs: [any LiveRun],
    _ view: RaceView,
    expecting length: Int64,
    hint: String = "space holds the picture, q leaves it, Ctrl-C ends the race"
  ) {
    self.hint = hint
    let cursors = runs.map { _ in TraceRecorder.Cursor() }
    let horizon = max(1, length)
    var state = State(
      source: .runs(runs, cursors),
      view: view,
      speed: Playback(end: horizon).speed,
      horizon: horizon
    )
    Self.read(&state)
    state.moment = state.now
    self.state = Mutex(state)
  }

  /// A race that is over.
  init(playing view: RaceView) {
    hint = "space holds, arrows go event by event, + - speed, q to the end"
    let playback = Playback(end: view.end)
    state = Mutex(
      State(source: .playback(playback), view: view, speed: playback.speed, horizon: view.end)
    )
  }

  var typedAhead: [UInt8] { state.withLock { $0.keys.typedAhead } }

  func end() { hasEnded.store(true, ordering: .relaxed) }

  func frame(_ format: TextFormat) -> Frame {
    let now = MachineClock.monotonic()
    let mustEnd = hasEnded.load(ordering: .relaxed)
    return state.withLock { state in
      let isOver = Self.goOn(&state, to: now)
      let isLast = state.ending.isLast(
        at: now,
        isOver: isOver,
        awaits: !state.keys.typedAhead.isEmpty
      )
      return Frame(lines: lines(state, format), isLast: isLast || mustEnd)
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
    case .runs(let runs, _):
      let passed = min(now - (state.seen ?? now), Playback.longestStep)
      state.seen = now
      if hasVirtual(runs) {
        if !state.isHeld { pass(&state, by: Double(passed) * state.speed) }
      } else {
        read(&state)
        if !state.isHeld { state.moment = state.now }
      }
      return state.view.isOver && state.moment >= state.now && !state.isHeld
    }
  }

  private static func hasVirtual(_ runs: [any LiveRun]) -> Bool {
    runs.contains { $0 is VirtualRun }
  }

  /// Takes what has happened by now.
  private static func read(_ state: inout State) {
    guard case .runs(let runs, var cursors) = state.source else { return }
    for (place, run) in runs.enumerated() {
      state.view.take(run.events(since: &cursors[place]), of: place)
    }
    state.source = .runs(runs, cursors)
    state.now = state.view.isOver ? state.view.end : state.view.moment(at: runs.map(\.now))
    while state.horizon < state.now { state.horizon += state.horizon / 2 + 1 }
  }

  /// Shows a later moment; where the runs have not come so far, virtual time passes in all of them alike.
  private static func pass(_ state: inout State, by time: Double) {
    guard case .runs(let runs, _) = state.source else { return }
    let target = state.moment + (Int64(exactly: time.rounded()) ?? .max / 4)
    read(&state)
    let missing = target - state.now
    if missing > 0 {
      for case let run as VirtualRun in runs { _ = run.play(to: run.now + missing) }
      read(&state)
    }
    state.moment = min(target, state.now)
    // Nothing sleeps any more, and tasks remain: it would stand still for ever.
    let isStuck = !runs.contains { !($0 is VirtualRun) || ($0 as? VirtualRun)?.nextInstant != nil }
    if isStuck, !state.view.isOver { state.isHeld = true }
  }

  /// Shows the next event, which in virtual time may have to happen first.
  private static func forward(_ state: inout State) {
    guard case .runs(let runs, _) = state.source else { return }
    state.isHeld = true
    if let next = state.view.moment(after: state.moment) {
      state.moment = next
      return
    }
    let waits = runs.compactMap { run in (run as? VirtualRun)?.nextInstant.map { $0 - run.now } }
    if let wait = waits.min() { pass(&state, by: Double(state.now - state.moment + max(0, wait))) }
  }

  /// The picture without the keys, as it was last: what stays.
  func kept(_ format: TextFormat) -> [String] {
    state.withLock { state in
      var upper = format
      upper.height = format.height.map { max(1, $0 - 3) }
      return state.view.lines(at: state.moment, until: state.axisEnd, upper)
        + [state.view.standing(at: state.moment)]
    }
  }

  private func lines(_ state: State, _ format: TextFormat) -> [String] {
    let times = format.glyphs.isASCII ? "x" : "×"
    let moment: Int64
    let isHeld: Bool
    var told: [String]
    switch state.source {
    case .playback(let playback):
      (moment, isHeld) = (playback.moment, playback.isHeld)
      told = [DurationText.text(moment), "\(times)\(NumberText.rate(playback.speed))"]
    case .runs(let runs, _):
      (moment, isHeld) = (state.moment, state.isHeld)
      told = [DurationText.text(moment)]
      if Self.hasVirtual(runs) { told.append("\(times)\(NumberText.rate(state.speed))") }
    }
    if state.view.isOver, moment >= state.view.end {
      told.append("the end: Home goes to the beginning")
    } else if isHeld {
      told.append("held: space goes on")
    }
    told += [state.view.standing(at: moment), state.keys.message ?? hint]
    let footer = Columns.flow(told, separator: format.glyphs.separator, width: format.width)
    var upper = format
    upper.height = format.height.map { max(1, $0 - footer.count - 1) }
    return state.view.lines(at: moment, until: state.axisEnd, upper)
      + footer.map { format.style.paint($0, .faint) }
  }

  func typeAhead(_ keys: [UInt8]) {
    guard !keys.isEmpty else { return }
    state.withLock { state in
      guard state.keys.typeAhead(keys) else { return }
      state.isHeld = false
      if case .playback(var playback) = state.source, playback.isHeld {
        playback.hold()
        state.source = .playback(playback)
      }
    }
  }

  func press(_ key: UInt8) -> Bool {
    state.withLock { state in
      guard let action = state.keys.press(key) else { return false }
      if action == .leave { return true }
      if action != .typedAhead { state.ending.isUsed = true }
      guard case .playback(var playback) = state.source else {
        switch action {
        case .hold: state.isHeld.toggle()
        case .typedAhead: state.isHeld = false
        case .forward: Self.forward(&state)
        case .back:
          state.isHeld = true
          state.moment = state.view.moment(before: state.moment) ?? 0
        case .toBegin: (state.isHeld, state.moment) = (true, 0)
        case .toEnd:
          state.moment = state.now
          // There is no standing still at now on the wall clock.
          if case .runs(let runs, _) = state.source { state.isHeld = Self.hasVirtual(runs) }
        case .faster: state.speed = min(state.speed * 2, 1e9)
        case .slower: state.speed = max(state.speed / 2, 1e-9)
        case .leave: break
        }
        return false
      }
      let moment = playback.moment
      switch action {
      case .hold: playback.hold()
      case .typedAhead: if playback.isHeld { playback.hold() }
      case .forward: playback.jump(to: state.view.moment(after: moment) ?? moment)
      case .back: playback.jump(to: state.view.moment(before: moment) ?? 0)
      case .toBegin: playback.jump(to: 0)
      case .toEnd: playback.jump(to: state.view.end)
      case .faster: playback.change(speedBy: 2)
      case .slower: playback.change(speedBy: 0.5)
      case .leave: break
      }
      state.source = .playback(playback)
      return false
    }
  }
}
