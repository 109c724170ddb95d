import Foundation
import TestSupport
import Testing

/// Typing at the lab's prompt: completion, history, interrupts, job control, windows, pastes.
@Suite(.watched) struct LabTypingTests {
  private static let control = (c: "\u{3}", d: "\u{4}", r: "\u{12}", z: "\u{1A}")

  @Test
  func `Tab completes commands, mechanisms, keys and values, and lists what else there is`()
    async throws
  {
    let lab = try LabTerminal()
    let screen = lab.screen
    try await screen.waitForCurrentLine(LabTerminal.prompt)
    try await screen.send("ru\t")
    try await screen.waitForCurrentLine("\(LabTerminal.prompt) run")
    try await screen.send("5 task\tkin\tbl\t")
    try await screen.waitForCurrentLine("\(LabTerminal.prompt) run 5 task-group kind=block")
    try await screen.send("\u{15}expl\t")
    try await screen.waitForText("every order of steps")
    try await screen.waitForCurrentLine("\(LabTerminal.prompt) expl")
    try await screen.send("a\tgcd-g\t\r")
    try await screen.waitForText("gcd-gate: ")
    try await screen.send("lesson \t")
    try await screen.waitForText("1  ")
  }

  @Test
  func `Ctrl-R finds an earlier line, and 'history' lists them, those of earlier sessions too`()
    async throws
  {
    let lab = try LabTerminal()
    try await lab.type("explain fifo-queue")
    try await lab.screen.waitForText("fifo-queue: ")
    try await lab.type("show")
    try await lab.screen.waitForText("describe   off")
    try await lab.screen.waitForCurrentLine(LabTerminal.prompt)
    try await lab.screen.send(Self.control.r + "fifo")
    try await lab.screen.waitForScreen("the line that was sought") {
      $0.currentLine.contains("explain fifo-queue")
    }
    try await lab.screen.send("\r")
    try await lab.screen.waitForCurrentLine(LabTerminal.prompt)
    try await lab.screen.send(Self.control.d)
    #expect(try await lab.screen.waitForExit() == .exited(0))

    let second = try PseudoTerminal(
      LabRunTests.lab.get().path,
      environment: plainEnvironment.merging(["XDG_STATE_HOME": lab.folder.path]) { $1 },
      rows: 40
    )
    try await second.waitForCurrentLine(LabTerminal.prompt)
    try await second.send("history\r")
    try await second.waitForText("    2  show")
    try await second.waitForText("    4  history")
  }

  @Test
  func `Ctrl-C drops the line being typed`() async throws {
    let lab = try LabTerminal()
    try await lab.screen.waitForCurrentLine(LabTerminal.prompt)
    try await lab.screen.send("set limit 9" + Self.control.c)
    try await lab.screen.waitForText("^C")
    try await lab.type("show")
    try await lab.screen.waitForText("limit      3")
  }

  @Test
  func `q leaves a live view and the run goes on, Ctrl-C leaves 'watch' and ends 'wait'`()
    async throws
  {
    let lab = try LabTerminal()
    let screen = lab.screen
    try await lab.type("run 8 limiter clock=real work=60m limit=2")
    try await screen.waitForText("q puts it in the background")
    try await screen.waitForText("\nrunning 2")
    #expect(screen.screen.isOther, "the view of 'watch'")
    try await screen.send("q")
    try await screen.waitForText("it goes on in the background. 'wait' waits for it.")
    try await screen.waitForCurrentLine("limiter·2 real (2▸ 6·)>")
    #expect(!screen.screen.text.contains("q puts it in the background"), "nothing is left behind")
    try await screen.send("watch\r")
    try await screen.waitForText("q leaves, up and down select")
    try await screen.send(Self.control.c)
    try await screen.waitForCurrentLine("limiter·2 real (2▸ 6·)>")
    #expect(!screen.screen.text.contains("q leaves, up and down"), "nothing is left behind")
    #expect(
      !screen.screen.isOther && screen.screen.text.contains("\n  t08   ·"),
      "the picture stays"
    )
    try await screen.send("cancel t01\r")
    try await screen.waitForCurrentLine("limiter·2 real (2▸ 5·)>")
    try await screen.send("wait\r")
    try await screen.waitForText("waiting; Ctrl-C ends the run")
    try await screen.send(Self.control.c)
    try await screen.waitForText("interrupted: what had not ended was cancelled")
    try await screen.waitForCurrentLine(LabTerminal.prompt)
    try await screen.send(Self.control.d)
    #expect(try await screen.waitForExit() == .exited(0))
    #expect(screen.screen.cursorIsVisible)
  }

  @Test(arguments: ["run", "watch"])
  func `a line that comes at once, and begins with a key of the view, is for the prompt`(
    _ view: String
  )
    async throws
  {
    let lab = try LabTerminal()
    let screen = lab.screen
    if view == "run" {
      try await lab.type("run 8 limiter clock=real work=60m limit=2")
      try await screen.waitForText("q puts it in the background")
    } else {
      try await lab.type("spawn 8 limiter clock=real work=60m limit=2")
      try await lab.type("watch", after: "limiter·2 real (2▸ 6·)>")
      try await screen.waitForText("q leaves, up and down select")
    }
    // The s would suspend, the h hide and show the keys, the q leave.
    try await screen.send("status\r")
    try await screen.waitForText("for the prompt:")
    try await screen.send("help limit\r")
    try await screen.waitForText("for the prompt:")
    #expect(screen.screen.isOther, "nothing has happened to the view")
    try await screen.send(Self.control.c)
    if view == "watch" {
      try await screen.waitForText("  running  2  ")
      try await screen.waitForText("Change the limit of the background run")
    } else {
      try await screen.waitForText("nothing runs in the background")
      try await screen.waitForText("Change the limit of the background run")
    }
  }

  @Test
  func `'watch all' lets virtual time pass, and its last picture stays`() async throws {
    let lab = try LabTerminal()
    let screen = lab.screen
    try await lab.type("spawn 6 limiter limit=2 work=10s name=a")
    try await lab.type("spawn 6 pool limit=3 work=10s name=b", after: "limiter·2 virtual (2▸ 4·)>")
    try await lab.type("watch all", after: "pool·3 virtual (3▸ 3·) +1>")
    try await screen.waitForText("arrows go event by event, q leaves")
    #expect(screen.screen.isOther)
    // To the first end, and back to the arrival.
    try await screen.send("\u{1B}[C")
    try await screen.waitForText("held: space goes on")
    try await screen.send("\u{1B}[C\u{1B}[C\u{1B}[C\u{1B}[C ")
    // Whoever has used its keys may go back, and leaves it.
    try await screen.waitForText("the end: Home goes to the beginning")
    try await screen.send("q")
    try await screen.waitForText("every task has ended. 'wait all' shows the results.")
    #expect(!screen.screen.isOther && screen.screen.cursorIsVisible)
    #expect(screen.screen.text.contains("6 of 6 ended · the last after 20 s"), "b")
    #expect(screen.screen.text.contains("6 of 6 ended · the last after 30 s"), "a")
    #expect(!screen.screen.text.contains("q leaves"), "without the keys")
  }

  @Test
  func `Ctrl-C ends an exploration and keeps the shell`() async throws {
    let lab = try LabTerminal()
    try await lab.type("explore limiter tasks=9 limit=2 cancel=any")
    try await lab.screen.waitForText("exploring; Ctrl-C ends it")
    try await lab.screen.send(Self.control.c)
    try await lab.type("show")
    try await lab.screen.waitForText("describe   off")
  }

  @Test
  func `the prompt answers while a run has blocked every thread of the pool`() async throws {
    let lab = try LabTerminal()
    try await lab.type("spawn 80 gcd-semaphore kind=download limit=1 work=60m")
    // As many as the pool has threads wait in it, and it makes a new one only now and then.
    try await lab.type("status", after: "gcd-semaphore·1 real (1▸ 79·)>")
    try await lab.screen.waitForText("  running  1  ")
    try await lab.type("cancel all", after: "gcd-semaphore·1 real (1▸ 79·)>")
    try await lab.screen.waitForText("all ended")
    try await lab.screen.waitForText("gcd-semaphore: all 80 tasks have ended.")
    try await lab.type("wait", after: "gcd-semaphore·1 real (all ended)>")
    try await lab.screen.waitForText("cancelled while waiting")
  }

  @Test
  func `Ctrl-Z stops the lab and fg brings the line back`() async throws {
    let lab = try LabTerminal(
      command: "PS1='shell$ ' exec /bin/bash --norc --noprofile --noediting -i"
    )
    try await lab.screen.waitForCurrentLine("shell$")
    try await lab.screen.send("$LAB\r")
    try await lab.screen.waitForCurrentLine(LabTerminal.prompt)
    try await lab.screen.send("set limit")
    try await lab.screen.waitForCurrentLine("\(LabTerminal.prompt) set limit")
    try await lab.screen.send(Self.control.z)
    try await lab.screen.waitForText("Stopped")
    try await lab.screen.waitForCurrentLine("shell$")
    try await lab.screen.send("fg\r")
    try await lab.screen.waitForCurrentLine("\(LabTerminal.prompt) set limit")
    try await lab.screen.send(" 7\r")
    try await lab.screen.waitForText("limit      7")
    try await lab.screen.waitForCurrentLine("limiter·7 virtual>")
    try await lab.screen.send("quit\r")
    try await lab.screen.waitForCurrentLine("shell$")
  }

  @Test
  func `pictures fit the window, also after it got another size`() async throws {
    let lab = try LabTerminal(columns: 100)
    try await lab.type("run 6 limiter limit=2")
    try await lab.screen.waitForText("makespan 300 ms")
    try await lab.screen.waitForCurrentLine(LabTerminal.prompt)
    lab.screen.resize(columns: 40, rows: 20)
    try await lab.screen.send("timeline\r")
    try await lab.screen.waitForScreen("a timeline of forty columns") { screen in
      screen.lines.contains { $0.hasPrefix("t06  ····") && $0.count <= 40 }
    }
  }

  @Test(arguments: [true, false])
  func `two hundred pasted lines are carried out one after the other`(
    _ isMarked: Bool
  ) async throws {
    let lab = try LabTerminal(environment: ["TERM": isMarked ? "xterm" : "vt100"])
    try await lab.screen.waitForCurrentLine(LabTerminal.prompt)
    let lines = (1...200).map { "set limit \($0)" }.joined(separator: "\r") + "\r"
    try await lab.screen.send(isMarked ? "\u{1B}[200~\(lines)\u{1B}[201~" : lines)
    try await lab.screen.waitForCurrentLine("limiter·200 virtual>")
    // Where the value comes from stands behind it.
    let shown = lab.screen.screen.text.replacing("\n", with: " ")
    for number in 1...200 {
      #expect(shown.contains("limit      \(number) "), "line \(number) was not carried out")
    }
  }

  @Test
  func `a dumb terminal gets plain lines, without colour and without frames`() async throws {
    let lab = try LabTerminal(environment: ["TERM": "dumb", "LANG": "C"])
    try await lab.type("run 4 limiter clock=real work=1ms limit=2", after: "limiter-3 virtual>")
    try await lab.screen.waitForText("makespan")
    try await lab.screen.waitForCurrentLine("limiter-3 virtual>")
    #expect(lab.screen.transcript.allSatisfy { $0 < 0x80 && $0 != 0x1B })
  }
}
