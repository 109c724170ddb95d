import Benchmarking
import Foundation
import TestSupport
import Testing

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

  @Test func `two files have one fingerprint only if each of their bytes is the same`() throws {
    let path = FileManager.default.temporaryDirectory.path + "/fingerprint-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    func fingerprint(_ bytes: [UInt8]) throws -> String {
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      return try #require(EnvironmentRecord.fingerprint(ofFile: path))
    }
    // Two words and a rest, and every length below.
    let whole = (0..<19).map { UInt8($0 * 11) }
    var seen: Set<String> = []
    for length in 0...whole.count { try seen.insert(fingerprint(Array(whole.prefix(length)))) }
    for index in whole.indices {
      for bit in 0..<8 {
        var changed = whole
        changed[index] ^= 1 << bit
        try seen.insert(fingerprint(changed))
      }
    }
    #expect(seen.count == whole.count + 1 + whole.count * 8)
    #expect(try fingerprint(whole) == fingerprint(whole))
    #expect(seen.allSatisfy { $0.utf8.count == 16 })
  }
}
