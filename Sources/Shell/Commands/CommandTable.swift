internal import Basics
internal import Rendering

/// Every command there is.
package enum CommandTable {
  /// Commands that help lists under one heading.
  struct Group: Sendable {
    var heading: String
    var commands: [Command]
  }

  static let groups: [Group] = [
    Group(
      heading: "running",
      commands: [.mechanisms, .explain, .run, .compare, .race, .repetition]
    ),
    Group(
      heading: "looking at the last run",
      commands: [
        .timeline, .stats, .events, .why, .runs, .name, .diff, .curve, .expect, .export, .open,
      ]
    ),
    Group(heading: "every order of steps", commands: [.explore, .replay, .step, .puzzle]),
    Group(
      heading: "in the background",
      commands: [
        .spawn, .status, .watch, .wait, .cancel, .advance, .idle, .limit, .suspend, .resume,
        .barrier, .notify,
      ]
    ),
    Group(
      heading: "demonstrations",
      commands: [.starve, .inversion, .visits, .overdraft, .stall]
    ),
    Group(
      heading: "the course",
      commands: [
        .lessons, .lesson, .word, .predict, .check, .hint, .solution, .exercise, .next, .back,
        .leave,
        .reset,
      ]
    ),
    Group(
      heading: "the shell",
      commands: [.use, .set, .show, .source, .history, .clear, .help, .quit]
    ),
  ]

  /// In the order in which help lists them.
  package static let commands: [Command] = groups.flatMap(\.commands)

  /// What other programs call some of them: a person tries these first.
  static let otherNames: [String: Command] = ["exit": .quit, "?": .help, "words": .word]

  /// What is wrong with words that begin with the program's own name, as typed to the system's shell.
  static func complaint(aboutProgramIn words: [Word]) -> ShellError? {
    guard let first = words.first else { return nil }
    let isSwift = words.prefix(3).map(\.text) == ["swift", "run", "lab"]
    guard isSwift || first.text == "lab" || first.text.hasSuffix("/lab") else { return nil }
    var meant = words.dropFirst(isSwift ? 3 : 1)
    if meant.first?.text == "-c" { meant = meant.dropFirst() }
    guard let name = meant.first, (try? resolve(name)) != nil else {
      return ShellError(
        "this is the lab, which has no command of that name. 'help' lists all",
        at: first
      )
    }
    let line = meant.map(\.text).joined(separator: " ")
    return ShellError("this is the lab already. Write: \(line)", at: first)
  }

  /// What people try who know the system's shell, and what does it here.
  private static let habits = [
    "kill": "'cancel t03' cancels a task of the run in the background, 'cancel all' every one",
    "stop":
      "'cancel all' cancels what goes on in the background, 'suspend' admits nobody for a while",
    "pause":
      "'suspend' admits nobody for a while; what 'watch' shows stands still at the space bar",
    "add": "'spawn 3' adds three to the run in the background, the key a in 'watch' one more",
    "play": "'watch' plays the last run, 'watch 3' that of this number",
    "scrub": "'watch' shows a run, and its arrows go event by event, back too",
    "speed": "'watch' shows a run, and its keys + and - change how fast",
    "undo": "What ran stays in 'runs'; in 'step', 'back' takes a step back",
    "delete": "The oldest runs go by themselves when there are many; 'runs' lists what is kept",
    "rm": "The lab removes no files; 'runs' lists the runs that are kept",
    "vim": "Edit beside the lab; 'source FILE' carries out a file's lines",
    "edit": "Edit beside the lab; 'source FILE' carries out a file's lines",
    "bench": "'swift run bench' in your shell measures; here, 'visits' says what a visit costs",
    "ps": "'status all' tells of each run in the background, 'watch' shows it",
    "top": "'watch' shows the run in the background as it goes on",
    "ls": "'runs' lists the runs of this session, 'mechanisms' what can be run",
    "dir": "'runs' lists the runs of this session, 'mechanisms' what can be run",
    "list": "'runs' lists the runs of this session, 'mechanisms' what can be run",
    "cat":
      "'events' prints what happened in the last run, 'source FILE' carries out a file's lines",
    "less":
      "what is longer than the window comes page by page, and 'events | less' goes to a pager",
    "more":
      "what is longer than the window comes page by page, and 'events | less' goes to a pager",
    "grep": "Put it behind a command: events | grep t03",
    "jq": "Put it behind a command: events | jq .task",
    "man":
      "'help COMMAND' says all about one; 'lab --manual | man -l -' in your shell is the whole page",
    "sleep": "'advance 50ms' lets virtual time pass, 'wait' waits for the run in the background",
    "time": "'stats' has the times of the last run, 'repeat 5 run …' their spread",
    "echo": "'#' begins a comment; to see what is set: 'show'",
    "cd": "The lab stays in its folder; a file is named with its path, as in: export /tmp/run.svg",
    "pwd": "The lab stays in its folder; 'help files' tells where files go",
    "logout": "'quit' leaves, and so does Ctrl-D",
    "bye": "'quit' leaves, and so does Ctrl-D",
    ":q": "'quit' leaves, and so does Ctrl-D",
    "start": "'run 12' runs to the end, 'spawn 12' begins a run in the background",
    "save": "'export run.svg' writes what was shown last; the ending says the format",
    "print": "'export run.svg' writes what was shown last; the ending says the format",
    "plot": "'timeline' draws the last run, 'open' shows it in the browser",
    "chart": "'timeline' draws the last run, 'open' shows it in the browser",
    "gantt": "'timeline' draws the last run, 'open' shows it in the browser",
    "test": "'expect makespan = 400ms' checks a figure, 'explore' every order of steps",
    "vars": "'show' tells what is set and where it comes from",
    "env": "'show' tells what is set and where it comes from",
    "alias":
      "A command may be shortened as long as only one begins so, and 'source FILE' carries out several",
    "jobs": "'status all' tells of each run in the background, 'runs' lists those that ended too",
    "fg": "'watch' shows the run in the background, 'wait' waits for it",
    "bg": "'spawn' begins a run in the background",
  ]

  /// What is wrong with signs that mean something to the system's shell.
  static func complaint(aboutSignsIn words: [Word]) -> ShellError? {
    if let both = words.dropFirst().first(where: { $0.text == "&&" }) {
      return ShellError(
        "'&&' is for other shells. Write ';': a line ends at the first command that fails",
        at: both
      )
    }
    if let sign = words.dropFirst().first(where: { $0.text == "<" }),
      let name = words.first, let command = try? resolve(name), !command.takesAnyWords
    {
      return ShellError(
        "'<' is for other shells. 'source FILE' carries out a file's lines",
        at: sign
      )
    }
    guard let first = words.first, let last = words.last, words.count > 1, last.text.hasSuffix("&"),
      let command = try? resolve(first), !command.takesAnyWords
    else { return nil }
    let kept = words.dropFirst().map(\.text).joined(separator: " ").dropLast()
    let advice =
      command.name == Command.run.name
      ? "Write: \(Columns.trimmed("spawn \(kept)"))"
      : "Only a run goes on in the background, and 'spawn' begins it"
    return ShellError(
      "'&' is for other shells. \(advice)",
      at: last.range.upperBound - 1..<last.range.upperBound
    )
  }

  /// Whether a word is the name of a command, written out.
  package static func has(_ name: String) -> Bool {
    commands.contains { $0.name == name } || otherNames[name] != nil
  }

  /// What is wrong with the words of a line, as far as can be said without carrying it out; nil if
  /// nothing is.
  static func complaint(about line: String) -> String? {
    do {
      for words in try Lexer.commands(in: line) {
        // In a lesson, moves of the game that a line before them began.
        guard let name = words.first, Int(name.text) == nil,
          !SchedulerGame.words.contains(name.text)
        else { continue }
        _ = try Arguments(resolve(name), name: name, words: words.dropFirst())
      }
      return nil
    } catch {
      return error.message
    }
  }

  /// Those that came later and leave the others the beginnings that were theirs: `n` stays 'next'.
  private static let younger: Set = [
    "runs", "name", "clear", "puzzle", "curve", "stall",
    "repeat", "race", "open", "barrier", "notify",
  ]

  /// The commands that begin so.
  static func commands(beginning text: String) -> [Command] {
    let matches = commands.filter { $0.name.hasPrefix(text) }
    let older = matches.filter { !younger.contains($0.name) }
    return older.count == 1 ? older : matches
  }

  /// The commands whose one line has that word: "Perhaps 'limit'?"; empty where none has.
  private static func about(_ text: String) -> String {
    guard text.count > 3 else { return "" }
    let word = text.lowercased()
    let found = commands.filter { command in
      command.summary.lowercased().split { !$0.isLetter }.contains { $0.hasPrefix(word) }
    }
    guard !found.isEmpty else { return "" }
    return " Perhaps \(ListText.all(found.prefix(3).map { "'\($0.name)'" }, "or"))?"
  }

  /// The command of that name, or the only one that begins with it.
  ///
  /// `orTopic` says that the name of a help topic would have done too.
  static func resolve(_ word: Word, orTopic: Bool = false) throws(ShellError) -> Command {
    let text = word.text
    if let exact = commands.first(where: { $0.name == text }) { return exact }
    if let other = otherNames[text] { return other }
    let matches = commands(beginning: text)
    if matches.count == 1 { return matches[0] }
    if matches.count > 1 {
      let names = ListText.all(matches.map(\.name), "or")
      throw ShellError("'\(text)' could be \(names). Write more of it", at: word)
    }
    if let habit = habits[text] { throw ShellError("no command '\(text)'. \(habit)", at: word) }
    let topics = orTopic ? HelpTopic.all.map(\.name) : []
    var question = NearMatch.question(for: text, in: commands.map(\.name) + topics)
    if question.isEmpty, !orTopic { question = about(text) }
    let what = orTopic ? "command or topic" : "command"
    throw ShellError("no \(what) '\(text)'.\(question) 'help' lists all.", at: word)
  }
}
