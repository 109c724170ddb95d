internal import LessonBook
internal import Mechanisms
internal import Rendering

extension Command {
  static let help = Command(
    "help",
    [Parameter("TOPIC", .command, optional: true)],
    summary: "all commands, or one command or topic in full; '?' for short",
    details:
      "What belongs to where you are comes first: in a lesson, in a game, beside runs in the background.",
    examples: ["help", "help run", "help distributions"]
  ) { session, arguments in
    let format = session.output.format
    guard let word = arguments.places.first else {
      return session.answer(
        json: CommandTable.commands.map(HelpText.json).joined(),
        HelpText.overview(format, place: session.placeOfHelp)
      )
    }
    if let topic = HelpTopic.all.first(where: { $0.name == word.text }) {
      return session.answer(json: HelpText.json(topic), HelpText.topic(topic, format))
    }
    if !HelpText.knows(word.text), let entry = Catalogue.entry(word.text) {
      return session.answer(
        json: ProfileText.json(entry),
        ProfileText.explanation(entry, format) + "'explain \(entry.id)' says this too.\n"
      )
    }
    let command = try CommandTable.resolve(word, orTopic: true)
    return session.answer(json: HelpText.json(command), HelpText.command(command, format))
  }

  static let quit = Command(
    "quit",
    summary: "leave; so do 'exit', and Ctrl-D on an empty line",
    details: """
      While tasks run in the background on the wall clock it says so first; asked again right after, it \
      cancels them and leaves. At the prompt a lone 'q', which closes other views, is asked for twice.
      """,
    examples: ["quit"]
  ) { session, arguments in session.leaveIfMeant(typed: arguments.name.text) }
}

extension Session {
  /// Where a person is, for help to begin with.
  fileprivate var placeOfHelp: HelpText.Place? {
    if game != nil { return .game }
    if let visit = classroom.visit { return .lesson("lesson \(visit.lesson.number)") }
    return backgrounds.latest == nil ? nil : .background(backgrounds.labels)
  }
}
