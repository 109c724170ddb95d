internal import Experiments
internal import LessonBook
internal import Mechanisms
internal import Rendering
internal import Synchronization

/// One person's or script's time with the lab: takes lines, gives answers, remembers the last run.
///
/// Knows nothing of terminals: what it says goes to a `ShellOutput`. One command at a time; only
/// `interrupt()` may come from elsewhere meanwhile.
package actor Session {
  /// What became of a line.
  package enum Outcome: Hashable, Sendable {
    case done
    /// A check, an expectation or an exploration failed; it has been told.
    case unmet
    /// A command failed; it has been told and changed nothing.
    case failed
    /// The person wants to leave.
    case quit

    /// The status a script's end would have, the worst of its commands deciding.
    package var severity: Int {
      switch self {
      case .done, .quit: 0
      case .unmet: 1
      case .failed: 3
      }
    }
  }

  /// Where a line comes from; decides how an error names its place.
  package enum Place: Hashable, Sendable {
    /// Typed at a prompt that takes so many columns: a caret points at the word.
    case prompt(columns: Int)
    /// A line of a file or of a command given as an option.
    case script(name: String, line: Int)
  }

  var settings: Settings
  let output: any ShellOutput
  /// Output is JSON Lines and nothing else.
  let json: Bool
  /// The last run that ended.
  var lastRun: Run? {
    didSet {
      runBefore = oldValue
      knownTasks.store(lastRun?.plan.count ?? 0, ordering: .relaxed)
    }
  }
  /// The run before the last, for `diff`.
  private(set) var runBefore: Run?
  /// The run that goes on between commands, if any.
  var background: Background?
  /// The game of playing the scheduler, if one is under way.
  var game: SchedulerGame?
  /// How many files deep `source` is.
  var sourceDepth = 0
  var wantsToQuit = false
  /// Whether a person typed the line being carried out, rather than a script holding it.
  private(set) var isTyped = false
  var unmet = false
  var classroom: Classroom
  /// For completion, which does not wait its turn.
  package nonisolated let lessonsFolder: String?
  nonisolated let interruption = Interruption()
  /// How many tasks the last run had, for completion, which does not wait its turn.
  nonisolated let knownTasks = Atomic(0)

  package init(
    settings: Settings,
    output: any ShellOutput,
    json: Bool = false,
    classroom: Classroom = Classroom()
  ) {
    self.settings = settings
    self.output = output
    self.json = json
    self.classroom = classroom
    lessonsFolder = classroom.folder
  }

  /// Carries out a line, which may hold several commands.
  ///
  /// Stops at the first command that fails.
  package func execute(_ line: String, at place: Place) async -> Outcome {
    interruption.begin()
    isTyped = if case .prompt = place { true } else { false }
    if isTyped, takesAsGuess(line) { return .done }
    return await carryOut(line, at: place)
  }

  /// Carries out a line as part of the one that a person or a script gave.
  func carryOut(_ line: String, at place: Place) async -> Outcome {
    do {
      for words in try Lexer.commands(in: line) {
        unmet = false
        try await execute(words)
        if unmet { return .unmet }
        if wantsToQuit || output.isClosed { return .quit }
        if interruption.hasCome { return .done }
      }
      return .done
    } catch is ToldAlready {
      return .failed
    } catch {
      complain(error, at: place)
      if case .prompt = place { tell(classroom.visit?.reminder) }
      return .failed
    }
  }

  /// Whether an interrupt has come since the last line was begun.
  package nonisolated var wasInterrupted: Bool { interruption.hasCome }

  /// Ends what the session is doing, if anything; the session goes on.
  package nonisolated func interrupt() { interruption.interrupt() }

  private func execute(_ words: [Word]) async throws {
    guard let name = words.first else { return }
    if try await takesAsMove(words) { return }
    let command = try CommandTable.resolve(name)
    let arguments = try Arguments(command, name: name, words: words.dropFirst())
    try await command.run(self, arguments)
  }

  private func complain(_ error: any Error, at place: Place) {
    let shell = error as? ShellError ?? ShellError("\(error)")
    let isSentence = shell.message.last.map { ".?…".contains($0) } ?? true
    let message = isSentence ? shell.message : shell.message + "."
    switch place {
    case .prompt(let columns):
      output.complain(pointing(message, at: shell.range, behind: columns))
    case .script(let name, let line):
      output.complain("\(name):\(line): \(message)")
    }
  }
}

extension Session {
  /// The message, with carets under the word it is about where there is one and room for them.
  private func pointing(_ message: String, at range: Range<Int>?, behind columns: Int) -> String {
    let width = output.display.width
    let lines = { Columns.wrap(message, width: width).joined(separator: "\n") }
    // A line that wraps around is no longer above its carets.
    guard let range, columns + range.upperBound <= width else { return lines() }
    let carets =
      String(repeating: " ", count: columns + range.lowerBound)
      + String(repeating: "^", count: max(1, range.count))
    let single = "\(carets) \(message)"
    return single.count <= width ? single : "\(carets)\n\(lines())"
  }
}

/// A command failed and has said so: a line of the file it read did.
struct ToldAlready: Error {}
