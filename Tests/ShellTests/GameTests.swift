import Foundation
import Mechanisms
import TestSupport
import Testing

@testable import Shell

/// Playing the scheduler, as a person who wants out or does not know the words.
@Suite(.watched) struct GameTests {
  private static let begin = "step limiter tasks=2 limit=1"

  @Test
  func `Ctrl-D ends the game and not the lab`() async {
    let lab = Lab()
    await lab.run(Self.begin)
    #expect(await lab.session.prompt.text == "choose> ")
    #expect(await lab.session.endInput() == .done)
    #expect(lab.output.takeText().hasPrefix("replay v"))
    #expect(await lab.session.prompt.text == "limiter·3 virtual> ")
    #expect(await lab.session.endInput() == .quit)
  }

  @Test
  func `who tries at the end whether the permits are back is said to`() async {
    let lab = Lab()
    let end = await lab.run("step specimen-lost-wake-up tasks=2 limit=1; auto")
    let words = end.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(
      words.contains(
        "t02 at the end t03 is sent to see whether every permit is back: it arrives; t03 is admitted; "
          + "its body runs; t03 departs"
      ),
      "\(end)"
    )
  }

  @Test
  func `q ends the game, and 'quit' the lab`() async {
    let lab = Lab()
    #expect(await lab.run("\(Self.begin); q").contains("replay v"))
    #expect(await lab.session.prompt.text == "limiter·3 virtual> ")
    await lab.run(Self.begin)
    #expect(await lab.outcome(of: "quit") == .quit)
  }

  @Test
  func `a game with a defect names the fewest steps that break it, and who runs and waits`() async {
    let lab = Lab()
    let text = await lab.run("step specimen-lost-wake-up inside=no")
    #expect(text.contains(/Break it in \d+ steps, as the explorer does\./))
    #expect(text.contains("running:    0 of 1"))
    #expect(text.contains("waits:      nobody"))
  }

  @Test
  func `who has arrived and was not admitted waits, and choices that look alike name their lines`()
    async
  {
    let lab = Lab()
    let text = await lab.run("step specimen-lost-wake-up inside=no; 1; 1; 1")
    #expect(text.contains("waits:      t01 since step 1; t02 since step 2"), "\(text)")
    #expect(text.contains("t02 comes to 'try await permits.departure.condition.wait()'"))
    #expect(!text.contains("gets its turn"))
    let end = await lab.run("1; 2; 2; 1; 1; 1; 1")
    #expect(end.contains("t01 lets t02 go on"), "\(end)")
  }

  @Test
  func `the smallest schedule that fails is shown though the search met another violation first`()
    async
  {
    let text = await Lab().run("explore specimen-published-limiter inside=no")
    #expect(text.contains("✗ ran-after-cancel\n"), "the one that the search met")
    #expect(text.contains("✗ over-admission, in the smallest schedule that fails"))
    #expect(text.contains("the smallest that fails, 7 steps, 1 cancellation"))
  }

  @Test
  func `a schedule is exported as a page of its own: one found, or the one being played`()
    async throws
  {
    let scratch = try ScratchFolder()
    let lab = Lab(classroom: Classroom(folder: packageFolder + "/Lessons"))
    await lab.run("explore specimen-check-then-act inside=no; export \(scratch.path)/game.html")
    let page = try String(contentsOfFile: scratch.path + "/game.html", encoding: .utf8)
    #expect(page.contains("<h1>specimen-check-then-act: over-admission in 5 steps"))
    #expect(page.contains("Here is the defect"), "the code is there to be read")
    await lab.run("\(Self.begin); 1; export \(scratch.path)/other-game.html")
    let other = try String(contentsOfFile: scratch.path + "/other-game.html", encoding: .utf8)
    #expect(other.contains("<h1>limiter: "))
    await lab.run("export \(scratch.path)/story.html; done; run 12 limiter limit=3")
    await lab.run("export \(scratch.path)/history.html")
    let story = try String(contentsOfFile: scratch.path + "/story.html", encoding: .utf8)
    #expect(story == other)
    let history = try String(contentsOfFile: scratch.path + "/history.html", encoding: .utf8)
    #expect(history.contains("limit 3"), "a page of the run")
  }

  @Test(arguments: ["help", "hel", "?"])
  func `in the game 'help' lists what one can play, and no other command`(_ word: String) async {
    let lab = Lab()
    await lab.run(Self.begin)
    let text = await lab.run(word)
    for (form, does) in SchedulerGame.moves { #expect(text.contains(form) && text.contains(does)) }
    for name in ["compare", "lessons", "export"] { #expect(!text.contains(name)) }
    // The forms can be typed as they stand, names aside.
    for (form, _) in SchedulerGame.moves where form != "done" {
      #expect(await lab.outcome(of: "goto 0; fork NAME") == .done)
      if form != "1" { await lab.run("auto") }
      #expect(await lab.outcome(of: form) == .done, "\(form)")
    }
    #expect(await lab.run("help run").contains("run N [MECH]"), "other help stays at hand")
    await lab.run("done")
    #expect(await lab.run("help").contains("compare"))
  }

  @Test func `several choices in one line are taken one after the other`() async {
    let lab = Lab(display: Display(width: 60))
    await lab.run("\(Self.begin) inside=no; 1 1 1")
    let steps = await lab.run("steps")
    #expect(steps.split(separator: "\n").count == 3, "\(steps)")
    #expect(await lab.outcome(of: "done; \(Self.begin) inside=no; 1; 1; 1") == .done)
    _ = lab.output.takeText()
    #expect(await lab.run("steps") == steps)
    // Those before one that cannot be taken are taken.
    #expect(await lab.complaints(about: "goto 0; 1 9 1").contains { $0.contains("no choice 9") })
    _ = lab.output.takeText()
    #expect(await lab.run("steps").split(separator: "\n").count == 1)
  }

  @Test func `a step that does not fit on a line goes on under its own column`() async {
    let lab = Lab(display: Display(width: 60))
    await lab.run("step specimen-lost-wake-up inside=no; 1; 1; 1")
    let steps = await lab.run("steps").split(separator: "\n")
    #expect(steps.count > 3)
    for line in steps { #expect(line.count <= 60) }
    for line in steps.dropFirst(3) { #expect(line.hasPrefix("          ") && line.count > 10) }
  }

  @Test func `a day has one puzzle, and a puzzle is the same each time it is asked for`()
    async throws
  {
    let day = try Date("2026-11-22T23:59:59Z", strategy: .iso8601)
    #expect(Puzzle.seed(of: day) == 20_261_122)
    #expect(Puzzle.seed(of: day.addingTimeInterval(1)) == 20_261_123)
    let chosen = Set((UInt64(1)...60).map { Puzzle(seed: $0).mechanism.id })
    #expect(chosen.count > 8, "\(chosen)")
    let today = await Lab().run("puzzle today; done")
    let seed = Puzzle.seed(of: .now)
    #expect(today.contains("Puzzle \(seed): break this limiter in "))
    #expect(await Lab().run("puzzle seed=\(seed); done") == today)
  }

  @Test func `what a bound on overtaking leaves out is said beside the verdict`() async {
    let verdict = await Lab(display: Display(width: 400))
      .run("explore specimen-barging bound=1 inside=no")
    #expect(verdict.contains("bodies that throw"), "\(verdict)")
    #expect(verdict.contains("up to 1 overtakings of a waiting task"), "\(verdict)")
    let json = await Lab(json: true).run("explore limiter visits=2 resize=2 inside=no schedules=10")
    #expect(json.contains(#""visits":2,"resize":2,"bound":null"#), "\(json)")
  }

  @Test func `an exploration that is too large tells what it went over to, in text and in JSON`()
    async
  {
    let large = "explore limiter tasks=5 limit=2 cancel=any inside=no schedules=400 seed=3 depth=2"
    let lab = Lab(display: Display(width: 400))
    let text = await lab.run(large)
    #expect(
      text.contains(
        #/^bounded: 400 schedules, .* in order 100 of about \S+( \w+)? · then 300 drawn by PCT \(depth 2, seed 3\)/#
      ),
      "\(text)"
    )
    #expect(text.contains("of which 400 fit in the limit: 100 were searched in order, then 300"))
    #expect(text.contains("one that needs 2 orders of two steps is shown by each that PCT draws"))
    // The keys that say how to draw have an effect then.
    #expect(!text.contains("has no effect"), "\(text)")
    let json = await Lab(json: true).run(large)
    #expect(json.contains(#""coverage":"bounded","schedules":400"#), "\(json)")
    #expect(
      json.contains(
        #/"estimated_schedules":\d+,"instead":\{"strategy":"pct","depth":2,"seed":3,"in_order":100,"room":400,"drawn":300,"agents":\d+,"longest":\d+,"chance_one_in":\d+\}/#
      ),
      "\(json)"
    )
    let random = await Lab(json: true).run("\(large) instead=random")
    #expect(random.contains(#""instead":{"strategy":"random","depth":null,"seed":3"#), "\(random)")
    let cut = await Lab(json: true).run("\(large) instead=none")
    #expect(cut.contains(#""schedules":400"#) && !cut.contains(#""instead""#), "\(cut)")
    #expect(cut.contains(#/"estimated_schedules":\d+/#), "\(cut)")
  }

  @Test(arguments: [
    (
      "limiter preemptions=1 strategy=random",
      "preemptions=1 has no effect: strategy=random keeps to no bound; only an exhaustive search does"
    ),
    (
      "limiter preemptions=1 strategy=pct inside=yes",
      "preemptions=1 has no effect: strategy=pct keeps to no bound; only an exhaustive search does"
    ),
    (
      "limiter depth=3 inside=no",
      "depth=3 has no effect: it is for strategy=pct, and this is strategy=exhaustive"
    ),
    (
      "limiter seed=3 inside=no",
      "seed=3 has no effect: strategy=exhaustive draws nothing at random"
    ),
    (
      "limiter instead=pct strategy=random",
      "instead=pct has no effect: strategy=random draws from the beginning; only an exhaustive search goes over"
    ),
    ("fifo-queue limit=3 inside=no", "limit=3 has no effect: fifo-queue runs one task at a time"),
    (
      "actor-queue limit=3 inside=no",
      "limit=3 has no effect: actor-queue starts one task at a time, and tasks that suspend overlap"
    ),
  ])
  func `a key that changes nothing is told`(_ words: String, _ note: String) async {
    let command = "explore \(words) tasks=2 schedules=20"
    let lab = Lab(display: Display(width: 400))
    #expect(await lab.run(command).contains("\nnote: \(note). See: "))
    let json = Lab(json: true)
    let verdict = await json.run(command)
    #expect(json.output.takeComplaints() == ["note: \(note)"])
    if words.contains("preemptions") {
      #expect(verdict.contains(#""preemption_bound":null"#), "\(verdict)")
      #expect(!verdict.contains("more than 1 pre-emption"))
    }
  }

  @Test(arguments: [
    "strategy=random preemptions=none seed=3", "strategy=pct depth=2 seed=3", "preemptions=1",
    "limit=1",
  ])
  func `of a key that has an effect nothing is said`(_ words: String) async {
    let text = await Lab().run("explore limiter tasks=2 schedules=20 \(words)")
    #expect(!text.contains("no effect"))
  }

  @Test func `a game is told of a limit that changes nothing too`() async {
    #expect(await Lab().run("step fifo-queue limit=3; done").contains("limit=3 has no effect"))
    #expect(!(await Lab().run("step fifo-queue limit=1; done")).contains("no effect"))
  }

  @Test func `a puzzle hides its limiter until it is broken, and scores it for others to see`()
    async throws
  {
    let seed = try #require(
      (UInt64(1)...).first { Puzzle(seed: $0).mechanism.id == "specimen-check-then-act" }
    )
    let lab = Lab()
    var said = await lab.run("puzzle seed=\(seed)")
    let best = try #require(said.firstMatch(of: /break this limiter in (\d+) steps/)).output.1
    said += await lab.run("1; back; 1; 2; steps")
    #expect(!said.contains("check-then-act") && !said.contains("CheckThenAct"), "\(said)")
    // Both look before either counts itself in.
    await lab.run("goto 0")
    var last = ""
    for turn in 1...20 where !last.contains("over-admission") {
      let choices = last.matches(of: /\[(\d)\] (t0\d)/)
      let next = choices.first { $0.output.2 == "t0\(2 - turn % 2)" } ?? choices.first
      last = await lab.run(next.map { String($0.output.1) } ?? "1")
    }
    #expect(last.contains("It was specimen-check-then-act: "), "\(last)")
    #expect(last.contains("Concurrency lab, puzzle \(seed): "))
    #expect(last.contains(/broken in \d+ steps, \d steps taken back; the explorer needs \d+/))
    #expect(last.contains("explorer needs \(best)\n"))
    #expect(last.contains(/puzzle \d+: \d+ of 100 points/))
    #expect(await lab.run("done").hasPrefix("replay v3:specimen-check-then-act"))
  }
}
