import Basics
import Experiments
import Foundation
import Mechanisms
import TestSupport
import Testing

@testable import Shell

/// Every view and export is asked for while a run is half done, on both clocks, and held against what the
/// log says at that moment.
///
/// The log is read here by a reading of its own: what the views are made with would repeat their mistakes.
@Suite(.watched) struct MidwayTests {
  /// A check of each view by the name of its command.
  private static let views: [String: @Sendable (HalfDone) async throws -> Void] = [
    "timeline": timeline, "stats": stats, "events": events, "why": why, "runs": runs,
    "diff": diff, "curve": curve, "expect": expect, "export": exports, "status": status,
    "watch": status, "open": opens,
  ]

  /// The commands that show nothing of a run under way, or that change it.
  private static let others: Set = [
    "mechanisms", "explain", "run", "compare", "race", "repeat", "name", "explore", "replay",
    "step",
    "puzzle",
    "spawn", "wait", "cancel", "advance", "idle", "limit", "suspend", "resume", "starve",
    "inversion", "visits", "overdraft", "stall", "lessons", "lesson", "word", "predict", "check",
    "hint",
    "solution", "exercise", "next", "back", "leave", "reset", "use", "set", "show", "source",
    "history", "clear", "help", "quit", "barrier", "notify",
  ]

  @Test(arguments: CommandTable.commands.map(\.name))
  func `a command is checked mid-way, or shows nothing of a run`(_ name: String) {
    #expect(
      Self.views[name] != nil || Self.others.contains(name),
      "'\(name)' has no check here of what it shows of a run that is half done"
    )
  }

  @Test(arguments: [RunClock.virtual, .real], MidwayTests.views.keys.sorted())
  func `a view of a run under way shows it as of now, and says that it goes on`(
    _ clock: RunClock,
    _ view: String
  ) async throws {
    for json in [false, true] {
      let half = try await HalfDone(clock, json: json)
      try await Self.views[view]?(half)
      await half.lab.session.leave()
    }
  }

  // MARK: Views

  private static let timeline: @Sendable (HalfDone) async throws -> Void = { half in
    for view in ["timeline", "timeline workers"] {
      let shown = await half.ask(view)
      half.goesOn(shown)
      guard view == "timeline" else { continue }
      if half.json {
        for task in shown.log.tasks {
          let spans = shown.objects.filter { $0["task"] as? String == task.name }
          half.expect(
            "the last span of \(task.name) ends at its end, or else now",
            shown.log.isMoment(spans.last?["to"] as? Int64, task.ended, whereArrived: task.arrived)
          )
        }
      } else {
        let rows = shown.log.tasks.map { task in
          (task, shown.lines.first { $0.hasPrefix("  \(task.name) ") }?.count ?? 0)
        }
        let longest = rows.map(\.1).max()
        for (task, length) in rows where task.isOpen {
          half.expect("the row of \(task.name) goes on to now", length == longest)
        }
        half.expect(
          "the limit is drawn as it is now",
          shown.lines.contains { $0.hasPrefix("limit ") && $0.contains("2") }
        )
      }
    }
    guard !half.json else { return }
    let shown = await half.ask("set describe=on; timeline; timeline workers; set describe=off")
    half.goesOn(shown)
    if let now = shown.log.moment {
      half.expect("sentences end now", shown.text.contains("to \(DurationText.text(now))"))
    }
  }

  private static let stats: @Sendable (HalfDone) async throws -> Void = { half in
    let shown = await half.ask("stats")
    half.goesOn(shown)
    if half.json {
      try half.check(summary: try #require(shown.objects.last), shown.log)
    } else if let now = shown.log.moment {
      let waits = shown.log.waits(at: now)
      half.expect(
        "the mean includes who still waits",
        shown.text.contains(DurationText.text(mean(waits)))
      )
      half.expect("it says how many still wait", shown.text.contains("4 still wait"))
      half.expect("it says how long it has gone on", shown.text.contains("500 ms"))
    }
  }

  private static let events: @Sendable (HalfDone) async throws -> Void = { half in
    for command in ["events", "events t4"] {
      let shown = await half.ask(command)
      half.goesOn(shown)
      let of = command == "events" ? nil : TaskID(4)
      let logged = shown.log.events.filter { of == nil || $0.task == of }
      if half.json {
        let last = shown.objects.last
        half.expect("the last line is now", shown.log.isNow(last?["t"] as? Int64))
        half.expect("the log is there", shown.objects.count == logged.count + 1)
      } else if let now = shown.log.moment {
        half.expect(
          "the last line is now",
          shown.lines.last?.contains(DurationText.text(now)) == true
        )
      }
    }
  }

  private static let why: @Sendable (HalfDone) async throws -> Void = { half in
    for task in 1...9 {
      let shown = await half.ask("why t\(task)")
      half.goesOn(shown)
      let life = shown.log.tasks[task - 1]
      let text = shown.text.replacing("\n", with: " ")
      if life.arrived == nil {
        half.expect("t\(task) is to come", text.contains("has not arrived yet"))
      } else if life.isOpen {
        half.expect("the time of t\(task) so far is told", text.contains("so far"))
        if let now = shown.log.moment {
          let since = DurationText.text(now - (life.admitted ?? life.arrived ?? 0))
          half.expect("t\(task) has taken \(since)", text.contains(since))
        }
      }
    }
  }

  private static let runs: @Sendable (HalfDone) async throws -> Void = { half in
    let shown = await half.ask("runs")
    half.goesOn(shown)
    if half.json {
      half.expect("it is listed beside the one that ended", shown.objects.count == 2)
      let last = shown.objects.last
      half.expect("no makespan is claimed", !(last?["makespan_ns"] is Int64))
    }
  }

  private static let diff: @Sendable (HalfDone) async throws -> Void = { half in
    for command in ["diff", "diff 1"] {
      let shown = await half.ask(command)
      half.goesOn(shown)
      if half.json, let summary = shown.objects.last {
        try half.check(summary: summary, shown.log)
      }
    }
  }

  private static let curve: @Sendable (HalfDone) async throws -> Void = { half in
    let shown = await half.ask("curve")
    if half.json {
      half.expect("half a run is no mark", shown.objects.count == 1)
    } else {
      half.expect("it says that a run is left out", shown.text.contains("goes on"))
    }
  }

  private static let expect: @Sendable (HalfDone) async throws -> Void = { half in
    // What can no longer change is decided, the rest is not.
    for (text, outcome) in [
      ("finished >= 1", Session.Outcome.done), ("finished = 0", .unmet),
      ("peak_running >= 2", .done), ("peak_running < 2", .unmet),
      ("admitted(t4) > 0s", .failed), ("service(t1) > 0s", .done), ("mechanism = limiter", .done),
      ("makespan > 0s", .done), ("makespan < 60m", .failed), ("makespan = 0s", .unmet),
      ("waiting_max > 0s", .failed), ("waiting(t5) > 0s", .failed), ("waiting(t1) < 1m", .done),
      ("violations = 0", .failed), ("finished = 1", .failed), ("peak_running = 2", .failed),
      ("throughput > 1/s", .failed), ("unended = 6", .failed), ("completion > 0s", .failed),
      ("cancelled <= 1", .failed), ("cancelled > 0", .done), ("permits_left = 0", .failed),
      ("makespan = 60m..90m", .failed), ("finished != 0", .done),
      ("limit >= 2", .done), ("peak_running <= limit", .failed), ("tasks >= 9", .done),
    ] {
      let got = await half.lab.outcome(of: "expect \(text)")
      let said = half.lab.output.takeText() + half.lab.output.takeComplaints().joined()
      half.expect("'expect \(text)' comes to the right end: \(said)", got == outcome)
      if outcome == .failed {
        half.expect("'expect \(text)' says that the run goes on", said.contains("goes on"))
      }
    }
  }

  private static let status: @Sendable (HalfDone) async throws -> Void = { half in
    let shown = await half.ask("status")
    if half.json {
      let status = shown.objects.last?["status"] as? [String: Any]
      half.expect("the time is now", shown.log.isNow(status?["t"] as? Int64))
      for (name, count) in [("running", 2), ("waiting", 4), ("ended", 2), ("tasks", 9)] {
        half.expect("\(name) as in the log", status?[name] as? Int == count)
      }
    } else {
      for row in [
        "running  2  t02-t03", "waiting  4  t04-t06 t08", "ended    2  t01 t07", "to come  1  t09",
      ] {
        half.expect("'\(row)'", shown.text.contains(row))
      }
      if let now = shown.log.moment {
        half.expect("the time is now", shown.lines.first == "at \(DurationText.text(now))")
      }
    }
  }

  // MARK: Exports

  private static let exports: @Sendable (HalfDone) async throws -> Void = { half in
    let scratch = try ScratchFolder()
    for format in ExportFormat.allCases {
      let path = "\(scratch.path)/run.\(format.rawValue)"
      let shown = await half.ask("export \(path) format=\(format.rawValue)")
      half.goesOn(shown)
      let text = try String(contentsOfFile: path, encoding: .utf8)
      try half.check(text, in: format, shown.log)
    }
  }

  private static let opens: @Sendable (HalfDone) async throws -> Void = { half in
    let shown = await half.ask("open")
    half.goesOn(shown)
    let place = try #require(shown.text.firstMatch(of: /\/[^ "]*\.html/)).output
    let page = try String(
      contentsOfFile: String(place).replacing("\\/", with: "/"),
      encoding: .utf8
    )
    try half.check(page, in: .html, shown.log)
  }

  static func mean(_ values: [Int64]) -> Int64 {
    let sum = Double(values.reduce(0, +))
    return Int64((sum / Double(max(values.count, 1))).rounded())
  }
}

/// A session whose run is half done: one task has finished, one was cancelled while it waited, two are in
/// service, four wait, one is to come, and the limit has been raised.
private struct HalfDone {
  let clock: RunClock
  let json: Bool
  let lab: Lab
  let run: any LiveRun

  init(_ clock: RunClock, json: Bool) async throws {
    self.clock = clock
    self.json = json
    lab = Lab(json: json)
    await lab.run("run 2 limiter limit=1 work=10ms")
    let first = clock == .virtual ? "100ms" : "1us"
    await lab.run("spawn 1 limiter limit=1 clock=\(clock.rawValue) work=\(first)")
    let background = try #require(await lab.session.background)
    run = background.run
    try await goOn { $0.ended == 1 }
    await lab.run("spawn 6 work=60m")
    try await goOn { $0.running == 1 && $0.waiting == 5 }
    await lab.run("limit 2")
    try await goOn { $0.running == 2 }
    await lab.run("cancel t7")
    try await goOn { $0.ended == 2 }
    await lab.run("spawn 2 arrivals=every:60m work=60m")
    try await goOn { $0.waiting == 4 }
    _ = lab.output.takeText()
    _ = lab.output.takeComplaints()
  }

  /// Lets the run come as far as that: on the wall clock, until the log says so.
  private func goOn(until isReached: (Log) -> Bool) async throws {
    if clock == .virtual { await lab.run("advance 100ms") }
    while !isReached(log(now: run.now...run.now)) {
      try #require(clock == .real, "virtual time has passed")
      await Moment.pass()
    }
  }

  private func log(now: ClosedRange<Int64>) -> Log {
    var cursor = TraceRecorder.Cursor()
    return Log(run.events(since: &cursor), tasks: run.plan.count, now: now)
  }

  /// What a command says, and what the log says at that moment.
  struct Shown {
    let command: String
    let text: String
    let log: Log

    var lines: [String] { text.components(separatedBy: "\n").filter { !$0.isEmpty } }
    /// The lines that are objects of JSON.
    var objects: [[String: Any]] { lines.compactMap(HalfDone.object) }
  }

  static func object(_ line: String) -> [String: Any]? {
    (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any]
  }

  func ask(_ command: String) async -> Shown {
    let before = run.now
    let text = await lab.run(command)
    return Shown(command: command, text: text, log: log(now: before...run.now))
  }

  /// Notes a place where a view says something else than the log.
  func expect(_ what: String, _ isSo: Bool, _ line: Int = #line) {
    if isSo { return }
    Issue.record("\(clock.rawValue) \(json ? "json" : "text"): \(what)")
  }

  /// Whether it is said that the run goes on, and nothing that only the end can tell.
  func goesOn(_ shown: Shown) {
    if json {
      let isSaid = shown.objects.contains { object in
        let one = (object["summary"] as? [String: Any]) ?? object
        return one["under_way"] as? Bool == true
          && (shown.log.isNow(one["now_ns"] as? Int64) || shown.log.isNow(one["t"] as? Int64))
      }
      expect("'\(shown.command)' says that the run is under way, and when", isSaid)
    } else {
      expect("'\(shown.command)' says that the run goes on", shown.text.contains("goes on"))
    }
    for claim in ["never ended", "never arrived", "\"makespan_ns\":0,"]
      + (shown.command.hasPrefix("diff") || shown.command == "runs" ? [] : ["makespan "])
    {
      expect("'\(shown.command)' does not say '\(claim)'", !shown.text.contains(claim))
    }
  }

  func check(summary: [String: Any], _ log: Log) throws {
    let figures = (summary["summary"] as? [String: Any]) ?? summary
    expect("no makespan is claimed", !(figures["makespan_ns"] is Int64))
    for (name, count) in [
      ("peak_running", 2), ("finished", 1), ("cancelled", 1), ("still_waiting", 4),
      ("in_service", 2),
    ] {
      expect("\(name) is \(count)", figures[name] as? Int == count)
    }
    func mean(_ name: String, _ values: (Int64) -> [Int64]) {
      let least = MidwayTests.mean(values(log.now.lowerBound))
      let most = MidwayTests.mean(values(log.now.upperBound))
      let got = (figures[name] as? [String: Any])?["mean"] as? Int64 ?? -1
      expect("the mean of \(name) includes what is open: \(got)", (least...most).contains(got))
    }
    mean("waiting_ns", log.waits)
    mean("service_ns", log.services)
    mean("response_ns", log.responses)
    let elapsed = figures["elapsed_ns"] as? Int64
    expect("what has elapsed is said", log.isNow(elapsed.map { $0 + log.start }))
  }

  func check(_ text: String, in format: ExportFormat, _ log: Log) throws {
    let place = "the \(format.rawValue) file"
    expect(
      "\(place) never says never",
      !text.contains("never ended") && !text.contains("never arrived")
    )
    expect("\(place) claims no makespan", !text.contains("makespan "))
    switch format {
    case .jsonl:
      let lines = text.split(separator: "\n").compactMap { Self.object(String($0)) }
      expect("\(place) has the events", lines.count == log.events.count + 2)
      let summary = try #require(lines.last?["summary"] as? [String: Any])
      expect("\(place) is under way", summary["under_way"] as? Bool == true)
      expect("\(place) says when", log.isNow(summary["now_ns"] as? Int64))
      try check(summary: summary, log)
    case .csv:
      let rows = text.split(separator: "\n").map {
        $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      }
      func cell(_ row: [String], _ name: String) -> String? {
        rows[0].firstIndex(of: name).map { row[$0] }
      }
      for (row, task) in zip(rows.dropFirst(), log.tasks) {
        for (name, time) in [
          ("arrived_ns", task.arrived), ("admitted_ns", task.admitted), ("ended_ns", task.ended),
        ] {
          expect("\(place): \(name) of \(task.name)", cell(row, name) == time.map { "\($0)" } ?? "")
        }
        expect(
          "\(place) says when, at \(task.name)",
          log.isNow(cell(row, "now_ns").flatMap { Int64($0) })
        )
      }
    case .chrome:
      let object = try #require(Self.object(text))
      let events = try #require(object["traceEvents"] as? [[String: Any]])
      for task in log.tasks where task.arrived != nil {
        let end = events.last { $0["name"] as? String == task.name && $0["ph"] as? String == "e" }
        let time = (end?["ts"] as? Double).map { Int64(($0 * 1_000).rounded()) }
        expect(
          "\(place): \(task.name) ends at its end, or else now",
          log.isMoment(time, task.ended, whereArrived: task.arrived)
        )
      }
      let more = object["otherData"] as? [String: Any]
      expect("\(place) is under way", more?["under_way"] as? Bool == true)
      expect("\(place) says when", log.isNow(more?["now_ns"] as? Int64))
    case .svg:
      expect("\(place) says that the run goes on", text.contains("goes on"))
      for task in log.tasks where task.isOpen {
        let row =
          text.components(separatedBy: "<title>\(task.name):").last?.components(
            separatedBy: "</g>"
          )[0] ?? ""
        func number(_ name: String) -> Double {
          row.components(separatedBy: " \(name)=\"").last.flatMap {
            Double($0.prefix { $0 != "\"" })
          } ?? -1
        }
        let edge = number("x") + number("width")
        expect(
          "\(place): the bar of \(task.name) goes on to the edge, now: \(edge)",
          abs(edge - 976) < 1
        )
      }
      expect("\(place) shows the limit", text.contains(#"<path class="limit""#))
    case .html:
      expect("\(place) says that the run goes on", text.contains("goes on"))
      let data =
        text.components(separatedBy: #"id="data">"#).last?.components(separatedBy: "</script>")[0]
        ?? ""
      let object = try #require(Self.object(data))
      expect("\(place) ends now", log.isNow(object["end"] as? Int64))
      let tasks = try #require(object["tasks"] as? [[String: Any]])
      for (drawn, task) in zip(tasks, log.tasks) where task.arrived != nil {
        let last = (drawn["s"] as? [Any])?.last as? Int64
        expect(
          "\(place): \(task.name) ends at its end, or else now",
          log.isMoment(last, task.ended, whereArrived: task.arrived)
        )
      }
    }
  }
}

/// A log as this test reads it, and between which two moments a view was asked for.
private struct Log {
  struct Fate {
    var name: String
    var arrived: Int64?
    var admitted: Int64?
    var ended: Int64?

    var isOpen: Bool { arrived != nil && ended == nil }
  }

  let events: [TraceEvent]
  let now: ClosedRange<Int64>
  private(set) var tasks: [Fate]

  init(_ events: [TraceEvent], tasks count: Int, now: ClosedRange<Int64>) {
    self.events = events
    self.now = now
    tasks = (0..<count).map { Fate(name: "t0\($0 + 1)") }
    for event in events where event.task > .run {
      let index = Int(event.task.number) - 1
      switch event.kind {
      case .arrived: tasks[index].arrived = event.time
      case .admitted: tasks[index].admitted = event.time
      case let kind where kind.isEnd: tasks[index].ended = event.time
      default: break
      }
    }
  }

  /// The one moment of virtual time; nil on the wall clock.
  var moment: Int64? { now.lowerBound == now.upperBound ? now.lowerBound : nil }
  var start: Int64 { tasks.compactMap(\.arrived).min() ?? 0 }
  var ended: Int { tasks.count { $0.ended != nil } }
  var running: Int { tasks.count { $0.admitted != nil && $0.ended == nil } }
  var waiting: Int { tasks.count { $0.isOpen && $0.admitted == nil } }

  /// Arrival to admission, or to now of who still waits; who left the queue has none.
  func waits(at now: Int64) -> [Int64] {
    tasks.compactMap { task in
      guard let arrived = task.arrived else { return nil }
      if let admitted = task.admitted { return admitted - arrived }
      return task.ended == nil ? now - arrived : nil
    }
  }

  func services(at now: Int64) -> [Int64] {
    tasks.compactMap { task in task.admitted.map { (task.ended ?? now) - $0 } }
  }

  func responses(at now: Int64) -> [Int64] {
    tasks.compactMap { task in
      guard let arrived = task.arrived, task.admitted != nil || task.isOpen else { return nil }
      return (task.ended ?? now) - arrived
    }
  }

  func isNow(_ time: Int64?) -> Bool { time.map(now.contains) ?? false }

  /// Whether a time is that of an end, or now where there is none yet; without an arrival there is none.
  func isMoment(_ time: Int64?, _ ended: Int64?, whereArrived arrived: Int64?) -> Bool {
    guard arrived != nil else { return time == nil }
    return ended.map { $0 == time } ?? isNow(time)
  }
}
