import Foundation
import TestSupport
import Testing

/// The bench as a library: a program of one's own, with limiters of one's own.
@Suite(.watched) struct `A bench of one's own` {
  private let bench: BuiltProgram

  init() throws { bench = try BuiltProgram("own-bench") }

  @Test func `lists its limiters among the others, in each workload that they can do`() async throws
  {
    let list = try await bench.run(["--list", "--mechanism", "limiter", "mine"]).standardOutput
    for line in ["uncontended limit=1 tasks=1", "contended-yield limit=4 tasks=64"] {
      #expect(list.contains("\n  \(line) limiter\n"), "\(list)")
      #expect(list.contains("\n  \(line) mine\n"), "\(list)")
    }
    #expect(try await bench.run(["--list"]).standardOutput.contains(" mine\n"))
  }

  @Test func `measures a limiter beside ours, in processes of its own`() async throws {
    let out = NSTemporaryDirectory() + "own-bench-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: out) }
    let result = try await bench.run(
      [
        "--ci", "--unoptimised", "--forks", "1", "--filter",
        "^(uncontended|contended-yield|cancel-random)",
        "--mechanism", "limiter", "mine", "--out", out,
      ],
      deadline: .seconds(600)
    )
    #expect(result.status == .exited(0), "\(result.standardOutput)\(result.standardError)")
    let run = try #require(try FileManager.default.contentsOfDirectory(atPath: out).first)
    let rows = try String(contentsOfFile: "\(out)/\(run)/results.csv", encoding: .utf8)
    #expect(rows.contains(",uncontended,mine,"))
    #expect(rows.contains(",contended-yield,mine,"))
    let report = try String(contentsOfFile: "\(out)/\(run)/report.html", encoding: .utf8)
    #expect(report.contains("mine"))
  }

  @Test func `says when a limiter lets too many in`() async throws {
    let out = NSTemporaryDirectory() + "own-bench-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: out) }
    let result = try await bench.run(
      [
        "--ci", "--unoptimised", "--forks", "1", "--filter", "^contended-yield", "--mechanism",
        "broken",
        "--out", out,
      ],
      deadline: .seconds(600)
    )
    #expect(result.status == .exited(4), "\(result.standardOutput)\(result.standardError)")
  }
}
