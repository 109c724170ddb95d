internal import Foundation
internal import Rendering

extension Command {
  static let source = Command(
    "source",
    [Parameter("FILE", .file)],
    summary: "carry out the commands of a file",
    details: "Stops at the first command that fails. A file may source others, 16 deep.",
    examples: ["source demo.lab"]
  ) { session, arguments in
    guard let file = arguments.places.first else { throw arguments.missing("the file") }
    return try await session.source(file)
  }

  static let history = Command(
    "history",
    [Parameter("N", .count, optional: true)],
    summary: "the lines typed so far, the last N of them",
    details: "'!!' carries out the line before once more; what is written behind it is added.",
    examples: ["history", "history 5"]
  ) { session, arguments in
    let count = try arguments.place(0, as: "how many", form: "a whole number from 1 to 1000000") {
      ValueSyntax.count($0, in: 1...1_000_000)
    }
    let lines = session.output.history
    let shown = lines.suffix(count ?? 100)
    let first = lines.count - shown.count + 1
    let rows = shown.enumerated().map { [Columns.right(String(first + $0), 5), $1] }
    return session.answer(
      json: shown.map { JSONObject.line([("line", .string($0))]) }.joined(),
      Columns.rows(rows)
    )
  }
}

extension Command {
  static let clear = Command(
    "clear",
    summary: "an empty screen",
    examples: ["clear"]
  ) { session, _ in
    if !session.json { session.output.clear() }
    return .done
  }
}

extension Session {
  fileprivate func source(_ file: Word) async throws -> Outcome {
    guard sourceDepth < 16 else {
      throw ShellError(
        "Files may call each other with 'source' at most 16 deep. Does this file call itself?",
        at: file
      )
    }
    let text: String
    do {
      text = try WholeFile.text(of: file.text)
    } catch {
      throw ShellError(
        "'\(file.text)' cannot be read: \(WholeFile.reason(error, reading: file.text))",
        at: file
      )
    }
    return await carryOut(fileOf: text, named: file.text)
  }
}
