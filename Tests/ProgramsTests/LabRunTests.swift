import Foundation
import Mechanisms
import TestSupport
import Testing

/// The built `lab`, as a script runs it.
@Suite(.watched) struct LabRunTests {
  static let mechanisms = Catalogue.mechanisms.map(\.id)

  /// One line of JSON Lines output.
  struct Line: Decodable {
    struct Summary: Decodable {
      var finished: Int
      var peakRunning: Int
      var violations: [String]

      enum CodingKeys: String, CodingKey {
        case finished
        case peakRunning = "peak_running"
        case violations
      }
    }

    var schema: String?
    var mechanism: String?
    var t: Int64?
    var task: String?
    var event: String?
    var serviceTime: Int64?
    var summary: Summary?

    enum CodingKeys: String, CodingKey {
      case schema, mechanism, t, task, event, summary
      case serviceTime = "service_ns"
    }
  }

  static func lines(of output: String) throws -> [Line] {
    try output.split(separator: "\n").map {
      try JSONDecoder().decode(Line.self, from: Data($0.utf8))
    }
  }

  static let lab = Result { try BuiltProgram("lab") }

  static func run(
    _ arguments: String...,
    standardInput: String = "",
    environment: [String: String] = plainEnvironment
  ) async throws -> BuiltProgram.Result {
    try await lab.get().run(
      arguments,
      standardInput: standardInput,
      environment: environment
    )
  }

  @Test(arguments: mechanisms)
  func `every mechanism runs the same forty tasks and keeps its limit`(
    _ mechanism: String
  ) async throws {
    let result = try await Self.run(
      "--json",
      "-c",
      "run 40 \(mechanism) limit=3 work=20ms seed=7"
    )
    #expect(result.status == .exited(0))
    #expect(result.standardError == "")
    let lines = try Self.lines(of: result.standardOutput)
    #expect(lines.first?.schema == "lab-run/1")
    #expect(lines.first?.mechanism == mechanism)
    let times = lines.compactMap(\.t)
    #expect(times == times.sorted(), "times decrease")
    let arrivals = lines.filter { $0.event == "arrived" }
    #expect(
      Dictionary(arrivals.map { ($0.task ?? "", $0.serviceTime ?? 0) }) { first, _ in first }
        == Dictionary(
          (1...40).map { ("t" + ($0 < 10 ? "0" : "") + "\($0)", 20_000_000) }
        ) { first, _ in first }
    )
    let summary = try #require(lines.last?.summary)
    #expect(summary.finished == 40)
    #expect(summary.violations == [])
    switch mechanism {
    case "none": break
    case "fifo-queue", "actor-queue", "main-actor-queue": #expect(summary.peakRunning == 1)
    default: #expect(summary.peakRunning <= 3)
    }
  }

  @Test
  func `random service times are the same for every mechanism`() async throws {
    var drawn: [[String: Int64]] = []
    for mechanism in Self.mechanisms {
      let result = try await Self.run(
        "--json",
        "-c",
        "run 20 \(mechanism) limit=8 work=exp:1ms seed=3"
      )
      let arrivals = try Self.lines(of: result.standardOutput).filter { $0.event == "arrived" }
      drawn.append(
        Dictionary(arrivals.map { ($0.task ?? "", $0.serviceTime ?? 0) }) { first, _ in first }
      )
    }
    #expect(Set(drawn).count == 1)
    #expect(Set(drawn[0].values).count > 10, "exponential draws should differ from each other")
  }

  @Test
  func `downloads report their progress and the group's completion comes last`() async throws {
    let result = try await Self.run("-c", "run 20 gcd-semaphore kind=download limit=4 work=20ms")
    #expect(result.status == .exited(0))
    let lines = result.standardOutput.split(separator: "\n")
    for share in [5, 20, 40, 60, 80, 100] {
      #expect(lines.count { $0.hasSuffix("  \(share) %") } == 20)
    }
    let completion = try #require(lines.firstIndex { $0.contains("group.notify") })
    let lastReport = try #require(lines.lastIndex { $0.hasSuffix("finished") })
    #expect(completion == lastReport + 1)
  }

  @Test
  func `a virtual run has the same bytes every time`() async throws {
    let command =
      "run 100 limiter limit=4 work=exp:10ms arrivals=poisson:300/s cancel=20% fail=5% seed=9"
    let first = try await Self.run("--json", "-c", command)
    for _ in 0..<5 {
      #expect(try await Self.run("--json", "-c", command) == first)
    }
  }

  @Test
  func `a long run off the terminal is thinned, unless every row is asked for`() async throws {
    func rows(_ arguments: String...) async throws -> Int {
      let lab = try Self.lab.get()
      return try await lab.run(arguments, environment: plainEnvironment).standardOutput
        .split(separator: "\n").count
    }
    let thinned = try await rows("-c", "run 5000 none work=1ms")
    #expect((200...220).contains(thinned), "\(thinned)")
    #expect(try await rows("--all-rows", "-c", "run 5000 none work=1ms") > 5_000)
    let short = try await rows("-c", "run 200 none work=1ms")
    #expect(short > 200)
  }

  @Test
  func `commands come from options, files and standard input`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "lab-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "demo.lab")
    try "# a comment\nrun 2 limiter limit=1 work=1ms ; stats\n".write(
      to: file,
      atomically: true,
      encoding: .utf8
    )
    let fromFile = try await Self.run(file.path)
    let fromInput = try await Self.run(
      "-",
      standardInput: "run 2 limiter limit=1 work=1ms\nstats\n"
    )
    let fromOption = try await Self.run("-c", "run 2 limiter limit=1 work=1ms", "-c", "stats")
    #expect(fromFile.status == .exited(0))
    #expect(fromFile == fromInput)
    #expect(fromFile == fromOption)
    #expect(fromFile.standardOutput.contains("makespan 2 ms"))
  }
}
