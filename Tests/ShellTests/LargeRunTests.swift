import TestSupport
import Testing

@testable import Shell

/// Runs that take more than anybody expects of a line.
@Suite(.watched) struct LargeRunTests {
  @Test func `a person is asked before a run takes much memory, and no runs nothing`() async {
    let lab = Lab()
    #expect(await lab.complaints(about: "run 5000000 limiter").isEmpty)
    #expect(
      lab.output.takeText() == "5,000,000 tasks need about 20 GB of memory. Shall they run?\n"
    )
    #expect(await lab.session.prompt.text == "run it? (yes/no)> ")
    #expect(await lab.complaints(about: "no").isEmpty)
    #expect(lab.output.takeText() == "Nothing was run.\n")
    #expect(await lab.session.prompt.text == "limiter·3 virtual> ")
    #expect(await lab.complaints(about: "yes").first?.contains("no command 'yes'") == true)
  }

  @Test func `yes carries the command out, and another command is carried out instead`() async {
    let lab = Lab()
    // It fails only where the run would begin.
    let line = "run 5000000 limiter name=1"
    _ = await lab.complaints(about: line)
    #expect(await lab.complaints(about: "yes").first?.contains("name= cannot be '1'") == true)
    _ = await lab.complaints(about: line)
    _ = lab.output.takeText()
    #expect(await lab.complaints(about: "show").isEmpty)
    #expect(lab.output.takeText().contains("Nothing was run.\nmechanism"))
    _ = await lab.complaints(about: line)
    _ = lab.output.takeText()
    #expect(await lab.session.endInput() == .done)
    #expect(lab.output.takeText() == "Nothing was run.\n")
    #expect(await lab.session.prompt.text == "limiter·3 virtual> ")
  }

  @Test func `an interrupt answers no`() async {
    let lab = Lab()
    await lab.session.endQuestion()
    #expect(lab.output.takeText() == "")
    _ = await lab.complaints(about: "run 5000000 limiter")
    _ = lab.output.takeText()
    await lab.session.endQuestion()
    #expect(lab.output.takeText() == "Nothing was run.\n")
    #expect(await lab.session.prompt.text == "limiter·3 virtual> ")
  }

  @Test func `what a run may take can be set, and counts what it joins and is compared with`() async
  {
    let lab = Lab()
    func refuses(_ line: String) async -> Bool {
      _ = await lab.run(line)
      return lab.output.takeComplaints().contains { $0.contains("GB of memory") }
    }
    await lab.run("set memory 1GB")
    #expect(await refuses("run 250001 limiter"))
    _ = await lab.run("run 5000000 limiter")
    #expect(
      lab.output.takeComplaints() == [
        "test:1: 5,000,000 tasks need about 20 GB of memory, and a script may use 1 GB. Give it fewer "
          + "tasks, or write before it: set memory 20."
      ]
    )
    #expect(await refuses("compare 100000 limiter pool none"))
    await lab.run("spawn 3 limiter limit=3")
    #expect(await refuses("spawn 249998"))
    await lab.run("set memory 100")
    _ = await lab.run("run 5000000 limiter name=1")
    #expect(lab.output.takeComplaints().first?.contains("name= cannot be '1'") == true)
  }

  @Test func `a large run that is interrupted is given up at once, and not kept`() async {
    let lab = Lab()
    lab.session.beginLine()
    lab.session.interrupt()
    let outcome = await lab.session.execute(
      "run 60000 limiter",
      at: .script(name: "test", line: 1)
    )
    #expect(outcome == .interrupted)
    #expect(
      lab.output.takeText().hasSuffix(
        "interrupted: the run of 60,000 tasks was given up, and is not kept.\n"
      )
    )
    lab.session.beginLine()
    await lab.run("stats")
    #expect(lab.output.takeComplaints().first?.contains("there is no run to show yet") == true)
  }

  @Test(.long) func `a view of a large run is given up at an interrupt, and the run is kept`() async
  {
    let lab = Lab()
    await lab.run("run 50000 limiter limit=3 work=1ms; run 3 limiter")
    _ = lab.output.takeText()
    for view in [
      "timeline of 1", "timeline workers of 1", "stats of 1", "events of 1", "events t07 of 1",
      "why t07 of 1", "diff 1 2", "export - format=csv run=1",
    ] {
      lab.session.beginLine()
      lab.session.interrupt()
      let outcome = await lab.session.execute(view, at: .script(name: "test", line: 1))
      #expect(outcome == .interrupted)
      let said = view.hasPrefix("export") ? "nothing was written" : "nothing is shown"
      #expect(lab.output.takeText() == "interrupted: \(said).\n", "\(view)")
    }
    lab.session.beginLine()
    #expect(await lab.run("why t07 of 1").contains("t00007 waited"))
  }

  @Test(
    arguments: [
      "run 200000 limiter clock=real", "spawn 200000 limiter clock=real; wait",
      "spawn 200000 limiter; wait",
    ].fewUnlessLong(2)
  )
  func `nobody waits for what an interrupt leaves of a very large run, on either clock`(
    _ line: String
  ) async {
    let lab = Lab()
    for command in line.split(separator: "; ") {
      lab.session.beginLine()
      if !command.hasPrefix("spawn") { lab.session.interrupt() }
      _ = await lab.session.execute(String(command), at: .script(name: "test", line: 1))
    }
    #expect(
      lab.output.takeText().hasSuffix(
        "interrupted: the run of 200,000 tasks was given up, and is not kept.\n"
      )
    )
    lab.session.beginLine()
    await lab.run("status")
    #expect(lab.output.takeComplaints().first?.contains("nothing runs in the background") == true)
  }

  @Test func `what an interrupt leaves is cleared away when what goes on for nobody has ended`()
    async
  {
    let (goOn, opener) = AsyncStream<Void>.makeStream()
    let (ended, ending) = AsyncStream<String>.makeStream()
    let session = Lab().session
    session.beginLine()
    session.interrupt()
    let made: Bool? = await session.unlessInterrupted {
      for await _ in goOn {}
      ending.yield("made")
      return true
    } onInterrupt: {
    } thenForNobody: {
      ending.yield("cleared away")
      ending.finish()
    }
    #expect(made == nil)
    opener.finish()
    #expect(await ended.reduce(into: []) { $0.append($1) } == ["made", "cleared away"])
  }

  @Test(arguments: ["", " clock=real"])
  func `a spawning that is interrupted leaves nothing in the background`(_ clock: String) async {
    let lab = Lab()
    lab.session.beginLine()
    lab.session.interrupt()
    _ = await lab.session.execute(
      "spawn 30000 limiter\(clock)",
      at: .script(name: "test", line: 1)
    )
    #expect(
      lab.output.takeText()
        == "interrupted: the run of 30,000 tasks was given up, and is not kept.\n"
    )
    lab.session.beginLine()
    await lab.run("status")
    #expect(lab.output.takeComplaints().first?.contains("nothing runs in the background") == true)
  }

  @Test
  func `an exploration that is interrupted before its first schedule has ended praises nobody`()
    async
  {
    let lab = Lab()
    lab.session.beginLine()
    lab.session.interrupt()
    _ = await lab.session.execute("explore limiter", at: .script(name: "test", line: 1))
    let text = lab.output.takeText()
    #expect(text.contains("no schedule was looked at to its end, so nothing is known."), "\(text)")
    #expect(!text.contains("✓"))
  }

  @Test func `a smaller run that is interrupted is shown as far as it came`() async {
    let lab = Lab()
    lab.session.beginLine()
    lab.session.interrupt()
    _ = await lab.session.execute("run 50 limiter clock=real", at: .script(name: "test", line: 1))
    #expect(lab.output.takeText().contains("✗ interrupted: what had not ended was cancelled"))
  }

  @Test func `what other programs call quit and help are understood`() async {
    let lab = Lab()
    #expect(await lab.outcome(of: "exit") == .quit)
    let help = await lab.run("help")
    #expect(await lab.run("?") == help)
    #expect(await lab.run("? run") == (await lab.run("help run")))
  }
}
