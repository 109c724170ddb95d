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
}
