internal import Basics
internal import Experiments
internal import LessonBook
internal import Mechanisms
internal import Rendering
internal import Synchronization

/// One person's or script's time with the lab: takes lines, gives answers, remembers the last run.
///
/// Knows nothing of terminals: what it says goes to a `ShellOutput`. One command at a time; only
/// `interrupt()` may come from elsewhere meanwhile. On a thread of its own: what it writes and the files it reads
/// may block, and the pool belongs to the tasks of the runs.
package actor Session {
  private let thread = ThreadExecutor("session")
  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  /// What became of a command, or of all the commands of a line together.
  package struct Outcome: OptionSet, Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let done: Outcome = []
    /// A run or an exploration showed a violation; what follows is carried out all the same.
    package static let violated = Outcome(rawValue: 1)
    /// A check or an expectation was not met.
    package static let unmet = Outcome(rawValue: 2)
    /// A command failed.
    package static let failed = Outcome(rawValue: 4)
    /// Ctrl-C came.
    package static let interrupted = Outcome(rawValue: 8)
    /// The person wants to leave or is gone, or what is said cannot be written.
    package static let quit = Outcome(rawValue: 16)

    /// The status of a script that ends with it.
    package var status: Int32 {
      // The shells' convention for a program that Ctrl-C ended.
      if contains(.interrupted) { return 130 }
      return contains(.failed) ? 3 : isDisjoint(with: [.violated, .unmet]) ? 0 : 1
    }
  }

  /// Where a line comes from; decides how an error names its place.
  package enum Place: Hashable, Sendable {
    /// Typed at a prompt that takes so many columns: a caret points at the word.
    case prompt(columns: Int)
    /// A line of a file or of a command given as an option.
    case script(name: String, line: Int)
  }

  package private(set) var settings: Settings
  /// Where what is said goes: the screen, or what a command's words are sent to.
  private(set) var output: any ShellOutput
  /// Output is JSON Lines and nothing else.
  private(set) var json: Bool
  /// Whether a command's words go to a file or a program.
  private var isRedirected = false
  /// What ends a line, a file or a script before its last command.
  private let stops: Outcome
  /// The runs that ended.
  private(set) var runs = KeptRuns()
  /// The runs of the last comparison, unless they are too large to keep.
  private(set) var comparison: [Run] = []
  /// The line typed before this one, for `!!`.
  private var lineBefore: String?
  /// The schedule that was told last, of what, and where it was run.
  private(set) var story:
    (ExplorationReport.ScheduleDescription, of: ExplorationScenario, in: ExplorationPlace)?
  /// What a person saw last, which 'export' writes.
  enum Shown: Sendable {
    /// The run in the background, as far as it has come, or else the last that ended.
    case lastRun
    case run(Run, named: String)
    case comparison
    case exploration(ExplorationReport)
    /// The game under way, or else the schedule that was told last.
    case schedule
  }

  private(set) var lastShown = Shown.lastRun
  /// How often something was shown that can be exported.
  private(set) var shownCount = 0
  /// The runs that go on between commands.
  private(set) var backgrounds = BackgroundRuns()
  /// The latest of them, if any.
  var background: Background? { backgrounds.latest }
  /// The game of playing the scheduler, if one is under way.
  private(set) var game: SchedulerGame?
  /// How many files deep `source` is.
  private(set) var sourceDepth = 0
  /// Where the line being carried out stands: a setting is told with who made it.
  private var place = Place.script(name: "", line: 0)
  /// Whether a person typed the line being carried out, rather than a script holding it.
  private(set) var isTyped = false
  /// The command that makes runs or explores, while it is carried out; nil while others are, or a move of a game.
  private(set) var command: String?
  /// The command that a person was asked about, for it takes much memory.
  private(set) var askedAbout: [Word]?
  /// What a person who wants to leave has been told.
  private var leaveRequest = LeaveRequest()
  /// Whether the command being carried out may take as much memory as it needs.
  private(set) var hasConsent = false
  private(set) var classroom: Classroom
  /// What was opened in a browser.
  var pages = OpenedPages()
  /// For completion, which does not wait its turn.
  package nonisolated let lessonsFolder: String?
  nonisolated let interruption = Interruption()
  /// Where the code under study is run step by step.
  let explorations: ExplorationPlace
  /// How many tasks the last run had, for completion, which does not wait its turn.
  nonisolated let knownTasks = Atomic(0)
  /// What the runs in the background are called by, for the same.
  nonisolated let knownNames = Mutex<[String]>([])

  package init(
    settings: Settings,
    output: any ShellOutput,
    json: Bool = false,
    keepGoing: Bool = false,
    classroom: Classroom = Classroom()
  ) {
    self.settings = settings
    self.output = output
    self.json = json
    stops = keepGoing ? [.interrupted, .quit] : [.interrupted, .quit, .unmet, .failed]
    self.classroom = classroom
    lessonsFolder = classroom.folder
    explorations = classroom.program.map(ExplorationPlace.program) ?? .here
  }

  /// Carries out a line, which may hold several commands.
  ///
  /// Stops at the first command that fails, or whose check or expectation is not met, unless the session is to keep
  /// going.
  ///
  /// An interrupt that has come since `beginLine` ends it.
  ///
  /// On its way a line is carried out with its place kept, each of its statements with where its output goes, and each
  /// command of those by `perform`.
  package func execute(_ line: String, at place: Place) async -> Outcome {
    isTyped = if case .prompt = place { true } else { false }
    guard isTyped else { return await carryOut(line, at: place) }
    leaveRequest.begin()
    if let outcome = await takesAsConsent(line) { return outcome }
    if takesAsAnswer(line) { return .done }
    guard let line = takingGuess(from: line, at: place) else { return .done }
    guard line.hasPrefix("!!") else {
      if line.contains(where: { !$0.isWhitespace }) { lineBefore = line }
      return await carryOut(line, at: place)
    }
    let earlier = output.history.last { !$0.hasPrefix("!!") }
    guard let before = lineBefore ?? earlier else {
      return fail(ShellError("there is no line to repeat yet", at: 0..<2), in: line, at: place)
    }
    let repeated = before + line.dropFirst(2)
    lineBefore = repeated
    if !json { output.write(repeated + "\n") }
    // What is wrong stands in another line than the one above the carets.
    return await carryOut(repeated, at: .script(name: "!!", line: 1))
  }

  /// Where what a command sets comes from, in words.
  var origin: String {
    switch place {
    case .prompt: "typed here"
    case .script(let name, let line): "\(name):\(line)"
    }
  }

  /// Takes the end of input, Ctrl-D: it answers no, or ends a game under way, or else the session.
  package func endInput() -> Outcome {
    isTyped = true
    leaveRequest.begin()
    if askedAbout != nil {
      ask(about: nil)
      output.write("Nothing was run.\n")
    } else if classroom.resetAsked != nil {
      _ = takesAsAnswer("no")
    } else if game != nil {
      endGame()
    } else {
      return leaveIfMeant()
    }
    return .done
  }

  /// Takes a Ctrl-C at the prompt: where a question is open, it answers no.
  package func endQuestion() {
    if askedAbout != nil || classroom.resetAsked != nil { _ = endInput() }
  }

  /// Whether a person who wants to leave is to be told now what goes on.
  func mustTellBeforeLeaving() -> Bool { leaveRequest.tells() }

  /// Whether there is a person to ask: not while a file is read, though a person named it.
  var mayAsk: Bool { isTyped && sourceDepth == 0 && !isRedirected }

  /// Carries out a line as part of the one that a person or a script gave.
  private func carryOut(_ line: String, at place: Place) async -> Outcome {
    let outer = self.place
    self.place = place
    defer { self.place = outer }
    var outcome = Outcome.done
    do {
      let commands = try Lexer.statements(in: line)
      for (index, statement) in commands.enumerated() {
        do {
          outcome.formUnion(try await carryOut(statement))
        } catch {
          let number = commands.count > 1 ? index + 1 : nil
          outcome.formUnion(fail(error, in: line, at: place, command: number))
        }
        // A script is a test, also where its reader has left: what it expects is still to be checked.
        if output.isCutShort || isTyped && output.isClosed { outcome.insert(.quit) }
        if interruption.hasCome { outcome.insert(.interrupted) }
        if ends(with: outcome) { break }
      }
    } catch {
      return fail(error, in: line, at: place)
    }
    return outcome
  }

  /// Carries out the lines of a file as part of the line that asked for it.
  func carryOut(fileOf text: String, named name: String) async -> Outcome {
    sourceDepth += 1
    defer { sourceDepth -= 1 }
    var outcome = Outcome.done
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() where !ends(with: outcome) {
      outcome.formUnion(
        await carryOut(String(line), at: .script(name: name, line: index + 1))
      )
    }
    return outcome
  }

  /// Whether what comes after is left out.
  package nonisolated func ends(with outcome: Outcome) -> Bool { !outcome.isDisjoint(with: stops) }

  /// Forgets an interrupt of an earlier line.
  ///
  /// What comes from here on concerns the next one, even if it comes
  /// before `execute` is called.
  package nonisolated func beginLine() { interruption.begin() }

  /// Ends what the session is doing, if anything; the session goes on.
  package nonisolated func interrupt() { interruption.interrupt() }

  /// Whether that has happened since `beginLine`.
  package nonisolated var isInterrupted: Bool { interruption.hasCome }

  private func carryOut(_ statement: Statement) async throws -> Outcome {
    guard let redirection = try Redirection(statement) else {
      return try await perform(statement.words)
    }
    return try await carryOut(redirection)
  }

  /// Carries out what `body` does while all that is said goes elsewhere; complaints go where they went.
  func saying(
    to other: any ShellOutput,
    json asJSON: Bool = false,
    _ body: (isolated Session) async throws -> Outcome
  ) async rethrows -> Outcome {
    let before = (output, json, isRedirected)
    (output, json, isRedirected) = (other, json || asJSON, true)
    defer { (output, json, isRedirected) = before }
    return try await body(self)
  }

  /// The commands whose figures a lesson may ask for.
  private static let makers: Set = [
    "run", "compare", "race", "repeat", "explore", "replay", "starve", "stall", "inversion",
    "visits",
  ]

  /// Carries out one command.
  func perform(_ words: [Word]) async throws -> Outcome {
    guard let name = words.first else { return .done }
    self.command = nil
    if let outcome = try await takesAsMove(words) { return outcome }
    if let complaint = CommandTable.complaint(aboutProgramIn: words) { throw complaint }
    if let complaint = CommandTable.complaint(aboutSignsIn: words) { throw complaint }
    let command = try CommandTable.resolve(name)
    let arguments = try Arguments(command, name: name, words: words.dropFirst())
    if Self.makers.contains(command.name) {
      self.command = ([command.name] + words.dropFirst().map(\.text)).joined(separator: " ")
    }
    do {
      return try await command.run(self, arguments)
    } catch let large as NeedsConsent {
      ask(about: words)
      output.write(large.question + "\n")
      // What follows on the line may be about the run.
      return .failed
    }
  }

  /// Carries out a command that a person was asked about.
  func carryOutWithConsent(_ words: [Word]) async -> Outcome {
    hasConsent = true
    defer { hasConsent = false }
    do {
      return try await perform(words)
    } catch {
      return fail(error, in: "", at: .script(name: "yes", line: 1))
    }
  }

  /// Keeps a command until a person has said whether it is to be carried out; nil forgets it.
  func ask(about words: [Word]?) { askedAbout = words }

  /// Tells why a command failed: the one of that number, where a line has several.
  @discardableResult
  func fail(
    _ error: any Error,
    in line: String,
    at place: Place,
    command: Int? = nil
  ) -> Outcome {
    let shell = error as? ShellError ?? ShellError("\(error)")
    let isSentence = shell.message.last.map { ".?…".contains($0) } ?? true
    let message = isSentence ? shell.message : shell.message + "."
    switch place {
    case .prompt(let columns):
      output.complain(pointing(message, at: shell.range, of: line, behind: columns))
      tell(classroom.visit?.reminder.map(inLines))
    case .script(let name, let number):
      let which = command.map { ", command \($0)" } ?? ""
      output.complain("\(name):\(number)\(which): \(message)")
    }
    return .failed
  }

  // MARK: What commands change

  /// Says what a command has to say, as text or as JSON Lines.
  func answer(json: @autoclosure () -> String, _ text: @autoclosure () -> String) -> Outcome {
    self.json ? output.write(json()) : writePages(text())
    return .done
  }

  /// Says what is to be noted about a command; beside JSON Lines, on standard error.
  func tell(_ notes: [Note]) {
    guard json else { return output.write(Note.text(notes, output.format)) }
    for note in notes { output.complain("note: \(note.text)") }
  }

  /// Writes a text that may be long: page by page, unless that is set off.
  func writePages(_ text: String) {
    settings.pager ? output.writePages(text) : output.write(text)
  }

  func change(to settings: Settings) { self.settings = settings }

  /// Makes a run the last one, and evidence in the lesson under way.
  func keep(_ run: Run, _ metrics: RunMetrics? = nil, name: String? = nil) {
    runs.keep(run, name: name)
    showed(.lastRun)
    knownTasks.store(run.plan.count, ordering: .relaxed)
    // A run that was stopped shows what somebody did, and not what the mechanism does.
    guard run.stoppedBecause != Self.interrupted else { return }
    let number = runs.all.last.map { "run \($0.number)" } ?? "the run"
    note(metrics ?? RunMetrics(run), from: command.map { "\(number) ('\($0)')" } ?? number)
  }

  /// Notes what a person sees now.
  func showed(_ shown: Shown) {
    lastShown = shown
    shownCount += 1
  }

  /// Gives a run a name; false where there is none of that number.
  func name(_ number: Int, _ name: String) -> Bool { runs.name(number, name) }

  /// Keeps the runs of a comparison, for 'why t08 of pool'.
  func keep(comparison: [Run]) {
    let events = comparison.reduce(0) { $0 + $1.events.count }
    self.comparison = events > KeptRuns.mostEvents ? [] : comparison
  }

  /// Keeps a schedule, for 'export game.html'.
  func keep(
    _ story: ExplorationReport.ScheduleDescription,
    of scenario: ExplorationScenario,
    in place: ExplorationPlace
  ) {
    self.story = (story, of: scenario, in: place)
  }

  /// Lets a run go on between commands.
  func putInBackground(_ run: Background) {
    backgrounds.add(run)
    showed(.lastRun)
    knownTasks.store(run.run.plan.count, ordering: .relaxed)
    knownNames.withLock { $0 = backgrounds.labels }
  }

  /// It does not go on any more.
  func takeFromBackground(_ run: Background) {
    backgrounds.remove(run)
    showed(.lastRun)
    knownNames.withLock { $0 = backgrounds.labels }
  }

  /// Goes on with a game; nil ends it.
  func play(_ game: SchedulerGame?) {
    self.game = game
    if game != nil { showed(.schedule) }
  }

  /// Does something with lessons, progress or evidence.
  func teach<Value>(_ body: (inout Classroom) -> Value) -> Value { body(&classroom) }
}

extension Session {
  /// The message, with carets under the word it is about where there is one and room for them.
  private func pointing(
    _ message: String,
    at range: Range<Int>?,
    of line: String,
    behind columns: Int
  ) -> String {
    let width = output.display.width
    // A line that wraps around is no longer above its carets.
    let place = { columns + CellWidth.of(String(line.prefix($0))) }
    guard let range, place(range.upperBound) <= width else { return inLines(message) }
    let (start, end) = (place(range.lowerBound), place(range.upperBound))
    let carets =
      String(repeating: " ", count: start) + String(repeating: "^", count: max(1, end - start))
    let single = "\(carets) \(message)"
    return CellWidth.of(single) <= width ? single : "\(carets)\n\(inLines(message))"
  }

  /// A sentence to a person, broken where the display ends; to a script, in one line.
  func sentence(_ text: String) -> String { isTyped ? inLines(text) : text }

  /// A sentence broken where the display ends.
  private func inLines(_ text: String) -> String {
    Columns.wrap(text, width: output.display.width).joined(separator: "\n")
  }
}
