import Basics
import Foundation
import Mechanisms
import TestSupport
import Testing

@testable import Shell

@Suite(.watched) struct PromptTests {
  @Test
  func `the prompt names the mechanism, the limit and the clock`() async {
    let lab = Lab()
    #expect(await lab.session.prompt.text == "limiter·3 virtual> ")
    await lab.run("use pool limit=8; set clock real")
    #expect(await lab.session.prompt.text == "pool·8 real> ")
    await lab.run("use fifo-queue")
    #expect(await lab.session.prompt.text == "fifo-queue real> ")
    await lab.run("use gcd-gate; set clock auto")
    #expect(await lab.session.prompt.text == "gcd-gate·8 real> ")
  }

  @Test
  func `the prompt counts what goes on in the background`() async {
    let lab = Lab()
    await lab.run("spawn 12 limiter limit=4 work=10ms")
    #expect(await lab.session.prompt.text == "limiter·4 virtual (4▸ 8·)> ")
    await lab.run("advance 25ms")
    #expect(await lab.session.prompt.text == "limiter·4 virtual (4▸ 0·)> ")
    await lab.run("idle")
    #expect(await lab.session.prompt.text == "limiter·4 virtual (all ended)> ")
    await lab.run("wait")
    #expect(await lab.session.prompt.text == "limiter·3 virtual> ")
  }

  @Test
  func `a run on the wall clock changes the prompt by itself and its end is told once`() async {
    let lab = Lab()
    #expect(await !lab.session.prompt.isLive)
    await lab.run("spawn 2 gcd-gate limit=1 work=1ms")
    let prompt = await lab.session.prompt
    #expect(prompt.isLive)
    while !prompt.text.contains("all ended") { await Moment.pass() }
    #expect(prompt.news == "gcd-gate: all 2 tasks have ended. 'wait' shows the result.")
    #expect(prompt.news == nil)
    await lab.run("wait")
  }

  @Test
  func `what is told above the prompt keeps to the window`() async {
    let lab = Lab(display: Display(width: 40))
    await lab.run("spawn 2 gcd-gate limit=1 work=1ms")
    let prompt = await lab.session.prompt
    while !prompt.text.contains("all ended") { await Moment.pass() }
    #expect(prompt.news == "gcd-gate: all 2 tasks have ended. 'wait'\nshows the result.")
    await lab.run("wait")
  }

  @Test
  func `without Unicode and with colour the prompt says the same`() async {
    let ascii = Lab(display: Display(ascii: true))
    #expect(await ascii.session.prompt.text == "limiter-3 virtual> ")
    await ascii.run("spawn 4 limiter limit=1")
    #expect(await ascii.session.prompt.text == "limiter-1 virtual (1 run, 3 wait)> ")
    let coloured = Lab(display: Display(colour: true))
    let text = await coloured.session.prompt.text
    #expect(text.replacing(/\u{1B}\[[0-9;]*m/, with: "") == "limiter·3 virtual> ")
    #expect(text.contains("\u{1B}["))
  }

  @Test
  func `a lesson and a game say what one is in the middle of`() async {
    let lab = Lab(classroom: Classroom(folder: packageFolder + "/Lessons"))
    await lab.run("lesson 1")
    #expect(await lab.session.prompt.text == "lesson 1> ")
    await lab.run("step limiter tasks=2 limit=1")
    #expect(await lab.session.prompt.text == "choose> ")
    await lab.run("auto")
    #expect(await lab.session.prompt.text == "back or done> ")
    await lab.run("done; leave")
    #expect(await lab.session.prompt.text == "limiter·3 virtual> ")
  }

  @Test
  func `the banner names four commands that work`() async throws {
    let text = Banner.text(Display(), lessons: packageFolder + "/Lessons")
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.count == 5)
    #expect(
      lines[0]
        == "concurrency lab · how many at once? · \(Catalogue.mechanisms.count) mechanisms, 20 lessons"
    )
    #expect(Banner.text(Display(ascii: true), lessons: nil).allSatisfy { $0.isASCII })
    let narrow = Banner.text(Display(width: 40), lessons: packageFolder + "/Lessons")
    #expect(narrow.split(separator: "\n").allSatisfy { $0.count <= 40 })
    #expect(narrow.contains("  lesson 1\n"))
    let lab = Lab(classroom: Classroom(folder: packageFolder + "/Lessons"))
    for line in lines.dropFirst() {
      let command = line.dropFirst(2).components(separatedBy: "  ")[0]
      #expect(await lab.outcome(of: command) == .done, "\(command)")
    }
  }
}
