import Mechanisms
import TestSupport
import Testing

@testable import Benchmarking

@Suite(.watched) struct `The plan` {
  @Test(arguments: Scale.allCases)
  func `every mechanism is measured`(scale: Scale) throws {
    let plan = try Plan(Selection(scale: scale))
    let measured = Set(plan.entries.flatMap { $0.contestants.compactMap(\.mechanism) })
    for mechanism in Catalogue.mechanisms { #expect(measured.contains(mechanism.id)) }
  }

  @Test(arguments: Scale.allCases)
  func `ordered queues are measured at limit 1 only`(scale: Scale) throws {
    let plan = try Plan(Selection(scale: scale))
    for entry in plan.entries where entry.cell.limit != 1 {
      for contestant in entry.contestants {
        let profile = contestant.mechanism.flatMap(Catalogue.entry)?.profile
        #expect(profile?.limit != .one, "\(Plan.name(entry.cell, contestant))")
      }
    }
  }

  @Test func `queues that let suspended bodies overlap carry none`() throws {
    let holding: Set = ["block", "spin"]
    for entry in try Plan(Selection()).entries {
      guard let kind = entry.cell.serviceKind, !holding.contains(kind),
        entry.cell.workload != "cancel-others"
      else { continue }
      for contestant in entry.contestants {
        let profile = contestant.mechanism.flatMap(Catalogue.entry)?.profile
        #expect(profile?.order != .fifoToFirstSuspension, "\(Plan.name(entry.cell, contestant))")
      }
    }
  }

  @Test func `what others disturbed is measured longer, in blocks of forks of their own`() throws {
    let plan = try Plan(Selection(scale: .quick, filter: "baseline-(loop|clock)"))
    let campaign = Campaign(plan: plan, program: "", measuresLonger: true, leavesOut: true)
    func records(_ isDisturbed: (Plan.Block) -> Bool) -> [BlockRecord] {
      plan.blocks().enumerated().map { index, block in
        BlockRecord(
          number: index + 1,
          fork: block.fork,
          entry: block.entry,
          trials: [],
          disturbance: Disturbance(foreignPercent: isDisturbed(block) ? 50 : 0, stealPercent: 0)
        )
      }
    }
    #expect(campaign.more(after: records { _ in false }).isEmpty)
    let some = campaign.more(after: records { $0.entry == 1 && $0.fork <= 3 })
    #expect(some.map(\.entry) == [1, 1])
    #expect(some.map(\.fork) == [plan.entries[1].forks + 1, plan.entries[1].forks + 2])
    let all = records { _ in true }
    let most = campaign.more(after: all)
    #expect(most.count == plan.entries.map { $0.forks / 2 }.reduce(0, +))
    // A run that goes on has those already that it was given before.
    let given = most.prefix(2).map {
      BlockRecord(number: 99, fork: $0.fork, entry: $0.entry, trials: [])
    }
    #expect(campaign.more(after: all + given) == Array(most.dropFirst(2)))
  }

  @Test func `on a slow machine each cell's last blocks are left out, and a few of each are kept`()
    throws
  {
    let plan = try Plan(Selection())
    let limit = try #require(plan.scale.limit)
    let campaign = Campaign(plan: plan, program: "", measuresLonger: true, leavesOut: true)
    /// The blocks that are measured where each takes so many times what the plan expects.
    func measured(_ campaign: Campaign, pace: Double) -> (blocks: [Plan.Block], seconds: Double) {
      var seconds = 0.0
      let blocks = plan.blocks().filter { block in
        if campaign.isLeftOut(block, after: seconds) { return false }
        seconds += plan.entries[block.entry].expectedSeconds * pace
        return true
      }
      return (blocks, seconds)
    }
    #expect(measured(campaign, pace: 0.9).blocks == plan.blocks())
    for pace in [1.1, 1.3, 1.6] {
      let (blocks, seconds) = measured(campaign, pace: pace)
      #expect(seconds < limit * 1.02, "\(pace) times: \(seconds) s")
      for (index, entry) in plan.entries.enumerated() {
        let kept = blocks.count { $0.entry == index }
        #expect(kept >= min(entry.forks, Campaign.fewestForks), "\(pace) times: \(entry.cell.name)")
      }
    }
    // Who asks for blocks gets them.
    let whole = Campaign(plan: plan, program: "", measuresLonger: true, leavesOut: false)
    #expect(measured(whole, pace: 3).blocks == plan.blocks())
    var environment = EnvironmentRecord(runID: "", command: [], seed: 1, forks: 1, toolchain: nil)
    environment.noteLeftOut(plan, plan.blocks().dropLast(2).map(record))
    #expect(environment.leftOut == "2 of \(plan.blocks().count) blocks")
    environment.noteLeftOut(plan, plan.blocks().map(record))
    #expect(environment.leftOut == nil)
  }

  private func record(_ block: Plan.Block) -> BlockRecord {
    BlockRecord(number: 1, fork: block.fork, entry: block.entry, trials: [])
  }

  @Test func `the front page's cells come first, with all their forks`() throws {
    let plan = try Plan(Selection())
    let front = plan.front
    #expect(
      Set(front.map { plan.entries[$0].cell.workload })
        == ["uncontended", "hand-off", "contended-yield"]
    )
    let first = plan.blocks().prefix(front.map { plan.entries[$0].forks }.reduce(0, +))
    #expect(first.allSatisfy { front.contains($0.entry) })
  }

  @Test func `a default run is planned for ten minutes, a quick one for two`() throws {
    #expect(try Plan(Selection()).expectedSeconds < 600)
    #expect(try Plan(Selection(scale: .quick)).expectedSeconds < 120)
  }

  @Test func `where suspended bodies would overlap the cell says who does not limit it`() throws {
    for entry in try Plan(Selection()).entries where entry.cell.workload == "image-cache-distinct" {
      let queues = ["actor-queue", "main-actor-queue"]
      #expect(entry.notLimiting == (entry.cell.limit == 1 ? queues : []))
    }
  }

  @Test func `every cell that compares mechanisms has an A/A pair`() throws {
    let plan = try Plan(Selection())
    for entry in plan.entries where entry.contestants.contains(where: { $0.mechanism != nil }) {
      let reference = try #require(entry.reference)
      #expect(!reference.isEmpty)
      #expect(entry.contestants.count { $0.mechanism == reference && $0.executor != .lanes } == 2)
      #expect(entry.contestants.count { $0.isAgain } == 1)
    }
  }

  @Test func `a single call is measured twice as well`() throws {
    for entry in try Plan(Selection()).entries where entry.cell.workload.hasPrefix("call-") {
      #expect(entry.contestants.map(\.label) == [nil, "-again"])
    }
  }

  @Test func `names of cells are unique`() throws {
    for scale in Scale.allCases {
      let names = try Plan(Selection(scale: scale)).entries.map(\.cell.name)
      #expect(Set(names).count == names.count)
    }
  }

  @Test func `a block runs every contestant of its cell once, in an order of its own`() throws {
    let plan = try Plan(Selection(scale: .standard, seed: 3))
    let blocks = plan.blocks()
    #expect(blocks.count == plan.entries.map(\.forks).reduce(0, +))
    for entry in plan.entries.indices {
      let forks = plan.entries[entry].forks
      let workload = BenchWorkloads.named(plan.entries[entry].cell.workload)
      #expect(forks == workload?.forks(.standard))
      #expect(blocks.filter { $0.entry == entry }.map(\.fork).sorted() == Array(1...forks))
    }
    for block in blocks {
      #expect(block.order.sorted() == Array(plan.entries[block.entry].contestants.indices))
    }
    #expect(Set(blocks.map(\.order)).count > plan.entries.count)
    #expect(blocks == plan.blocks())
    let other = try Plan(Selection(scale: .standard, seed: 4))
    #expect(blocks != other.blocks())
  }

  @Test
  func `all cells of a workload draw the same tasks in a fork, other workloads and forks others`()
    throws
  {
    let plan = try Plan(Selection(scale: .quick))
    for fork in 1...3 {
      let seeds = Dictionary(grouping: plan.entries.indices) { plan.entries[$0].cell.workload }
        .mapValues { Set($0.map { plan.seed(of: $0, fork: fork) }) }
      #expect(seeds.values.allSatisfy { $0.count == 1 })
      #expect(Set(seeds.values).count == seeds.count)
    }
    #expect(Set((1...100).map { plan.seed(of: 0, fork: $0) }).count == 100)
  }

  @Test func `every closed loop has its Swift tasks on both executors, beside each other`() throws {
    let plan = try Plan(Selection())
    let both = plan.entries.filter { entry in
      BenchWorkloads.named(entry.cell.workload)?.comparesExecutors == true
    }
    #expect(both.count > 8)
    for entry in both {
      func names(_ executor: Executor) -> Set<String> {
        Set(entry.contestants.filter { $0.executor == executor }.compactMap(\.mechanism))
      }
      #expect(!names(.lanes).isEmpty)
      #expect(names(.lanes) == names(.global))
    }
  }

  @Test
  func `on lanes a mechanism is compared with itself on the pool, elsewhere with the reference`()
    throws
  {
    let plan = try Plan(Selection(filter: "hand-off"))
    let entry = try #require(plan.entries.first)
    for (index, who) in entry.contestants.enumerated() {
      let other = entry.reference(of: index).map { entry.contestants[$0] }
      if who.executor == .lanes {
        #expect(other == Contestant(mechanism: who.mechanism, executor: .global))
      } else if who == Contestant(mechanism: "limiter", executor: .global) {
        #expect(other == nil)
      } else {
        #expect(other == Contestant(mechanism: "limiter", executor: .global))
      }
    }
  }

  /// What a default run would publish, computed by the recursion rather than measured: each fork draws
  /// its own path, and Erlang's formula says what endless paths average.
  @Test(arguments: [0.5, 0.8, 0.9])
  func `the open loop's intervals cover the mean in nine of ten runs`(utilisation: Double) throws {
    let cell = try #require(
      OpenLoop().cells(.standard, limits: nil).first {
        $0.utilisation == utilisation && $0.serviceKind == nil
      }
    )
    let service = try #require(cell.service)
    let servers = try #require(cell.limit)
    let queue = ErlangQueue(servers: servers, utilisation: utilisation)
    let truth = try #require(queue.meanWait()) + 1
    let covering = try (1...40).count { seed in
      let plan = try Plan(Selection(seed: UInt64(seed), filter: "open-loop.*limiter"))
      let entry = try #require(plan.entries.firstIndex { $0.cell == cell })
      let responses = (1...plan.entries[entry].forks).map { fork -> Double in
        let length = PathLength(cell, budget: plan.scale.budget)
        let rate = utilisation * Double(servers) * 1e9 / Double(service)
        let tasks = Workload(
          count: length.warmUp + length.counted,
          service: .exponential(mean: service),
          arrivals: .poisson(perSecond: rate),
          seed: plan.seed(of: entry, fork: fork)
        ).tasks()
        let waits = FCFSRecursion.waits(
          arrivals: tasks.map(\.arrival),
          services: tasks.map(\.service),
          servers: servers
        )
        var total: Int64 = 0
        for place in length.warmUp..<tasks.count { total += tasks[place].service + waits[place] }
        return Double(total) / Double(length.counted) / Double(service)
      }
      return meanInterval(responses)?.contains(truth) == true
    }
    #expect(covering >= 36, "\(covering) of 40 cover \(truth)")
  }

  @Test func `filters choose by the names that the list prints`() throws {
    let plan = try Plan(
      Selection(scale: .quick, filter: "uncontended", skip: "operation-queue|gcd")
    )
    #expect(Set(plan.entries.map(\.cell.workload)) == ["uncontended"])
    let chosen = plan.entries[0].contestants.compactMap(\.mechanism)
    #expect(chosen.contains("pool"))
    #expect(!chosen.contains { $0.hasPrefix("gcd") || $0 == "operation-queue" })
  }

  @Test func `limits given replace the workloads' own`() throws {
    let plan = try Plan(Selection(limits: [3], filter: "contended-empty"))
    #expect(plan.entries.map(\.cell.limit) == [3])
  }

  @Test func `what cannot be measured is refused with what would be right`() {
    func message(_ selection: Selection) -> String {
      do {
        _ = try Plan(selection)
        return "accepted"
      } catch {
        return "\(error)"
      }
    }
    #expect(message(Selection(mechanisms: ["limitr"])).contains("no mechanism 'limitr'"))
    #expect(message(Selection(mechanisms: ["limitr"])).contains("task-group"))
    #expect(message(Selection(filter: "(")).contains("--filter '('"))
    #expect(message(Selection(filter: "nothing like this")).contains("--list"))
    #expect(message(Selection(forks: 0)).contains("--forks must be at least 1, not 0"))
    #expect(message(Selection(limits: [2, 0])).contains("--limit must be at least 1, not 0"))
  }

  @Test func `the fingerprint changes with the plan and with the program`() throws {
    let plan = try Plan(Selection(scale: .quick))
    let other = try Plan(Selection(scale: .quick, seed: 2))
    let one = try plan.fingerprint(executable: "a")
    #expect(one == (try plan.fingerprint(executable: "a")))
    #expect(one != (try plan.fingerprint(executable: "b")))
    #expect(one != (try other.fingerprint(executable: "a")))
  }

  @Test func `every workload's headline is among the metrics with a meaning`() {
    for workload in BenchWorkloads.all {
      guard let headline = workload.headline else { continue }
      #expect(Metric.named[headline.metric.id] != nil)
    }
    for metric in Metric.all { #expect(metric.meaning.hasSuffix(".")) }
  }
}
