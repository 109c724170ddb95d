internal import Mechanisms
internal import Rendering

extension Command {
  static let mechanisms = Command(
    "mechanisms",
    [Parameter("--specimens", .choice(["--specimens"]), optional: true)],
    summary: "the list, with each profile; 'explain MECH' says more",
    details: "With --specimens, the limiters that are wrong on purpose too.",
    examples: ["mechanisms", "mechanisms --specimens"]
  ) { session, arguments in
    let withSpecimens =
      try arguments.place(0, as: "the option", form: "--specimens, or nothing") {
        $0 == "--specimens" ? true : nil
      } ?? false
    let entries =
      Catalogue.mechanisms + (withSpecimens ? Catalogue.specimens + Catalogue.misuses : [])
    return session.answer(
      json: entries.map(ProfileText.json).joined(),
      ProfileText.table(entries, session.output.format)
    )
  }

  static let explain = Command(
    "explain",
    [Parameter("MECH", .specimenOrMechanism)],
    summary: "what a mechanism is, what it promises, what it costs",
    details: "Of a command or a topic it says what 'help' says.",
    examples: ["explain limiter", "explain gcd-semaphore", "explain explore"]
  ) { session, arguments in
    guard let word = arguments.places.first else {
      throw arguments.missing("the mechanism", listedBy: "mechanisms")
    }
    let entry: CatalogueEntry
    do {
      entry = try Names.mechanism(word)
    } catch {
      guard HelpText.knows(word.text) else { throw error }
      return try await Command.help.run(session, arguments)
    }
    return session.answer(
      json: ProfileText.json(entry),
      ProfileText.explanation(entry, session.output.format)
    )
  }

  static let use = Command(
    "use",
    [Parameter("MECH", .specimenOrMechanism)],
    keys: [Keys.limit],
    summary: "choose the mechanism that 'run' uses unless told",
    examples: ["use pool limit=8"]
  ) { session, arguments in
    guard let word = arguments.places.first else {
      throw arguments.missing("the mechanism", listedBy: "mechanisms")
    }
    var changed = session.settings
    changed.mechanism = try Names.mechanism(word)
    try changed.apply(arguments)
    for name in ["mechanism"] + arguments.values.keys { changed.origins[name] = session.origin }
    session.change(to: changed)
    return session.showSettings()
  }
}
