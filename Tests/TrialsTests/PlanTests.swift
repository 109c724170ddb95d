import Mechanisms
import TestSupport
import Testing
import Trials

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

  @Test func `every cell that compares mechanisms has an A/A pair`() throws {
    let plan = try Plan(Selection())
    for entry in plan.entries where entry.contestants.contains(where: { $0.mechanism != nil }) {
      let reference = try #require(entry.reference)
      #expect(entry.contestants.count { $0.mechanism == reference } == 2)
      #expect(entry.contestants.count { $0.isAgain } == 1)
    }
  }

  @Test func `names of cells are unique`() throws {
    for scale in Scale.allCases {
      let names = try Plan(Selection(scale: scale)).entries.map(\.cell.name)
      #expect(Set(names).count == names.count)
    }
  }

  @Test func `every fork runs every contestant of every cell once, in an order of its own`() throws
  {
    let plan = try Plan(Selection(scale: .quick, seed: 3))
    let blocks = plan.blocks()
    #expect(blocks.count == plan.entries.count * plan.forks)
    for fork in 1...plan.forks {
      let ofFork = blocks.filter { $0.fork == fork }
      #expect(ofFork.map(\.entry).sorted() == Array(plan.entries.indices))
    }
    for block in blocks {
      #expect(block.order.sorted() == Array(plan.entries[block.entry].contestants.indices))
    }
    #expect(Set(blocks.map(\.order)).count > plan.entries.count)
    #expect(blocks == plan.blocks())
    let other = try Plan(Selection(scale: .quick, seed: 4))
    #expect(blocks != other.blocks())
  }

  @Test func `all cells of a workload draw the same tasks, other workloads others`() throws {
    let plan = try Plan(Selection(scale: .quick))
    let seeds = Dictionary(grouping: plan.entries.indices) { plan.entries[$0].cell.workload }
      .mapValues { Set($0.map(plan.seed)) }
    #expect(seeds.values.allSatisfy { $0.count == 1 })
    #expect(Set(seeds.values).count == seeds.count)
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
