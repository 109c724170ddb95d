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
  func `a game with a defect names the fewest steps that break it, and who runs and waits`() async {
    let lab = Lab()
    let text = await lab.run("step specimen-lost-wake-up inside=no")
    #expect(text.contains(/Break it in \d+ steps: the explorer needs no fewer\./))
    #expect(text.contains("running:    0 of 1"))
    #expect(text.contains("waits:      nobody"))
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
    #expect(await lab.run("done").hasPrefix("replay v2:specimen-check-then-act"))
  }
}
