import TestSupport
import Testing

@testable import Shell

@Suite(.watched) struct `Live painter` {
  private let size = TerminalSize(columns: 20, rows: 10)

  /// Plays frames to a screen that already has a line on it.
  private func screen(
    after frames: [[String]],
    size: TerminalSize,
    removing: Bool = false
  ) -> ScreenModel {
    var painter = LivePainter()
    var screen = ScreenModel(columns: size.columns, rows: size.rows)
    screen.feed("before\r\n".utf8)
    for frame in frames { screen.feed(sent(painter.paint(frame, size: size))) }
    if removing { screen.feed(sent(painter.remove(from: size))) }
    return screen
  }

  /// As a terminal's driver passes it on.
  private func sent(_ text: String) -> [UInt8] {
    text.utf8.flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] }
  }

  @Test func `every change between blocks of up to three lines shows the second block`() {
    let lines = ["", "a", "bb", "ccc"]
    let blocks: [[String]] =
      [[]] + lines.map { [$0] } + lines.flatMap { a in lines.map { [a, $0] } }
      + lines.flatMap { a in lines.flatMap { b in lines.map { [a, b, $0] } } }
    for old in blocks {
      for new in blocks {
        let result = screen(after: [old, new], size: size)
        var expected = ["before"] + new
        while expected.last == "" { expected.removeLast() }
        #expect(result.lines == expected)
        #expect(result.cursor == (1 + new.count, 0))
      }
    }
  }

  @Test func `removing leaves nothing behind`() {
    let result = screen(after: [["a", "b"], ["c", "d", "e"]], size: size, removing: true)
    #expect(result.lines == ["before"])
    #expect(result.cursor == (1, 0))
  }

  @Test func `an unchanged frame sends nothing`() {
    var painter = LivePainter()
    _ = painter.paint(["a", "b"], size: size)
    #expect(painter.paint(["a", "b"], size: size) == "")
  }

  @Test func `only rows that differ are written again`() {
    var painter = LivePainter()
    _ = painter.paint(["same", "old"], size: size)
    let sent = painter.paint(["same", "new"], size: size)
    #expect(!sent.contains("same"))
    #expect(sent.contains("new"))
  }

  @Test func `lines as wide as the window take one row each`() {
    let full = String(repeating: "x", count: 20)
    let frames = [[full, full], [full, "y"], [full, full]]
    #expect(screen(after: frames, size: size).lines == ["before", full, full])
  }

  @Test func `lines wider than the window are cut`() {
    let long = String(repeating: "x", count: 50)
    #expect(
      screen(after: [[long, "y"]], size: size).lines
        == ["before", String(repeating: "x", count: 20), "y"]
    )
  }

  @Test(arguments: [8, 30])
  func `a line that stays the same is cut anew where the window has another width`(columns: Int) {
    let long = String(repeating: "x", count: 50)
    var painter = LivePainter(ownsScreen: true)
    var screen = ScreenModel(columns: 20, rows: 10)
    screen.feed(sent(painter.paint([long, "y"], size: size)))
    screen.resize(columns: columns, rows: 10, reflows: false)
    screen.feed(sent(painter.paint([long, "y"], size: TerminalSize(columns: columns, rows: 10))))
    #expect(screen.lines == [String(repeating: "x", count: columns), "y"])
  }

  @Test func `a line of the frame before the last is cut anew`() {
    let long = String(repeating: "x", count: 50)
    let frames = [[long, "y"], ["y", long], [long, long]]
    let cut = String(repeating: "x", count: 20)
    #expect(screen(after: frames, size: size).lines == ["before", cut, cut])
  }

  @Test func `a block higher than the window is cut and says so`() {
    let small = TerminalSize(columns: 20, rows: 4)
    let frames = [(1...9).map { "line \($0)" }, (1...9).map { "row \($0)" }]
    #expect(screen(after: frames, size: small).lines == ["row 1", "row 2", "(7 more lines)"])
  }

  @Test func `a colour cut off at the edge does not leak`() {
    var painter = LivePainter()
    let sent = painter.paint(["\u{1B}[31m" + String(repeating: "x", count: 50)], size: size)
    #expect(sent.hasSuffix("\u{1B}[0m\n"))
  }

  /// The frames drawn for the old size after the window has another: over a slow link there are some.
  @Test(arguments: [true, false], [0, 1, 3])
  func `a resized window shows one frame and no part of another`(_ reflows: Bool, _ late: Int) {
    for columns in [7, 10, 13, 40] {
      for rows in [4, 6, 10, 30] {
        var painter = LivePainter()
        var screen = ScreenModel(columns: 20, rows: 10)
        screen.feed("before\r\n".utf8)
        func frame(_ number: Int, _ size: TerminalSize) -> String {
          painter.paint(
            [String(repeating: "=", count: size.columns), "frame \(number)", "-"],
            size: size
          )
        }
        screen.feed(sent(frame(1, size)))
        screen.resize(columns: columns, rows: rows, reflows: reflows)
        for number in 0..<late { screen.feed(sent(frame(2 + number, size))) }
        let new = TerminalSize(columns: columns, rows: rows)
        screen.feed(sent(frame(9, new)))
        #expect(
          screen.lines.filter { $0 != "before" }
            == [String(repeating: "=", count: columns), "frame 9", "-"]
        )
        screen.feed(sent(painter.remove(from: new)))
        #expect(screen.lines.allSatisfy { $0 == "before" })
      }
    }
  }

  @Test func `a block is taken off a window that became smaller since it was drawn`() {
    var painter = LivePainter()
    var screen = ScreenModel(columns: 20, rows: 10)
    screen.feed(sent(painter.paint([String(repeating: "x", count: 20), "y"], size: size)))
    screen.resize(columns: 8, rows: 10, reflows: true)
    screen.feed(sent(painter.remove(from: TerminalSize(columns: 8, rows: 10))))
    #expect(screen.lines == [])
  }

  @Test func `frames are at least 50 ms apart`() {
    var pacer = FramePacer()
    let start = ContinuousClock.now
    var shown: [Duration] = []
    for millisecond in 0..<1_000 {
      let now = start + .milliseconds(millisecond)
      if pacer.wait(at: now) == .zero { shown.append(start.duration(to: now)) }
    }
    #expect(shown == (0..<20).map { .milliseconds(50 * $0) })
  }

  @Test func `after keys the next frame is 10 ms after the last, and the one after it 50`() {
    var pacer = FramePacer()
    let start = ContinuousClock.now
    pacer.hasten()
    #expect(pacer.wait(at: start) == .zero)
    for _ in 0..<3 { pacer.hasten() }
    #expect(pacer.wait(at: start + .milliseconds(4)) == .milliseconds(6))
    #expect(pacer.wait(at: start + .milliseconds(10)) == .zero)
    #expect(pacer.wait(at: start + .milliseconds(20)) == .milliseconds(40))
  }
}

@Suite(.watched) struct `Live region at a terminal` {
  private func start(columns: Int = 40) async throws -> PseudoTerminal {
    let terminal = try PseudoTerminal(builtExecutable("echo-editor"), columns: columns)
    try await terminal.waitForCurrentLine("echo>")
    return terminal
  }

  /// The newest tick to be seen; ticks come and go between two looks.
  private func tick(on screen: ScreenModel) -> Int {
    screen.lines.compactMap { $0.hasPrefix("tick ") ? Int($0.dropFirst(5)) : nil }.last ?? 0
  }

  private func waitForTick(_ number: Int, at terminal: PseudoTerminal) async throws {
    try await terminal.waitForScreen("tick \(number) or later") { tick(on: $0) >= number }
  }

  private func leave(_ terminal: PseudoTerminal) async throws {
    try await terminal.send("\u{4}")
    #expect(try await terminal.waitForExit() == .exited(0))
    #expect(terminal.screen.cursorIsVisible)
  }

  @Test func `q leaves, and nothing is left behind`() async throws {
    let terminal = try await start()
    try await terminal.send("live\r")
    try await waitForTick(3, at: terminal)
    #expect(!terminal.screen.cursorIsVisible)
    try await terminal.send("q")
    try await terminal.waitForText("live: left\necho>")
    #expect(terminal.screen.lines == ["echo> live", "live: left", "echo>"])
    try await leave(terminal)
  }

  @Test func `Ctrl-C leaves, and the prompt comes back`() async throws {
    let terminal = try await start()
    try await terminal.send("live\r")
    try await waitForTick(3, at: terminal)
    try await terminal.send("\u{3}")
    try await terminal.waitForText("live: interrupted\necho>")
    #expect(terminal.screen.lines == ["echo> live", "live: interrupted", "echo>"])
    try await leave(terminal)
  }

  @Test func `other keys change nothing and are not echoed`() async throws {
    let terminal = try await start()
    try await terminal.send("live\r")
    try await waitForTick(1, at: terminal)
    try await terminal.send("abc\rxyz")
    try await waitForTick(tick(on: terminal.screen) + 1, at: terminal)
    try await terminal.send("q")
    try await terminal.waitForText("live: left\necho>")
    #expect(terminal.screen.lines == ["echo> live", "live: left", "echo>"])
    try await leave(terminal)
  }

  @Test func `the last frame can stay`() async throws {
    let terminal = try await start()
    try await terminal.send("live 3\r")
    try await terminal.waitForText("live: finished\necho>")
    #expect(
      terminal.screen.lines == [
        "echo> live 3", String(repeating: "=", count: 40), "tick 3", "40 columns",
        "live: finished", "echo>",
      ]
    )
    try await leave(terminal)
  }

  @Test func `a resized window shows the region at its new size`() async throws {
    let terminal = try await start()
    try await terminal.send("live\r")
    try await terminal.waitForText("40 columns")
    terminal.resize(columns: 60, rows: 24)
    try await terminal.waitForText("60 columns")
    try await terminal.send("q")
    try await terminal.waitForText("live: left\necho>")
    #expect(terminal.screen.lines == ["echo> live", "live: left", "echo>"])
    try await leave(terminal)
  }

  @Test(arguments: [true, false])
  func `a window made smaller shows the region once`(_ reflows: Bool) async throws {
    let terminal = try await start()
    try await terminal.send("live\r")
    try await terminal.waitForText("40 columns")
    for (columns, rows) in [(25, 10), (31, 8), (20, 5)] {
      terminal.resize(columns: columns, rows: rows, reflows: reflows)
      try await terminal.waitForText("\(columns) columns")
      let lines = terminal.screen.lines
      #expect(lines.count { $0.hasPrefix("=") } == 1, "\(lines)")
      #expect(lines.count { $0.hasPrefix("tick") } == 1, "\(lines)")
    }
    try await terminal.send("q")
    try await terminal.waitForText("live: left\necho>")
    #expect(terminal.screen.lines == ["live: left", "echo>"])
    try await leave(terminal)
  }

  @Test func `Ctrl-Z gives the shell its terminal, and fg goes on showing`() async throws {
    let shell = try PseudoTerminal(
      "/bin/bash",
      ["--norc", "--noprofile", "-i"],
      environment: plainEnvironment.merging(["PS1": "sh> "]) { $1 }
    )
    try await shell.waitForCurrentLine("sh>")
    try await shell.send(builtExecutable("echo-editor") + "\r")
    try await shell.waitForCurrentLine("echo>")
    try await shell.send("live\r")
    try await waitForTick(2, at: shell)
    try await shell.send("\u{1A}")
    try await shell.waitForScreen("the shell, with a cursor") {
      $0.currentLine == "sh>" && $0.cursorIsVisible
    }
    try await shell.send("fg\r")
    try await shell.waitForScreen("ticks below the shell's lines, and no cursor") {
      $0.lines.last == "80 columns" && !$0.cursorIsVisible
    }
    try await shell.send("q")
    try await shell.waitForText("live: left\necho>")
    #expect(shell.screen.cursorIsVisible)
  }

  @Test func `SIGTERM shows the cursor and gives the terminal back`() async throws {
    let terminal = try await start()
    try await terminal.send("live\r")
    try await waitForTick(2, at: terminal)
    terminal.signal(15)
    #expect(try await terminal.waitForExit() == .signalled(15))
    #expect(terminal.screen.cursorIsVisible)
  }

  @Test func `Ctrl-C outside of a line reaches the code that waits for it`() async throws {
    let terminal = try await start()
    try await terminal.send("wait\r")
    try await terminal.waitForText("waiting")
    try await terminal.send("\u{3}")
    try await terminal.waitForText("waited\necho>")
    try await leave(terminal)
  }
}
