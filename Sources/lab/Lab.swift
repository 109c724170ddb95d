import ArgumentParser
import Basics
import Experiments
import Foundation
import Shell
import Synchronization

/// The program: reads the arguments, wires the shell to the terminal, turns outcomes into a status.
@main
struct Lab: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lab",
    abstract: "How many at once? See, measure and explore what limits concurrency.",
    discussion: """
      Without arguments, at a terminal, an interactive shell: type 'help' there. With command files \
      or -c, runs the commands and exits; '-' reads them from standard input.

      Exit status: 0 all well; 1 a run or an exploration showed a violation (what follows is carried \
      out all the same), or a check or an expectation was not met; 2 wrong usage of lab itself; 3 a \
      command in a script failed, or the output could not be written; 130 ended by Ctrl-C. Where the \
      reader of a script's output leaves, as 'head' does, the script is carried out to its end all the \
      same, and the status says how it went.
      """,
    version: "lab 1.0.0"
  )

  @Option(
    name: .short,
    help: ArgumentHelp(
      "Run commands, then exit; repeatable. ';' and newline separate, # starts a comment.",
      valueName: "COMMANDS"
    )
  )
  var c: [String] = []

  @Flag(
    name: [.short, .long],
    help: "Go on to the prompt afterwards. The status stays that of the commands given before it."
  )
  var interactive = false

  @Flag(help: "Output as JSON Lines, nothing else on standard output.")
  var json = false

  @Option(help: ArgumentHelp("Everything random derives from it.", valueName: "N"))
  var seed: UInt64 = 1

  @Flag(help: "Draw with ASCII characters only.")
  var ascii = false

  @Flag(help: "No colour. NO_COLOR and TERM=dumb say the same.")
  var noColor = false

  @Option(help: ArgumentHelp("Draw so many columns wide, from 20.", valueName: "N"))
  var width: Int?

  @Flag(
    help: ArgumentHelp(
      "Draw a row for every task. Without this option, at most 200 rows are drawn when the output "
        + "is not a terminal."
    )
  )
  var allRows = false

  @Flag(help: "Describe pictures in sentences.")
  var describe = false

  @Option(
    help: ArgumentHelp(
      "Take the lessons from this folder, not the package's own.",
      valueName: "DIR"
    )
  )
  var lessons: String?

  @Flag(help: "Check the lessons, for those who write them, and exit 1 if something is wrong.")
  var checkLessons = false

  @Flag(help: "Put what the lab prints now into the lessons' transcripts.")
  var recordLessons = false

  @Flag(
    help:
      "Print the commands that each page of the lessons gives, and its solution, as JSON Lines."
  )
  var lessonSteps = false

  @Option(
    help: ArgumentHelp(
      "Run what the lessons say of the wall clock N times, print in how many of them each claim held, and "
        + "exit 1 if one held in fewer than 19 of 20. With --json, each finding.",
      valueName: "N"
    )
  )
  var repeatLessons: Int?

  @Flag(help: "Do not stop where a command fails or an expectation is not met.")
  var keepGoing = false

  @Flag(
    help: "Do not read ~/.config/concurrency-lab/rc, whose commands come before the first prompt."
  )
  var noRc = false

  @Flag(help: "Print the manual page: lab --manual | man -l -")
  var manual = false

  @Flag(
    help: "Print every command, its words and its keys as Markdown, from the table that reads them."
  )
  var reference = false

  @Option(help: .hidden)
  var part: String?

  @Option(help: .hidden)
  var starve: String?

  @Option(help: .hidden)
  var waiters = 1

  @Option(help: .hidden)
  var request: String?

  @Option(help: .hidden)
  var journal: String?

  @Argument(
    help: ArgumentHelp(
      "Command files; '-' is standard input. With --check-lessons, --record-lessons, "
        + "--lesson-steps or --repeat-lessons: the numbers of the lessons.",
      valueName: "FILE"
    )
  )
  var files: [String] = []

  func validate() throws {
    if let width, !(20...TerminalCapabilities.most).contains(width) {
      throw ValidationError(
        "--width is \(width), but must be from 20 to \(TerminalCapabilities.most)."
      )
    }
    if let repeatLessons, repeatLessons < 1 {
      throw ValidationError("--repeat-lessons is \(repeatLessons), but must be at least 1.")
    }
    if isForAuthors, let word = files.first(where: { Int($0) == nil }) {
      throw ValidationError("'\(word)' is no number of a lesson, such as 7.")
    }
    if interactive, files.contains("-") {
      throw ValidationError(
        "'-' reads the commands from standard input, so -i has nothing to read."
      )
    }
  }

  /// Whether it is the lessons that are asked about, not the lab.
  private var isForAuthors: Bool {
    checkLessons || recordLessons || lessonSteps || repeatLessons != nil
  }

  static func main() async {
    StandardStreams.fill()
    let lab: Lab
    do {
      lab = try parse()
    } catch {
      // The parser's own status for wrong usage is 64; ours is 2.
      let isHelp = exitCode(for: error) == .success
      let message = fullMessage(for: error)
      let text = message.hasSuffix("\n") ? message : message + "\n"
      guard isHelp else {
        try? OutputWriter.standardError.write(text)
        Foundation.exit(2)
      }
      let console = Console(TerminalCapabilities.Options(), allRows: false)
      console.write(text)
      Foundation.exit(console.status(0))
    }
    let status = await withTaskExecutorPreference(ShellThread()) { await lab.start() }
    Foundation.exit(status)
  }

  private func audit(_ folder: String) throws -> LessonAudit {
    try LessonAudit(
      folder: folder,
      package: Self.packageFolder,
      numbers: Set(files.compactMap(Int.init)),
      program: Self.program
    )
  }

  /// This very program's path.
  private static var program: String? {
    Bundle.main.executableURL?.resolvingSymlinksInPath().path
  }

  /// What those who write lessons ask for.
  private func auditLessons(in folder: String?, _ console: Console) async -> Int32 {
    guard let folder else {
      console.complain(
        "lab: no folder 'Lessons' found from here upwards; name one with --lessons DIR."
      )
      return 2
    }
    do {
      if lessonSteps { console.write(try audit(folder).pages) }
      if recordLessons {
        let changed = try await audit(folder).record()
        console.write(changed.map { "recorded \($0)\n" }.joined())
      }
      if let repeatLessons {
        guard !json else {
          for _ in 0..<repeatLessons {
            console.write(try await audit(folder).findings(part: part))
          }
          return console.status(0)
        }
        let isWell = try await audit(folder).repeated(repeatLessons) { console.write($0) }
        guard isWell else { return console.status(1) }
      }
      guard checkLessons else { return console.status(0) }
      let problems = try await audit(folder).problems { console.complain($0) }
      console.write(problems.map { "\(folder)/\($0)\n" }.joined())
      return console.status(problems.isEmpty ? 0 : 1)
    } catch {
      console.complain("lab: \(error)")
      return 2
    }
  }

  /// The package's own lessons: from the folder one is in, or else from where the program was built.
  private static var lessonsFolder: String? {
    Classroom.folder(
      from: [
        FileManager.default.currentDirectoryPath,
        program,
      ].compactMap(\.self)
    )
  }

  /// The folder of this package, wherever the lessons are.
  private static var packageFolder: String? { lessonsFolder.map { Classroom.parent(of: $0) } }

  /// Does what the arguments say.
  ///
  /// - Returns: the exit status.
  private func start() async -> Int32 {
    // The second process of the command 'starve'.
    if let starve { StarvationProcess.run(wait: starve, waiters: waiters) }
    if let request { await ExplorationProcess.run(request, journal: journal) }
    Signals.shared.start()
    let console = Console(
      TerminalCapabilities.Options(ascii: ascii, noColor: noColor, width: width),
      allRows: allRows
    )
    if manual {
      console.write(Self.manualPage)
      return console.status(0)
    }
    if reference {
      console.write(CommandReference.markdown)
      return console.status(0)
    }
    let folder = lessons ?? Self.lessonsFolder
    if isForAuthors { return await auditLessons(in: folder, console) }
    let settings = Settings(seed: seed, describe: describe)
    let session = Session(
      settings: settings,
      output: console,
      json: json,
      keepGoing: keepGoing,
      classroom: Classroom(
        folder: folder,
        progressFile: StateDirectory.path(
          for: "progress.json",
          environment: ProcessInfo.processInfo.environment
        ),
        package: Self.packageFolder,
        program: Self.program
      )
    )

    var sources = c.map { Script.Source.text($0) }
    sources += files.map { $0 == "-" ? .standardInput : .file($0) }
    let isTerminal = console.capabilities.isInteractive
    if sources.isEmpty, !isTerminal { sources = [.standardInput] }

    if interactive, !isTerminal {
      console.complain("lab: -i needs a terminal for standard input and output.")
      return 2
    }
    if let first = files.first, CommandTable.has(first),
      !FileManager.default.fileExists(atPath: first)
    {
      let words = files.joined(separator: " ")
      console.complain(
        "lab: there is no file '\(first)', and a command comes behind -c. Write: lab -c '\(words)'"
      )
      return 2
    }
    let environment = ProcessInfo.processInfo.environment
    let startFile = StateDirectory.startFile(environment: environment)
    let isPrompt = sources.isEmpty
    // What a person types at must be theirs; what a script does must not depend on who runs it.
    if isPrompt, !noRc, let startFile, FileManager.default.fileExists(atPath: startFile) {
      sources.append(.file(startFile))
    }
    let script: Script
    do {
      script = try Script(sources, session, console)
    } catch {
      console.complain("lab: \(error.message)")
      return 2
    }
    console.isMuted.withLock { $0 = isPrompt && !sources.isEmpty }
    let ending = await script.run()
    console.isMuted.withLock { $0 = false }
    guard isPrompt || interactive, ending.goesOn else {
      await session.leave()
      return console.status(ending.status)
    }
    await Prompt(session, console).run(withBanner: isPrompt && !json)
    // What a person types tells its own story; what was given beforehand is a script all the same, but for
    // the start file, which nobody asked to see.
    return console.status(isPrompt ? 0 : ending.status)
  }
}
