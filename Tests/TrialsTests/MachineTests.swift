import Foundation
import TestSupport
import Testing
import Trials

@Suite(.watched) struct `Disturbance by others` {
  private let second: Int64 = 1_000_000_000

  private func load(_ line: String, time: Int64, own: Int64) throws -> MachineLoad {
    try #require(MachineLoad(statLine: line, time: time, own: own))
  }

  @Test func `work that was neither ours nor our children's is foreign`() throws {
    let tick = 1_000_000_000 / Int64(sysconf(Int32(_SC_CLK_TCK)))
    var start = try load("cpu  100 0 50 1000 5 0 0 0 0 0", time: 0, own: 0)
    var end = try load("cpu  150 0 60 1100 5 0 0 4 0 0", time: second, own: 20 * tick)
    start.processors = 4
    end.processors = 4
    let disturbance = try #require(Disturbance(from: start, to: end))
    let capacity = Double(4 * second)
    #expect(isClose(disturbance.foreignPercent, Double(40 * tick) / capacity * 100))
    #expect(isClose(disturbance.stealPercent, Double(4 * tick) / capacity * 100))
  }

  @Test func `a line that is not the processors' is not read`() {
    #expect(MachineLoad(statLine: "cpu  1 2 3", time: 0, own: 0) == nil)
  }

  @Test func `a quiet block counts and a disturbed one says why not`() {
    #expect(Disturbance(foreignPercent: 4, stealPercent: 0).reason == nil)
    #expect(
      Disturbance(foreignPercent: 40, stealPercent: 0).reason
        == "other processes used 40 % of the machine"
    )
    #expect(
      Disturbance(foreignPercent: 4, stealPercent: 9).reason
        == "the hypervisor took 9 % of the machine"
    )
  }
}

@Suite(.watched) struct `The environment record` {
  @Test func `it reads back as it was written and has nothing empty in it`() throws {
    let record = EnvironmentRecord(runID: "r", command: ["bench"], seed: 7, forks: 3)
    let json = try record.json()
    #expect(try EnvironmentRecord(json: json) == record)
    #expect(!json.contains("null"))
    #expect(!json.contains("\"\""))
    #expect(json.contains("\"seed\" : 7"))
  }
}

@Suite(.watched) struct `A child process` {
  @Test func `its output, its errors and its exit status come back`() throws {
    let child = try ChildProcess.run(
      "/bin/sh",
      ["-c", "echo out; echo err >&2; exit 3"],
      deadline: 60
    )
    #expect(child.output == "out\n")
    #expect(child.errors == "err\n")
    #expect(child.status == .exited(3))
  }

  @Test func `variables given are added to its environment`() throws {
    let child = try ChildProcess.run(
      "/bin/sh",
      ["-c", "echo $BENCH_TEST"],
      environment: ["BENCH_TEST": "yes"],
      deadline: 60
    )
    #expect(child.output == "yes\n")
  }

  @Test func `a crash is told by its signal`() throws {
    let child = try ChildProcess.run("/bin/sh", ["-c", "kill -SEGV $$"], deadline: 60)
    #expect(child.status == .killed(signal: SIGSEGV))
  }

  @Test func `one that does not end is killed at its deadline`() throws {
    let child = try ChildProcess.run(
      "/bin/sh",
      ["-c", "echo started; exec sleep 1000"],
      deadline: 0.2
    )
    #expect(child.status == .outOfTime)
    #expect(child.output == "started\n")
  }

  @Test func `one is killed when the user interrupts`() throws {
    let child = try ChildProcess.run(
      "/bin/sh",
      ["-c", "exec sleep 1000"],
      deadline: 60,
      isInterrupted: { true }
    )
    #expect(child.status == .interrupted)
  }

  @Test func `more output than a pipe holds is read while the child runs`() throws {
    let child = try ChildProcess.run(
      "/bin/sh",
      ["-c", "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2"],
      deadline: 60
    )
    #expect(child.output.utf8.count == 300_000)
    #expect(child.errors.utf8.count == 300_000)
  }

  @Test func `a program that is not there cannot be started`() {
    let error = #expect(throws: ChildProcess.Failure.self) {
      try ChildProcess.run("/no/such/program", [], deadline: 60)
    }
    #expect(error.map { "\($0)" }?.contains("/no/such/program") == true)
  }
}
