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
  @Test func `it reads back as it was written and has nothing empty in it`() async throws {
    let toolchain = await EnvironmentRecord.swiftVersion()
    #expect(toolchain?.contains("Swift version") == true)
    let record = EnvironmentRecord(
      runID: "r",
      command: ["bench"],
      seed: 7,
      forks: 3,
      toolchain: toolchain
    )
    let json = try record.json()
    #expect(try EnvironmentRecord(json: json) == record)
    #expect(!json.contains("null"))
    #expect(!json.contains("\"\""))
    #expect(json.contains("\"seed\" : 7"))
  }
}
