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
}
