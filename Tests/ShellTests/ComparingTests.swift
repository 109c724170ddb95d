import Foundation
import TestSupport
import Testing

@testable import Shell

@Suite(.watched) struct ComparingTests {
  @Test
  func `mechanisms are compared on the same work, a line each`() async throws {
    let lab = Lab(json: true)
    let text = await lab.run(
      "compare 20 limiter pool task-group fifo-queue limit=4 work=exp:10ms seed=3"
    )
    let lines = try text.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    #expect(
      lines.compactMap { $0["mechanism"] as? String }
        == ["limiter", "pool", "task-group", "fifo-queue"]
    )
    let services = lines.compactMap { ($0["service_ns"] as? [String: Any])?["mean"] as? Int }
    #expect(Set(services).count == 1, "the work is the same")
    #expect(lines.compactMap { $0["peak_running"] as? Int } == [4, 4, 4, 1])
  }

  @Test
  func `a mechanism is compared with itself on a work-stealing executor`() async {
    let lab = Lab()
    let text = await lab.run("compare 20 limiter limiter@lanes limit=4 work=1ms")
    let rows = text.split(separator: "\n").map { $0.prefix { $0 != " " } }
    #expect(rows.contains("limiter") && rows.contains("limiter@lanes"), "\(text)")
    // On lanes the order of arrival is not known, but all tasks ended on either.
    #expect(await lab.run("stats of limiter@lanes").contains("20"))
    #expect(await lab.outcome(of: "stats of limiter") == .done)
    #expect(await lab.outcome(of: "compare 3 pool@lanes pool@lanes") == .failed)
    #expect(await lab.outcome(of: "compare 3 gcd-gate@lanes") == .failed)
    #expect(await lab.outcome(of: "compare 3 nothing@lanes") == .failed)
    #expect(await lab.outcome(of: "compare 3 limiter@lanes executor=global") == .failed)
  }

  @Test
  func `a model stays in virtual time beside what runs on the wall clock`() async {
    let lab = Lab()
    let text = await lab.run("compare 4 gcd-gate@linux-model gcd-gate limit=2 work=1ms")
    #expect(text.contains("gcd-gate ran on the wall clock, the others in virtual time"), "\(text)")
    #expect(await lab.run("stats of gcd-gate@linux-model").contains("4 finished"))
  }

  @Test
  func `without names, all that are not wrong on purpose are compared`() async {
    let text = await Lab().run("compare 4 limit=2 work=1ms")
    for name in Lab.mechanisms { #expect(text.contains("\n\(name) "), "\(name)") }
    #expect(!text.contains("specimen"))
  }

  @Test
  func `a comparison leaves the last run what it was`() async {
    let lab = Lab()
    await lab.run("run 3 limiter; compare 4 limiter none work=1ms")
    #expect(await lab.outcome(of: "expect tasks = 3; expect mechanism = limiter") == .done)
  }

  @Test
  func `two runs of the same are the same, two limits differ`() async {
    let lab = Lab()
    await lab.run("run 12 limiter limit=3; run 12 limiter limit=3")
    #expect(await lab.run("diff") == "the two runs are the same, event for event\n")
    await lab.run("run 12 limiter limit=4")
    let text = await lab.run("diff")
    #expect(text.contains("limit: 3, then 4"))
    #expect(text.contains("400 ms") && text.contains("300 ms"))
  }
}
