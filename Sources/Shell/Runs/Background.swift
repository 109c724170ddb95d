internal import Experiments
internal import Mechanisms
internal import Rendering
internal import Synchronization

/// A run of the shell, whether a command waits for its end or the shell takes other commands meanwhile.
///
/// Its board is read from any thread: by the prompt, by a live view, by `status`.
final class Background: Sendable {
  private struct Reading {
    var cursor = TraceRecorder.Cursor()
    var board: LiveBoard
    var wasAnnounced = false
  }

  let run: any LiveRun
  let experiment: Experiment
  /// What the run is to be called when it has ended.
  let name: String?
  /// Whether what its downloads reported is still to be told when it has ended.
  let owesReport: Bool
  private let reading: Mutex<Reading>
  private struct Notices {
    /// Those that will come.
    var asked: [Task<Void, Never>] = []
    /// The times of those that came and were not told yet.
    var came: [Int64] = []
  }

  private let notices = Mutex(Notices())

  init(_ experiment: Experiment, name: String? = nil, owesReport: Bool = false) {
    self.experiment = experiment
    self.name = name
    self.owesReport = owesReport
    run =
      switch experiment.resolvedClock {
      case .virtual: VirtualRun(experiment)
      case .real: WallRun(experiment)
      }
    reading = Mutex(Reading(board: LiveBoard(plan: [])))
  }

  var virtual: VirtualRun? { run as? VirtualRun }

  /// Has the mechanism say when all it was given by now has ended.
  func askForNotice() {
    guard let wall = run as? WallRun else { return }
    let asked = Task { [weak self] in
      let time = await wall.completed()
      self?.notices.withLock { $0.came.append(time) }
    }
    notices.withLock { $0.asked.append(asked) }
  }

  /// What the mechanism has said since this was last asked.
  var notice: String? {
    let came = notices.withLock { notices in
      defer { notices.came.removeAll() }
      return notices.came
    }
    guard !came.isEmpty, let signal = experiment.mechanism.profile.completionSignal else {
      return nil
    }
    return came.map { "\(label): \(signal) at \(DurationText.text($0))" }.joined(separator: "\n")
  }

  /// Waits for what was asked for; every task must have ended, or be about to.
  func waitForNotices() async {
    for asked in notices.withLock(\.asked) { await asked.value }
  }

  /// Where every task stands now.
  var board: LiveBoard {
    reading.withLock { reading in
      Self.refresh(&reading, run)
      return reading.board
    }
  }

  /// Whether every task has ended, told once for each time that comes true.
  var hasJustEnded: Bool {
    reading.withLock { reading in
      Self.refresh(&reading, run)
      defer { reading.wasAnnounced = reading.board.isOver }
      return reading.board.isOver && !reading.wasAnnounced
    }
  }

  private static func refresh(_ reading: inout Reading, _ run: any LiveRun) {
    let plan = run.plan
    if plan.count != reading.board.plan.count {
      // More tasks were given: the board is drawn up anew from the whole log.
      reading.board = LiveBoard(plan: plan)
      reading.cursor = TraceRecorder.Cursor()
    }
    reading.board.take(run.events(since: &reading.cursor))
  }

  /// Nanoseconds since the run began; once every task has ended, when the last of them did.
  var now: Int64 {
    let board = board
    return virtual == nil && board.isOver ? board.lastTime : run.now
  }

  /// The limit in force.
  var limit: Int { board.limit ?? experiment.limit }

  /// The run as of now, which every view of it is made from.
  ///
  /// The moment is read first, and later events are left out: the log is cut at one moment for all threads. An
  /// event is in its thread's log before what it makes possible is stamped. So of two such events that
  /// both happened by then, the second is never here without the first.
  var snapshot: Run {
    let now = run.now
    var cursor = TraceRecorder.Cursor()
    let events = Array(run.events(since: &cursor).prefix { $0.time <= now })
    var soFar = opening
    soFar.events = events
    soFar.isOpen = true
    let goesOn = TaskLife.all(in: events, tasks: soFar.plan.count).contains { $0.ended == nil }
    soFar.now = goesOn ? now : nil
    return soFar
  }

  /// The run with the tasks it has by now, and nothing of what has happened.
  var opening: Run {
    let plan = run.plan
    return Run(
      mechanism: experiment.mechanism.id,
      limit: experiment.effectiveLimit,
      seed: experiment.workload.seed,
      clock: experiment.resolvedClock,
      workers: experiment.resolvedClock == .virtual ? experiment.workers : nil,
      platform: experiment.mechanism.platform,
      facts: experiment.facts(tasks: plan.count),
      plan: plan,
      events: []
    )
  }
}
