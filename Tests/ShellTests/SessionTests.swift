import Basics
import Experiments
import Foundation
import Rendering
import TestSupport
import Testing

@testable import Shell

/// What a line does to a session, and what it leaves alone.
@Suite(.watched) struct SessionTests {
  /// All that a later command could build on.
  private func state(_ lab: Lab) async -> [String] {
    [
      await lab.run("show"), await lab.run("stats"), await lab.run("events"),
      await lab.run("status"), await lab.session.prompt.text,
    ]
  }

  @Test
  func `a command that fails changes nothing`() async throws {
    let scratch = try ScratchFolder()
    _ = try scratch.file("there.svg", "as it was")
    let lab = Lab(classroom: Classroom(folder: packageFolder + "/Lessons"))
    await lab.run("use pool limit=5; set work exp:7ms; run 6; run 9 limiter")
    let before = await state(lab)
    // What another line has to prepare changes something itself.
    for wrong in ErrorCatalogueTests.catalogue where wrong.before == nil {
      let line = wrong.line.replacing("SCRATCH", with: scratch.path)
      // With runs to look at, these are right.
      if ["timeline", "diff"].contains(line) { continue }
      #expect(await lab.outcome(of: line) == .failed, "\(line)")
      #expect(await state(lab) == before, "\(line)")
    }
    _ = lab.output.takeComplaints()
  }

  @Test
  func `explain says of a command what help says, the limits of exploring included`() async {
    let lab = Lab()
    let text = await lab.run("explain explore")
    let words = text.split { $0.isWhitespace }.joined(separator: " ")
    #expect(words.contains("choices are made between jobs, not inside them"))
    #expect(words.contains("tasks=3 limit=1 cancel=none inside=no: limiter 6, pool 6,"))
    #expect(words.contains("cancel=none inside=yes preemptions=2: limiter 1,368, pool 1,460,"))
    #expect(await lab.run("help explore") == text)
    #expect(
      await lab.run("explain limit").contains("ConcurrencyLimiter"),
      "a mechanism comes first"
    )
  }

  @Test
  func `head and foot of a run agree on its limit`() async {
    let overlapping = await Lab().run("run 6 actor-queue kind=suspend")
    #expect(overlapping.contains("actor-queue, no limit"))
    #expect(overlapping.contains("peak 6, no limit"))
    let computing = await Lab().run("run 6 actor-queue kind=spin")
    #expect(computing.contains("actor-queue, limit 1"))
    #expect(computing.contains("peak 1 of 1"))
    let inversion = await Lab().run("inversion")
    #expect(inversion.contains("one permit") && !inversion.contains("no limit"))
    #expect(!inversion.contains("overtook"))
  }

  @Test
  func `a failing command ends its line, and the session goes on`() async {
    let lab = Lab()
    #expect(await lab.outcome(of: "set limit 7; set limit none; set limit 9") == .failed)
    #expect(await lab.run("show").contains("limit      7"))
    #expect(await lab.outcome(of: "quit; set limit 11") == .quit)
    #expect(await lab.run("show").contains("limit      7"))
  }

  @Test
  func `a violation is told in the outcome, and what follows is carried out`() async {
    let lab = Lab()
    #expect(
      await lab.outcome(of: "run 3 specimen-nested-deadlock limit=1; set limit 7") == .violated
    )
    #expect(
      await lab.outcome(of: "explore specimen-published-limiter tasks=2; set limit 8") == .violated
    )
    #expect(await lab.run("show").contains("limit      8"))
  }

  @Test
  func `an interrupt ends the file that is being read`() async throws {
    let scratch = try ScratchFolder()
    let file = try scratch.file("long.lab", "spawn 3 main-actor-queue work=9m\nwait\nset limit 9\n")
    let lab = Lab()
    let reading = Task { await lab.outcome(of: "source \(file); set limit 8") }
    while await lab.session.background == nil { await Moment.pass() }
    while await lab.session.background != nil {
      lab.session.interrupt()
      await Moment.pass()
    }
    #expect(await reading.value.contains(.interrupted))
    #expect(await lab.run("show").contains("limit      3"))
  }

  @Test(arguments: ["quit", "exit", "Ctrl-D"])
  func `who leaves while tasks run is told so, and leaves by asking again right after`(
    _ way: String
  ) async {
    let lab = Lab()
    func leave() async -> Session.Outcome {
      way == "Ctrl-D" ? await lab.session.endInput() : await type(way)
    }
    func type(_ line: String) async -> Session.Outcome {
      await lab.session.execute(line, at: .prompt(columns: 0))
    }
    _ = await type("spawn 3 limiter limit=1 clock=real work=60m name=a")
    #expect(await !leave().contains(.quit))
    let told = lab.output.takeComplaints().joined(separator: " ")
    #expect(told.contains("3 tasks of a have not ended. 'quit' or Ctrl-D right"))
    // Whoever does something else is told again.
    _ = await type("status a")
    #expect(await !leave().contains(.quit))
    #expect(await leave() == .quit)
    _ = await type("cancel all all; wait all")
    #expect(await leave() == .quit)
    await lab.session.leave()
  }

  @Test(arguments: ["spawn 3 limiter clock=virtual", "run 3 limiter", "help"])
  func `who leaves while nothing goes on by itself is told nothing`(_ line: String) async {
    let lab = Lab()
    _ = await lab.session.execute(line, at: .prompt(columns: 0))
    #expect(await lab.session.execute("quit", at: .prompt(columns: 0)) == .quit)
    #expect(await lab.session.endInput() == .quit)
    #expect(lab.output.takeComplaints() == [])
  }

  @Test
  func `a script leaves with what runs, and is not asked`() async throws {
    let scratch = try ScratchFolder()
    let file = try scratch.file("leave.lab", "quit\n")
    let lab = Lab()
    await lab.run("spawn 3 limiter limit=1 clock=real work=60m")
    #expect(await lab.outcome(of: "quit") == .quit)
    let sourced = await lab.session.execute("source \(file)", at: .prompt(columns: 0))
    #expect(sourced.contains(.quit))
    #expect(lab.output.takeComplaints() == [])
    await lab.session.leave()
  }

  @Test
  func `an exploration that is cut says so, and by how much it may go on`() async {
    let lab = Lab()
    let text = await lab.run("explore limiter tasks=3 limit=1 schedules=10")
    #expect(text.contains("bounded: 10 schedules"), "\(text)")
    #expect(text.contains("schedules= looks at more"), "\(text)")
    #expect(ExplorationPlan().schedules == 3_000_000)
  }

  @Test(
    arguments: [
      (1_000_000, 5, "1,000,000 schedules, of at most 3,000,000: at most 10 s left"),
      (1_000_000, 30, "1,000,000 schedules, of at most 3,000,000: at most 60 s left"),
      // What most explorations end long before is no estimate.
      (1_000_000, 31, "1,000,000 schedules, of at most 3,000,000"),
      (150, 3, "150 schedules, of at most 3,000,000"),
      (1, 3, "1 schedule, of at most 3,000,000"), (0, 3, "0 schedules, of at most 3,000,000"),
      (3_000_000, 60, "3,000,000 schedules, of at most 3,000,000: at most 0 s left"),
    ]
  )
  func `how long an exploration can still take is told where that is not long`(
    _ schedules: Int,
    _ seconds: Int,
    _ told: String
  ) {
    let text = ExplorationText.progress(schedules, of: 3_000_000, after: .seconds(seconds))
    #expect(text == told)
  }

  @Test
  func `an unmet expectation ends its line and says what was got`() async {
    let lab = Lab()
    let line = "run 12 limiter limit=3 work=100ms"
    #expect(await lab.outcome(of: line + "; expect makespan = 400ms") == .done)
    #expect(await lab.outcome(of: "expect makespan <= 300ms; set limit 9") == .unmet)
    #expect(
      lab.output.takeText().hasSuffix(
        "✗ makespan is 400 ms, expected at most 300 ms: t10 ended last, at 400 ms\n"
      )
    )
    #expect(await lab.run("show").contains("limit      3"))
  }

  @Test(arguments: [
    ("peak_running = 3", true), ("peak_running <= limit", true), ("peak_running < limit", false),
    ("waiting(t12) = 300ms", true), ("finished = 12", true), ("finished != 12", false),
    ("makespan = 380ms..450ms", true), ("makespan = 390ms ~5%", true),
    ("makespan = 300ms ~5%", false),
    ("throughput = 30/s", true), ("violations = 0", true), ("cancelled > 0", false),
  ])
  func `figures of a run can be expected`(_ expectation: String, _ isMet: Bool) async {
    let lab = Lab()
    await lab.run("run 12 limiter limit=3 work=100ms")
    #expect(await lab.outcome(of: "expect \(expectation)") == (isMet ? .done : .unmet))
    #expect(lab.output.takeComplaints() == [])
  }

  @Test
  func `once nobody reads, nothing typed is done any more, and a script is a test all the same`()
    async
  {
    let lab = Lab()
    lab.output.isClosed = true
    #expect(await lab.session.execute("show; set limit 9", at: .prompt(columns: 8)) == .quit)
    lab.output.isClosed = false
    #expect(await lab.run("show").contains("limit      3"))
    lab.output.isClosed = true
    #expect(await lab.outcome(of: "run 3; expect makespan = 1ms; set limit 9") == .unmet)
    #expect(await lab.outcome(of: "run 3; set limit 9") == .done)
    lab.output.isClosed = false
    #expect(await lab.run("show").contains("limit      9"))
  }

  @Test
  func `after a run a person is told what helps next, and a script is not`() async throws {
    let lab = Lab()
    let line = "run 12 limiter limit=3 work=100ms"
    #expect(!(await lab.run(line)).contains("see also"))
    _ = await lab.session.execute(line, at: .prompt(columns: 8))
    let text = lab.output.takeText()
    let last = try #require(text.split(separator: "\n").last)
    #expect(last == "see also: why t10 · stats · timeline workers")
    for command in last.dropFirst("see also: ".count).components(separatedBy: " · ") {
      #expect(await lab.outcome(of: command) == .done, "\(command)")
    }
  }

  @Test
  func `the same seed gives the same text, and the settings are what a command falls back on`()
    async
  {
    let (one, other) = (Lab(), Lab())
    let command = "run 30 pool limit=4 work=exp:20ms arrivals=poisson:100/s cancel=10% seed=9"
    let text = await one.run(command)
    #expect(await other.run(command) == text)
    await other.run("use pool limit=4; set work exp:20ms; set seed 9")
    #expect(await other.run("run 30 arrivals=poisson:100/s cancel=10%") == text)
    #expect(await other.run("r 30 arr=poisson:100/s can=10%") != text, "'r' fits several commands")
    #expect(await other.run("ru 30 arr=poisson:100/s can=10%") == text)
  }

  @Test
  func `history lists what the place remembers`() async {
    let lab = Lab()
    lab.output.history = ["run 3", "stats", "show"]
    #expect(await lab.run("history") == "    1  run 3\n    2  stats\n    3  show\n")
    #expect(await lab.run("history 1") == "    3  show\n")
    let json = Lab(json: true)
    json.output.history = ["source \"a b\""]
    #expect(await json.run("history") == "{\"line\":\"source \\\"a b\\\"\"}\n")
  }

  @Test
  func `everything that is shown can be shown as JSON Lines, one object a line`() async throws {
    let lab = Lab(json: true)
    for line in [
      "mechanisms --specimens", "explain pool", "run 5 limiter", "stats", "events", "events t02",
      "why t05", "show", "set limit 4", "use pool", "run 5", "diff", "compare 4 limiter pool",
      "expect makespan > 0", "spawn 4 limiter limit=1", "status", "advance 50ms", "cancel t04",
      "idle", "wait", "timeline", "explore limiter tasks=2 limit=1 inside=no",
      "step limiter tasks=1 limit=1", "auto", "steps", "done", "help run", "help",
    ] {
      let outcome = await lab.outcome(of: line)
      #expect(outcome == .done, "\(line)")
      let text = lab.output.takeText()
      let wrong = text.split(separator: "\n").first { object in
        !((try? JSONSerialization.jsonObject(with: Data(object.utf8))) is [String: Any])
      }
      #expect(wrong == nil, "\(line)")
    }
  }

  @Test
  func `with describe on, pictures become sentences without glyphs`() async {
    let lab = Lab()
    await lab.run("set describe on")
    for line in [
      "run 12 limiter limit=3", "timeline", "timeline workers", "compare 6 limiter pool",
      "spawn 4 limiter limit=1; status", "wait",
    ] {
      let text = await lab.run(line)
      #expect(!text.isEmpty)
      for glyph in "█▒░│▁▂▃▄▅▆▇|" { #expect(!text.contains(glyph), "\(line) drew \(glyph)") }
    }
  }

  @Test(arguments: [20, 40, 80, 132])
  func `help fits its window, for every command and topic`(_ width: Int) async {
    let lab = Lab(display: Display(width: width))
    let names = CommandTable.commands.map(\.name) + HelpTopic.all.map(\.name)
    for line in ["help"] + names.map({ "help \($0)" }) {
      let text = await lab.run(line)
      #expect(!text.isEmpty)
      // An example is there to be copied: it stays in one piece. A word longer than the window too.
      let tooWide = text.split(separator: "\n").filter { row in
        row.count > width && row.trimmingCharacters(in: .whitespaces).contains(" ")
      }
      let examples = CommandTable.commands.flatMap(\.examples).map { "  " + $0 }
      #expect(width < 40 || tooWide.allSatisfy { examples.contains(String($0)) }, "\(tooWide)")
    }
  }

  @Test func `a run on lanes tells what its workers did`() async {
    let line = "run 6 limiter limit=2 work=1ms executor=lanes workers=2"
    let lab = Lab()
    #expect(await lab.run(line).contains("wall clock on lanes of 2 workers"))
    #expect(await lab.run("timeline workers").contains("lanes, 2 workers"))
    let lines = await Lab(json: true).run(line).split(separator: "\n")
    #expect(lines.first?.contains(#""executor":"lanes","workers":2"#) == true)
    #expect(lines.last?.contains(#""lanes":{"jobs":"#) == true)
  }

  @Test func `an interrupt that comes before its line begins is not lost`() async {
    let lab = Lab()
    lab.session.beginLine()
    lab.session.interrupt()
    let outcome = await lab.session.execute(
      "set limit 4; set limit 5",
      at: .script(name: "test", line: 1)
    )
    #expect(outcome.contains(.interrupted))
    #expect(await lab.run("show").contains("limit      4"))
  }

  @Test func `the largest seed is told as it is`() async {
    let line = "explore limiter tasks=1 limit=1 inside=no seed=18446744073709551615"
    #expect(await Lab(json: true).run(line).contains(#""seed":18446744073709551615,"#))
  }

  @Test func `the workers that are set are the lanes' too`() async {
    let lab = Lab()
    await lab.run("set workers 3")
    let text = await lab.run("run 2 limiter work=1ms executor=lanes")
    #expect(text.contains("wall clock on lanes of 3 workers"))
    #expect(await lab.run("compare 2 limiter@lanes pool@lanes work=1ms").contains("limiter@lanes"))
    #expect(await lab.run("timeline workers of limiter@lanes").contains("lanes, 3 workers"))
  }

  @Test func `workers that change nothing are not ignored in silence`() async {
    let lab = Lab()
    let note = "note: workers=3 has no effect: on the wall clock the system gives the threads"
    #expect(await lab.run("run 2 limiter work=1ms clock=real workers=3").contains(note))
    #expect(await lab.run("run 2 gcd-gate work=1ms workers=3").contains(note))
    #expect(!(await lab.run("run 2 limiter work=1ms workers=3").contains("no effect")))
    let lanes = await lab.run("run 2 limiter work=1ms executor=lanes workers=3")
    #expect(!lanes.contains("no effect"))
  }

  @Test func `real work that is set has the wall clock`() async {
    let lab = Lab()
    #expect(await lab.run("set kind=copy").contains("auto (real)"))
    #expect(await lab.run("set kind=block").contains("auto (virtual)"))
  }

  @Test
  func `the time of many long waits together is not too much to count`() async {
    let lab = Lab()
    await lab.run("run 10000 limiter limit=1 work=10m")
    #expect(await lab.outcome(of: "expect little_ratio = 1") == .done)
  }

  @Test
  func `a limit that the mechanism does not have is not ignored in silence`() async {
    let lab = Lab()
    let note =
      "note: limit=5 has no effect: fifo-queue runs one task at a time. See: explain fifo-queue"
    #expect(await lab.run("run 4 fifo-queue limit=5 clock=virtual").contains(note))
    #expect(
      await lab.run("run 4 none limit=5")
        .contains("note: limit=5 has no effect: the mechanism 'none' has no limit")
    )
    let overlapping =
      "actor-queue starts one task at a time, and tasks that suspend overlap"
    #expect(
      await lab.run("run 4 actor-queue limit=3 kind=suspend")
        .contains("note: limit=3 has no effect: \(overlapping)")
    )
    #expect(
      await lab.run("run 4 actor-queue limit=3 kind=spin")
        .contains("actor-queue runs one task at a time")
    )
    for line in [
      "run 4 fifo-queue clock=virtual", "run 4 fifo-queue limit=1 clock=virtual",
      "run 4 limiter limit=5",
    ] {
      #expect(await !lab.run(line).contains("has no effect"), "\(line)")
    }
    await lab.run("set describe on")
    #expect(await lab.run("run 4 fifo-queue limit=5 clock=virtual").contains(note))
  }

  @Test func `a lone q at the prompt leaves at the second asking, in a script at the first`() async
  {
    let lab = Lab()
    func typed(_ line: String) async -> Session.Outcome {
      await lab.session.execute(line, at: .prompt(columns: 0))
    }
    #expect(await typed("q") == .failed)
    #expect(lab.output.takeComplaints().joined().contains("'q' once more leaves the lab"))
    #expect(await typed("run 1") == .done)
    #expect(await typed("q") == .failed)
    #expect(await typed("q") == .quit)
    #expect(await typed("quit") == .quit)
    #expect(await Lab().outcome(of: "q") == .quit)
  }
}
