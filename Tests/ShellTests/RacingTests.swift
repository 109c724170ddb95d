import Foundation
import TestSupport
import Testing

@testable import Shell

/// The same tasks through several mechanisms at once.
@Suite(.watched) struct RacingTests {
  @Test
  func `the four of the front page are raced in virtual time, and compared at the end`() async {
    let lab = Lab(display: Display(width: 80))
    let text = await lab.run("race 12 work=exp:100ms limit=3")
    #expect(text == Self.transcript)
    // What stands below the picture is what 'compare' says of the same.
    let compared = await lab.run(
      "compare 12 operation-queue gcd-semaphore limiter pool work=exp:100ms limit=3 platform=linux"
    )
    #expect(text.hasSuffix("\n\n" + compared))
  }

  private static let transcript = """
    12 tasks of 100 ms on average, exponential · limit 3 · virtual time, seed 1
    operation-queue@linux-model and gcd-semaphore@linux-model: models, with 4
      processors. clock=real races the real ones.
               0                   200                 400                 600 ms
      operation-queue@linux-model  12 of 12 ended · the last after 608 ms
      running  3333333333333333333333333333333333333333322222221111111111111
      waiting  ▆▆▆▆▆▆▆▆▆▆▆▅▅▅▅▅▅▅▅▅▅▅▅▄▄▄▄▄▃▃▂▂▂▂▂▂▂▂▂▁
      gcd-semaphore@linux-model    12 of 12 ended · the last after 608 ms
      running  3333333333333333333333333333333333333333322222221111111111111
      waiting  ▆▆▆▆▆▆▆▆▆▆▆▅▅▅▅▅▅▅▅▅▅▅▅▄▄▄▄▄▃▃▂▂▂▂▂▂▂▂▂▁
      limiter                      12 of 12 ended · the last after 608 ms
      running  3333333333333333333333333333333333333333322222221111111111111
      waiting  ▆▆▆▆▆▆▆▆▆▆▆▅▅▅▅▅▅▅▅▅▅▅▅▄▄▄▄▄▃▃▂▂▂▂▂▂▂▂▂▁
      pool                         12 of 12 ended · the last after 608 ms
      running  3333333333333333333333333333333333333333322222221111111111111
      waiting  ▆▆▆▆▆▆▆▆▆▆▆▅▅▅▅▅▅▅▅▅▅▅▅▄▄▄▄▄▃▃▂▂▂▂▂▂▂▂▂▁

    mechanism                    makespan  tasks/s  wait p99  peak  threads  order
    operation-queue@linux-model    608 ms     19.7    400 ms   3/3        3  kept
    gcd-semaphore@linux-model      608 ms     19.7    400 ms   3/3        4  kept
    limiter                        608 ms     19.7    400 ms   3/3        1  kept
    pool                           608 ms     19.7    400 ms   3/3        1  kept

    All ended after 608 ms, give or take 2 %.
    gcd-semaphore@linux-model held 4 threads: a waiting task blocks one each.
    Every one admitted in the order of arrival.

    """

  @Test
  func `a race is asked about afterwards as a comparison is`() async {
    let lab = Lab()
    await lab.run("run 3 pool; race 12 limit=3")
    #expect(await lab.run("export - format=csv").contains("operation-queue@linux-model"))
    #expect(await lab.run("why t08 of pool").contains("t08 waited 200 ms"))
    let model = await lab.run("why t08 of gcd-semaphore")
    #expect(model.contains("a model: gcd-semaphore@linux-model"), "\(model)")
    #expect(await lab.outcome(of: "expect tasks = 3") == .done, "the last run stays what it was")
  }

  @Test
  func `in JSON Lines a race is a comparison and the order in which they ended`() async throws {
    let text = await Lab(json: true).run("race 12 fifo-queue pool none limit=3")
    let lines = try text.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    #expect(lines.compactMap { $0["mechanism"] as? String } == ["fifo-queue", "pool", "none"])
    let race = try #require(lines.last?["race"] as? [String: Any])
    #expect(race["clock"] as? String == "virtual")
    #expect(race["order"] as? [String] == ["none", "pool", "fifo-queue"])
  }

  @Test(arguments: [
    ("race 4 limiter gcd-gate limit=2 work=1ms clock=real", "at the same time on the wall clock:"),
    ("race 4 limiter pool@lanes limit=2 work=1ms", "at the same time on the wall clock:"),
    (
      "race 4 limiter main-actor-queue gcd-gate work=1ms",
      "at the same time on the wall clock, the only one on which main-actor-queue runs:"
    ),
    (
      "race 4 limiter gcd-gate limit=2 work=1ms", "gcd-gate@linux-model: models, with 4 processors."
    ),
    ("race 4 limiter gcd-gate platform=apple", "gcd-gate@apple-model: models, with 4 processors."),
    ("race 4 limiter pool work=1ms", "in virtual time, each as if it were alone"),
  ])
  func `which clock a race is on is said in one line, and every task ends`(
    _ line: String,
    _ clock: String
  ) async {
    let lab = Lab(display: Display(width: 300))
    let text = await lab.run(line)
    #expect(text.contains("\n\(clock)"), "\(text)")
    #expect(text.split(separator: "\n").count { $0.contains("4 of 4 ended") } >= 2, "\(text)")
  }

  @Test
  func `a race that is interrupted says so, and compares nothing`() async {
    let lab = Lab()
    for clock in ["virtual", "real"] {
      lab.session.beginLine()
      lab.session.interrupt()
      let outcome = await lab.session.execute(
        "race 4 limiter pool work=10m clock=\(clock)",
        at: .script(name: "test", line: 1)
      )
      #expect(outcome.contains(.interrupted))
      let text = lab.output.takeText()
      #expect(text.hasSuffix("interrupted: what had not ended was cancelled\n"), "\(text)")
      #expect(await lab.outcome(of: "export comparison.html") == .failed)
    }
  }

  @Test func `a race can be told in sentences`() async {
    let text = await Lab().run("set describe on; race 12 fifo-queue pool limit=3")
    #expect(text.contains("Pool ended first.\n"))
    for glyph in "█▒░│▁▂▃▄▅▆▇|▸" { #expect(!text.contains(glyph)) }
  }
}
