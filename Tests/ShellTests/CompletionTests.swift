import TestSupport
import Testing

@testable import Shell

/// What the Tab key is offered.
@Suite(.watched) struct CompletionTests {
  /// The texts offered at the end of a line.
  private func offered(_ line: String, tasks: Int = 0) -> [String] {
    Completions(of: line, cursor: line.count, tasks: tasks, lessons: ["1", "2"]).candidates
      .map(\.text)
  }

  @Test(
    arguments: [
      ("ru", ["run"]),
      ("pu", ["puzzle"]),
      ("st", ["stats", "step", "status", "starve", "stall"]),
      ("run 5; tim", ["timeline"]),
      ("repeat ", ["seeds="]),
      ("repeat 5 ", ["run"]),
      ("repeat 5 run 12 lim", ["limiter", "limit="]),
      ("repeat 5 seeds=same run 12 limiter li", ["limit="]),
      ("repeat 5 run 12 limiter clock=v", ["virtual"]),
      ("repeat 5 seeds=", ["follow", "same"]),
      ("run 12 lim", ["limiter", "limit="]),
      ("run 12 limiter li", ["limit="]),
      ("run 12 limiter limit=3 li", []),
      ("run 12 limiter clock=", ["auto", "virtual", "real"]),
      ("run 12 limiter clock=v", ["virtual"]),
      ("run 12 limiter kind=s", ["suspend", "spin"]),
      ("run 12 limiter nonsense=", []),
      ("timeline w", ["workers"]),
      ("export run.html f", ["force", "format="]),
      ("export run.html format=c", ["chrome", "csv"]),
      ("explain ta", ["task-group"]),
      ("explain specimen-pub", ["specimen-published-limiter"]),
      ("set cl", ["clock"]),
      ("set clock v", ["virtual"]),
      ("set clock=v", ["virtual"]),
      ("help gl", ["glyphs"]),
      ("help expl", ["explain", "explore"]),
      ("lesson ", ["1", "2"]),
      ("nonsense ", []),
      ("mechanisms --", ["--specimens"]),
      ("expect makes", ["makespan"]),
    ] as [(String, [String])]
  )
  func `what fits is offered`(_ line: String, _ expected: [String]) {
    #expect(offered(line) == expected)
  }

  @Test
  func `tasks are offered by the names the views give them`() {
    #expect(offered("why ", tasks: 3) == ["t01", "t02", "t03"])
    #expect(offered("why t1", tasks: 120).first == "t100")
    #expect(offered("why ", tasks: 0) == [])
    #expect(offered("events t0", tasks: 12).count == 9)
  }

  @Test
  func `every command, key, mechanism and topic can be had by Tab`() {
    #expect(offered("") == CommandTable.commands.map(\.name))
    for command in CommandTable.commands {
      #expect(offered(command.name).contains(command.name))
      for key in command.keys where command.name != "set" {
        let line = "\(command.name) 5 limiter \(key.name)"
        #expect(
          offered(line).contains(key.name + "=")
            || offered("\(command.name) \(key.name)").contains(key.name + "="),
          "\(line)"
        )
      }
    }
    for topic in HelpTopic.all { #expect(offered("help \(topic.name)").contains(topic.name)) }
  }

  @Test
  func `what is offered replaces what stands before the cursor, and no more`() {
    let line = "run 12 limiter clock=v limit=3"
    let completions = Completions(of: line, cursor: 22, tasks: 0)
    #expect(completions.range == 21..<22)
    #expect(completions.candidates.map(\.text) == ["virtual"])
    // What is offered, put in its place, is offered again.
    for beginning in ["ru", "run 12 limiter k", "run 1 limiter kind=bl", "set cl", "explain gcd-g"]
    {
      let completions = Completions(of: beginning, cursor: beginning.count, tasks: 0)
      for candidate in completions.candidates {
        let whole = beginning.prefix(completions.range.lowerBound) + candidate.text
        #expect(offered(String(whole)).contains(candidate.text) || !candidate.isWhole, "\(whole)")
      }
    }
  }

  @Test
  func `files are offered, folders with a slash to go on from`() throws {
    let scratch = try ScratchFolder()
    _ = try scratch.file("demo.lab", "")
    _ = try scratch.file(".hidden", "")
    _ = try scratch.file("my runs.lab", "")
    #expect(offered("source \(scratch.path)/d") == [scratch.path + "/demo.lab"])
    #expect(offered("source \(scratch.path)/").contains(scratch.path + "/demo.lab"))
    #expect(!offered("source \(scratch.path)/").contains(scratch.path + "/.hidden"))
    #expect(offered("source \(scratch.path)/.h") == [scratch.path + "/.hidden"])
    let folder = String(scratch.path.dropLast(3))
    #expect(offered("export \(folder)") == [scratch.path + "/"])
  }

  @Test
  func `a file whose name has a space is offered so that it can be used`() throws {
    let scratch = try ScratchFolder()
    let file = try scratch.file("my runs.lab", "show\n")
    let offer = offered("source \(scratch.path)/my")
    #expect(offer == ["\"\(file)\""])
    let commands = try Lexer.commands(in: "source \(offer[0])")
    #expect(commands[0][1].text == file)
  }

  @Test
  func `the lessons are offered by the names of their files, without reading one`() throws {
    let scratch = try ScratchFolder()
    // Read as a lesson, neither of them is one.
    _ = try scratch.file("01-first.md", "")
    _ = try scratch.file("02-second.md", "")
    _ = try scratch.file("README.md", "")
    let lab = Lab(classroom: Classroom(folder: scratch.path))
    let offered = lab.session.completions(of: "lesson ", cursor: 7)
    #expect(offered.candidates.map(\.text) == ["1", "2"])
  }

  @Test
  func `no cursor in any line stops the program`() {
    for command in CommandTable.commands {
      for line in command.examples {
        for cursor in 0...line.count {
          let completions = Completions(of: line, cursor: cursor, tasks: 5, lessons: ["1"])
          #expect(completions.range.upperBound == cursor)
          #expect(completions.range.lowerBound >= 0)
        }
      }
    }
  }
}
