internal import Basics
internal import Experiments
internal import Mechanisms
internal import Rendering

extension Command {
  static let status = Command(
    "status",
    [.runInBackground],
    keys: [Keys.inBackground],
    summary: "where the tasks of the background run stand",
    details: """
      Where several runs go on, a command that names none means the latest, and says so. 'all' means each \
      of them. A run without a name is called by its mechanism.
      """,
    examples: [
      "spawn 6 limiter limit=2; status; wait",
      "spawn 6 limiter name=a; spawn 6 pool name=b; status a; status all; wait all",
    ]
  ) { session, arguments in
    session.showStatus(ofEach: try session.eachMeant(arguments))
  }

  static let watch = Command(
    "watch",
    [.runInBackground],
    keys: [Keys.inBackground],
    summary:
      "the timeline of the background run as it grows; q or Ctrl-C leaves it, the tasks go on",
    details: """
      It takes the whole screen, and its last picture stays. On the wall clock it shows the present; in virtual time it lets time pass, + and - \
      change how fast. The space bar holds it, the arrows left and right go event by event, Home and End to the beginning and to now, \
      m marks a moment. Up and down select a task, / finds one: below the picture you read what it waits for, who is ahead of it, and \
      what has happened to it; c cancels it, a adds one more like it. l changes the limit, s suspends and resumes. After one of these \
      keys was pressed, the view stays open when the run ends. A run that has ended \
      is played: 'watch 3', 'watch a', or the last. 'watch all' shows several runs one below the other on one axis, as a \
      race. Where nothing can be drawn in place, it says where the tasks stand, as 'status' does.
      """,
    examples: [
      "spawn 8 gcd-gate limit=4 work=10ms; watch; wait",
      "spawn 8 gcd-gate work=10ms name=a; spawn 8 limiter clock=real work=10ms name=b; watch all; wait all",
    ]
  ) { session, arguments in
    if let run = try session.endedRunToWatch(arguments) { return await session.play(run) }
    let meant = try session.eachMeant(arguments)
    return meant.count == 1
      ? await session.watch(meant[0]) : await session.watch(several: meant)
  }

  static let wait = Command(
    "wait",
    [.runInBackground],
    keys: [Keys.inBackground],
    summary: "wait until every task of the background run has ended, and show the result",
    examples: [
      "spawn 6 limiter limit=2; wait",
      "spawn 6 limiter limit=2 name=a; spawn 6 pool limit=2 name=b; wait a; wait",
    ]
  ) { session, arguments in
    let meant = try session.eachMeant(arguments)
    for background in meant {
      let (board, count) = (background.board, background.run.plan.count)
      guard board.ended + board.running >= count || !background.run.staysSuspended else {
        let resume = session.backgrounds.isSeveral ? "resume \(background.label)" : "resume"
        throw ShellError(
          "\(background.experiment.mechanism.id) is suspended, so those that wait would never end. '\(resume)' it first",
          at: arguments.name
        )
      }
    }
    var outcome = Session.Outcome.done
    for background in meant {
      if meant.count > 1, !session.json { session.output.write("\(background.title)\n") }
      outcome.formUnion(await session.wait(for: background))
    }
    return outcome
  }

  static let cancel = Command(
    "cancel",
    [Parameter("tNN", .taskOrAll, repeats: true), .runInBackground],
    keys: [Keys.inBackground],
    summary: "cancel tasks of the background run, several as t05-t07, or 'all' of them",
    examples: [
      "spawn 9 limiter limit=1; cancel t02 t05-t07; wait",
      "spawn 3 limiter limit=1; cancel all; wait",
      "spawn 3 limiter limit=1 name=a; spawn 3 pool limit=1 name=b; cancel t3 a; wait all",
    ]
  ) { session, arguments in try await session.cancelTasks(arguments) }

  static let advance = Command(
    "advance",
    [Parameter("D", .text), .runInBackground],
    keys: [Keys.inBackground],
    summary: "let virtual time pass in the background run, and tell what happened",
    examples: ["spawn 3 limiter limit=1 work=40ms; advance 50ms; wait"]
  ) { session, arguments in
    guard let word = arguments.places.first else { throw arguments.missing("the time") }
    guard let span = ValueSyntax.duration(word.text) else {
      throw ShellError(
        "'\(word.text)' is no duration of at most 100 days. Write 250us, 40ms, 1.5s or 2m",
        at: word
      )
    }
    return try await session.pass(arguments, after: 1) { await $0.advance(by: span) }
  }

  static let idle = Command(
    "idle",
    [.runInBackground],
    keys: [Keys.inBackground],
    summary: "let virtual time pass until nothing is left to do in the background run",
    examples: ["spawn 3 limiter limit=1; idle; status; wait"]
  ) { session, arguments in
    try await session.pass(arguments) { await $0.idle() }
  }

  static let limit = Command(
    "limit",
    [Parameter("K", .count), .runInBackground],
    keys: [Keys.inBackground],
    summary: "change the limit of the background run, where the mechanism can",
    examples: [
      "spawn 6 limiter limit=1; limit 3; wait",
      "spawn 6 limiter limit=1 name=a; spawn 6 pool name=b; limit 3 a; wait all",
    ]
  ) { session, arguments in
    let limit = try arguments.place(0, as: "the limit", form: Keys.limit.form, Keys.parseLimit)
    guard let limit else { throw arguments.missing("the limit") }
    return try await session.control(.changeLimit(limit), arguments, after: 1)
  }

  static let suspend = Command(
    "suspend",
    [.runInBackground],
    keys: [Keys.inBackground],
    summary: "admit nobody in the background run until 'resume', where the mechanism can",
    examples: ["spawn 4 operation-queue limit=1 work=5ms; suspend; resume; wait"]
  ) { session, arguments in try await session.control(.suspend, arguments) }

  static let resume = Command(
    "resume",
    [.runInBackground],
    keys: [Keys.inBackground],
    summary: "admit again in the background run after 'suspend'",
    examples: ["spawn 4 operation-queue limit=1 work=5ms; suspend; resume; wait"]
  ) { session, arguments in try await session.control(.resume, arguments) }
}

extension Command {
  static let barrier = Command(
    "barrier",
    [.runInBackground],
    keys: [Keys.work, Keys.inBackground],
    summary:
      "add a task to the background run that has the queue to itself, where the mechanism can",
    details: """
      It begins when all tasks before it have ended, and nothing behind it begins before it has ended. Where a \
      mechanism has no barriers, the command says why.
      """,
    examples: ["spawn 6 operation-queue limit=3 work=5ms; barrier work=10ms; spawn 3; wait"]
  ) { session, arguments in try await session.addBarrier(arguments) }

  static let notify = Command(
    "notify",
    [.runInBackground],
    keys: [Keys.inBackground],
    summary: "have the mechanism of the background run say when all it was given has ended",
    details: """
      A DispatchGroup says so by notify, an OperationQueue by a barrier block, behind which later tasks wait. What \
      it says stands above the prompt, or in what 'status' or 'wait' prints. Where a mechanism cannot say it, the \
      command says why.
      """,
    examples: ["spawn 6 gcd-gate limit=3 work=5ms; notify; wait"]
  ) { session, arguments in
    let meant = try session.eachMeant(arguments)
    try session.check(meant, can: .notification, arguments)
    for kind in meant.map(\.experiment.workload.kind) where kind.isReal {
      throw ShellError(
        "with kind=\(kind.rawValue) the mechanism cannot say when all has ended: a task comes to it late, when a cache, say, has been asked. 'wait' says when all has ended",
        at: arguments.name
      )
    }
    for background in meant { background.askForNotice() }
    let all = meant.reduce(0) { $0 + $1.run.plan.count }
    return session.answer(
      json: "",
      "the mechanism will say when \(all == 1 ? "its task has" : "all \(NumberText.grouped(all)) have") ended\n"
    )
  }
}

extension Session {
  fileprivate func check(
    _ meant: [Background],
    can control: MechanismProfile.Control,
    _ arguments: Arguments
  ) throws(ShellError) {
    for mechanism in meant.map(\.experiment.mechanism)
    where !mechanism.profile.controls.contains(control) {
      throw ShellError(
        ExperimentError.cannot(mechanism, control).description,
        at: arguments.name
      )
    }
  }

  fileprivate func addBarrier(_ arguments: Arguments) async throws -> Outcome {
    let meant = try eachMeant(arguments)
    try check(meant, can: .barrier, arguments)
    let work = try arguments.value(Keys.work, ValueSyntax.serviceTime)
    for kind in meant.map(\.experiment.workload.kind) where kind.needsTask || kind.isReal {
      throw ShellError(
        "a barrier is a block, which ends when it returns: it has no part in kind=\(kind.rawValue). Begin a run with kind=block",
        at: arguments.name
      )
    }
    return meant.reduce(.done) { outcome, background in
      var workload = background.experiment.workload
      (workload.count, workload.areBarriers, workload.failPercent) = (1, true, 0)
      (workload.arrivals, workload.cancellations) = (.together, .share(percent: 0))
      if let work { workload.service = work }
      let number = background.run.submit(workload)[0].number
      putInBackground(background)
      let name = TaskID(number).label(amongst: background.run.plan.count)
      return outcome.union(
        answer(
          json: JSONObject.line([
            ("barrier", .object([("task", .string(name))] + called(background)))
          ]),
          Columns.wrap(
            "\(name) is a barrier: it begins when all before it have ended, and those behind it wait for its end",
            width: output.format.width
          ).map { $0 + "\n" }.joined()
        )
      )
    }
  }
}

extension Session {
  /// The word that means every run in the background.
  static let allRuns = "all"

  /// The runs in the background that a command means: the one that its last word or `run=` names, all, or else
  /// the latest, and then it is said which that is.
  ///
  /// So many words before it have a meaning of their own.
  fileprivate func eachMeant(
    _ arguments: Arguments,
    after places: Int = 0
  ) throws(ShellError) -> [Background] {
    guard let latest = backgrounds.latest else {
      throw ShellError(
        "nothing runs in the background. Try: spawn 12 limiter limit=3",
        at: arguments.name
      )
    }
    let place = arguments.places.dropFirst(places).first
    if let place, let other = arguments.values[Keys.inBackground.name] {
      throw ShellError("a run is named twice. Keep '\(other.text)'", at: place)
    }
    guard let word = place ?? arguments.values[Keys.inBackground.name] else {
      tellWhichIsMeant(latest)
      return [latest]
    }
    if word.text == Self.allRuns { return backgrounds.all }
    guard let named = backgrounds.called(word.text) else {
      throw noRunInBackground(word)
    }
    return [named]
  }

  private func noRunInBackground(_ word: Word) -> ShellError {
    let question = NearMatch.question(for: word.text, in: backgrounds.labels + [Self.allRuns])
    let running = ListText.all(backgrounds.all.map(\.label))
    return ShellError(
      "no run '\(word.text)' goes on in the background.\(question) There: \(running)",
      at: word
    )
  }

  /// Says of which run a command is that named none, where several go on.
  func tellWhichIsMeant(_ background: Background) {
    guard backgrounds.isSeveral else { return }
    let line = "\(background.label), the latest of \(backgrounds.all.count) in the background"
    json ? output.complain("note: \(line)") : output.write("\(line):\n")
  }

  /// The member of a JSON object that tells the run by its name, where it has one.
  func called(_ background: Background) -> [(StaticString, JSONObject.Value)] {
    background.name.map { [("run", .string($0))] } ?? []
  }

  /// Where the tasks of runs stand, of several under the name of each.
  fileprivate func showStatus(ofEach all: [Background]) -> Outcome {
    all.reduce(.done) { outcome, background in
      if all.count > 1, !json { output.write("\(background.title)\n") }
      return outcome.union(showStatus(of: background))
    }
  }

  private func showStatus(of background: Background) -> Outcome {
    let snapshot = background.snapshot
    var board = LiveBoard(plan: snapshot.plan)
    board.take(snapshot.events)
    let now = snapshot.now ?? background.now
    let isSuspended = background.run.isSuspended
    showed(.lastRun)
    tellNotice(of: background)
    let members: [(StaticString, JSONObject.Value)] =
      [
        ("t", .number(Int(now))), ("tasks", .number(board.plan.count)),
        ("running", .number(board.running)), ("waiting", .number(board.waiting)),
        ("ended", .number(board.ended)),
      ] + (isSuspended ? [("suspended", .flag(true))] : []) + called(background)
    return answer(
      json: JSONObject.line([("status", .object(members))]),
      StatusText.text(board, now: now, isSuspended: isSuspended, output.format)
    )
  }

  /// Says what the mechanism of a run has said meanwhile.
  fileprivate func tellNotice(of background: Background) {
    guard let notice = background.notice else { return }
    json ? output.complain("note: \(notice)") : output.write(notice + "\n")
  }

  fileprivate func watch(_ background: Background) async -> Outcome {
    guard showsTimelines else { return showStatus(of: background) }
    let frames = TimelineFrames(background)
    let ending = await show(frames, onWholeScreen: true)
    keep(frames)
    // More may have joined.
    putInBackground(background)
    if ending != .finished { interruption.begin() }
    guard background.board.isOver else { return .done }
    // Told here, it need not be told above the next line.
    _ = background.hasJustEnded
    let wait = backgrounds.isSeveral ? "wait \(background.label)" : "wait"
    return answer(json: "", "every task has ended. '\(wait)' shows the result.\n")
  }

  private var showsTimelines: Bool { !json && output.canShowFrames && !settings.describe }

  /// The run that is named and has ended, or, where nothing goes on, the last; nil where one that goes on is
  /// meant, or nothing could be shown in motion.
  fileprivate func endedRunToWatch(_ arguments: Arguments) throws(ShellError) -> Run? {
    guard showsTimelines else { return nil }
    guard let word = arguments.places.first ?? arguments.values[Keys.inBackground.name] else {
      return background == nil ? runs.last : nil
    }
    if word.text == Self.allRuns || backgrounds.called(word.text) != nil { return nil }
    return try run(named: word)
  }

  /// Plays a run that has ended.
  fileprivate func play(_ run: Run) async -> Outcome {
    let frames = TimelineFrames(playing: run)
    _ = await show(frames, onWholeScreen: true)
    keep(frames)
    interruption.begin()
    return .done
  }

  /// Leaves the last picture of a timeline below the prompt, and says what was marked.
  private func keep(_ frames: TimelineFrames) {
    var format = output.format
    format.height = format.height.map { max(5, $0 - 3) }
    var lines = frames.kept(format)
    let marks = frames.marks.map { DurationText.text($0) }
    if !marks.isEmpty {
      lines += Columns.flow(["marked"] + marks, separator: " ", width: format.width)
    }
    output.write(lines.map { $0 + "\n" }.joined())
  }

  /// Shows the timeline of a run as it grows until all its tasks have ended or the person leaves.
  ///
  /// If the person leaves, its last picture stays.
  func show(_ background: Background, hint: String) async -> FrameEnding {
    let frames = TimelineFrames(background, hint: hint)
    let ending = await show(frames, onWholeScreen: true)
    if ending == .left { keep(frames) }
    return ending
  }

  func show(_ view: some FrameSource, onWholeScreen: Bool = false) async -> FrameEnding {
    // While the view is shown Ctrl-C is its own; one that came just before it comes this way.
    let ending = await interruption.whileRunning {
      await output.showFrames(
        { view.frame($0.format) },
        onWholeScreen: onWholeScreen,
        onKeys: { view.press($0) }
      )
    } onInterrupt: {
      view.end()
    }
    output.leaveForPrompt(view.typedAhead)
    guard ending == .interrupted || interruption.hasCome else { return ending }
    interruption.interrupt()
    return .interrupted
  }

  /// Shows several runs on one axis as they go on, until all have ended or the person leaves; then the last
  /// picture stays.
  fileprivate func watch(several all: [Background]) async -> Outcome {
    guard output.canShowFrames, !json else {
      return showStatus(ofEach: all)
    }
    let lanes = all.map { RaceLane($0.title, $0.run) }
    let expected = all.map(\.experiment.expectedLength).max() ?? 0
    let frames = RaceFrames(
      all.map(\.run),
      RaceView(lanes),
      expecting: expected,
      hint: "space holds, arrows go event by event, q leaves"
    )
    let ending = await show(frames, onWholeScreen: true)
    output.write(frames.kept(output.format).map { $0 + "\n" }.joined())
    if ending != .finished { interruption.begin() }
    guard all.allSatisfy(\.board.isOver) else { return .done }
    for background in all { _ = background.hasJustEnded }
    return answer(json: "", "every task has ended. 'wait all' shows the results.\n")
  }

  fileprivate func wait(for background: Background) async -> Outcome {
    if !json, output.canShowFrames {
      output.writeTransient("waiting; Ctrl-C ends the run")
    }
    // It is waited for, and cannot be joined any more.
    defer { takeFromBackground(background) }
    return await finish(background) {
      await background.waitForNotices()
      tellNotice(of: background)
    }
  }

  fileprivate func cancelTasks(_ arguments: Arguments) async throws -> Outcome {
    let named = arguments.places.dropFirst().last.flatMap { last in
      ValueSyntax.tasks(last.text) == nil && last.text != Self.allRuns ? last : nil
    }
    let words = named == nil ? arguments.places : arguments.places.dropLast()
    let meant = try eachMeant(arguments, after: words.count)
    guard !words.isEmpty else { throw arguments.missing("the task, or 'all',") }
    // Of several runs, what is wrong with one changes none.
    let numbers = try meant.map { (run: $0, tasks: try tasks(words, of: $0)) }
    for (background, tasks) in numbers {
      for number in tasks { background.run.cancel(number) }
      _ = await background.virtual?.advance(by: 0)
    }
    return showStatus(ofEach: meant)
  }

  /// The numbers of the tasks that words name.
  private func tasks(_ words: [Word], of background: Background) throws(ShellError) -> [Int] {
    let count = background.run.plan.count
    var numbers: [Int] = []
    for word in words {
      if word.text == "all" {
        numbers = Array(1...max(1, count))
        continue
      }
      guard let range = ValueSyntax.tasks(word.text) else {
        throw ShellError("'\(word.text)' is no task. Write its name, such as t03, or all", at: word)
      }
      guard range.upperBound <= count else {
        throw ShellError(
          "there is no task \(range.upperBound): this run has \(NumberText.count(count, "task"))",
          at: word
        )
      }
      numbers += range
    }
    return numbers
  }

  /// Lets virtual time pass and tells what happened meanwhile.
  ///
  /// Of all runs, only those in virtual time are meant.
  fileprivate func pass(
    _ arguments: Arguments,
    after places: Int = 0,
    _ pass: (VirtualRun) async -> VirtualRun.Outcome
  ) async throws -> Outcome {
    let meant = try eachMeant(arguments, after: places)
    guard let first = meant.first(where: { $0.virtual != nil }) else {
      throw ShellError(
        "\(meant[0].experiment.mechanism.id) runs on the wall clock, which advances by itself. 'wait' waits for the tasks",
        at: arguments.name
      )
    }
    guard meant.count > 1 else { return await self.pass(in: first, pass) }
    var outcome = Outcome.done
    for background in meant where background.virtual != nil {
      if !json { output.write("\(background.title)\n") }
      outcome.formUnion(await self.pass(in: background, pass))
    }
    return outcome
  }

  private func pass(
    in background: Background,
    _ pass: (VirtualRun) async -> VirtualRun.Outcome
  ) async -> Outcome {
    guard let virtual = background.virtual else { return .done }
    let before = background.snapshot.events.count
    let outcome = await interruption.whileRunning {
      await pass(virtual)
    } onInterrupt: {
      virtual.stop(because: Self.interrupted)
    }
    let snapshot = background.snapshot
    if !json {
      var news = snapshot
      news.now = nil
      news.events = Array(snapshot.events.dropFirst(before))
      if !news.events.isEmpty { output.write(EventsText.list(news, output.format)) }
    }
    let status = showStatus(of: background)
    guard outcome == .stuck else { return status }
    return answer(
      json: "",
      virtual.standstill + ". 'why tNN' tells what a task waits for; 'wait' ends the run.\n"
    )
  }

  fileprivate func control(
    _ control: Experiment.Control,
    _ arguments: Arguments,
    after places: Int = 0
  ) async throws -> Outcome {
    let meant = try eachMeant(arguments, after: places)
    try check(meant, can: control.needed, arguments)
    for background in meant {
      background.run.perform(control)
      _ = await background.virtual?.advance(by: 0)
    }
    return showStatus(ofEach: meant)
  }
}
