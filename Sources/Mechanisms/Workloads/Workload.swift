internal import Basics

/// What a run's tasks are like: the recipe from which a seed makes the same tasks every time.
package struct Workload: Hashable, Sendable {
  /// Which tasks are cancelled, and when.
  package enum Cancellations: Hashable, Sendable {
    /// This share of the tasks, in percent, each at an instant drawn uniformly from twice the mean
    /// service time that follows its arrival.
    case share(percent: Double)
    /// These tasks, by number, each so many nanoseconds after the start.
    case chosen([Int: Int64])
  }

  /// How urgent the tasks are.
  package enum Priorities: Hashable, Sendable {
    case all(ServicePriority)
    /// Low, medium and high, drawn with equal chances.
    case mixed

    /// The word that people write for it.
    package var word: String {
      switch self {
      case .all(let priority): priority.rawValue
      case .mixed: "mixed"
      }
    }
  }

  /// Which tasks wait for which others' end.
  package enum Dependencies: String, Hashable, CaseIterable, Sendable {
    case none
    /// Each waits for the one before it.
    case chain
    /// All the others wait for the first.
    case first
  }

  package var count: Int
  package var service: ServiceTime
  package var kind: ServiceKind
  package var arrivals: Arrivals
  package var cancellations: Cancellations
  /// The share of tasks whose body throws once it has served, in percent.
  package var failPercent: Double
  package var priorities: Priorities
  package var dependencies: Dependencies
  package var seed: UInt64

  /// Whether each task is to have the queue to itself.
  package var areBarriers = false

  package init(
    count: Int,
    service: ServiceTime,
    kind: ServiceKind = .suspend,
    arrivals: Arrivals = .together,
    cancellations: Cancellations = .share(percent: 0),
    failPercent: Double = 0,
    priorities: Priorities = .all(.medium),
    dependencies: Dependencies = .none,
    seed: UInt64 = 1
  ) {
    self.count = count
    self.service = service
    self.kind = kind
    self.arrivals = arrivals
    self.cancellations = cancellations
    self.failPercent = failPercent
    self.priorities = priorities
    self.dependencies = dependencies
    self.seed = seed
  }

  /// Draws the tasks, numbered from `first` in the order of arrival.
  ///
  /// `start` is the instant of the run, in nanoseconds, at which the first may arrive.
  ///
  /// - Complexity: O(count).
  package func tasks(numberedFrom first: Int = 1, startingAt start: Int64 = 0) -> [SimulatedTask] {
    let arrivalTimes = arrivals.times(count: count, seed: seed)
    return arrivalTimes.enumerated().map { index, delay in
      let number = first + index
      let arrival = start + delay
      let length = draw(.service, number) { service.draw(from: &$0) }
      var task = SimulatedTask(
        number: number,
        arrival: arrival,
        service: length,
        kind: kind,
        fails: draw(.failure, number) { $0.nextUnit() * 100 < failPercent },
        cancelAt: cancellation(of: number, arrivingAt: arrival, startingAt: start),
        priority: priority(of: number),
        after: predecessor(of: number, first: first),
        parts: kind == .download ? draw(.parts, number) { Self.parts(of: length, &$0) } : [],
        // Half as many different ones as tasks: some are asked for again, and at the same time.
        item: kind.isReal ? draw(.item, number) { 1 + $0.next(below: (count + 1) / 2) } : 0
      )
      task.isBarrier = areBarriers
      return task
    }
  }

  /// The nanoseconds of service that all tasks together take on average.
  package var expectedWork: Double { Double(count) * service.mean }

  /// The nanoseconds over which tasks arrive at a fixed pace; 0 for other arrivals.
  package var pacedArrivals: Double {
    if case .every(let gap) = arrivals { Double(gap) * Double(max(0, count - 1)) } else { 0 }
  }

  private func draw<Value>(
    _ purpose: RandomPurpose,
    _ number: Int,
    _ body: (inout SplitMix64) -> Value
  ) -> Value {
    var generator = SplitMix64(seed: seed, purpose: purpose, number: number)
    return body(&generator)
  }

  private func cancellation(
    of number: Int,
    arrivingAt arrival: Int64,
    startingAt start: Int64
  ) -> Int64? {
    switch cancellations {
    case .chosen(let times):
      return times[number].map { start + $0 }
    case .share(let percent):
      return draw(.cancellation, number) { generator in
        guard generator.nextUnit() * 100 < percent else { return nil }
        return arrival + Int64((generator.nextUnit() * 2 * service.mean).rounded())
      }
    }
  }

  private func predecessor(of number: Int, first: Int) -> Int? {
    switch dependencies {
    case .none: nil
    case .chain: number > first ? number - 1 : nil
    case .first: number > first ? first : nil
    }
  }

  private func priority(of number: Int) -> ServicePriority {
    switch priorities {
    case .all(let priority): return priority
    case .mixed:
      let levels = ServicePriority.allCases
      return draw(.priority, number) { levels[Int($0.next() % UInt64(levels.count))] }
    }
  }

  /// Cuts a download's service time into its parts: each takes its share of the work, stretched or
  /// shortened by a random pause, and together they take exactly the service time.
  private static func parts(of service: Int64, _ generator: inout SplitMix64) -> [Int64] {
    var before: UInt8 = 0
    let weights = SimulatedTask.progressReports.map { share -> Double in
      defer { before = share }
      return Double(share - before) * (0.5 + generator.nextUnit())
    }
    let total = weights.reduce(0, +)
    var parts = weights.map { Int64((Double(service) * $0 / total).rounded(.down)) }
    parts[parts.count - 1] += service - parts.reduce(0, +)
    return parts
  }
}
