import Experiments
import Foundation
import Rendering
import TestSupport
import Testing

@testable import Shell

/// The runs of a session, the line before, and the screen.
@Suite(.watched) struct RunsTests {
  @Test
  func `runs are listed, named, shown, held against each other and exported by number or name`()
    async throws
  {
    let lab = Lab()
    #expect(await lab.run("runs").hasPrefix("no run yet"))
    await lab.run("run 12 limiter limit=3 name=slow; run 6 pool limit=2; run 12 limiter limit=4")
    let list = await lab.run("runs")
    #expect(
      list.split(separator: "\n").map { $0.prefix(9) } == [
        "run  name", "  1  slow", "  2      ", "  3      ",
      ]
    )
    #expect(await lab.run("stats of slow").contains("makespan 400 ms"))
    #expect(await lab.run("stats of 3").contains("makespan 300 ms"))
    #expect(await lab.run("why t06 run=pool").contains("t06 waited 200 ms"))
    #expect(await lab.run("diff slow 3").contains("limit: 3, then 4"))
    #expect(await lab.run("diff slow").contains("limit: 3, then 4"))
    #expect(await lab.run("name 3 slow; diff 1 slow").contains("limit: 3, then 4"))
    let scratch = try ScratchFolder()
    await lab.run("export \(scratch.path)/two.csv run=2")
    #expect(
      try String(contentsOfFile: scratch.path + "/two.csv", encoding: .utf8)
        .split(separator: "\n").count == 7
    )
  }

  @Test
  func `a run in the background is known by its name, before and after it has ended`() async throws
  {
    let lab = Lab(display: Display(width: 120))
    await lab.run("run 12 limiter limit=3 name=a; spawn 12 limiter limit=4 name=b; advance 150ms")
    #expect(await lab.run("timeline of b").hasPrefix("at 150 ms the run goes on"))
    #expect(await lab.run("stats of a").contains("makespan 400 ms"))
    #expect(await lab.run("diff a b").contains("The second: at 150 ms the run goes on"))
    #expect(await lab.run("runs").contains("in the background, limiter, called 'b': at 150 ms"))
    let scratch = try ScratchFolder()
    await lab.run("timeline of b; advance 100ms; export \(scratch.path)/b.csv")
    let rows = try String(contentsOfFile: scratch.path + "/b.csv", encoding: .utf8)
    #expect(rows.split(separator: "\n").count { $0.contains("finished") } == 8, "as of now")
    #expect(await lab.outcome(of: "spawn 2 name=b") == .done, "its own name may be said again")
    _ = lab.output.takeText()
    await lab.run("wait; run 2 pool")
    #expect(await lab.run("diff a b").contains("limit: 3, then 4"))
    #expect(await lab.run("stats of b").contains("14 finished"))
    #expect(await lab.outcome(of: "timeline of c") == .failed)
    #expect(
      lab.output.takeComplaints() == ["test:1: there is no run 'c'. 'runs' lists them."]
    )
    let json = Lab(json: true)
    #expect(await json.run("spawn 3 name=b; runs").contains(#"{"run":null,"name":"b","#))
  }

  @Test(arguments: [
    ("stats of 7", "test:1: there is no run '7'. 'runs' lists them."),
    ("stats of slwo", "test:1: there is no run 'slwo'. Did you mean 'slow'? 'runs' lists them."),
    ("diff 1 9", "test:1: there is no run '9'. 'runs' lists them."),
    ("name 9 x", "test:1: there is no run '9'. 'runs' lists them."),
    (
      "name 1 2nd",
      "test:1: a run cannot be called '2nd'. Write a letter, then letters, digits, - or _."
    ),
  ])
  func `a run that is not there is said to be missing`(_ line: String, _ message: String) async {
    let lab = Lab()
    await lab.run("run 3 name=slow")
    #expect(await lab.outcome(of: line) == .failed)
    #expect(lab.output.takeComplaints() == [message])
  }

  @Test
  func `of many runs the oldest without a name go, and the last two stay whatever their size`()
    async throws
  {
    let lab = Lab()
    await lab.run("run 2 name=first")
    for _ in 2...45 { await lab.run("run 2") }
    let kept = await lab.session.runs.all
    #expect(kept.count == KeptRuns.most)
    #expect(kept.map(\.number) == [1] + (7...45))
    let large = try #require(kept.last).run
    var runs = KeptRuns(mostEvents: large.events.count)
    for _ in 1...3 { runs.keep(large) }
    #expect(runs.all.map(\.number) == [2, 3])
  }

  @Test
  func `of a greatest value it is told whose it is, and of a percentile nothing of the greatest`()
    async
  {
    let lab = Lab()
    await lab.run("run 6 limiter limit=2 work=10ms")
    #expect(await lab.run("expect waiting_max <= 20ms").contains("20 ms: t05 waited longest"))
    #expect(await lab.run("expect waiting_p99 <= 20ms") == "✓ waiting_p99 is 20 ms\n")
    #expect(await lab.run("expect response_p95 <= 30ms") == "✓ response_p95 is 30 ms\n")
  }

  @Test
  func `a task of a comparison is asked after by its mechanism, which leaves the last run alone`()
    async
  {
    let lab = Lab()
    await lab.run("run 3 limiter; compare 12 pool fifo-queue limit=3")
    #expect(await lab.run("why t08 of pool").contains("t08 waited 200 ms"))
    #expect(await lab.run("why t08 of fifo-queue").contains("t08 waited 700 ms"))
    #expect(await lab.outcome(of: "expect tasks = 3") == .done)
  }

  @Test
  func `a comparison is sorted by what is asked, and equals stay in their order`() async {
    let lab = Lab(json: true)
    func names(_ by: String) async -> [Substring] {
      await lab.run("compare 12 fifo-queue pool limiter none limit=3 by=\(by)")
        .split(separator: "\n").map { $0.dropFirst(14).prefix { $0 != "\"" } }
    }
    #expect(await names("makespan") == ["none", "pool", "limiter", "fifo-queue"])
    #expect(await names("name") == ["fifo-queue", "limiter", "none", "pool"])
    #expect(await names("peak") == ["fifo-queue", "pool", "limiter", "none"])
  }

  @Test
  func `a comparison's headline is of those that kept the limit, and says why others differ`()
    async
  {
    let lab = Lab()
    let text = await lab.run("compare 12 limiter pool fifo-queue none limit=3")
    #expect(text.contains("All that kept the limit ended after 400 ms"))
    #expect(text.contains("none keeps no limit: 12 at once."))
    #expect(text.contains("fifo-queue runs one at a time by nature."))
    let overlapping = await lab.run("compare 4 limiter fifo-queue actor-queue kind=suspend")
    #expect(overlapping.contains("fifo-queue runs one at a time by nature."))
    let sentence = "actor-queue starts one at a time by nature; tasks that suspend overlap."
    #expect(overlapping.contains(sentence))
    let narrow = await lab.run("compare 8 limiter pool limit=4 kind=block workers=2 work=10ms")
    #expect(narrow.contains("pool: peak 2 of 4: the pool gave only 2 workers."))
    let sparse = await lab.run("compare 8 limiter pool limit=4 kind=block arrivals=every:20ms")
    #expect(!sparse.contains("the pool gave"))
  }

  /// Types a line at the prompt; what is said and complained about.
  private func type(_ line: String, in lab: Lab) async -> String {
    _ = await lab.session.execute(line, at: .prompt(columns: 0))
    return lab.output.takeText() + lab.output.takeComplaints().joined(separator: "\n")
  }

  @Test
  func `two exclamation marks stand for the line before, and are no command in a script`() async {
    let lab = Lab()
    #expect(await type("!!", in: lab).contains("there is no line to repeat yet"))
    _ = await type("run 12 limiter", in: lab)
    #expect(await type("!! limit=4", in: lab).hasPrefix("run 12 limiter limit=4\n12 tasks"))
    #expect(await type("!!", in: lab).contains("limit 4"))
    #expect(await lab.outcome(of: "!!") == .failed)
    let later = Lab()
    later.output.history = ["run 5 pool", "!!"]
    #expect(await type("!!", in: later).hasPrefix("run 5 pool\n5 tasks"))
  }

  @Test(arguments: [("n", "next"), ("ru", "run"), ("cl", "clear"), ("na", "name")])
  func `what came later takes no beginning from what was there`(_ short: String, _ name: String)
    throws
  {
    #expect(try CommandTable.resolve(Word(short, at: 0..<1)).name == name)
  }

  @Test func `the curve has a mark for each run with a limit, and rises to the right`() async throws
  {
    let lab = Lab()
    _ = await lab.run("run 5 none; run 5 limiter")
    #expect(await lab.run("curve").contains("a curve takes two runs of one mechanism"))
    let busier = Lab()
    for rate in [40, 70, 95] {
      _ = await busier.run("run 400 limiter limit=4 arrivals=poisson:\(rate)/s work=exp:40ms")
    }
    let lines = await busier.run("curve").split(separator: "\n").map(String.init)
    let marks = lines.compactMap { line in
      line.firstIndex(of: "█").map { line.distance(from: line.startIndex, to: $0) }
    }
    #expect(marks.count == 3, "\(lines)")
    // Read from the top: the longest wait first, where most permits were used.
    #expect(marks == marks.sorted(by: >))
    #expect(lines[1].contains("█"), "the longest wait is at the top: \(lines)")
    #expect(lines.contains { $0.contains("100 % of permits used") })
    for width in [80, 40] {
      let narrow = Lab(display: Display(width: width))
      _ = await narrow.run("run 40 limiter limit=4; run 40 limiter limit=4 arrivals=every:90ms")
      let curve = await narrow.run("curve")
      #expect(curve.split(separator: "\n").allSatisfy { $0.count <= width }, "\(curve)")
    }
    #expect(lines.last == "the runs of limiter, limit 4")
    for (number, row) in zip(1...3, lines.suffix(4)) {
      #expect(row.split(separator: " ").first == Substring("\(number)"), "\(row)")
    }
  }

  @Test func `the curve leaves out runs that do not lie on it, and says how many`() async {
    let lab = Lab()
    _ = await lab.run("run 9 pool limit=4; run 9 limiter limit=3; run 9 limiter limit=4 kind=block")
    _ = await lab.run("run 40 limiter limit=4; run 40 limiter limit=4 arrivals=every:90ms")
    let text = await lab.run("curve")
    #expect(
      text.hasSuffix("the runs of limiter, limit 4; 3 other runs of this session not shown\n"),
      "\(text)"
    )
    #expect(text.count { $0 == "█" } == 2)
  }

  @Test func `why tells a task's priority where not all have the same`() async {
    let lab = Lab()
    await lab.run("run 6 limiter limit=1 work=10ms priority=mixed")
    #expect(await lab.run("why t03").contains(/its\s+priority\s+is\s+(low|medium|high)/))
    await lab.run("run 6 limiter limit=1 work=10ms")
    #expect(await !lab.run("why t03").contains("priority"))
  }
}
