internal import Basics
internal import Experiments
internal import Mechanisms
internal import Rendering

extension Command {
  static let export = Command(
    "export",
    [Parameter("FILE", .file), Parameter("force", .choice(["force"]), optional: true)],
    keys: [ExportFormat.key, Keys.ofRun],
    summary: "write what was shown last to a file; the ending says in which format",
    details: """
      That is a run, a comparison, an exploration or a schedule; what was written is told. Of a run: .json is a \
      Chrome trace, which ui.perfetto.dev and chrome://tracing open; .svg a picture; \
      .html a page that needs no network; .csv a table with a row for each task; .jsonl the events. Of a run that \
      still goes on, the file has what has happened by now, and says that the run goes on. Of a comparison: .html, .csv \
      or .jsonl with all its runs; of an exploration: .jsonl, and of what it found .html or .svg, a page and a picture of the schedule; \
      of a schedule the same three. run= names a run instead, also one of the last comparison. game.html or story.html, or a name that ends in -game.html, is \
      a page of the schedule that 'explore', 'replay' or 'step' told last, to be gone through step by step; \
      comparison.html one of all that 'compare' ran last; lesson.html one of your lesson: what you passed, \
      guessed and wrote. With run= or format= these names mean nothing special. FILE '-' is standard output, in JSON \
      Lines unless format= says otherwise. A file that exists is replaced only with 'force'; 'run 12 pool > run.svg' does \
      both at once and replaces it: 'help files' says more.
      """,
    examples: [
      "run 12 limiter limit=3; export run.svg force",
      "run 12 limiter limit=3; export run.txt format=csv force",
      "run 12 limiter limit=3; export - format=csv",
      "run 12 limiter limit=3 > run.svg",
      "run 12 limiter limit=3; events | grep t03",
      "run 12 limiter limit=3; run 12 pool; export first.svg run=1 force",
      "step limiter tasks=2 limit=1; auto; export game.html force",
      "step limiter tasks=2 limit=1; auto; export schedule.svg force",
      "compare 12 limiter pool limit=3; export both.html force",
    ]
  ) { session, arguments in
    let subject = try session.subjectOfExport(arguments)
    guard let file = arguments.places.first else { throw arguments.missing("the file") }
    let format = try ExportFormat.chosen(arguments, file)
    let force =
      try arguments.place(1, as: "the last word", form: "force, or nothing") {
        $0 == "force" ? true : nil
      } ?? false
    try session.check(format, for: subject, file)
    guard let text = try await session.text(of: subject, as: format, arguments) else {
      return session.answer(json: "", "interrupted: nothing was written.\n")
    }
    let said =
      "\(NumberText.count(text.utf8.count, "byte")), \(format.name) of \(subject.name)"
      + (subject.run.flatMap(UnderWayText.sentence).map { "; \($0)" } ?? "")
    guard file.text != "-" else {
      session.output.write(text)
      session.output.complain(session.sentence("written: \(said)"))
      return .done
    }
    try WholeFile.write(text, to: file, replacing: force)
    return session.answer(
      json: JSONObject.line(
        [
          ("exported", .string(file.text)), ("format", .string(subject.word ?? format.rawValue)),
          ("bytes", .number(text.utf8.count)), ("of", .string(subject.name)),
        ] + (subject.run.map(UnderWayText.members) ?? [])
      ),
      session.sentence("written: \(file.text), \(said)") + "\n"
    )
  }
}

/// What is exported.
private enum ExportSubject {
  case run(Run, name: String)
  case comparison([Run])
  case exploration(ExplorationReport)
  /// The game under way, or the schedule told last, of that mechanism.
  case schedule(of: String)
  case lesson

  var run: Run? { if case .run(let run, _) = self { run } else { nil } }

  var name: String {
    switch self {
    case .run(let run, let name):
      "\(name): \(NumberText.count(run.plan.count, "task")) through \(run.label), \(run.limitText)"
    case .comparison(let runs): "a comparison of \(ListText.all(runs.map(\.label)))"
    case .exploration(let report): "an exploration of \(report.scenario.mechanism.id)"
    case .schedule(let mechanism): "a schedule of \(mechanism)"
    case .lesson: "a lesson"
    }
  }

  /// What a file of it is called, without the ending.
  var fileName: String {
    switch self {
    case .run(_, let name):
      String(name.map { $0.isLetter || $0.isNumber ? $0 : "-" }).split(separator: "-").joined(
        separator: "-"
      )
    default: word ?? "exploration"
    }
  }

  /// What the answer in JSON calls a page that is no run's.
  var word: String? {
    switch self {
    case .run, .exploration: nil
    case .comparison: "comparison"
    case .schedule: "game"
    case .lesson: "lesson"
    }
  }

  /// What it can be written as.
  var formats: [ExportFormat] {
    switch self {
    case .run: ExportFormat.allCases
    case .comparison: [.html, .csv, .jsonl]
    case .exploration(let report): report.found == nil ? [.jsonl] : [.svg, .html, .jsonl]
    case .schedule: [.svg, .html, .jsonl]
    case .lesson: [.html]
    }
  }
}

extension Command {
  static let open = Command(
    "open",
    keys: [Keys.ofRun],
    summary: "look at what was shown last in the browser, as a page",
    details: """
      The page of a run, a comparison, or a schedule. It is there as long as the lab is; 'export run.html' writes one that \
      stays. Where no browser is known, it is told where the page is.
      """,
    examples: ["run 12 limiter limit=3; open", "compare 12 limiter pool limit=3; open"]
  ) { session, arguments in try await session.open(arguments) }
}

extension Session {
  fileprivate func open(_ arguments: Arguments) async throws -> Outcome {
    let subject = try subjectOfExport(arguments)
    guard subject.formats.contains(.html) else {
      throw ShellError(
        "there is no page of what was shown last, \(subject.name). 'export what.jsonl' writes it",
        at: arguments.name
      )
    }
    guard let text = try await text(of: subject, as: .html, arguments) else { return gaveUpView() }
    let page: Word
    do {
      page = Word(try pages.newPage(named: subject.fileName), at: arguments.name.range)
    } catch {
      throw ShellError("\(error)", at: arguments.name)
    }
    try WholeFile.write(text, to: page, replacing: true)
    let browser = mayAsk ? Browser.known : nil
    let isOpen = browser.map { browser in
      if browser.isInTerminal { output.lendTerminal(true) }
      defer { if browser.isInTerminal { output.lendTerminal(false) } }
      return browser.open(page.text)
    }
    let goesOn = subject.run.flatMap(UnderWayText.sentence).map { "; \($0)" } ?? ""
    let what = "HTML page of \(subject.name)\(goesOn)"
    let said =
      switch isOpen {
      case true?: "opened: \(what). It is there until you leave: \(page.text)"
      case false?:
        "'\(browser?.command ?? "")' could not open the \(what). It is there until you leave: file://\(page.text)"
      case nil:
        "\(what). No browser is known here; it is there until you leave: file://\(page.text)"
      }
    return answer(
      json: JSONObject.line(
        [("page", .string(page.text)), ("of", .string(subject.name))]
          + (subject.run.map(UnderWayText.members) ?? [])
      ),
      sentence(said) + "\n"
    )
  }
}

extension Session {
  /// What is to be exported: the run that is named, or what the file is named after, or what was shown last.
  fileprivate func subjectOfExport(_ arguments: Arguments) throws(ShellError) -> ExportSubject {
    if let word = arguments.values[Keys.ofRun.name] {
      return .run(try run(named: word), name: name(ofRun: word.text))
    }
    if arguments.values[ExportFormat.key.name] == nil,
      let page = arguments.places.first.flatMap(ExportPage.init(named:))
    {
      switch page {
      case .game: return try scheduleToExport(arguments)
      case .comparison: return try comparisonToExport(arguments)
      case .lesson: return .lesson
      }
    }
    switch lastShown {
    case .lastRun:
      let run = try lastRun(arguments)
      let number = runs.all.last.map { "run \($0.number)" } ?? "the run"
      return .run(run, name: nameOfOpenRun ?? number)
    case .run(let run, let word): return .run(run, name: name(ofRun: word))
    case .comparison: return try comparisonToExport(arguments)
    case .exploration(let report): return .exploration(report)
    case .schedule: return try scheduleToExport(arguments)
    }
  }

  /// What an export calls the run in the background, if there is one.
  private var nameOfOpenRun: String? {
    guard let background else { return nil }
    guard backgrounds.isSeveral else { return "the run in the background" }
    return "\(background.label), the latest of \(backgrounds.all.count) in the background"
  }

  /// "run 3", and what it was called by.
  private func name(ofRun word: String) -> String {
    Int(word) == nil ? "run '\(word)'" : "run \(word)"
  }

  private func comparisonToExport(_ arguments: Arguments) throws(ShellError) -> ExportSubject {
    guard !comparison.isEmpty else {
      throw ShellError(
        "there is no comparison to export, or it was too large to keep. Try: compare 12 limiter pool; export comparison.html",
        at: arguments.name
      )
    }
    return .comparison(comparison)
  }

  private func scheduleToExport(_ arguments: Arguments) throws(ShellError) -> ExportSubject {
    guard let mechanism = game?.position.scenario.mechanism.id ?? story?.of.mechanism.id else {
      throw ShellError(
        "no schedule has been told yet. Try: explore specimen-lost-wake-up; export game.html",
        at: arguments.name
      )
    }
    // What a puzzle hides until it is solved is not told by its export either.
    return .schedule(of: game.map { shown(mechanism, $0) } ?? mechanism)
  }

  /// Refuses a format that has no room for what is to be written, rather than writing something else.
  fileprivate func check(
    _ format: ExportFormat,
    for subject: ExportSubject,
    _ file: Word
  ) throws(ShellError) {
    if file.text == "-", json, format != .jsonl {
      throw ShellError(
        "with --json there are only JSON Lines on standard output. Leave format= out, or name a file",
        at: file
      )
    }
    guard !subject.formats.contains(format) else { return }
    let others = ListText.all(subject.formats.map { ".\($0.ending)" }, "or")
    let example: String? =
      if case .comparison(let runs) = subject { runs.first?.label } else {
        runs.all.last.map { "\($0.number)" }
      }
    let run = example.map { ", or name a run, as in: export \(file.text) of \($0)" } ?? ""
    throw ShellError(
      "'export' writes what was shown last, \(subject.name), and there is no \(format.name) of that. Write \(others)\(run)",
      at: file
    )
  }

  /// Nil if an interrupt came first.
  fileprivate func text(
    of subject: ExportSubject,
    as format: ExportFormat,
    _ arguments: Arguments
  ) async throws -> String? {
    switch (subject, format) {
    case (.run(let run, _), _): return await unlessInterrupted(of: run) { format.text(of: $0) }
    case (.comparison(let runs), .csv): return RunCSV.text(comparing: runs)
    case (.comparison(let runs), .jsonl): return ComparisonTable.jsonLines(runs)
    case (.comparison(let runs), _): return ComparisonPage.html(runs)
    case (.exploration(let report), .jsonl): return ExplorationText.json(report)
    case (.schedule, .jsonl) where game == nil:
      return story.map { ExplorationText.json($0.0, of: $0.of) } ?? ""
    case (.schedule, _):
      guard let game else { return try await toldAgain(as: format) }
      let position = game.position
      let story = try await position.story()
      return shown(format.text(of: story, position.scenario), game)
    case (.exploration, _): return try await toldAgain(as: format)
    case (.lesson, _): return try lessonPage(arguments)
    }
  }

  /// The schedule told last, run again for the lines of the code under study.
  private func toldAgain(as format: ExportFormat) async throws -> String {
    guard let (told, scenario, place) = story else {
      preconditionFailure("who exports a schedule has one")
    }
    var story = told
    let again = try await place.replay(story.schedule, withPlaces: true)
    (story.steps, story.code) = (again.steps, again.code)
    return format.text(of: story, scenario)
  }
}

/// What is written as a page of its own, by the name of the file.
private enum ExportPage: String, CaseIterable {
  case game
  case comparison
  case lesson

  /// The page that a file is named after; nil for a file of a run.
  init?(named file: Word) {
    let name = file.text.split(separator: "/").last ?? ""
    // A word of its own: history.html and endgame.html are a run's.
    func ends(in word: String) -> Bool { name == "\(word).html" || name.hasSuffix("-\(word).html") }
    let page = ends(in: "story") ? .game : Self.allCases.first { ends(in: $0.rawValue) }
    guard let page else { return nil }
    self = page
  }
}

/// The formats a run can be written in.
enum ExportFormat: String, CaseIterable {
  case chrome
  case svg
  case html
  case csv
  case jsonl

  static let key = Key(
    "format",
    form: ListText.all(allCases.map(\.rawValue), "or"),
    help: "the format, where the ending of the file does not say",
    candidates: allCases.map(\.rawValue)
  )

  fileprivate var ending: String { self == .chrome ? "json" : rawValue }

  var name: String {
    switch self {
    case .chrome: "Chrome trace"
    case .svg: "SVG picture"
    case .html: "HTML page"
    case .csv: "CSV"
    case .jsonl: "JSON Lines"
    }
  }

  func text(of run: Run) -> String {
    switch self {
    case .chrome: ChromeTrace.text(run)
    case .svg: RunSVG.text(run, run.summary)
    case .html: RunPage.html(run, run.summary)
    case .csv: RunCSV.text(run)
    case .jsonl: RunJSONLines.text(run)
    }
  }

  /// A schedule in this format, which there is for it.
  fileprivate func text(
    of story: ExplorationReport.ScheduleDescription,
    _ scenario: ExplorationScenario
  ) -> String {
    switch self {
    case .svg: ScheduleSVG.text(story, of: scenario)
    case .html: SchedulePage.html(story, of: scenario)
    case .jsonl: ExplorationText.json(story, of: scenario)
    case .chrome, .csv: preconditionFailure("there is no \(name) of a schedule")
    }
  }

  /// The format that the ending of a file's name says.
  static func ofEnding(_ file: Word) -> ExportFormat? {
    let parts = file.text.split(separator: ".")
    return parts.count > 1 ? allCases.first { $0.ending == parts[parts.count - 1] } : nil
  }

  static func chosen(_ arguments: Arguments, _ file: Word) throws(ShellError) -> ExportFormat {
    if let format = try arguments.value(key, ExportFormat.init(rawValue:)) { return format }
    // What goes on standard output has no ending to tell.
    if file.text == "-" { return .jsonl }
    if let format = ofEnding(file) { return format }
    let endings = ListText.all(allCases.map { ".\($0.ending)" }, "or")
    throw ShellError(
      "the ending of '\(file.text)' says no format. End it in \(endings), or give format=",
      at: file
    )
  }
}
