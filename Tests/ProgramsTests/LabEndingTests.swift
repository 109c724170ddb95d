import Basics
import Foundation
import Glibc
import TestSupport
import Testing

/// How the lab ends, and what it says of itself then.
@Suite(.watched) struct LabEndingTests {
  /// What a shell says that was given a command, with `$LAB` the lab.
  private func shell(_ command: String) async throws -> String {
    let lab = try LabTerminal(command: command, columns: 200)
    _ = try await lab.screen.waitForExit()
    return lab.screen.screen.text
  }

  @Test(
    arguments: [
      ("-c 'run 3'", 0), ("-c 'expect makespan = 3'", 3), ("-c 'run 3; expect makespan = 3s'", 1),
      ("-c 'run 3 limitr'", 3), ("nowhere.lab", 2), ("--nonsense", 2), ("-i -c show </dev/null", 2),
      ("--keep-going -c 'runn' -c 'run 3; expect peak_running = 9'", 3),
      ("--keep-going -c 'run 3; expect peak_running = 9' -c 'show'", 1),
      ("-c 'explore specimen-published-limiter tasks=2 limit=1 cancel=any'", 1),
      ("-c 'quit; runn'", 0), ("-c 'run 3 specimen-nested-deadlock limit=1; show'", 1),
      ("-c 'run 3 specimen-nested-deadlock limit=1; runn'", 3),
      ("-c 'explore specimen-published-limiter tasks=2; quit'", 1),
    ] as [(String, Int)]
  )
  func `the status says how it went`(_ arguments: String, _ status: Int) async throws {
    let text = try await shell("$LAB \(arguments) >/dev/null 2>&1; echo status $?")
    #expect(text == "status \(status)")
  }

  @Test
  func `the lab runs in a folder that somebody has removed`() async throws {
    let text = try await shell(
      "mkdir gone; cd gone; rmdir ../gone; $LAB -c 'run 3' | tail -n 1; echo status ${PIPESTATUS[0]}"
    )
    #expect(text.hasSuffix("status 0"), "\(text)")
  }

  @Test
  func `Ctrl-C ends a script with status 130, and what it ran is told`() async throws {
    let lab = try LabTerminal(["-c", "run 5 limiter clock=real work=60m kind=download\nshow"])
    try await lab.screen.waitForText("5 downloads")
    try await lab.screen.send("\u{3}")
    #expect(try await lab.screen.waitForExit() == .exited(130))
    #expect(lab.screen.screen.text.contains("interrupted"))
    #expect(!lab.screen.screen.text.contains("describe"))
  }

  /// What keeps real work from being done, and what the lab has to say of it.
  @Test(
    arguments: [
      ("ulimit -n 24", "fetch", "descriptors for files"),
      ("ulimit -n 24", "copy", "descriptors for files"),
      ("ulimit -n 24", "query", "descriptors for files"),
      ("trap '' XFSZ; ulimit -f 16", "fetch", "File too large"),
      ("trap '' XFSZ; ulimit -f 16", "copy", "File too large"),
      ("trap '' XFSZ; ulimit -f 16", "query", "disk I/O error"),
      ("export TMPDIR=/proc/nowhere", "copy", "Free some space there, or name another folder"),
    ]
  )
  func `real work that cannot be done says why, with status 1`(
    _ limit: String,
    _ kind: String,
    _ reason: String
  ) async throws {
    let run = "run 40 limiter limit=4 kind=\(kind) work=1ms"
    let text = try await shell("(\(limit); $LAB -c '\(run)' 2>&1; echo status $?) | tail -n 30")
    #expect(text.contains("status 1"), "\(text)")
    // The lines are broken where the window ends.
    let sentence = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(sentence.contains(reason), "\(text)")
    let json = try await shell(
      "(\(limit); $LAB --json -c '\(run)') 2>&1 | tail -n 1 | grep -c '\"errors\"\\|stopped_because'"
    )
    #expect(json.hasSuffix("1"), "\(json)")
  }

  @Test func `a limit that is more than the process may open is refused, and fewer tasks are not`()
    async throws
  {
    let run = "run 300 limiter limit=150 kind=fetch work=1ms"
    let many = try await shell("(ulimit -n 250; $LAB -c '\(run)' 2>&1; echo status $?)")
    #expect(many.contains("it needs about 316 descriptors"), "\(many)")
    #expect(many.contains("status 1"), "\(many)")
    let few = try await shell(
      "(ulimit -n 100; $LAB -c 'run 4 limiter limit=150 kind=fetch work=1ms' 2>&1; echo status $?)"
    )
    #expect(few.contains("status 0"), "\(few)")
  }

  @Test(arguments: [SIGTERM, SIGHUP])
  func `a signal that ends the lab leaves no files of real work behind`(_ signal: Int32)
    async throws
  {
    let temporary = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: temporary) }
    func left() -> [String] {
      (try? FileManager.default.contentsOfDirectory(atPath: temporary.path)) ?? []
    }
    let lab = try LabTerminal(
      ["-c", "run 40 limiter limit=4 kind=copy work=60m"],
      environment: ["TMPDIR": temporary.path]
    )
    try await lab.screen.waitForText("40 files")
    while !left().contains(where: { $0.hasPrefix("lab-") }) { await Moment.pass() }
    lab.screen.signal(signal)
    #expect(try await lab.screen.waitForExit() == .signalled(signal))
    #expect(left().filter { $0.hasPrefix("lab-") }.isEmpty)
  }

  @Test
  func `commands are read from devices and pipes as from files`() async throws {
    let text = try await shell(
      "$LAB -c 'source /dev/null; run 1 limiter work=7ms' | tail -n 3; "
        + "$LAB /dev/null <(echo 'set limit 7') | grep limit; echo 'set limit 8' | $LAB /dev/stdin | grep limit"
    )
    #expect(text.contains("makespan 7 ms"))
    #expect(text.contains("limit      7"))
    #expect(text.contains("limit      8"))
  }

  /// Killed as well as hung up on: neither leaves it time to tidy.
  @Test(arguments: [SIGHUP, SIGKILL])
  func `a lab whose terminal closes leaves no file behind`(_ signal: Int32) async throws {
    let files = FileManager.default
    let temporary = files.temporaryDirectory.appending(path: "lab-\(UUID())")
    try files.createDirectory(at: temporary, withIntermediateDirectories: true)
    defer { try? files.removeItem(at: temporary) }
    let lab = try LabTerminal(environment: ["TMPDIR": temporary.path])
    // Before the game begins the explorer looks for its best, which is a program of its own.
    try await lab.type("step specimen-lost-wake-up")
    try await lab.screen.waitForCurrentLine("choose>")
    try await lab.screen.send("done\rexplore limiter tasks=9 limit=2 cancel=any\r")
    try await lab.screen.waitForText(" schedules")
    lab.screen.signal(signal)
    _ = try await lab.screen.waitForExit()
    let left = try files.contentsOfDirectory(atPath: temporary.path)
    #expect(left.filter { $0.contains("journal") } == [])
  }

  @Test
  func `Ctrl-C ends a lab that waits for commands on standard input`() async throws {
    let lab = try LabTerminal(command: "exec $LAB -")
    try await lab.screen.send("run 1 limiter work=7ms\n")
    try await lab.screen.waitForText("makespan 7 ms")
    try await lab.screen.send("\u{3}")
    // By the signal itself where it waits, by status 130 where the command was not quite over.
    let ending = try await lab.screen.waitForExit()
    #expect(ending == .signalled(SIGINT) || ending == .exited(130))
  }

  @Test
  func `a reader that leaves ends the lab quietly`() async throws {
    let text = try await shell(
      "($LAB -c 'run 5000 limiter; events; run 5000; events'; echo status $? >&2) | head -n 1"
    )
    let lines = text.split(separator: "\n")
    #expect(lines.contains("5,000 tasks of 100 ms · limiter, limit 3 · virtual time, seed 1"))
    #expect(lines.contains("status 0"))
    #expect(lines.count == 2, "\(text)")
  }

  @Test(
    arguments: [
      ("expect makespan = 1ms", 1), ("runn", 3), ("expect peak_running = 3", 0), ("quit; runn", 0),
    ] as [(String, Int)]
  )
  func `what comes after the reader has left counts`(_ last: String, _ status: Int) async throws {
    // More than a pipe holds, so that the reader is gone before the last command.
    let script = "run 5000 limiter limit=3; events; events\n\(last)"
    let text = try await shell("($LAB -c '\(script)' 2>/dev/null; echo status $? >&2) | true")
    #expect(text == "status \(status)")
  }

  @Test
  func `the rest of a script is left out once the disk is full`() async throws {
    let text = try await shell("$LAB -c 'run 3; runn' -c 'runn' >/dev/full; echo status $?")
    #expect(text == "lab: the disk is full: the output is cut short.\nstatus 3")
  }

  @Test(arguments: [[], ["--manual"]])
  func `the statuses are told with what happens once the reader has left`(_ arguments: [String])
    async throws
  {
    let help = try await LabRunTests.lab.get().run(arguments.isEmpty ? ["--help"] : arguments)
    let words = help.standardOutput.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.contains("the script is carried out to its end all the same"))
    #expect(words.contains("or the output could not be written"))
    #expect(words.contains("130"))
  }

  @Test
  func `a full disk is told, with a status`() async throws {
    let text = try await shell("$LAB -c 'run 3; stats' >/dev/full; echo status $?")
    #expect(text == "lab: the disk is full: the output is cut short.\nstatus 3")
  }

  @Test(arguments: ["<&- >&- 2>&-", "<&- 2>&-", ">&- 2>&-"])
  func `streams that are closed are nobody's, and take nothing`(_ closed: String) async throws {
    let text = try await shell("$LAB -c 'show; bogus' \(closed); echo status $?")
    #expect(text.hasSuffix("status 3"), "\(text)")
  }

  @Test
  func `the key for SIGQUIT at the prompt ends the lab as it would end any program`() async throws {
    let lab = try LabTerminal(command: "ulimit -c 0; exec $LAB")
    try await lab.screen.waitForCurrentLine(LabTerminal.prompt)
    try await lab.screen.send("\u{1C}")
    #expect(try await lab.screen.waitForExit() == .signalled(SIGQUIT))
    #expect(lab.screen.echoesAndWaitsForEnter())
  }

  @Test
  func `commands first and the prompt afterwards, where that was asked for`() async throws {
    let lab = try LabTerminal(["-i", "-c", "use pool limit=8"])
    try await lab.type("quit", after: "pool·8 virtual>")
    #expect(try await lab.screen.waitForExit() == .exited(0))
    #expect(!lab.screen.screen.text.contains("how many at once?"), "no banner: one knows one's way")
  }

  @Test(
    arguments: [("run 3; expect makespan = 1ms", 1), ("runn", 3), ("run 3", 0)] as [(String, Int32)]
  )
  func `the status of commands given first is kept behind the prompt`(
    _ command: String,
    _ status: Int32
  ) async throws {
    let lab = try LabTerminal(["-i", "-c", command])
    try await lab.type("runn")
    try await lab.type("quit")
    #expect(try await lab.screen.waitForExit() == .exited(status))
  }

  @Test
  func `what is wrong in the start file or at the prompt is no status`() async throws {
    let rc = FileManager.default.temporaryDirectory.appending(path: "lab-rc-\(UUID())")
    let folder = rc.appending(path: "concurrency-lab")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: rc) }
    try Data("runn\n".utf8).write(to: folder.appending(path: "rc"))
    let lab = try LabTerminal(environment: ["XDG_CONFIG_HOME": rc.path])
    try await lab.type("runn")
    try await lab.type("quit")
    #expect(try await lab.screen.waitForExit() == .exited(0))
  }

  @Test
  func `a window that is closed ends the lab`() async throws {
    let lab = try LabTerminal()
    try await lab.type("spawn 5 limiter clock=real work=60m")
    try await lab.screen.waitForText("spawned")
    lab.screen.signal(SIGHUP)
    #expect(try await lab.screen.waitForExit() == .signalled(SIGHUP))
  }

  @Test(.long)
  func `ten thousand commands leave the memory as it was`() async throws {
    // What is shown goes nowhere; what is wrong comes to the terminal, and tells how far it is.
    let lab = try LabTerminal(command: "exec $LAB --keep-going - >/dev/null")
    let cycle = [
      "run 20 limiter limit=3 work=exp:5ms", "timeline", "why t20", "stats", "events t07",
      "compare 5 limiter pool limit=2 work=1ms", "spawn 8 pool limit=2 work=5ms; advance 7ms",
      "status; cancel t08", "wait; diff", "set seed 3; expect finished > 0; help run",
    ]
    func carryOut(_ count: Int, then mark: String) async throws -> Int {
      let lines = (0..<count).map { cycle[$0 % cycle.count] } + [mark]
      // So many take their time on a busy machine.
      let deadline = Duration.seconds(600)
      try await lab.screen.send(lines.joined(separator: "\n") + "\n", deadline: deadline)
      try await lab.screen.waitForText("no command '\(mark)'", deadline: deadline)
      return try #require(lab.screen.residentBytes)
    }
    let early = try await carryOut(1_000, then: "firstmark")
    let late = try await carryOut(9_000, then: "lastmark")
    #expect(late < early + 16 << 20, "from \(early >> 20) to \(late >> 20) MiB")
  }
}
