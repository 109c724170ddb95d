import Basics
import Mechanisms
import TestSupport
import Testing

@testable import Benchmarking

/// Runs that were never run, on machines whose processors were moved.
@Suite(.watched) struct `The blocks that count` {
  private let plan: Plan

  init() throws {
    plan = try Plan(
      Selection(
        scale: .quick,
        forks: 12,
        mechanisms: ["limiter", "pool"],
        filter: "uncontended|hand-off"
      )
    )
  }

  /// Blocks in which a pool costs `ratio` times what a limiter does.
  private func records(
    _ distance: (Plan.Block) -> ProcessorDistance?,
    ratio: (Plan.Block) -> Double = { _ in 1 }
  ) -> [BlockRecord] {
    var records = plan.records { trial, report in
      for round in 1...3 {
        let cost = trial.contestant.mechanism == "pool" ? ratio(trial.block) : 1
        let noise = 1 + 0.001 * Double((trial.index + trial.place + round) % 7)
        report.add(.timePerOperation, "mean", 100 * cost * noise, repetition: round)
        report.add(.waited, "mean", 95, repetition: round)
      }
    }
    for (index, block) in plan.blocks().enumerated() { records[index].distance = distance(block) }
    return records
  }

  private let near = ProcessorDistance(before: 80, after: 95)
  private let far = ProcessorDistance(before: 400, after: 410)
  private let moved = ProcessorDistance(before: 400, after: 81)

  @Test func `where all are alike none is left out, near or far or of unknown distance`() {
    for distance in [near, far, nil] {
      let records = records { _ in distance }
      let counted = CountedBlocks(records, plan)
      #expect(counted.leftOutBlocks == 0)
      #expect(records.allSatisfy { !counted.leavesOut($0) && reason(counted, $0) == nil })
      #expect(counted.words?.contains("; the processors") != true)
      #expect(counted.otherCells.isEmpty)
    }
    #expect(CountedBlocks(records { _ in nil }, plan).words == nil)
    #expect(
      CountedBlocks(records { _ in far }, plan).words
        == "a word of memory went from one processor to another and back in 405 ns"
    )
  }

  @Test func `the kind that most blocks have counts, and no block that was moved meanwhile`() throws
  {
    let mostlyNear = records { $0.fork <= 3 ? far : $0.fork == 4 ? moved : near }
    let counted = CountedBlocks(mostlyNear, plan)
    #expect(counted.counted == .near)
    for record in mostlyNear { #expect(counted.leavesOut(record) == (record.fork <= 4)) }
    let first = try #require(mostlyNear.first { $0.fork == 1 })
    #expect(reason(counted, first) == "the processors were far apart")
    let fourth = try #require(mostlyNear.first { $0.fork == 4 })
    #expect(reason(counted, fourth) == "the processors were moved")
    let words = try #require(counted.words)
    #expect(
      words.contains("back in 87.5 ns; the processors were far apart in 6 blocks (405 ns), "),
      "\(words)"
    )
    #expect(words.contains("moved in 2 blocks; 8 blocks left out"), "\(words)")

    let mostlyFar = records { $0.fork <= 3 ? near : far }
    #expect(CountedBlocks(mostlyFar, plan).counted == .far)
    #expect(CountedBlocks(mostlyFar, plan).words?.hasPrefix("far apart: a word of memory") == true)
    for record in mostlyFar {
      #expect(CountedBlocks(mostlyFar, plan).leavesOut(record) == (record.fork <= 3))
    }
  }

  @Test func `a cell without six blocks of the run's kind is made of the other, or of all`() {
    func cell(near: Int, far: Int) -> (CountedBlocks, [BlockRecord]) {
      let records = records { block in
        guard block.entry == 0 else { return self.near }
        return block.fork <= near ? self.near : block.fork <= near + far ? self.far : moved
      }
      return (CountedBlocks(records, plan), records.filter { $0.entry == 0 })
    }
    for (near, far, kind) in [
      (6, 6, CountedBlocks.Kind.near), (5, 7, .far), (5, 5, .moved), (0, 12, .far), (12, 0, .near),
    ] {
      let (counted, records) = cell(near: near, far: far)
      #expect(counted.counted == .near && counted.cells[0] == kind)
      #expect(counted.otherCells.map(\.entry) == (kind == .near ? [] : [0]))
      for record in records {
        let isNear = record.fork <= near
        #expect(counted.leavesOut(record) == (kind != .moved && isNear != (kind == .near)))
      }
    }
  }

  @Test func `where the processors were moved in each block none is left out, and it is said`() {
    let counted = CountedBlocks(records { _ in moved }, plan)
    #expect(counted.counted == nil && counted.leftOutBlocks == 0)
    #expect(counted.words?.hasPrefix("the processors were moved in each of 24 blocks") == true)
  }

  @Test func `what one processor does alone, and what takes memory, is left out at no distance`()
    throws
  {
    let plan = try Plan(
      Selection(
        scale: .quick,
        forks: 12,
        mechanisms: ["limiter"],
        filter: "scaling|memory|hand-off"
      )
    )
    var records = plan.records { _, report in report.add(.timePerOperation, "mean", 100) }
    for index in records.indices {
      records[index].distance = records[index].fork <= 4 ? far : near
    }
    let counted = CountedBlocks(records, plan)
    var leftOut: Set<String> = []
    for record in records where counted.leavesOut(record) {
      leftOut.insert(plan.entries[record.entry].cell.name)
    }
    #expect(leftOut.contains { $0.hasPrefix("hand-off") })
    // Where there are two.
    let onTwo = plan.entries.map(\.cell.name).filter { $0.hasSuffix("processors=2") }
    #expect(leftOut.isSuperset(of: onTwo))
    #expect(!leftOut.contains { $0.hasPrefix("memory") || $0.hasSuffix("processors=1") })
  }

  @Test func `a reading while others had the processors is none`() {
    let busy = ProcessorDistance(before: 80, after: 15_000)
    let records = records { $0.fork == 1 ? busy : near }
    let counted = CountedBlocks(records, plan)
    #expect(counted.leftOutBlocks == 0 && counted.blocks == [.near: 22])
  }

  /// Why the first figure of a block does not count.
  private func reason(_ counted: CountedBlocks, _ record: BlockRecord) -> String? {
    let trial = record.trials[0]
    return counted.reason(trial.report.measures[0], of: trial.contestant, in: record)
  }

  @Test func `one reading far below all others makes nothing far`() {
    let records = records {
      $0.entry == 0 && $0.fork == 1 ? ProcessorDistance(before: 20, after: 20) : near
    }
    #expect(CountedBlocks(records, plan).leftOutBlocks == 0)
  }

  /// What a pool's line of the first cell says.
  private func line(_ summary: Summary) throws -> Summary.Line {
    let pool = plan.entries[0].contestants.firstIndex { $0.mechanism == "pool" }
    return try #require(
      summary.lines.first { $0.entry == 0 && $0.contestant == pool && $0.comparison != nil }
    )
  }

  @Test func `a ratio is that of the blocks that count, and results.csv says which these are`()
    throws
  {
    let mixed = records({ $0.fork <= 5 ? far : near }, ratio: { $0.fork <= 5 ? 2 : 1 })
    let summary = Summary(plan: plan, records: mixed)
    #expect(try line(summary).comparison?.verdict == .same)
    #expect(try line(summary).forks == 7)
    // Without the distances it is neither.
    let blind = Summary(plan: plan, records: records({ _ in nil }, ratio: { $0.fork <= 5 ? 2 : 1 }))
    #expect(try line(blind).comparison?.verdict == .undecided)
    #expect(try line(blind).forks == 12)

    let files = RunFiles(runID: "r", plan: plan, records: mixed, summary: summary)
    let table = CSV.records(files.results())
    let column = Dictionary(uniqueKeysWithValues: zip(table[0], 0...))
    for row in table.dropFirst() {
      let cell = { (name: String) in column[name].map { row[$0] } ?? "" }
      let isLeftOut = (Int(cell("fork")) ?? 0) <= 5
      #expect(cell("valid") == (isLeftOut ? "false" : "true"))
      #expect(cell("invalid_reason").hasPrefix("the processors were far apart") == isLeftOut)
      #expect(cell("distance_after_ns") == ((Int(cell("fork")) ?? 0) <= 5 ? "410" : "95"))
    }
  }

  @Test func `a promise that was broken at another distance is broken`() {
    var records = records { $0.fork <= 3 ? far : near }
    for index in records.indices where records[index].fork == 2 {
      records[index].trials[0].report.violations = ["over-admission: 2 ran at once, the limit is 1"]
    }
    let summary = Summary(plan: plan, records: records)
    #expect(!summary.isValid && !summary.violations.isEmpty)
  }

  @Test func `what no other block found counts at any distance, and so does a promise`() throws {
    var mixed = records { $0.fork == 1 ? far : near }
    for index in mixed.indices where mixed[index].fork == 1 {
      for place in mixed[index].trials.indices {
        mixed[index].trials[place].report.add(.processorTime, "mean", 50)
        mixed[index].trials[place].report.add(.peakRunning, "max", 7)
      }
    }
    for place in mixed[1].trials.indices {
      mixed[1].trials[place].report.add(.peakRunning, "max", 1)
    }
    let summary = Summary(plan: plan, records: mixed)
    let line = try line(summary)
    #expect(line.forks == 11)
    #expect(summary.line(0, line.contestant, Headline(.processorTime, "mean"))?.forks == 1)
    #expect(summary.exclusion(0, line.contestant) == .aboveLimit(seen: 7))
  }

  @Test func `cells whose processors were moved are measured longer`() {
    let campaign = Campaign(plan: plan, program: "", measuresLonger: true, leavesOut: true)
    #expect(campaign.more(after: records { _ in near }).isEmpty)
    let more = campaign.more(after: records { $0.entry == 1 && $0.fork <= 4 ? far : near })
    #expect(more.map(\.entry) == [1, 1])
  }
}

@Suite(.watched) struct `The distance of processors` {
  @Test func `it is measured where there are two, and not where there is one`() async {
    let distance = await onOwnThread { ProcessorDistance.now() }
    if Processors.allowed == 1 { #expect(distance == nil) }
    // Others may keep a processor for all of the millisecond.
    if let distance { #expect(distance > 1 && distance < 10_000_000) }
  }

  @Test func `of a machine left alone some of ten readings succeed`() async {
    guard Processors.allowed > 1 else { return }
    var readings = 0
    for _ in 1...10 {
      let distance = await onOwnThread { ProcessorDistance.now() }
      if distance != nil { readings += 1 }
    }
    #expect(readings > 0)
  }
}
