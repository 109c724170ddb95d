import Rendering
import TestSupport
import Testing

@testable import Shell

/// What 'help' says, and how it fits.
@Suite(.watched) struct HelpTests {
  @Test(arguments: [20, 30, 40, 60, 80])
  func `no line of help goes beyond the edge where a space could break it`(_ width: Int) {
    let format = TextFormat(width: width)
    let texts =
      [HelpText.overview(format), HelpText.game(format)]
      + CommandTable.commands.map { HelpText.command($0, format) }
      + HelpTopic.all.map { HelpText.topic($0, format) }
    for line in texts.joined().split(separator: "\n") where line.count > width {
      #expect(line.split(separator: " ").count == 1, "\(line)")
    }
  }

  @Test
  func `help on a mechanism explains it`() async {
    let lab = Lab()
    let explanation = await lab.run("explain limiter")
    #expect(await lab.run("help limiter") == explanation + "'explain limiter' says this too.\n")
    #expect(await lab.run("help pool").contains("pool"))
    #expect(
      await lab.run("help")
        .contains("You may shorten a command or key if only one begins that way.")
    )
  }

  @Test
  func `the commands of the place where one is come first`() async {
    let lab = Lab()
    func first(of text: String) -> String { String(text.prefix { $0 != "\n" }) }
    #expect(first(of: await lab.run("help")) == "running")
    await lab.run("spawn 3 limiter name=a; spawn 3 pool name=b")
    let background = await lab.run("help")
    #expect(first(of: background) == "here, beside a and b")
    #expect(!background.contains("\nin the background\n"), "they are listed once")
    await lab.run("wait all; step limiter tasks=2 limit=1")
    #expect(first(of: await lab.run("help ")) != "running")
  }

  @Test
  func `the reference has every command, word and key that the table reads`() {
    let reference = CommandReference.markdown
    for command in CommandTable.commands {
      #expect(reference.contains("### `\(command.synopsis)`"), "\(command.name)")
      for key in command.keys { #expect(reference.contains("| `\(key.name)=` | \(key.help) |")) }
      for example in command.examples { #expect(reference.contains("\n\(example)\n")) }
    }
    for topic in HelpTopic.all { #expect(reference.contains(topic.text)) }
  }

  @Test(arguments: [
    ("ls", "'runs' lists the runs"), ("cat", "'events' prints"), ("kill", "'cancel t03' cancels"),
    ("jobs", "'status all' tells"), ("fg", "'watch' shows"), ("man", "'help COMMAND'"),
    ("grep", "events | grep t03"), (":q", "'quit' leaves"), ("sleep", "'advance 50ms'"),
    ("virtual", "Perhaps 'advance', 'idle' or 'inversion'?"),
    ("timelime", "Did you mean 'timeline'?"),
    ("xyzzy", "'help' lists all."),
  ])
  func `every word that is no command is answered with what could be meant`(
    _ word: String,
    _ answer: String
  )
    async
  {
    let lab = Lab()
    #expect(await lab.outcome(of: word) == .failed)
    let complaint = lab.output.takeComplaints().first ?? ""
    #expect(
      complaint.contains("no command '\(word)'") && complaint.contains(answer),
      "\(complaint)"
    )
  }

  @Test
  func `each setting says where its value comes from`() async throws {
    let scratch = try ScratchFolder()
    let file = try scratch.file("own.lab", "set work 40ms\nuse pool\n")
    let lab = Lab()
    await lab.run("source \(file)")
    _ = await lab.session.execute("set limit 9", at: .prompt(columns: 3))
    _ = lab.output.takeText()
    let lines = await lab.run("show").split(separator: "\n").map { line in
      line.split(separator: " ", maxSplits: 1).map { $0.drop { $0 == " " } }
    }
    let shown = Dictionary(uniqueKeysWithValues: lines.map { (String($0[0]), String($0[1])) })
    #expect(shown["limit"]?.hasSuffix("typed here") == true)
    #expect(shown["work"]?.hasSuffix("own.lab:1") == true)
    #expect(shown["mechanism"]?.hasSuffix("own.lab:2") == true)
    #expect(shown["clock"]?.hasSuffix("default") == true)
  }
}
