internal import Experiments
internal import Rendering

extension Command {
  static let runs = Command(
    "runs",
    summary: "the runs of this session: any of them can be looked at, compared and exported",
    details: """
      Each has a number, and a name if it was given one. 'of 3' and 'of slow' behind 'timeline', \
      'stats', 'events', 'why' or 'export' mean that run, and 'diff 3 5' holds two against each other. \
      Of many runs, the oldest are let go, those without a name first. The runs in the background come last in \
      the list; each gets its number when it has ended.
      """,
    examples: ["run 12 limiter limit=3; run 12 limiter limit=4; runs; stats of 1"]
  ) { session, _ in
    let background = session.backgrounds.all.map { (run: $0.snapshot, name: $0.name) }
    return session.answer(
      json: RunList.json(session.runs.all, inBackground: background),
      RunList.text(session.runs.all, inBackground: background, session.output.format)
    )
  }

  static let curve = Command(
    "curve",
    summary: "how long tasks waited against how busy the permits were, a mark for each run",
    details: """
      The runs of the newest one's mechanism, limit and kind of work; in a lesson, those made since it began. \
      Give them the same work, and different \
      rates of arrival: the marks then lie on the utilisation curve. A run that goes on gets its mark when \
      it has ended.
      """,
    examples: [
      "run 400 limiter limit=4 arrivals=poisson:80/s work=exp:40ms; run 400 limiter limit=4 arrivals=poisson:95/s work=exp:40ms; curve"
    ]
  ) { session, _ in
    let underWay = session.backgrounds.all.count { $0.snapshot.isUnderWay }
    let goesOn =
      switch underWay {
      case 0: ""
      case 1: "the run in the background goes on, and gets its mark when it has ended\n"
      default:
        "\(underWay) runs in the background go on, and get their marks when they have ended\n"
      }
    let all = session.runs.all
    let first = session.classroom.visit == nil ? 0 : session.classroom.firstRun
    let shown = UtilisationCurve.alike(all.filter { $0.number > first })
    return session.answer(
      json: UtilisationCurve.json(shown),
      UtilisationCurve.text(shown, others: all.count - shown.count, session.output.format) + goesOn
    )
  }

  static let name = Command(
    "name",
    [Parameter("RUN", .count), Parameter("NAME", .text)],
    summary: "give a run a name, for 'of NAME' and 'diff'",
    examples: ["run 12 limiter limit=3; name 1 slow; stats of slow"]
  ) { session, arguments in
    guard arguments.places.count == 2 else { throw arguments.missing("the run or its name") }
    let (word, name) = (arguments.places[0], arguments.places[1])
    let checked = try RunName.checked(name)
    guard let number = Int(word.text), session.name(number, checked) else {
      throw session.noRun(word)
    }
    return session.answer(json: "", "run \(word.text) is '\(checked)' now\n")
  }
}

/// The names that runs can have.
enum RunName {
  static let key = Key(
    "name",
    form: "a letter, then letters, digits, - or _",
    help: "what to call the run in 'runs', 'diff' and behind 'of'"
  )

  static func parse(_ text: String) -> String? {
    let isPlain = text.allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_")
    }
    return isPlain && text.first?.isLetter == true ? text : nil
  }

  static func checked(_ word: Word) throws(ShellError) -> String {
    if let name = parse(word.text) { return name }
    throw ShellError("a run cannot be called '\(word.text)'. Write \(key.form)", at: word)
  }
}

extension Session {
  /// The run that a word names: one in the background, one of this session's, or one of the last comparison's.
  func run(named word: Word) throws(ShellError) -> Run {
    if let background = background(named: word) { return background.snapshot }
    let compared =
      comparison.first { $0.label == word.text } ?? comparison.first { $0.mechanism == word.text }
    // Of a race, 'gcd-semaphore' means the model of it that was raced.
    let modelled = comparison.first { $0.label.hasPrefix(word.text + "@") && $0.platform != nil }
    if let run = compared ?? runs[word.text] ?? modelled { return run }
    if let background = backgrounds.called(word.text) { return background.snapshot }
    throw noRun(word)
  }

  /// The run in the background of that name.
  func background(named word: Word) -> Background? { backgrounds.named(word.text) }

  func noRun(_ word: Word) -> ShellError {
    let kept = runs.all.flatMap { [$0.name, $0.run.mechanism] }
    let known = (kept + backgrounds.all.map(\.name)).compactMap(\.self)
    let question = NearMatch.question(for: word.text, in: known + comparison.map(\.label))
    return ShellError("there is no run '\(word.text)'.\(question) 'runs' lists them.", at: word)
  }
}
