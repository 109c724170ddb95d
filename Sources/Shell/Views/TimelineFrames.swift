internal import Basics
internal import Experiments
internal import Mechanisms
internal import Rendering
internal import Synchronization

/// The frames of a run that is watched, read on the thread that draws them: as it goes on, on either clock, or
/// played again.
///
/// In virtual time it is that thread which lets time pass: nobody else steers the run meanwhile.
final class TimelineFrames: FrameSource {
  private struct State {
    var view: TimelineView
    var keys = TimelineKeys()
    /// What was drawn of the view's log.
    var drawing: KeptDrawing?
    /// What was read of it about the task that is selected.
    var why: Why?
    var cursor = TraceRecorder.Cursor()
    /// The moment that is shown.
    var moment: Int64 = 0
    /// How far the run has come.
    var now: Int64 = 0
    var isHeld = false
    /// How much faster than the machine's clock virtual time passes.
    var speed: Double
    /// What the machine's clock showed last.
    var seen: Int64?
    /// What came of the last key.
    var message: String?
    var ending = ViewEnding()
  }

  /// What goes on; nil of a run that has ended.
  private let background: Background?
  /// What the keys do, in a line.
  private let hint: String
  /// Whether the view goes with the last event, for its result comes then.
  private let goesAtEnd: Bool
  private let state: Mutex<State>
  private let hasEnded = Atomic(false)

  private static let help = "q leaves, up and down select, ? lists the keys"

  /// A run that goes on, from where it is now; in virtual time one that is over is played.
  ///
  /// With a hint of one's own it goes with the last event.
  init(_ background: Background, hint: String? = nil) {
    self.background = background
    self.hint = hint ?? Self.help
    goesAtEnd = hint != nil
    let length = background.experiment.expectedLength
    var view = TimelineView(TimelineLog(background.opening), expecting: length)
    var cursor = TraceRecorder.Cursor()
    view.log.take(background.run.events(since: &cursor))
    let now = background.now
    let moment = background.virtual != nil && view.log.isOver ? 0 : now
    let speed = Playback(end: view.horizon).speed
    state = Mutex(State(view: view, cursor: cursor, moment: moment, now: now, speed: speed))
  }

  /// A run that has ended, from its beginning.
  init(playing run: Run) {
    background = nil
    hint = Self.help
    goesAtEnd = false
    let view = TimelineView(TimelineLog(run), expecting: 1)
    let end = view.horizon
    state = Mutex(State(view: view, now: end, speed: Playback(end: end).speed))
  }

  var typedAhead: [UInt8] { state.withLock { $0.keys.typedAhead } }

  /// The moments that were marked.
  var marks: [Int64] { state.withLock { $0.view.marks } }

  func end() { hasEnded.store(true, ordering: .relaxed) }

  func frame(_ format: TextFormat) -> Frame {
    let mustEnd = hasEnded.load(ordering: .relaxed)
    let clock = MachineClock.monotonic()
    return state.withLock { state in
      goOn(&state, to: clock)
      let isOver = Self.isOver(state) && !state.isHeld
      let isLast = state.ending.isLast(
        at: clock,
        isOver: isOver,
        awaits: !state.keys.typedAhead.isEmpty
      )
      return Frame(lines: lines(&state, format), isLast: isLast || mustEnd || isOver && goesAtEnd)
    }
  }

  /// The picture without the keys, as it was last: what stays.
  func kept(_ format: TextFormat) -> [String] {
    state.withLock { $0.view.lines(at: $0.moment, seen: $0.now, format) }
  }

  /// Whether nothing more will happen, whatever is done.
  private static func isOver(_ state: State) -> Bool {
    state.view.log.isOver && state.moment >= state.now
  }

  // MARK: Time

  private func goOn(_ state: inout State, to clock: Int64) {
    let passed = min(clock - (state.seen ?? clock), Playback.longestStep)
    state.seen = clock
    guard let background, background.virtual == nil else {
      guard !state.isHeld else { return }
      let step = Int64(exactly: (Double(passed) * state.speed).rounded()) ?? .max / 4
      return pass(&state, to: state.moment + min(step, .max / 4))
    }
    read(&state)
    if !state.isHeld { state.moment = state.now }
  }

  /// Takes what has happened by now.
  private func read(_ state: inout State) {
    guard let background else { return }
    let plan = background.run.plan
    if plan.count != state.view.log.plan.count {
      // Tasks joined.
      restart(&state, background)
    }
    state.view.log.take(background.run.events(since: &state.cursor))
    if background.virtual == nil, state.view.log.isOver, state.now < state.view.log.lastTime {
      // Once more, in the order of time of all threads.
      restart(&state, background)
      state.view.log.take(background.run.events(since: &state.cursor))
    }
    state.now = state.view.log.isOver ? state.view.log.lastTime : background.now
  }

  /// Begins the log anew, and what is drawn of it.
  private func restart(_ state: inout State, _ background: Background) {
    state.view.log = TimelineLog(background.opening)
    state.cursor = TraceRecorder.Cursor()
    (state.drawing, state.why) = (nil, nil)
  }

  /// Shows a later moment; where the run has not come so far, lets virtual time pass.
  private func pass(_ state: inout State, to moment: Int64) {
    if moment > state.now, let virtual = background?.virtual, !state.view.log.isOver {
      let outcome = virtual.play(to: moment)
      read(&state)
      if outcome == .stuck, !state.view.log.isOver {
        state.isHeld = true
        state.message = virtual.standstill
      }
    }
    state.moment = min(moment, state.now)
  }

  /// Shows the next event, which in virtual time may have to happen first.
  private func forward(_ state: inout State) {
    state.isHeld = true
    if let next = state.view.log.moment(after: state.moment) {
      state.moment = next
    } else if let next = background?.virtual?.nextInstant {
      pass(&state, to: max(next, state.moment))
    }
  }

  // MARK: Text

  private func lines(_ state: inout State, _ format: TextFormat) -> [String] {
    let footer = footer(&state, format)
    var upper = format
    upper.height = format.height.map { max(state.view.fewestLines, $0 - footer.count - 1) }
    return state.view.lines(
      at: state.moment,
      seen: state.now,
      upper,
      keeping: &state.drawing
    ) + footer
  }

  private func footer(_ state: inout State, _ format: TextFormat) -> [String] {
    var told = [DurationText.text(state.moment), state.view.standing(at: state.moment)]
    if background?.virtual != nil || background == nil {
      let times = format.glyphs.isASCII ? "x" : "×"
      told.append("\(times)\(NumberText.rate(state.speed))")
    }
    if background?.run.isSuspended == true { told.append("suspended: s resumes") }
    if state.moment < state.now {
      told.append(background == nil ? "held" : "earlier than now: End goes there")
    } else if Self.isOver(state), !goesAtEnd {
      told.append("the end: Home goes to the beginning")
    } else if state.isHeld {
      told.append("held: space goes on")
    }
    // The hint names the key that lists the keys, which are there already.
    let said = state.keys.message ?? state.message ?? (state.keys.showsHelp ? nil : hint)
    if let said { told.append(said) }
    let standing = Columns.flow(told, separator: format.glyphs.separator, width: format.width)
    // The cursor has a line of its own, and the picture needs some.
    var room =
      format.height.map { max(0, $0 - 1 - state.view.fewestLines - standing.count) } ?? .max
    // What is told of the selected task was asked for last.
    let history = state.view.history(at: state.moment, format, keeping: &state.why).prefix(room)
    room -= history.count
    let help = state.keys.showsHelp ? TimelineKeys.help(lines: room, format) : []
    return (history + help + standing).map { format.style.paint($0, .faint) }
  }

  // MARK: Keys

  func typeAhead(_ keys: [UInt8]) {
    guard !keys.isEmpty else { return }
    state.withLock { state in
      if state.keys.typeAhead(keys) { state.isHeld = false }
    }
  }

  func press(_ key: UInt8) -> Bool {
    state.withLock { state in
      state.message = nil
      guard let action = state.keys.press(key) else { return false }
      if action == .leave { return true }
      if action != .typedAhead { state.ending.isUsed = true }
      act(action, &state)
      return false
    }
  }

  private func act(_ action: TimelineKeys.Action, _ state: inout State) {
    switch action {
    case .leave: break
    case .hold: state.isHeld.toggle()
    case .typedAhead: state.isHeld = false
    case .forward: forward(&state)
    case .back: show(state.view.log.moment(before: state.moment) ?? 0, &state)
    case .toBegin: show(0, &state)
    case .toEnd:
      show(state.now, &state)
      // There is no standing still at now on the wall clock.
      state.isHeld = background?.virtual != nil || background == nil
    case .faster: state.speed = min(state.speed * 2, 1e9)
    case .slower: state.speed = max(state.speed / 2, 1e-9)
    case .select(let step): state.view.select(by: step, at: state.moment)
    case .selectPage(let pages): state.view.select(by: pages * 10, at: state.moment)
    case .find(let number):
      let count = state.view.log.plan.count
      if number <= count {
        state.view.selected = number - 1
      } else {
        state.message = Self.missing(count)
      }
    case .mark:
      state.view.mark(state.moment)
      state.message = "marked \(DurationText.text(state.moment))"
    case .cancel, .add, .limit, .suspend: steer(action, &state)
    }
  }

  private func show(_ moment: Int64, _ state: inout State) {
    state.moment = moment
    state.isHeld = true
  }

  private static func missing(_ tasks: Int) -> String {
    "there \(tasks == 1 ? "is" : "are") \(NumberText.count(tasks, "task"))"
  }

  /// Does something to the run, which it takes note of now, whatever moment is shown.
  private func steer(_ action: TimelineKeys.Action, _ state: inout State) {
    guard let background else {
      state.message = "this run has ended: nothing can be done to it any more"
      return
    }
    if background.virtual != nil, state.moment < state.now {
      state.message = "this moment is past, and stays as it was. End goes to now"
      return
    }
    state.message = perform(action, on: background, state)
    if background.virtual?.play(to: state.now) == .stuck { state.isHeld = true }
    read(&state)
  }

  private func perform(
    _ action: TimelineKeys.Action,
    on background: Background,
    _ state: State
  ) -> String {
    let tasks = state.view.log.plan
    switch action {
    case .cancel(let number):
      guard let place = number.map({ $0 - 1 }) ?? state.view.selected else {
        return "select a task first, with up and down or /"
      }
      guard tasks.indices.contains(place) else { return Self.missing(tasks.count) }
      background.run.cancel(place + 1)
      return "\(TaskID(place + 1).label(amongst: tasks.count)) was told to cancel"
    case .add:
      guard let model = state.view.selected.map({ tasks[$0] }) ?? tasks.last else { return "" }
      var workload = background.experiment.workload
      (workload.count, workload.service) = (1, .fixed(model.service))
      (workload.arrivals, workload.cancellations) = (.together, .share(percent: 0))
      let added = background.run.submit(workload).map {
        TaskID($0.number).label(amongst: tasks.count + 1)
      }
      return "\(ListText.all(added)) joined, of \(DurationText.text(model.service))"
    case .limit(let limit):
      return perform(.changeLimit(limit), on: background) ?? "the limit is \(limit) now"
    case .suspend:
      let isSuspended = background.run.isSuspended
      return perform(isSuspended ? .resume : .suspend, on: background)
        ?? (isSuspended ? "it admits again" : "it admits nobody until s is pressed again")
    default: return ""
    }
  }

  /// Why the mechanism cannot do it; nil where it did.
  private func perform(_ control: Experiment.Control, on background: Background) -> String? {
    let mechanism = background.experiment.mechanism
    guard mechanism.profile.controls.contains(control.needed) else {
      return ExperimentError.cannot(mechanism, control.needed).description
    }
    if case .changeLimit(let limit) = control, limit > 1_000_000 {
      return "the limit is at most 1000000"
    }
    background.run.perform(control)
    return nil
  }
}
