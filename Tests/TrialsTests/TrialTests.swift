import Mechanisms
import TestSupport
import Testing
import Tracing
import Trials

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
    #expect(value("max") == 1_000)
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

  @Test(arguments: BenchWorkloads.all.map(\.id))
  func `every workload runs on each mechanism it admits and finds no broken promise`(
    id: String
  ) async throws {
    let workload = try #require(BenchWorkloads.named(id))
    let cell = try #require(
      (workload.cells(.ci, limits: nil) + workload.cells(.standard, limits: nil)).first
    )
    let ids: [String?] =
      workload.measuresMechanisms
      ? Catalogue.mechanisms.filter { workload.admits($0.profile, to: cell) }.map(\.id) : [nil]
    for mechanism in ids {
      let trial = try Trial(
        TrialRequest(cell: cell, mechanism: mechanism, seed: 1, budget: 1_000_000)
      )
      let report = await Task.detached {
        var report = TrialReport()
        await workload.measure(trial, into: &report)
        return report
      }.value
      #expect(report.violations.isEmpty, "\(id) \(mechanism ?? "")")
      #expect(!report.measures.isEmpty, "\(id) \(mechanism ?? "")")
      for measure in report.measures { #expect(Metric.named[measure.metric] != nil) }
      if let headline = workload.headline {
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
