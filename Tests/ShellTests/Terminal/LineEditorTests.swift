import Foundation
import Glibc
import TestSupport
import Testing

/// The keys a person presses, as a terminal sends them.
private enum Key {
  static let up = "\u{1B}[A"
  static let left = "\u{1B}[D"
  static let tab = "\t"
  static let enter = "\r"
  static let escape = "\u{1B}"
  static func control(_ letter: Character) -> String {
    String(UnicodeScalar((letter.asciiValue ?? 0) & 0x1F))
  }
}

@Suite(.watched) struct `Line editor at a terminal` {
  /// A folder for one test's files, gone with it.
  private let folder = TemporaryFolder()

  private func start(
    _ environment: [String: String] = [:],
    columns: Int = 80,
    rows: Int = 24
  ) async throws -> PseudoTerminal {
    let terminal = try PseudoTerminal(
      builtExecutable("echo-editor"),
      environment: plainEnvironment.merging(environment) { $1 },
      columns: columns,
      rows: rows
    )
    try await terminal.waitForScreen("a prompt") { $0.currentLine.hasSuffix(">") }
    return terminal
  }

  /// Leaves the editor, which must go well and leave the terminal as it was.
  private func leave(_ terminal: PseudoTerminal) async throws {
    try await terminal.send(Key.control("D"))
    try await terminal.waitForText("closed")
    #expect(try await terminal.waitForExit() == .exited(0))
  }

  @Test func `a line typed is a line read, and Ctrl-D on an empty line leaves`() async throws {
    let terminal = try await start()
    try await terminal.send("hello" + Key.enter)
    try await terminal.waitForText("line: hello")
    try await leave(terminal)
    #expect(terminal.screen.lines == ["echo> hello", "line: hello", "echo> ^D", "end", "closed"])
  }

  @Test func `Ctrl-D within a line does not leave`() async throws {
    let terminal = try await start()
    try await terminal.send("ab" + Key.control("D") + "c" + Key.enter)
    try await terminal.waitForText("line: abc")
    try await leave(terminal)
  }

  @Test(
    arguments: [
      // Backspace, which takes the whole of what is seen as one character.
      ("x👨‍👩‍👧\u{7F}y", "xy"), ("xe\u{301}\u{8}y", "xy"), ("x🇩🇪\u{7F}y", "xy"),
      ("x👍🏽\u{7F}y", "xy"), ("x漢字\u{7F}y", "x漢y"),
      // Delete and Ctrl-D, at the beginning of the line.
      ("👩‍💻z\u{1}\u{1B}[3~", "z"), ("e\u{301}z\u{1}\u{4}", "z"),
      // The arrows and their letters step over it.
      ("👩‍💻z\u{1}\u{1B}[C!", "👩‍💻!z"), ("👩‍💻z\u{1}\u{6}!", "👩‍💻!z"),
      ("a👩‍💻\u{1B}[D!", "a!👩‍💻"), ("a👩‍💻\u{2}!", "a!👩‍💻"), ("ae\u{301}\u{1B}OD!", "a!e\u{301}"),
    ]
  )
  func `what is seen as one character is deleted and stepped over as one`(
    _ keys: String,
    _ line: String
  ) async throws {
    let terminal = try await start()
    try await terminal.send(keys + Key.enter)
    try await terminal.waitForText("line: ")
    try await terminal.waitForScreen("the line") { screen in
      let read = screen.lines.first { $0.hasPrefix("line: ") }
      return read.map { Array($0.unicodeScalars) == Array("line: \(line)".unicodeScalars) } ?? false
    }
    try await leave(terminal)
  }

  @Test func `Ctrl-C while typing drops the line and keeps the shell`() async throws {
    let terminal = try await start()
    try await terminal.send("half a li")
    try await terminal.waitForCurrentLine("echo> half a li")
    try await terminal.send(Key.control("C"))
    try await terminal.waitForText("interrupted\necho>")
    try await terminal.send("next" + Key.enter)
    try await terminal.waitForText("line: next")
    #expect(terminal.screen.lines.prefix(2) == ["echo> half a li^C", "interrupted"])
    try await leave(terminal)
  }

  @Test func `what is typed right after Ctrl-C belongs to the next line`() async throws {
    let terminal = try await start()
    for round in 1...20 {
      try await terminal.send("dropped\u{3}kept \(round)\r")
      try await terminal.waitForText("interrupted\necho> kept \(round)\nline: kept \(round)\necho>")
    }
    #expect(!terminal.screen.text.contains("line: dropped"))
    try await leave(terminal)
  }

  @Test func `Ctrl-C during a paste drops the rest of it`() async throws {
    let terminal = try await start()
    let block = (1...200).map { "line \($0)\r" }.joined()
    try await terminal.send("\u{1B}[200~\(block)\u{1B}[201~\u{3}last\r")
    try await terminal.waitForText("line: last\necho>")
    #expect(terminal.screen.text.contains("interrupted"))
    #expect(!terminal.screen.text.contains("line: line 200"))
    try await leave(terminal)
  }

  @Test func `SIGINT from another program drops the line as Ctrl-C does`() async throws {
    let terminal = try await start()
    try await terminal.send("half")
    try await terminal.waitForCurrentLine("echo> half")
    terminal.signal(SIGINT)
    try await terminal.waitForText("echo> half^C\ninterrupted\necho>")
    try await leave(terminal)
  }

  @Test func `Ctrl-C in a line of several rows goes on below the last of them`() async throws {
    let terminal = try await start(columns: 20)
    try await terminal.send(String(repeating: "x", count: 50))
    try await terminal.waitForCurrentLine(String(repeating: "x", count: 16))
    try await terminal.send(Key.control("A"))
    try await terminal.waitForScreen("the cursor after the prompt") { $0.cursor == (0, 6) }
    try await terminal.send(Key.control("C"))
    let screen = try await terminal.waitForText("interrupted\necho>")
    #expect(screen.lines[2] == String(repeating: "x", count: 16) + "^C")
    try await leave(terminal)
  }

  @Test func `the history is walked with the up arrow`() async throws {
    let terminal = try await start()
    for line in ["first", "second", "third"] {
      try await terminal.send(line + Key.enter)
      try await terminal.waitForText("line: \(line)\necho>")
    }
    try await terminal.send(Key.up + Key.up)
    try await terminal.waitForCurrentLine("echo> second")
    try await terminal.send(" again" + Key.enter)
    try await terminal.waitForText("line: second again")
    try await leave(terminal)
  }

  @Test func `Ctrl-R searches the history backwards`() async throws {
    let terminal = try await start()
    for line in ["compare limiter", "explore pool", "events"] {
      try await terminal.send(line + Key.enter)
      try await terminal.waitForText("line: \(line)\necho>")
    }
    try await terminal.send(Key.control("R") + "limit")
    try await terminal.waitForText("echo> compare limiter\nbck:limit")
    try await terminal.send(Key.enter)
    try await terminal.waitForScreen("the line found and read") {
      $0.lines.filter { $0 == "line: compare limiter" }.count == 2
    }
    try await leave(terminal)
  }

  @Test func `Ctrl-C while searching the history gives a new prompt`() async throws {
    let terminal = try await start()
    try await terminal.send("something" + Key.enter)
    try await terminal.waitForText("line: something\necho>")
    try await terminal.send(Key.control("R") + "some")
    try await terminal.waitForText("bck:some")
    try await terminal.send(Key.control("C"))
    try await terminal.waitForText("interrupted\necho>")
    try await terminal.send("next" + Key.enter)
    try await terminal.waitForText("line: next")
    try await leave(terminal)
  }

  @Test func `Tab puts in the only candidate and a space`() async throws {
    let terminal = try await start()
    try await terminal.send("rep" + Key.tab + "x" + Key.enter)
    try await terminal.waitForText("line: replay x")
    try await terminal.send("lim" + Key.tab + "3" + Key.enter)
    try await terminal.waitForText("line: limit=3")
    try await leave(terminal)
  }

  @Test func `Tab puts in what all candidates share, then lists them below`() async throws {
    let terminal = try await start()
    try await terminal.send("ru" + Key.tab)
    try await terminal.waitForCurrentLine("echo> run")
    try await terminal.send(Key.tab)
    try await terminal.waitForText("echo> run\nrun      running\necho> run")
    try await terminal.send("n" + Key.tab + Key.enter)
    try await terminal.waitForText("line: running")
    try await leave(terminal)
  }

  @Test func `Tab in the middle of a line completes there`() async throws {
    let terminal = try await start()
    try await terminal.send("rep 5" + Key.left + Key.left + Key.tab + Key.enter)
    try await terminal.waitForText("line: replay 5")
    try await leave(terminal)
  }

  @Test func `UTF-8 is typed, edited and read`() async throws {
    let terminal = try await start()
    try await terminal.send("naïve ▒ 漢字!" + Key.left + "x" + Key.enter)
    try await terminal.waitForText("line: naïve ▒ 漢字x!")
    try await leave(terminal)
  }

  @Test func `UTF-8 is read also where the environment names no locale`() async throws {
    let terminal = try await start(["LANG": ""])
    try await terminal.send("naïve 漢字" + Key.enter)
    try await terminal.waitForText("echo> naïve 漢字\nline: naïve 漢字")
    try await leave(terminal)
  }

  @Test func `of a paste of 200 lines each is read, in order, and shown once`() async throws {
    let terminal = try await start(rows: 50)
    let lines = (1...200).map { "pasted line \($0) of a block" }
    try await terminal.send(lines.joined(separator: "\r") + "\r")
    try await terminal.waitForText("line: \(lines[199])\necho>")
    let seen = terminal.screen.text.split(separator: "\n").map(String.init)
    #expect(seen == lines.flatMap { ["echo> \($0)", "line: \($0)"] } + ["echo>"])
    try await leave(terminal)
  }

  @Test func `a marked paste is read line by line, its tabs and control keys are no commands`()
    async throws
  {
    let terminal = try await start()
    try await terminal.send("\u{1B}[200~ru\tn\u{4}\rsecond\rthird, not\u{1B}[201~ finished")
    try await terminal.waitForCurrentLine("echo> third, not finished")
    try await terminal.send(Key.enter)
    try await terminal.waitForText("line: third, not finished\necho>")
    #expect(
      terminal.screen.lines == [
        "echo> ru n", "line: ru n", "echo> second", "line: second", "echo> third, not finished",
        "line: third, not finished", "echo>",
      ]
    )
    try await leave(terminal)
  }

  @Test func `Ctrl-C drops the lines of a paste that are yet to come`() async throws {
    let terminal = try await start()
    try await terminal.send("\u{1B}[200~one\rwait\rtwo\rthree\r\u{1B}[201~")
    try await terminal.waitForText("waiting")
    try await terminal.send(Key.control("C"))
    try await terminal.waitForText("waited\necho>")
    try await terminal.send("last" + Key.enter)
    try await terminal.waitForText("line: last\necho>")
    #expect(
      terminal.screen.lines == [
        "echo> one", "line: one", "echo> wait", "waiting", "waited", "echo> last", "line: last",
        "echo>",
      ]
    )
    try await leave(terminal)
  }

  @Test func `what is typed while a command runs appears once, at the next prompt`() async throws {
    let control = try folder.namedPipe("control")
    let terminal = try await start(["ECHO_EDITOR_CONTROL": control.path])
    try await terminal.send("pause" + Key.enter)
    try await terminal.waitForText("pausing")
    try await terminal.send("ahead" + Key.enter + "and more")
    control.write("print held back\n")
    control.write("resume\n")
    try await terminal.waitForCurrentLine("echo> and more")
    #expect(
      terminal.screen.lines == [
        "echo> pause", "pausing", "held back", "echo> ahead", "line: ahead", "echo> and more",
      ]
    )
    try await enterAndLeave(terminal)
  }

  @Test func `a cancelled task's read ends at once, and the next reads on`() async throws {
    let control = try folder.namedPipe("control")
    let terminal = try await start(["ECHO_EDITOR_CONTROL": control.path])
    try await terminal.send("ask" + Key.enter)
    try await terminal.waitForCurrentLine("answer?")
    try await terminal.send("half an ans")
    try await terminal.waitForCurrentLine("answer? half an ans")
    control.write("resume\n")
    try await terminal.waitForText("answer? half an ans^C\nanswer: interrupted\necho>")
    try await terminal.send("next" + Key.enter)
    try await terminal.waitForText("line: next\necho>")
    // Answered before it is cancelled: the answer counts.
    try await terminal.send("ask" + Key.enter)
    try await terminal.waitForCurrentLine("answer?")
    try await terminal.send("yes" + Key.enter)
    // What is shown of it may be ahead of who reads it.
    control.write("resume answered\n")
    try await terminal.waitForText("answer: line(\"yes\")\necho>")
    try await leave(terminal)
  }

  @Test func `Ctrl-C between two lines, with nothing to interrupt, ends nothing`() async throws {
    let control = try folder.namedPipe("control")
    let terminal = try await start(["ECHO_EDITOR_CONTROL": control.path])
    try await terminal.send("pause" + Key.enter)
    try await terminal.waitForText("pausing")
    try await terminal.send(Key.control("C") + "next" + Key.enter)
    // The key is acted on by a thread of its own, which comes late on a busy machine.
    control.write("resume interrupted\n")
    try await terminal.waitForText("echo> next\nline: next\necho>")
    try await leave(terminal)
  }

  @Test func `output appears above the line being typed, which stays whole`() async throws {
    let control = try folder.namedPipe("control")
    let terminal = try await start(["ECHO_EDITOR_CONTROL": control.path])
    try await terminal.send("half a li")
    try await terminal.waitForCurrentLine("echo> half a li")
    control.write("print t01 finished\n")
    try await terminal.waitForText("t01 finished\necho> half a li")
    control.write("prompt busy>\u{20}\n")
    try await terminal.waitForCurrentLine("busy> half a li")
    try await terminal.send("ne" + Key.enter)
    try await terminal.waitForText("line: half a line")
    #expect(
      terminal.screen.lines.prefix(3) == ["t01 finished", "busy> half a line", "line: half a line"]
    )
    try await leave(terminal)
  }

  @Test func `output above a line of several rows leaves nothing of it behind`() async throws {
    let control = try folder.namedPipe("control")
    let terminal = try await start(["ECHO_EDITOR_CONTROL": control.path], columns: 20)
    let long = String(repeating: "0123456789", count: 5)
    for cursor in ["end", "start"] {
      if cursor == "end" {
        try await terminal.send(long)
        try await terminal.waitForCurrentLine("4567890123456789")
      } else {
        try await terminal.send(Key.control("A"))
        try await terminal.waitForScreen("the cursor after the prompt") {
          $0.cursor.column == 6 && $0.currentLine == "echo> 01234567890123"
        }
      }
      control.write("print above, \(cursor)\n")
      try await terminal.waitForText(
        "above, \(cursor)\necho> 01234567890123\n45678901234567890123\n4567890123456789"
      )
    }
    #expect(terminal.screen.lines.count == 5)
    try await terminal.send(Key.enter)
    try await terminal.waitForText("line: ")
    try await leave(terminal)
  }

  @Test func `output while the history is searched keeps the search going`() async throws {
    let control = try folder.namedPipe("control")
    let terminal = try await start(["ECHO_EDITOR_CONTROL": control.path])
    try await terminal.send("compare pool" + Key.enter)
    try await terminal.waitForText("line: compare pool\necho>")
    try await terminal.send(Key.control("R") + "po")
    try await terminal.waitForText("bck:po")
    control.write("print t01 finished\n")
    try await terminal.waitForText("t01 finished\necho> compare pool\nbck:po")
    try await terminal.send("ol")
    try await terminal.waitForText("echo> compare pool\nbck:pool")
    try await terminal.send(Key.enter)
    try await terminal.waitForScreen("the line found and read") {
      $0.lines.filter { $0 == "line: compare pool" }.count == 2
    }
    try await leave(terminal)
  }

  @Test func `Ctrl-Z stops the program and fg brings the line back`() async throws {
    let shell = try PseudoTerminal(
      "/bin/bash",
      ["--norc", "--noprofile", "-i"],
      environment: plainEnvironment.merging(["PS1": "sh> "]) { $1 }
    )
    try await shell.waitForCurrentLine("sh>")
    try await shell.send(builtExecutable("echo-editor") + "\r")
    try await shell.waitForCurrentLine("echo>")
    for round in 1...3 {
      try await shell.send("\(round)")
      let typed = "echo> " + (1...round).map(String.init).joined()
      try await shell.waitForCurrentLine(typed)
      try await shell.send(Key.control("Z"))
      try await shell.waitForCurrentLine("sh>")
      #expect(shell.screen.text.contains("Stopped"))
      try await shell.send("fg\r")
      try await shell.waitForCurrentLine(typed)
    }
    try await shell.send(Key.enter)
    try await shell.waitForText("line: 123")
    try await shell.send(Key.control("D"))
    try await shell.waitForText("closed\nsh>")
    // The shell's own reading of lines, with echo, works as before.
    try await shell.send("exec cat\r")
    try await shell.waitForOutput("exec cat\r\n")
    try await shell.waitForScreen("a terminal that echoes") { [shell] _ in
      shell.echoesAndWaitsForEnter()
    }
  }

  @Test func `what is typed after leaving belongs to the shell`() async throws {
    let shell = try PseudoTerminal(
      "/bin/bash",
      ["--norc", "--noprofile", "-i"],
      environment: plainEnvironment.merging(["PS1": "sh> "]) { $1 }
    )
    try await shell.waitForCurrentLine("sh>")
    try await shell.send(builtExecutable("echo-editor") + "\r")
    try await shell.waitForCurrentLine("echo>")
    try await shell.send("quit\recho to the shell\r")
    try await shell.waitForText("\nto the shell\nsh>")
  }

  @Test func `a window made narrower and wider again shows the same line`() async throws {
    let terminal = try await start()
    try await terminal.send("0123456789012345678901234567890123456789")
    try await terminal.waitForCurrentLine("echo> 0123456789012345678901234567890123456789")
    terminal.resize(columns: 60, rows: 24)
    try await terminal.waitForOutput("\u{1B}[J")
    try await terminal.send("x")
    try await terminal.waitForCurrentLine("echo> 0123456789012345678901234567890123456789x")
    terminal.resize(columns: 100, rows: 30)
    try await terminal.waitForOutput("\u{1B}[J")
    try await terminal.send(String(repeating: "y", count: 60))
    try await terminal.waitForCurrentLine(String(repeating: "y", count: 7))
    #expect(terminal.screen.lines.count == 2)
    try await terminal.send(Key.enter)
    try await terminal.waitForText("line: 0123")
    try await leave(terminal)
  }

  @Test func `a coloured prompt takes the room of its text`() async throws {
    let control = try folder.namedPipe("control")
    let terminal = try await start(
      ["ECHO_EDITOR_CONTROL": control.path, "ECHO_EDITOR_PROMPT": "\u{1B}[1mlab\u{1B}[0m> "],
      columns: 20
    )
    try await terminal.send("abcdefghijklmnopqrstuvwxyz")
    try await terminal.waitForText("lab> abcdefghijklmno\npqrstuvwxyz")
    control.write("print above\n")
    try await terminal.waitForText("above\nlab> abcdefghijklmno\npqrstuvwxyz")
    #expect(terminal.screen.lines.count == 3)
    try await enterAndLeave(terminal)
  }

  private func enterAndLeave(_ terminal: PseudoTerminal) async throws {
    try await terminal.send(Key.enter)
    try await terminal.waitForText("line: ")
    try await leave(terminal)
  }

  @Test func `SIGTERM gives the terminal back and ends the program as by default`() async throws {
    let terminal = try await start()
    #expect(!terminal.echoesAndWaitsForEnter())
    terminal.signal(SIGTERM)
    #expect(try await terminal.waitForExit() == .signalled(SIGTERM))
  }

  @Test func `a terminal that goes away ends the program`() async throws {
    let terminal = try await start()
    terminal.signal(SIGHUP)
    #expect(try await terminal.waitForExit() == .signalled(SIGHUP))
  }

  @Test func `vi keys work when the person's editrc asks for them`() async throws {
    try folder.write("bind -v\n", to: ".editrc")
    let terminal = try await start(["HOME": folder.path])
    try await terminal.send("rep" + Key.tab + "one" + Key.escape + "0x" + Key.enter)
    try await terminal.waitForText("line: eplay one")
    try await leave(terminal)
  }

  @Test func `a terminal that cannot move its cursor gets plain lines`() async throws {
    let control = try folder.namedPipe("control")
    let terminal = try await start(["TERM": "dumb", "ECHO_EDITOR_CONTROL": control.path])
    try await terminal.send("half")
    try await terminal.waitForCurrentLine("echo> half")
    control.write("print t01 finished\n")
    try await terminal.waitForText("t01 finished\necho> half")
    try await terminal.send(Key.control("C"))
    try await terminal.waitForText("interrupted")
    try await leave(terminal)
    #expect(!terminal.transcript.contains(0x1B))
  }
}
