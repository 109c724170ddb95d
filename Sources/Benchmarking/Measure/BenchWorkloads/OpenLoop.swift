internal import Foundation
package import Mechanisms

/// Tasks that arrive by a clock, as requests do; measures how long they wait.
package struct OpenLoop: BenchWorkload {
  package let id = "open-loop"
  package let question =
    "At this utilisation, how long does a task wait, and how much of that is the limiter's doing?"
  package let drawsPaths = true
  /// Not the response itself: at nine tenths of what the limit can do, a body that takes a little longer makes all
  /// behind it wait, and that luck is larger than any mechanism's doing.
  package let headline: Headline? = Headline(.stretch, "mean")

  /// With six blocks half of what was undecided in one run was decided in the next.
  package let share = 1.75

  package init() {}

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    func cell(
      _ limit: Int,
      _ utilisation: Double,
      _ distribution: ServiceShape = .exponential,
      kind: ServiceKind? = nil
    ) -> Cell {
      Cell(
        id,
        limit: limit,
        loop: .open,
        arrivals: "poisson",
        serviceKind: kind?.rawValue,
        serviceDistribution: distribution.rawValue,
        service: kind == nil ? Self.meanService : Self.longMeanService,
        utilisation: utilisation
      )
    }
    func grid(_ limits: [Int], _ utilisations: [Double], _ shapes: [ServiceShape]) -> [Cell] {
      limits.flatMap { limit in
        shapes.flatMap { shape in utilisations.map { cell(limit, $0, shape) } }
      }
    }
    switch scale {
    case .ci: return grid(limits ?? [2], [0.5], [.exponential])
    case .quick: return grid(limits ?? [2], [0.8], [.exponential])
    case .standard:
      return grid(limits ?? [2], [0.5, 0.8, 0.9], [.exponential])
    case .full:
      return grid(limits ?? [1, 2, 8, 64], [0.5, 0.7, 0.8, 0.9, 0.95], [.exponential, .fixed])
        + (limits ?? [1, 2, 8]).flatMap { limit in
          ServiceKind.openLoopKinds.map { cell(limit, 0.8, kind: $0) }
        }
    }
  }

  /// Nanoseconds.
  ///
  /// Sleeps overrun by up to a tenth of a millisecond and threads wake up tens of
  /// microseconds late, so shorter service would measure the timer and the kernel.
  static let meanService: Int64 = 2_000_000

  /// Nanoseconds, where every mechanism is asked for one kind of service.
  ///
  /// Bodies that compete for the cores are slowed by each other; and another time tells these rows from
  /// those in which each mechanism has its own kind.
  static let longMeanService: Int64 = 6_000_000

  package func admits(_ mechanism: MechanismProfile, to cell: Cell) -> Bool {
    guard mechanism.limit != .one || cell.limit == 1 else { return false }
    // Bodies that suspend overlap there, so there is no limit to compare.
    if mechanism.order == .fifoToFirstSuspension { return cell.serviceKind.isHolding }
    // On Linux the waiting blocks would hold the very threads that suspended bodies need to go on.
    return mechanism.waiting != .blocksThread || cell.serviceKind != ServiceKind.suspend.rawValue
  }

  package func expectedSeconds(_ cell: Cell, scale: Scale) -> Double {
    // The pool of threads may have to grow first.
    let ramp = (cell.limit ?? 1) > 4 && cell.serviceKind != "suspend" ? 1.5 : 0.0
    let length = PathLength(cell, budget: scale.budget)
    let rate =
      (cell.utilisation ?? 0.5) * Double(cell.limit ?? 1) * 1e9
      / Double(cell.service ?? Self.meanService)
    return 0.08 + ramp + Double(length.warmUp + length.counted) / rate
  }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    let cell = trial.cell
    let meanService = cell.service ?? Self.meanService
    let rate = (cell.utilisation ?? 0.5) * Double(trial.limit) * 1e9 / Double(meanService)
    let length = PathLength(cell, budget: trial.request.budget)
    let workload = Workload(
      count: length.warmUp + length.counted,
      service: ServiceShape(rawValue: cell.serviceDistribution ?? "").service(meanService),
      kind: trial.kind,
      arrivals: .poisson(perSecond: rate),
      seed: trial.request.seed
    )
    let mechanism = trial.makeMechanism()
    await warmUp(mechanism, trial, into: &report)
    let run = await OpenLoopRun.measure(workload.tasks(), warmUp: length.warmUp, on: mechanism)
    run.report(trial, mechanism, into: &report)
    run.reportTheory(servers: trial.limit, trial.profile, into: &report)
    if trial.request.keepsStamps { report.stamps = run.stamps }
  }

  private func warmUp(
    _ mechanism: any Mechanism,
    _ trial: Trial,
    into report: inout TrialReport
  ) async {
    if trial.profile.clock == .real, trial.kind == .block {
      let ramp = await ThreadRamp.grow(mechanism, to: trial.limit)
      report.add(.threadRamp, "total", ramp.map(Double.init))
    }
    let loop = ClosedLoop(workers: 4, visitsEach: 50, kind: trial.kind, world: EmptyWorld())
    _ = await loop.run(on: mechanism, for: 5_000_000)
  }
}

extension Cell {
  /// The mean wait that Erlang's formula gives for the cell's own utilisation and service, in nanoseconds: Erlang C,
  /// with Allen and Cunneen's factor; nil where it has none.
  package var erlangWait: Double? {
    guard loop == .open, let limit, let utilisation, let service else { return nil }
    let shape = ServiceShape(rawValue: serviceDistribution ?? "")
    return ErlangQueue(servers: limit, utilisation: utilisation)
      .meanWait(squaredVariation: shape.service(service).squaredVariation)
      .map { $0 * Double(service) }
  }
}

/// How many arrivals a trial draws.
package struct PathLength: Hashable, Sendable {
  /// Those that come first and do not count: an empty system is no steady state.
  package var warmUp: Int
  package var counted: Int

  /// The nearer the utilisation is to 1, the longer a queue remembers, the more it takes.
  package init(_ cell: Cell, budget: Int64) {
    let distance = 1 - (cell.utilisation ?? 0.5)
    var (warmUp, counted) =
      distance > 0.3
      ? (25, 120)
      : distance > 0.15
        ? (75, 200)
        : distance > 0.08
          ? (150, 300)
          : (600, 2_000)
    // Fixed service varies half as much.
    if ServiceShape(rawValue: cell.serviceDistribution ?? "") == .fixed { counted /= 2 }
    let scale = min(2, Double(budget) / Double(Scale.standard.budget))
    self.warmUp = max(10, Int(Double(warmUp) * scale))
    self.counted = max(50, Int(Double(counted) * scale))
  }
}

/// The shapes of service time that the open loop knows.
package enum ServiceShape: String {
  case exponential
  case fixed

  package init(rawValue: String) { self = rawValue == "fixed" ? .fixed : .exponential }

  func service(_ mean: Int64) -> ServiceTime {
    switch self {
    case .exponential: .exponential(mean: mean)
    case .fixed: .fixed(mean)
    }
  }
}

extension ServiceKind {
  static let openLoopKinds: [ServiceKind] = [.suspend, .block, .spin]
}

extension String? {
  /// Whether a cell asks for service that holds its thread.
  fileprivate var isHolding: Bool { self == "block" || self == "spin" }
}
