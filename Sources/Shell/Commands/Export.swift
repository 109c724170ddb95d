internal import Basics
internal import Experiments
internal import Foundation
internal import Rendering

extension Command {
  static let export = Command(
    "export",
    [Parameter("FILE", .file), Parameter("force", .choice(["force"]), optional: true)],
    keys: [ExportFormat.key],
    summary: "write the last run to a file; the ending says in which format",
    details: """
      .json is a Chrome trace, which ui.perfetto.dev and chrome://tracing open; .svg a picture; \
      .html a page that needs no network; .csv and .jsonl the events. A file that exists is \
      replaced only with 'force'.
      """,
    examples: [
      "run 12 limiter limit=3; export run.svg force",
      "run 12 limiter limit=3; export run.txt format=csv force",
    ]
  ) { session, arguments in
    let run = try session.lastRun(arguments)
    guard let file = arguments.places.first else { throw arguments.missing("the file") }
    let format = try ExportFormat.chosen(arguments, file)
    let force =
      try arguments.place(1, as: "the last word", form: "force, or nothing") {
        $0 == "force" ? true : nil
      } ?? false
    let text = format.text(of: run)
    try WholeFile.write(text, to: file, replacing: force)
    return session.answer(
      json: JSONObject.line([
        ("exported", .string(file.text)), ("format", .string(format.rawValue)),
        ("bytes", .number(text.utf8.count)),
      ]),
      "written: \(file.text), \(NumberText.count(text.utf8.count, "byte")), \(format.name)\n"
    )
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
