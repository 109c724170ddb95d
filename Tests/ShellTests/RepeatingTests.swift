import Foundation
import TestSupport
import Testing

@testable import Shell

/// The same run several times, and what its figures came to.
@Suite(.watched) struct RepeatingTests {
  @Test
  func `a run repeated tells the median and the range of each figure, with seeds that follow`()
    async
  {
    let lab = Lab(display: Display(width: 80))
    let text = await lab.run("repeat 5 run 12 limiter limit=3 work=exp:100ms seed=3")
    #expect(text == Self.transcript)
    #expect(await lab.run("runs").split(separator: "\n").count == 6)
  }

  private static let transcript = """
    12 tasks of 100 ms on average, exponential · limiter, limit 3
    virtual time, seed 3
    5 runs, seeds 3 to 7: each draws tasks of its own

    figure          median    least    most   range
    makespan        437 ms   208 ms  839 ms   145 %
    throughput      27.5/s   14.3/s  57.7/s   158 %
    utilisation     78.0 %   70.0 %  94.3 %  31.2 %
    waiting_mean   86.7 ms  55.3 ms  171 ms   134 %
    waiting_p50    57.2 ms  36.5 ms  157 ms   211 %
    waiting_p99     251 ms   130 ms  383 ms   101 %
    waiting_max     251 ms   130 ms  383 ms   101 %
    service_mean    101 ms  44.6 ms  147 ms   101 %
    response_mean   231 ms   104 ms  274 ms  73.7 %
    response_p99    437 ms   208 ms  839 ms   145 %
    the same in every run: peak_running 3, peak_waiting 9, threads_peak 1, finished
      12
    runs 1 to 5 of this session: 'timeline of 1', 'diff 1 5'

    """

  @Test
  func `the figures of a repetition are those of the runs, one by one`() async throws {
    let line = "run 12 limiter limit=3 work=exp:100ms"
    let lab = Lab(json: true)
    let lines = try await lab.run("repeat 4 \(line) seed=7").split(separator: "\n").map(object)
    let head = try #require(lines.first)
    #expect(head["schema"] as? String == "lab-repeat/1")
    #expect(head["runs"] as? Int == 4)
    #expect(head["first_seed"] as? Int == 7 && head["last_seed"] as? Int == 10)
    var makespans: [Int] = []
    for seed in 7...10 {
      let last = try #require(await lab.run("\(line) seed=\(seed)").split(separator: "\n").last)
      let summary = try #require(try object(last)["summary"] as? [String: Any])
      makespans.append(try #require(summary["makespan_ns"] as? Int))
    }
    let makespan = try #require(lines.first { $0["figure"] as? String == "makespan" })
    #expect(makespan["values"] as? [Int] == makespans)
    #expect(makespan["unit"] as? String == "ns")
    #expect(makespan["least"] as? Int == makespans.min())
    #expect(makespan["most"] as? Int == makespans.max())
    let sorted = makespans.sorted()
    #expect(makespan["median"] as? Double == Double(sorted[1] + sorted[2]) / 2)
    for figure in ["waiting_p99", "response_p50", "throughput", "peak_running", "peak_waiting"] {
      #expect(lines.contains { $0["figure"] as? String == figure }, "\(figure)")
    }
  }

  private func object(_ line: some StringProtocol) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }

  @Test(arguments: [
    ("repeat 3 run 12 limiter limit=3", "nothing here is drawn at random"),
    (
      "repeat 3 seeds=same run 12 limiter limit=3 work=exp:100ms",
      "in virtual time the same seed gives the same run"
    ),
    (
      "repeat 3 run 12 limiter limit=3 work=exp:100ms seeds=same",
      "in virtual time the same seed gives the same run"
    ),
  ])
  func `runs that are all alike are said to be, and why`(_ line: String, _ reason: String) async {
    let text = await Lab(display: Display(width: 300)).run(line)
    #expect(text.contains("all alike: \(reason)"), "\(text)")
    #expect(text.contains("the same in every run: makespan"), "\(text)")
    #expect(!text.contains("median"), "\(text)")
  }

  @Test
  func `runs that differ are not said to be alike, on either clock`() async {
    for line in ["repeat 2 run 9 limiter work=exp:20ms", "repeat 2 run 3 gcd-gate work=1ms"] {
      #expect(await !Lab().run(line).contains("all alike"), "\(line)")
    }
  }

  @Test
  func `a rule that is broken in a repetition is told with the run that shows it`() async {
    let lab = Lab(display: Display(width: 300))
    let line = "repeat 3 run 12 specimen-check-then-act limit=2 work=10ms"
    #expect(await lab.outcome(of: line) == .violated)
    let text = lab.output.takeText()
    #expect(text.contains("3 of 3 runs broke a rule, first the one with seed 1: over-admission"))
    #expect(text.contains("See: timeline of 1"), "\(text)")
    #expect(await lab.outcome(of: "timeline of 1") == .done)
  }

  @Test
  func `a repetition that is interrupted before its first run ends tells nothing`() async {
    let lab = Lab()
    lab.session.beginLine()
    lab.session.interrupt()
    let outcome = await lab.session.execute(
      "repeat 5 run 12 limiter work=exp:10ms",
      at: .script(name: "test", line: 1)
    )
    #expect(outcome.contains(.interrupted))
    #expect(lab.output.takeText().hasSuffix("interrupted: what had not ended was cancelled\n"))
    #expect(await lab.run("runs").hasPrefix("no run yet"))
  }

  @Test
  func `of many runs that are repeated those are named that are still kept`() async {
    let lab = Lab(display: Display(width: 300))
    let text = await lab.run("repeat 60 run 2 limiter work=exp:10ms")
    #expect(text.contains("runs 21 to 60 of this session"), "\(text)")
    #expect(await lab.outcome(of: "timeline of 21") == .done)
  }

  @Test func `a repetition can be told in sentences`() async {
    let text = await Lab().run("set describe on; repeat 3 run 12 limiter work=exp:100ms")
    #expect(text.contains("makespan: median "))
    #expect(text.contains("peak_running: 3 in every run."))
  }
}
