internal import Basics
internal import Experiments
internal import Foundation
internal import Mechanisms
internal import Rendering
internal import Synchronization

// Where a command's words go, if not to the screen: `run 12 pool > run.svg`, `events | grep t03`.

/// What stands behind `>`, `>>` or `|`.
struct Redirection {
  enum Target {
    case file(Word, adds: Bool)
    /// A command of the system's shell.
    case program(Word)
  }

  var words: [Word]
  var target: Target

  /// Nil where the words go to the screen.
  init?(_ statement: Statement) throws(ShellError) {
    let all = statement.words
    let signs = all.indices.dropFirst().filter { all[$0].text.hasPrefix(">") }
    guard let place = signs.first, !Self.compares(statement) else {
      guard let reader = statement.reader else { return nil }
      (words, target) = (all, .program(reader))
      return
    }
    let sign = all[place]
    let adds = sign.text.hasPrefix(">>")
    let name = sign.text.dropFirst(adds ? 2 : 1)
    let behind = all[(place + 1)...]
    let file =
      name.isEmpty
      ? behind.first
      : Word(String(name), at: sign.range.upperBound - name.count..<sign.range.upperBound)
    guard let file else {
      throw ShellError("behind '>' comes the name of a file, as in: stats > stats.txt", at: sign)
    }
    if let surplus = behind.dropFirst(name.isEmpty ? 1 : 0).first {
      throw ShellError("'\(surplus.text)' comes after the file, which must be last", at: surplus)
    }
    if let reader = statement.reader {
      throw ShellError(
        "what goes to a file goes to no program too. Keep one of the two",
        at: reader
      )
    }
    (words, target) = (Array(all[..<place]), .file(file, adds: adds))
  }

  /// Whether `>` is a sign of the command's own, as in `expect makespan > 400ms`.
  private static func compares(_ statement: Statement) -> Bool {
    let command = statement.words.first.flatMap { try? CommandTable.resolve($0) }
    return command.map { [Command.expect.name, Command.predict.name].contains($0.name) } ?? false
  }
}

extension Session {
  /// Carries out a command whose words go to a file or a program.
  func carryOut(_ redirection: Redirection) async throws -> Outcome {
    switch redirection.target {
    case .program(let command): try await carryOut(redirection.words, readBy: command)
    case .file(let file, let adds):
      switch ExportFormat.ofEnding(file) {
      case let format? where format != .jsonl:
        try await carryOut(redirection.words, exportingTo: file, as: format, adds: adds)
      case let format:
        try await carryOut(redirection.words, writingTo: file, adds: adds, json: format != nil)
      }
    }
  }

  /// What the command shows is written to the file, as 'export' writes it.
  private func carryOut(
    _ words: [Word],
    exportingTo file: Word,
    as format: ExportFormat,
    adds: Bool
  ) async throws -> Outcome {
    if adds {
      throw ShellError(
        "'>>' cannot add to a file in this format. Write '>', or another file",
        at: file
      )
    }
    try WholeFile.checkFolder(of: file)
    let before = shownCount
    let sink = Sink(beside: output)
    let outcome = try await saying(to: sink) { session in try await session.perform(words) }
    guard outcome.isDisjoint(with: [.failed, .interrupted]) else { return outcome }
    guard shownCount > before, let name = words.first else {
      throw ShellError(
        "there is no \(format.name) of what '\(words[0].text)' shows. End the file's name in .txt for its words, or in .jsonl",
        at: file
      )
    }
    let arguments = try Arguments(
      .export,
      name: name,
      words: [
        file, Word("format=\(format.rawValue)", at: file.range), Word("force", at: file.range),
      ]
    )
    return outcome.union(try await Command.export.run(self, arguments))
  }

  /// What the command says is written to the file.
  private func carryOut(
    _ words: [Word],
    writingTo file: Word,
    adds: Bool,
    json: Bool
  ) async throws -> Outcome {
    try WholeFile.checkFolder(of: file)
    let sink = Sink(beside: output)
    let outcome = try await saying(to: sink, json: json) { session in
      try await session.perform(words)
    }
    let text = sink.text
    if text.isEmpty, !outcome.isDisjoint(with: [.failed, .interrupted]) { return outcome }
    adds ? try WholeFile.add(text, to: file) : try WholeFile.write(text, to: file, replacing: true)
    let size = NumberText.count(text.utf8.count, "byte")
    return outcome.union(
      answer(
        json: JSONObject.line([
          ("written", .string(file.text)), ("bytes", .number(text.utf8.count)),
        ]),
        sentence("\(adds ? "added to" : "written:") \(file.text), \(size)") + "\n"
      )
    )
  }

  /// What the command says is read by a program, which has the terminal meanwhile.
  private func carryOut(_ words: [Word], readBy command: Word) async throws -> Outcome {
    // It reads nothing else.
    let name = command.text.split(separator: " ").first?.split(separator: "/").last
    output.lendTerminal(true)
    let program: PipedProgram
    do {
      program = try PipedProgram(command.text)
    } catch {
      output.lendTerminal(false)
      throw ShellError(error.description, at: command)
    }
    let sink = Sink(beside: output, writingTo: OutputWriter(fileDescriptor: program.input))
    let outcome: Outcome
    let ending: PipedProgram.Ending?
    do {
      outcome = try await saying(to: sink, json: name == "jq") { session in
        try await session.perform(words)
      }
      ending = program.end()
      output.lendTerminal(false)
    } catch {
      _ = program.end()
      output.lendTerminal(false)
      throw error
    }
    guard !interruption.hasCome else { return outcome }
    switch ending {
    case .exited(0)?, nil: return outcome
    case .exited(let status)?:
      throw ShellError("'\(command.text)' ended with status \(status)", at: command)
    case .killed(let signal)?:
      throw ShellError("'\(command.text)' was ended by signal \(signal)", at: command)
    }
  }
}

/// Takes what is said in the place of the screen; complaints go where they went.
private final class Sink: ShellOutput {
  private struct State {
    var text = ""
    var isClosed = false
  }

  private let screen: any ShellOutput
  /// Nil to keep it.
  private let writer: OutputWriter?
  private let state = Mutex(State())

  init(beside screen: any ShellOutput, writingTo writer: OutputWriter? = nil) {
    self.screen = screen
    self.writer = writer
  }

  /// What was kept.
  var text: String { state.withLock { $0.text } }

  func write(_ text: String) {
    guard let writer else { return state.withLock { $0.text += text } }
    guard !isClosed else { return }
    do {
      try writer.write(text)
    } catch {
      // The program has read what it wanted.
      state.withLock { $0.isClosed = true }
    }
  }

  func complain(_ line: String) { screen.complain(line) }
  func tellProgress(_ line: String) { screen.tellProgress(line) }
  var isClosed: Bool { state.withLock { $0.isClosed } }
  var history: [String] { screen.history }

  var display: Display {
    var display = screen.display
    (display.height, display.mostRows, display.colour) = (nil, nil, false)
    return display
  }
}
