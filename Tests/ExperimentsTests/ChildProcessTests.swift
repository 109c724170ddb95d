import Basics
import Experiments
import Foundation
import TestSupport
import Testing

@Suite(.watched) struct `A child process` {
  @Test func `its output, its errors and its exit status come back`() async throws {
    let child = try await ChildProcess.run(
      "/bin/sh",
      ["-c", "echo out; echo err >&2; exit 3"],
      timeLimit: .seconds(600)
    )
    #expect(child.output == "out\n")
    #expect(child.errors == "err\n")
    #expect(child.ending == .exited(3))
  }

  @Test func `variables given are added to its environment`() async throws {
    let child = try await ChildProcess.run(
      "/bin/sh",
      ["-c", "echo $BENCH_TEST"],
      environment: ["BENCH_TEST": "yes"],
      timeLimit: .seconds(600)
    )
    #expect(child.output == "yes\n")
  }

  @Test func `a crash is told by its signal`() async throws {
    let child = try await ChildProcess.run(
      "/bin/sh",
      ["-c", "kill -SEGV $$"],
      timeLimit: .seconds(600)
    )
    #expect(child.ending == .killed(signal: SIGSEGV))
  }

  @Test func `one that does not end is killed at its deadline`() async throws {
    let child = try await ChildProcess.run(
      "/bin/sh",
      ["-c", "echo started; exec sleep 1000"],
      timeLimit: .seconds(2)
    )
    #expect(child.ending == .outOfTime)
    #expect(child.output == "started\n")
  }

  @Test func `one is killed when the user interrupts`() async throws {
    let child = try await ChildProcess.run(
      "/bin/sh",
      ["-c", "exec sleep 1000"],
      timeLimit: .seconds(600),
      isInterrupted: { true }
    )
    #expect(child.ending == .interrupted)
  }

  @Test func `more output than a pipe holds is read while the child runs`() async throws {
    let child = try await ChildProcess.run(
      "/bin/sh",
      ["-c", "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2"],
      timeLimit: .seconds(600)
    )
    #expect(child.output.utf8.count == 300_000)
    #expect(child.errors.utf8.count == 300_000)
  }

  @Test func `a program that is not there cannot be started`() async {
    let error = await #expect(throws: ChildProcess.CannotStart.self) {
      try await ChildProcess.run("/no/such/program", [], timeLimit: .seconds(600))
    }
    #expect(error.map { "\($0)" }?.contains("/no/such/program") == true)
  }

  @Test func `one that is killed takes what it started with it`() async throws {
    // The grandchild keeps the output open, and would for a thousand seconds.
    let child = try await ChildProcess.run(
      "/bin/sh",
      ["-c", "sleep 1000 & echo $!; wait"],
      timeLimit: .seconds(2)
    )
    #expect(child.ending == .outOfTime)
    let grandchild = try #require(Int32(child.output.split(separator: "\n").first ?? ""))
    // Gone, or dead and waiting to be buried by the system; on a busy machine that takes a moment, and a
    // grandchild that lives on is ended with the name of this test by the watchdog.
    while let state = try? String(contentsOfFile: "/proc/\(grandchild)/stat", encoding: .utf8),
      !state.contains(") Z ")
    { await Moment.pass() }
  }

  @Test func `what it started and left behind does not keep us waiting`() async throws {
    let child = try await ChildProcess.run(
      "/bin/sh",
      ["-c", "sleep 90 & echo done"],
      timeLimit: .seconds(600)
    )
    #expect(child.ending == .exited(0))
    #expect(child.output == "done\n")
  }

  @Test(arguments: [false, true])
  func `its standard input is empty, or a lifeline that stays open as long as we live`(
    holdsLifeline: Bool
  ) async throws {
    let child = try await ChildProcess.run(
      "/bin/cat",
      [],
      timeLimit: holdsLifeline ? .milliseconds(500) : .seconds(600),
      holdsLifeline: holdsLifeline
    )
    #expect(child.ending == (holdsLifeline ? .outOfTime : .exited(0)))
  }

  @Test func `nothing else that is open here is open there, or a lifeline would never close`()
    async throws
  {
    // The fourth is that of the folder itself, which ls reads.
    let child = try await ChildProcess.run(
      "/bin/ls",
      ["/proc/self/fd"],
      timeLimit: .seconds(600),
      holdsLifeline: true
    )
    #expect(child.output.split(separator: "\n").count == 4)
  }

  @Test func `its arguments reach it as they are`() async throws {
    let child = try await ChildProcess.run(
      "/bin/echo",
      ["a b", "$HOME", "*", ""],
      timeLimit: .seconds(600)
    )
    #expect(child.output == "a b $HOME * \n")
  }
}
