import Foundation
import TestSupport
import Testing

/// What people come to the live shell for, each in a terminal, by what the screen shows.
@Suite(.watched) struct LabSessionTests {
  private static let control = (c: "\u{3}", right: "\u{1B}[C", home: "\u{1B}[H", end: "\u{1B}[F")

  /// Enough rows for all that a session says.
  private static func terminal(environment: [String: String] = [:]) throws -> LabTerminal {
    try LabTerminal(environment: environment, columns: 80, rows: 60)
  }

  /// Waits until lines of the screen hold these texts, in this order, and answers with the screen.
  private static func wait(for transcript: [String], on lab: LabTerminal) async throws {
    _ = try await lab.screen.waitForScreen("\(transcript)") { screen in
      var rest = screen.text[...]
      for line in transcript {
        guard let range = rest.firstRange(of: line) else { return false }
        rest = rest[range.upperBound...]
      }
      return true
    }
  }

  @Test
  func `one races the four, held at a moment of one's own`() async throws {
    let lab = try Self.terminal()
    try await lab.type("race 30 work=exp:10s limit=3")
    try await lab.screen.waitForText("space holds, arrows go event by event")
    try await lab.screen.send(" ")
    try await lab.screen.waitForText("held: space goes on")
    try await lab.screen.send("q")
    try await Self.wait(
      for: [
        "30 tasks of 10 s on average, exponential · limit 3 · virtual time, seed 1",
        "operation-queue@linux-model and gcd-semaphore@linux-model: models",
        "operation-queue@linux-model  30 of 30 ended",
        "gcd-semaphore@linux-model    30 of 30 ended",
        "limiter                      30 of 30 ended",
        "pool                         30 of 30 ended",
        "mechanism ", "makespan", "limiter  ", "pool  ", LabTerminal.prompt,
      ],
      on: lab
    )
  }

  @Test
  func `one raises a limit while watching, and sees more run and the line of waiting fall`()
    async throws
  {
    let lab = try Self.terminal()
    try await lab.type("spawn 40 limiter limit=1 work=1m")
    try await lab.type("watch", after: "limiter·1 virtual (1▸ 39·)>")
    try await lab.screen.waitForText("q leaves, up and down select")
    try await lab.screen.send(Self.control.right)
    try await lab.screen.waitForText("held: space goes on")
    // One runs at any moment: one body stands at the right.
    #expect(Self.bodiesThatRun(on: lab.screen.screen) == 1)
    try await lab.screen.send("l6\r")
    try await lab.screen.waitForText("the limit is 6 now")
    try await lab.screen.send(Self.control.right)
    _ = try await lab.screen.waitForScreen("six that run, and the step of the limit") { screen in
      let lines = screen.text.split(separator: "\n")
      return Self.bodiesThatRun(on: screen) == 6
        && lines.contains { $0.wholeMatch(of: /limit +1+6+/) != nil }
        && lines.contains { $0.wholeMatch(of: /waiting █+[▇▆▅▄▃▂▁]+  at most 39/) != nil }
    }
    try await lab.screen.send("q")
    try await lab.screen.waitForText("(6▸ ")
  }

  /// The rows of tasks whose last glyph is of a body.
  private static func bodiesThatRun(on screen: ScreenModel) -> Int {
    screen.text.split(separator: "\n").count { $0.hasPrefix("  t") && $0.hasSuffix("█") }
  }

  @Test
  func `one finds out why a task waits, cancels it, and sees who goes next`() async throws {
    let lab = try Self.terminal()
    try await lab.type("spawn 4 limiter limit=1 work=10s")
    let waiting = "limiter·1 virtual (1▸ 3·)>"
    try await lab.type("advance 1s", after: waiting)
    try await lab.type("why t2", after: waiting)
    try await lab.type("cancel t2", after: waiting)
    try await lab.type("advance 10s", after: "limiter·1 virtual (1▸ 2·)>")
    try await lab.type("why t3", after: "limiter·1 virtual (1▸ 1·)>")
    try await Self.wait(
      for: [
        "why t2", "t02 has waited 1 s", "cancel t2", "advance 10s",
        "t03  admitted", "why t3", "t03 waited 10 s behind",
      ],
      on: lab
    )
  }

  @Test
  func `one suspends a queue, looks, and resumes it`() async throws {
    let lab = try Self.terminal()
    try await lab.type("spawn 4 operation-queue limit=1 work=60m")
    try await lab.type("suspend", after: "operation-queue·1 real (1▸ 3·)>")
    try await lab.type("cancel t1", after: "operation-queue·1 real (1▸ 3·)>")
    // The permit is free, and nobody has it.
    try await lab.type("watch", after: "operation-queue·1 real (0▸ 3·)>")
    try await lab.screen.waitForText("suspended: s resumes")
    try await lab.screen.send("s")
    try await lab.screen.waitForText("it admits again")
    try await lab.screen.send("q")
    try await lab.screen.waitForCurrentLine("operation-queue·1 real (1▸ 2·)>")
    #expect(!lab.screen.screen.isOther)
  }

  @Test
  func `one goes through a virtual run to the moment of a violation`() async throws {
    let lab = try Self.terminal()
    try await lab.type("run 12 specimen-published-limiter limit=3 cancel=50% work=exp:100ms")
    try await lab.screen.waitForText("over-admission: 4 running at 1.8 ms, limit 3")
    try await lab.type("watch")
    try await lab.screen.waitForText("q leaves, up and down select")
    try await lab.screen.send(" " + Self.control.home)
    try await Self.wait(for: ["0 s · ", "0 of 12 ended", "held"], on: lab)
    try await lab.screen.send(Self.control.right)
    try await Self.wait(for: ["running 4", "1.8 ms · "], on: lab)
    try await lab.screen.send("m")
    try await lab.screen.waitForText("marked 1.8 ms")
    try await lab.screen.send("q")
    try await lab.screen.waitForCurrentLine(LabTerminal.prompt)
    #expect(
      lab.screen.screen.text.contains("\nmarked 1.8 ms\n"),
      "the moment is noted below the picture"
    )
  }

  @Test
  func `one names two runs and holds them against each other`() async throws {
    let lab = try Self.terminal()
    try await lab.type("run 12 limiter limit=3 name=narrow | cat >/dev/null")
    try await lab.type("run 12 limiter limit=6 name=wide | cat >/dev/null")
    try await lab.type("diff narrow wide")
    try await Self.wait(
      for: ["diff narrow wide", "makespan", "400 ms", "200 ms", LabTerminal.prompt],
      on: lab
    )
  }

  @Test
  func `one writes the page of a comparison, by its name or at once`() async throws {
    let lab = try Self.terminal()
    try await lab.type("compare 12 limiter pool limit=3")
    try await lab.type("export both.html")
    try await lab.type("compare 12 limiter none limit=3 > other.html")
    try await Self.wait(
      for: [
        "written: both.html, ", "HTML page of a comparison of limiter", "written: other.html, ",
        LabTerminal.prompt,
      ],
      on: lab
    )
    for name in ["both.html", "other.html"] {
      let page = try String(contentsOf: lab.folder.appending(path: name), encoding: .utf8)
      #expect(page.contains("id=\"play\"") && page.contains("id=\"run-1\""))
    }
  }

  @Test
  func `one repeats a run five times and reads the spread`() async throws {
    let lab = try Self.terminal()
    try await lab.type("repeat 5 run 12 limiter limit=3 work=exp:100ms")
    try await Self.wait(
      for: [
        "5 runs, seeds 1 to 5: each draws tasks of its own", "median", "makespan", "runs 1 to 5",
      ],
      on: lab
    )
  }

  @Test
  func `one pipes events to jq, and a pager has the terminal meanwhile`() async throws {
    let lab = try Self.terminal()
    // Whether this machine has a jq does not matter: what it is given does.
    try await writeScript(
      #"exec sed -n 's/.*"event":"\([a-z]*\)".*/jq saw \1/p'"#,
      to: lab.folder.appending(path: "jq").path
    )
    try await lab.type("run 3 limiter limit=1 > run.txt")
    try await lab.type("events t2 | ./jq -r .event")
    try await Self.wait(for: ["jq saw arrived", "jq saw admitted", "jq saw finished"], on: lab)
    // Once it has the terminal it reads a line from it, which echoes as a shell's would.
    try await lab.type(
      "events | sh -c 'cat >/dev/null; echo now\"\"here; read -r word </dev/tty; echo \"got $word\"'"
    )
    try await lab.screen.waitForText("nowhere")
    try await lab.screen.send("hello\r")
    try await lab.screen.waitForText("got hello")
    try await lab.type("events | head -n 1")
    try await lab.screen.waitForText("arrived on w1")
    try await lab.screen.waitForCurrentLine(LabTerminal.prompt)
  }

  @Test
  func `one leaves with Ctrl-C, and goes on where one was`() async throws {
    let lab = try Self.terminal()
    try await lab.type("spawn 6 limiter limit=2 work=10s")
    try await lab.type("watch", after: "limiter·2 virtual (2▸ 4·)>")
    try await lab.screen.waitForText("q leaves, up and down select")
    try await lab.screen.send("\u{1B}[C")
    try await Self.wait(for: ["10 s · ", "2 of 6 ended", "held"], on: lab)
    try await lab.screen.send(Self.control.c)
    try await lab.type("status", after: "limiter·2 virtual (2▸ 2·)>")
    try await lab.type("wait", after: "limiter·2 virtual (2▸ 2·)>")
    try await Self.wait(for: ["makespan 30 s", LabTerminal.prompt], on: lab)
    try await lab.type("why t3")
    try await lab.screen.waitForText("t03 waited 10 s behind")
  }

  @Test
  func
    `Ctrl-Z in a view gives the screen back, 'fg' shows it again, and nothing is left of it at the end`()
    async throws
  {
    let lab = try LabTerminal(
      command: "PS1='shell$ ' exec /bin/bash --norc --noprofile --noediting -i"
    )
    let screen = lab.screen
    try await screen.waitForCurrentLine("shell$")
    try await screen.send("$LAB --no-rc\r")
    try await lab.type("spawn 8 limiter clock=real work=60m limit=2")
    try await lab.type("watch", after: "limiter·2 real (2▸ 6·)>")
    try await screen.waitForText("q leaves, up and down select")
    #expect(screen.screen.isOther)
    try await screen.send("\u{1A}")
    try await screen.waitForText("Stopped")
    try await screen.waitForCurrentLine("shell$")
    #expect(!screen.screen.isOther && screen.screen.cursorIsVisible)
    screen.resize(columns: 60, rows: 20)
    try await screen.send("fg\r")
    try await screen.waitForText("q leaves, up and down select")
    #expect(screen.screen.isOther)
    #expect(screen.screen.lines.allSatisfy { $0.count <= 60 })
    try await screen.send("q")
    try await screen.waitForCurrentLine("limiter·2 real (2▸ 6·)>")
    #expect(!screen.screen.isOther && screen.screen.cursorIsVisible)
    try await screen.send("quit\r")
    try await screen.waitForText("8 tasks of limiter have not ended.")
    try await screen.send("quit\r")
    try await screen.waitForCurrentLine("shell$")
  }

  /// What a view has changed is put back, and what was opened goes.
  @Test(arguments: [SIGHUP, SIGTERM])
  func `a terminal that is closed or a lab that is ended while a view is open leaves nothing`(
    _ signal: Int32
  )
    async throws
  {
    let lab = try Self.terminal()
    try await lab.type("run 3; open")
    try await lab.screen.waitForText("/run-1.html")
    try await lab.screen.waitForCurrentLine(LabTerminal.prompt)
    let folder = try Self.folderOfPages(on: lab.screen.screen)
    #expect(FileManager.default.fileExists(atPath: folder))
    try await lab.screen.send("spawn 8 limiter clock=real work=60m limit=2\r")
    try await lab.type("watch", after: "limiter·2 real (2▸ 6·)>")
    try await lab.screen.waitForText("? lists the keys")
    lab.screen.signal(signal)
    _ = try await lab.screen.waitForExit()
    #expect(!FileManager.default.fileExists(atPath: folder))
    #expect(!lab.screen.screen.isOther && lab.screen.screen.cursorIsVisible)
  }

  @Test
  func `what a lab that was killed has opened goes when the next one starts`() async throws {
    let lab = try Self.terminal()
    try await lab.type("run 3; open")
    try await lab.screen.waitForText("/run-1.html")
    try await lab.screen.waitForCurrentLine(LabTerminal.prompt)
    let folder = try Self.folderOfPages(on: lab.screen.screen)
    lab.screen.signal(SIGKILL)
    _ = try await lab.screen.waitForExit()
    let next = try Self.terminal()
    try await next.screen.waitForCurrentLine(LabTerminal.prompt)
    #expect(!FileManager.default.fileExists(atPath: folder))
  }

  private static func folderOfPages(on screen: ScreenModel) throws -> String {
    let told = screen.text.replacing("\n", with: "")
    return String(try #require(told.firstMatch(of: /file:\/\/(.*)\/run-1.html/)).output.1)
  }
}
