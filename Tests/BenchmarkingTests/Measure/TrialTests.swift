import Basics
import Mechanisms
import TestSupport
import Testing

@testable import Benchmarking

@Suite(.watched) struct `The stamp log` {
  @Test func `visits that keep the promises leave no violation`() {
    let log = StampLog(capacity: 2)
    for number in 1...2 {
      for kind in [TraceEvent.Kind.arrived, .admitted, .finished] {
        log.record(kind, of: TaskID(number))
      }
    }
    #expect(log.violations(limit: 1, expected: 2).isEmpty)
    #expect(log.peakRunning == 1)
    #expect(VisitStatistics(log.visits()).responses.count == 2)
  }

  @Test func `the number present, integrated, is what the visits add up to`() throws {
    let log = StampLog(capacity: 3, measuresOccupancy: true)
    // Overlapping, in another order out than in.
    for number in [1, 2, 3] { log.record(.arrived, of: TaskID(number)) }
    for number in [2, 3, 1] {
      log.record(.admitted, of: TaskID(number))
      log.record(.finished, of: TaskID(number))
    }
    let presence = try #require(log.presence)
    #expect(presence.peak == 3)
    let responses = VisitStatistics(log.visits()).responses.map(Double.init).reduce(0, +)
    // The stamps are other readings of the clock, made at most a scheduler's whim apart.
    #expect(presence.area > 0 && responses > 0)
  }

  @Test func `two running at limit 1 are an over-admission`() {
    let log = StampLog(capacity: 2)
    for kind in [TraceEvent.Kind.arrived, .admitted, .finished] {
      for number in 1...2 { log.record(kind, of: TaskID(number)) }
    }
    #expect(
      log.violations(limit: 1, expected: 2)
        == ["over-admission: 2 ran at once, the limit is 1"]
    )
    #expect(log.violations(limit: nil, expected: 2).isEmpty)
  }

  @Test func `a body that runs twice, a task that never ends and one that never came are found`() {
    let twice = StampLog(capacity: 1)
    for kind in [TraceEvent.Kind.arrived, .admitted, .finished, .admitted, .finished] {
      twice.record(kind, of: TaskID(1))
    }
    #expect(twice.violations(limit: 1, expected: 1).contains { $0.contains("already") })

    let endless = StampLog(capacity: 1)
    endless.record(.arrived, of: TaskID(1))
    #expect(endless.violations(limit: 1, expected: 1) == ["1 tasks never ended"])
    #expect(
      StampLog(capacity: 1).violations(limit: 1, expected: 1) == ["0 tasks arrived, 1 were sent"]
    )
  }

  @Test func `a task that left and ran all the same is found`() {
    let log = StampLog(capacity: 1)
    for kind in [TraceEvent.Kind.arrived, .cancelled(.waiting), .admitted, .finished] {
      log.record(kind, of: TaskID(1))
    }
    #expect(
      log.violations(limit: 1, expected: 1).contains { $0.contains("cancelled while waiting") }
    )
  }
}

@Suite(.watched) struct `Figures from visits` {
  private func visit(_ number: Int, _ arrival: Int64, _ admission: Int64, _ departure: Int64)
    -> StampedVisit
  {
    StampedVisit(number: number, arrival: arrival, admission: admission, departure: departure)
  }

  @Test func `a hand-off counts only where somebody waited for the permit`() {
    let statistics = VisitStatistics([
      visit(1, 0, 0, 10), visit(2, 5, 13, 20), visit(3, 30, 31, 40),
    ])
    #expect(statistics.handOffs(limit: 1) == [3])
    #expect(statistics.waits == [0, 8, 1])
    #expect(statistics.responses == [10, 15, 10])
    #expect(statistics.makespan == 40)
  }

  @Test
  func `recovery ends with the departure after which nobody waits, not with the next arrival`() {
    let statistics = VisitStatistics([
      visit(1, 0, 0, 110), visit(2, 10, 110, 150), visit(3, 90, 150, 180), visit(4, 500, 500, 510),
    ])
    #expect(statistics.recovery(after: 100, limit: 1) == 50)
    #expect(statistics.recovery(after: 100, limit: 2) == 10)
    #expect(statistics.recovery(after: 100, limit: 3) == 0)
  }

  @Test func `who arrives meanwhile has to be worked off too`() {
    let statistics = VisitStatistics([
      visit(1, 0, 0, 110), visit(2, 10, 110, 150), visit(3, 105, 150, 180), visit(4, 200, 200, 220),
    ])
    #expect(statistics.recovery(after: 100, limit: 1) == 50)
  }

  @Test func `the share that waited counts those that found no permit free`() {
    let statistics = VisitStatistics([
      visit(1, 0, 0, 10), visit(2, 5, 13, 20), visit(3, 30, 31, 40), visit(4, 50, 51, 60),
    ])
    #expect(statistics.waitedPercent(limit: 1) == 25)
    #expect(statistics.waitedPercent(limit: 2) == 0)
    #expect(VisitStatistics([]).waitedPercent(limit: 1) == nil)
  }

  @Test func `without a limit the hand-off is what the harness takes`() {
    let statistics = VisitStatistics([
      visit(1, 0, 1, 10), visit(2, 12, 13, 20), visit(3, 21, 26, 30),
    ])
    #expect(statistics.handOffs(limit: nil) == [3, 6])
  }

  @Test(arguments: 1...20)
  func `how often each was overtaken agrees with looking at every pair`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let visits = (1...60).map { number -> StampedVisit in
      let arrival = Int64.random(in: 0..<100, using: &generator)
      let admission = arrival + Int64.random(in: 0..<80, using: &generator)
      return visit(number, arrival, admission, admission + 5)
    }
    let expected = visits.map { one in
      Int64(
        visits.count { other in
          other.arrival > one.arrival + 3 && (other.admission ?? 0) < (one.admission ?? 0)
        }
      )
    }
    #expect(VisitStatistics(visits).timesOvertaken(margin: 3).sorted() == expected.sorted())
  }

  @Test func `with two permits the third admission needs the first departure`() {
    let statistics = VisitStatistics([
      visit(1, 0, 0, 10), visit(2, 0, 1, 50), visit(3, 2, 14, 60), visit(4, 3, 55, 70),
    ])
    #expect(statistics.handOffs(limit: 2) == [4, 5])
  }

  @Test func `a visit is overtaken when one that clearly came later was admitted before`() {
    let statistics = VisitStatistics([
      visit(1, 0, 9_000, 9_500), visit(2, 500, 8_000, 9_400), visit(3, 5_000, 7_000, 9_300),
    ])
    #expect(statistics.overtaken(margin: 1_000).map(\.number) == [1, 2])
    #expect(statistics.overtaken(margin: 5_000).isEmpty)
  }
}

@Suite(.watched) struct `A trial report` {
  @Test func `a distribution becomes its mean, percentiles and a histogram`() throws {
    var report = TrialReport()
    report.add(.waiting, of: (1...1_000).map(Int64.init))
    func value(_ stat: String) -> Double? { report.measures.first { $0.stat == stat }?.value }
    #expect(value("mean") == 500.5)
    #expect(isClose(try #require(value("p50")), 500, within: 0.01))
    #expect(isClose(try #require(value("p99")), 990, within: 0.01))
    let histogram = try #require(report.histograms.first)
    #expect(histogram.counts.reduce(0, +) == 1_000)
  }

  @Test func `what is not a number is left out rather than written as zero`() {
    var report = TrialReport()
    report.add(.waiting, "mean", nil)
    report.add(.waiting, "mean", .infinity)
    report.add(.waiting, of: [])
    #expect(report.measures.isEmpty)
  }

  private func report(_ cell: Cell, _ mechanism: String, keepsStamps: Bool = false) async throws
    -> TrialReport
  {
    let trial = try Trial(
      TrialRequest(
        cell: cell,
        mechanism: mechanism,
        seed: 1,
        budget: 1_000_000,
        keepsStamps: keepsStamps
      )
    )
    let workload = try #require(BenchWorkloads.named(cell.workload))
    return await Task.detached {
      var report = TrialReport()
      await workload.measure(trial, into: &report)
      return report
    }.value
  }

  @Test func `only who admits first come, first served is held against that oracle`() async throws {
    let cell = try #require(OpenLoop().cells(.ci, limits: nil).first)
    for (mechanism, isCompared) in [("limiter", true), ("gcd-semaphore", false)] {
      let measures = try await report(cell, mechanism).measures
      #expect(measures.contains { $0.metric == Metric.oracleWait.id } == isCompared)
      #expect(measures.contains { $0.metric == Metric.residualWait.id } == isCompared)
      #expect(measures.contains { $0.metric == Metric.stretch.id })
      #expect(measures.contains { $0.metric == Metric.waited.id })
    }
  }

  @Test func `the recursion computed again from the stamps is the trial's own`() async throws {
    let cell = try #require(OpenLoop().cells(.ci, limits: nil).first)
    let report = try await report(cell, "limiter", keepsStamps: true)
    let stamps = try #require(report.stamps)
    let waits = FCFSRecursion.waits(
      arrivals: stamps.map(\.intended),
      services: stamps.map { $0.departure - $0.admission },
      servers: try #require(cell.limit)
    )
    let counted = waits.dropFirst(PathLength(cell, budget: 1_000_000).warmUp)
    let oracle = try #require(report.measures.first { $0.metric == Metric.oracleWait.id })
    #expect(oracle.count == counted.count)
    #expect(isClose(oracle.value, mean(counted.map(Double.init)) ?? -1, within: 1e-8))

    let visits = stamps.suffix(counted.count)
    let perfect = zip(visits, counted).map { Double($0.departure - $0.admission + $1) }
    let measured = visits.map { Double($0.departure - $0.intended) }
    let stretch = try #require(report.measures.first { $0.metric == Metric.stretch.id })
    let expected = try #require(mean(measured)) / #require(mean(perfect))
    #expect(isClose(stretch.value, expected, within: 1e-8))
  }

  @Test func `the server sees no more requests than the limit, and each image once`() async throws {
    let cell = try #require(ImageCaching(.repeated).cells(.ci, limits: [2]).first)
    for mechanism in ["limiter", "url-session"] {
      let report = try await report(cell, mechanism)
      func value(_ metric: Metric) -> Double? {
        report.measures.first { $0.metric == metric.id }?.value
      }
      #expect((1...2).contains(try #require(value(.peakRequests))), "\(mechanism)")
      #expect(value(.duplicates) == 0)
      #expect(report.violations.isEmpty)
    }
  }

  @Test func `a mechanism whose waiting requests hold threads is given none`() throws {
    let workloads: [any BenchWorkload] = [
      ImageCaching(.distinct), FileDownloads(), DatabaseQueries(.read),
    ]
    for workload in workloads {
      let plan = try Plan(Selection(filter: workload.id))
      let names = Set(plan.entries.flatMap { $0.contestants.compactMap(\.mechanism) })
      #expect(names.isSuperset(of: ["limiter", "operation-queue"]))
      #expect(names.contains("url-session") == (workload.id != "sqlite-read"))
      #expect(!names.contains("gcd-semaphore"))
    }
  }

  @Test func `contestants that share a process have a figure each in every round`() async throws {
    let workload = Contended(body: .yield)
    let cell = try #require(workload.cells(.ci, limits: nil).first)
    let trials = try ["limiter", "pool", "limiter"].map { mechanism in
      try Trial(TrialRequest(cell: cell, mechanism: mechanism, seed: 1, budget: 1, round: 200_000))
    }
    let rounds = PairedRounds(workload: workload, request: trials[0].request, rounds: 5)
    let reports = await Task.detached { await rounds.measure(trials) }.value
    #expect(reports.count == trials.count)
    for report in reports {
      #expect(report.violations.isEmpty)
      let times = report.measures.filter { $0.metric == Metric.timePerOperation.id }
      #expect(times.map(\.repetition) == [1, 2, 3, 4, 5])
      #expect(report.measures.contains { $0.metric == Metric.peakRunning.id && $0.value <= 4 })
    }
  }

  @Test func `a figure of rounds is theirs alone, and of a maximum the end counts too`()
    async throws
  {
    let cell = try #require(Fairness().cells(.ci, limits: nil).first)
    let request = TrialRequest(cell: cell, mechanism: "pool", seed: 1, budget: 1, round: 200_000)
    let trial = try Trial(request)
    let rounds = PairedRounds(workload: Fairness(), request: request, rounds: 3)
    let report = try #require(await Task.detached { await rounds.measure([trial]) }.value.first)
    func repetitions(_ metric: Metric, _ stat: String) -> [Int?] {
      report.measures.filter { $0.metric == metric.id && $0.stat == stat }.map(\.repetition)
    }
    #expect(repetitions(.waiting, "p99") == [1, 2, 3])
    #expect(repetitions(.waiting, "mean") == [nil])
    #expect(repetitions(.waited, "mean") == [1, 2, 3])
    #expect(repetitions(.peakRunning, "max") == [1, 2, 3, 4])
    #expect(repetitions(.fairness, "mean") == [nil])
  }

  /// What takes seconds of a debug build; `.ci/run bench` takes all of them, optimised.
  private static let slow: Set = [
    "across-priorities", "cancel-head", "cancel-tail", "contended-yield", "fairness", "files",
    "hand-off",
    "image-cache-distinct", "image-cache-distinct-warm", "image-cache-repeated-warm", "sqlite-read",
  ]

  @Test(arguments: BenchWorkloads.all.map(\.id).filter { longTestsRun || !slow.contains($0) })
  func `every workload runs on each mechanism it admits and finds no broken promise`(
    id: String
  ) async throws {
    let workload = try #require(BenchWorkloads.named(id))
    let cell = try #require(
      [Scale.ci, .quick, .standard].flatMap { workload.cells($0, limits: nil) }.first
    )
    var contestants = [Contestant(mechanism: nil)]
    if workload.measuresMechanisms {
      contestants = Catalogue.mechanisms.filter { workload.admits($0.profile, to: cell) }
        .map { Contestant(mechanism: $0.id) }
      contestants += workload.guests.filter { !$0.hasPrefix("specimen") }
        .map { Contestant(mechanism: $0) }
      if workload.comparesExecutors {
        contestants.append(Contestant(mechanism: contestants.last?.mechanism, executor: .lanes))
      }
    }
    for contestant in contestants {
      let mechanism = contestant.mechanism
      let trial = try Trial(
        TrialRequest(
          cell: cell,
          mechanism: mechanism,
          seed: 1,
          budget: 1_000_000,
          executor: contestant.executor
        )
      )
      let report = await Task.detached {
        var report = TrialReport()
        await workload.measure(trial, into: &report)
        return report
      }.value
      #expect(report.violations.isEmpty, "\(id) \(mechanism ?? "")")
      #expect(!report.measures.isEmpty, "\(id) \(mechanism ?? "")")
      for measure in report.measures { #expect(Metric.named[measure.metric] != nil) }
      // In so short a trial it may be that nobody had to wait.
      let nobodyWaited = report.measures.contains { $0.metric == Metric.waited.id && $0.value == 0 }
      if let headline = workload.headline, !(workload.needsWaiting && nobodyWaited) {
        #expect(
          report.measures.contains {
            $0.metric == headline.metric.id && $0.stat == headline.stat
          },
          "\(id) \(mechanism ?? "")"
        )
      }
    }
  }
}
