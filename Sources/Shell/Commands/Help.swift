internal import Rendering

extension Command {
  static let help = Command(
    "help",
    [Parameter("TOPIC", .command, optional: true)],
    summary: "all commands, or one command or topic in full",
    examples: ["help", "help run", "help distributions"]
  ) { session, arguments in
    let (format, json) = (session.output.format, session.json)
    guard let word = arguments.places.first else {
      let text =
        json ? CommandTable.commands.map(HelpText.json).joined() : HelpText.overview(format)
      return session.output.write(text)
    }
    if let topic = HelpTopic.all.first(where: { $0.name == word.text }) {
      return session.output.write(json ? HelpText.json(topic) : HelpText.topic(topic, format))
    }
    let command = try CommandTable.resolve(word, orTopic: true)
    session.output.write(json ? HelpText.json(command) : HelpText.command(command, format))
  }

  static let quit = Command(
    "quit",
    summary: "leave; so does Ctrl-D on an empty line",
    examples: ["quit"]
  ) { session, _ in
    session.wantsToQuit = true
  }
}
