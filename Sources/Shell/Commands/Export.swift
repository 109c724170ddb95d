internal import Basics
internal import Experiments
internal import Mechanisms
internal import Rendering

extension Command {
  static let export = Command(
    "export",
    [Parameter("FILE", .file), Parameter("force", .choice(["force"]), optional: true)],
    keys: [ExportFormat.key, Keys.ofRun],
    summary: "write a run, the last unless told, to a file; the ending says in which format",
    details: """
      .json is a Chrome trace, which ui.perfetto.dev and chrome://tracing open; .svg a picture; \
      .html a page that needs no network; .csv a table with a row for each task; .jsonl the events. game.html or \
      story.html, or a name that ends in -game.html, is a page of the schedule that 'explore', 'replay' or 'step' \
      told last, to be gone through step by step; comparison.html one of all that 'compare' ran last; lesson.html \
      one of your lesson: what you passed, guessed and wrote. With run= or format= it is the run's all the same. A file that exists is replaced only with 'force'.
      """,
    examples: [
      "run 12 limiter limit=3; export run.svg force",
      "run 12 limiter limit=3; export run.txt format=csv force",
      "run 12 limiter limit=3; run 12 pool; export first.svg run=1 force",
      "step limiter tasks=2 limit=1; auto; export game.html force",
      "compare 12 limiter pool limit=3; export comparison.html force",
    ]
  ) { session, arguments in
    // Who names a run, or its format, wants the run.
    let isOfRun = [ExportFormat.key, Keys.ofRun].contains { arguments.values[$0.name] != nil }
    let page = isOfRun ? nil : arguments.places.first.flatMap(ExportPage.init(named:))
    let run = page == nil ? try session.lastRun(arguments) : nil
    guard let file = arguments.places.first else { throw arguments.missing("the file") }
    let format = page == nil ? try ExportFormat.chosen(arguments, file) : nil
    let force =
      try arguments.place(1, as: "the last word", form: "force, or nothing") {
        $0 == "force" ? true : nil
      } ?? false
    let text =
      switch (page, run, format) {
      case (.comparison, _, _): try session.comparisonPage(arguments)
      case (.lesson, _, _): try session.lessonPage(arguments)
      case (_, let run?, let format?): format.text(of: run)
      case (_, _, _): try await session.gamePage(arguments)
      }
    try WholeFile.write(text, to: file, replacing: force)
    return session.answer(
      json: JSONObject.line([
        ("exported", .string(file.text)),
        ("format", .string(format?.rawValue ?? page?.rawValue ?? "")),
        ("bytes", .number(text.utf8.count)),
      ]),
      "written: \(file.text), \(NumberText.count(text.utf8.count, "byte")), "
        + "\(format?.name ?? page?.name ?? "")\n"
    )
  }
}

extension Session {
  /// The page of all that the last comparison ran.
  fileprivate func comparisonPage(_ arguments: Arguments) throws -> String {
    guard !comparison.isEmpty else {
      throw ShellError(
        "there is no comparison to export, or it was too large to keep. Try: compare 12 limiter pool; export comparison.html",
        at: arguments.name
      )
    }
    return ComparisonPage.html(comparison)
  }

  /// The page of the game under way, or else of the schedule told last, with the code under study.
  fileprivate func gamePage(_ arguments: Arguments) async throws -> String {
    if let game {
      return SchedulePage.html(try await game.position.story(), of: game.position.scenario)
    }
    guard let (told, scenario, place) = story else {
      throw ShellError(
        "no schedule has been told yet. Try: explore specimen-lost-wake-up; export game.html",
        at: arguments.name
      )
    }
    var story = told
    let again = try await place.replay(story.schedule, withPlaces: true)
    (story.steps, story.code) = (again.steps, again.code)
    return SchedulePage.html(story, of: scenario)
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

  var name: String {
    switch self {
    case .game: "HTML page of a schedule"
    case .comparison: "HTML page of a comparison"
    case .lesson: "HTML page of a lesson"
    }
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

  private var ending: String { self == .chrome ? "json" : rawValue }

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

  static func chosen(_ arguments: Arguments, _ file: Word) throws(ShellError) -> ExportFormat {
    if let format = try arguments.value(key, ExportFormat.init(rawValue:)) { return format }
    let parts = file.text.split(separator: ".")
    if parts.count > 1, let format = allCases.first(where: { $0.ending == parts[parts.count - 1] })
    {
      return format
    }
    let endings = ListText.all(allCases.map { ".\($0.ending)" }, "or")
    throw ShellError(
      "the ending of '\(file.text)' says no format. End it in \(endings), or give format=",
      at: file
    )
  }
}
