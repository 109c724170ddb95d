internal import Mechanisms

/// One run of an open loop, with everything the oracle needs.
struct OpenLoopRun {
  let tasks: [SimulatedTask]
  let log: StampLog
  let generator: Generator.Outcome
  /// How many of the first tasks do not count.
  private let warmUp: Int
  private let before: ProcessMetrics
  private let after: ProcessMetrics

  static func measure(
    _ tasks: [SimulatedTask],
    warmUp: Int = 0,
    on mechanism: any Mechanism
  ) async -> OpenLoopRun {
    let log = StampLog(capacity: tasks.count, measuresOccupancy: true)
    let world = WallWorld()
    let before = ProcessMetrics.now()
    let outcome = await Generator(tasks: tasks).run(on: mechanism, tracer: log, world: world)
    return OpenLoopRun(
      tasks: tasks,
      log: log,
      generator: outcome,
      warmUp: warmUp,
      before: before,
      after: ProcessMetrics.now()
    )
  }

  /// The visits with the arrivals that were intended.
  var intended: [StampedVisit] {
    log.visits().map { visit in
      var visit = visit
      visit.arrival = generator.start + tasks[visit.number - 1].arrival
      return visit
    }
  }

  /// The stamps of those that count, with what came before them.
  var stamps: [Stamps] {
    let arrivals = log.visits()
    return zip(intended, arrivals).compactMap { intended, recorded in
      guard let admission = recorded.admission, let departure = recorded.departure
      else { return nil }
      return Stamps(
        intended: intended.arrival - generator.start,
        arrival: recorded.arrival - generator.start,
        admission: admission - generator.start,
        departure: departure - generator.start
      )
    }
  }

  private func counting(_ visits: [StampedVisit]) -> VisitStatistics {
    VisitStatistics(visits.filter { $0.number > warmUp })
  }

  func report(_ trial: Trial, _ mechanism: any Mechanism, into report: inout TrialReport) {
    report.serviceKind = trial.kind.rawValue
    let statistics = counting(intended)
    let visits = VisitStatistics(log.visits())
    let recorded = counting(visits.visits)
    var all = TrialReport()
    all.add(.waiting, of: statistics.waits)
    all.add(.response, of: statistics.responses)
    all.add(.uncorrectedResponse, of: recorded.responses, inFull: false)
    all.add(.service, of: statistics.services, inFull: false)
    all.add(.lateness, of: generator.lateness, inFull: false)
    if let limit = trial.promisedLimit {
      all.add(.handOff, of: visits.handOffs(limit: limit), inFull: false)
    }
    // The rest of what the distributions say is in the histograms.
    report.measures += all.measures.filter { ["mean", "p99"].contains($0.stat) }
    report.histograms += all.histograms
    report.add(.offeredRate, "mean", offeredRate, count: tasks.count)
    report.addUsage(
      since: before,
      until: after,
      operations: tasks.count,
      harness: generator.processorTime
    )
    report.add(.peakPresent, "max", log.presence.map { Double($0.peak) })
    report.check(log, mechanism, limit: trial.promisedLimit, expected: tasks.count)

    if let law = littlesLaw(visits), let error = law.errorPercent {
      report.add(.littleError, "mean", error, count: tasks.count)
      if error > 1 {
        report.violations.append(
          "Little's law is off by \((error * 100).rounded() / 100) %: the counters do not agree"
        )
      }
    }
  }

  /// Compares the mean response and the mean wait with what a perfect limiter of `servers` would have given.
  ///
  /// The response of every mechanism, one of another order or without a limit too. What is beyond the perfect
  /// limiter's wait is a mechanism's own only if it keeps the same order; where nothing limits, no task should wait.
  func reportTheory(servers: Int, _ profile: MechanismProfile, into report: inout TrialReport) {
    let visits = intended.filter { $0.admission != nil && $0.departure != nil }
    let counted = counting(visits)
    let services = VisitStatistics(visits).services
    guard let wait = mean(counted.waits.map(Double.init)),
      let service = mean(services.map(Double.init))
    else { return }
    let oracle = FCFSRecursion.waits(
      arrivals: visits.map(\.arrival),
      services: services,
      servers: servers
    )
    // From the first arrival on, because those that count find the queue that the others left.
    let predicted =
      mean(zip(visits, oracle).filter { $0.0.number > warmUp }.map { Double($0.1) }) ?? 0
    let response = mean(counted.responses.map(Double.init))
    let perfect = mean(counted.services.map(Double.init)).map { $0 + predicted }
    if let response, let perfect, perfect > 0 {
      report.add(.stretch, "mean", response / perfect, count: counted.visits.count)
    }
    guard profile.order == .fifo else { return }
    if profile.limit == .none {
      report.add(.residualWait, "mean", wait, count: counted.visits.count)
      return
    }
    report.add(.oracleWait, "mean", predicted, count: counted.visits.count)
    report.add(.residualWait, "mean", wait - predicted, count: counted.visits.count)
    if let rate = offeredRate {
      report.achievedUtilisation = rate / 1e9 * service / Double(servers)
    }
  }

  /// Intended arrivals a second.
  private var offeredRate: Double? {
    guard let last = tasks.last, tasks.count > 1, last.arrival > 0 else { return nil }
    return Double(tasks.count - 1) * 1e9 / Double(last.arrival - tasks[0].arrival)
  }

  private func littlesLaw(_ statistics: VisitStatistics) -> LittlesLaw? {
    guard let presence = log.presence, let makespan = statistics.makespan, makespan > 0,
      let response = mean(statistics.responses.map(Double.init))
    else { return nil }
    return LittlesLaw(
      meanPresent: presence.area / Double(makespan),
      arrivalRate: Double(statistics.visits.count) / Double(makespan),
      meanResponse: response
    )
  }
}
