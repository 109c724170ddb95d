internal import Basics
package import Mechanisms

/// Many tasks wait for one permit; some or all of them are cancelled, one after the other.
package struct CancellationStorm: BenchWorkload {
  /// In which order of their arrival waiters are cancelled.
  package enum Order: String, Sendable {
    case head
    case tail
    case random
  }

  private let order: Order

  package init(order: Order) { self.order = order }

  package var id: String { "cancel-\(order.rawValue)" }
  package let headline: Headline? = Headline(.stormTime, "mean")

  package var question: String {
    let from =
      switch order {
      case .head: "from the first to the last"
      case .tail: "from the last to the first"
      case .random: "in random order"
      }
    return "What does cancelling waiting tasks \(from) cost, and does anything leak?"
  }

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    func cell(_ tasks: Int, _ fraction: Double) -> Cell {
      Cell(
        id,
        limit: 1,
        tasks: tasks,
        loop: .closed,
        arrivals: "together",
        cancelFraction: fraction
      )
    }
    switch (scale, order) {
    case (.ci, .random): return [cell(1_000, 1)]
    case (.ci, _): return []
    case (.quick, .random): return [cell(1_000, 1)]
    case (.quick, _): return []
    case (.standard, .random):
      return [cell(1_000, 1), cell(10_000, 1)]
    case (.standard, _): return [cell(10_000, 1)]
    case (.full, _):
      return [1_000, 10_000, 100_000].flatMap { tasks in
        [0, 0.1, 0.5, 0.9, 1].map { cell(tasks, $0) }
      }
    }
  }

  package func admits(_ mechanism: MechanismProfile, to cell: Cell) -> Bool {
    // Of a batch, one entry cannot be cancelled by itself.
    guard mechanism.makesTasksWait, !mechanism.inBatches else { return false }
    // Where cancelled tasks keep their places, more of them show nothing new, and take long.
    return mechanism.cancellation == .leavesAtOnce || (cell.tasks ?? 0) <= 10_000
  }

  /// Who is skipped at its turn has not left the line.
  package func ranks(_ mechanism: MechanismProfile) -> Bool {
    mechanism.cancellation == .leavesAtOnce
  }

  /// A storm is short, and two of them differ by a lot: by who gets which processor.
  package let share = 2.0

  package func expectedSeconds(_ cell: Cell, scale: Scale) -> Double {
    0.05 + Double(cell.tasks ?? 0) * 8e-6
  }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    let count = trial.cell.tasks ?? 1_000
    let mechanism = trial.makeMechanism()
    let room = WaitingRoom(
      mechanism,
      kind: trial.kind,
      executor: trial.executor,
      waiters: count
    )
    let chosen = chosen(of: count, trial)
    let leaves = trial.profile.cancellation == .leavesAtOnce

    let (start, cancelled, released) = await onOwnThread("storm", startsTasks: true) {
      room.occupy()
      let waiters = (0..<count).map { room.admit($0) }
      settle()
      let start = MachineClock.monotonic()
      for index in chosen { waiters[index].cancel() }
      let cancelled = MachineClock.monotonic()
      if leaves { blockUntil { room.endedCount >= chosen.count } }
      let released = MachineClock.monotonic()
      room.release()
      return (start, cancelled, released)
    }

    let visits = room.log.visits()
    let left = max(cancelled, visits.compactMap(\.leave).filter { $0 < released }.max() ?? 0)
    let end = max(released, visits.compactMap { $0.departure ?? $0.leave }.max() ?? 0)
    if leaves, !chosen.isEmpty {
      report.add(
        .leaveTime,
        "mean",
        Double(left - start) / Double(chosen.count),
        count: chosen.count
      )
    }
    // Without the time between the last leave and the release, in which the harness was polling.
    let storm = (left - start) + (end - released)
    report.add(.stormTime, "mean", Double(storm) / Double(count), count: count)
    let cancelledNumbers = Set(chosen.map { $0 + 2 })
    let late = visits.count { cancelledNumbers.contains($0.number) && $0.admission != nil }
    report.add(.lateWakeUps, "total", Double(late), count: chosen.count)
    if late > 0 {
      report.violations.append("\(late) tasks ran although they had been cancelled while waiting")
    }
    report.serviceKind = trial.kind.rawValue
    report.check(room.log, mechanism, limit: trial.promisedLimit, expected: count + 1)
  }

  /// The waiters to cancel, in the order to cancel them.
  private func chosen(of count: Int, _ trial: Trial) -> [Int] {
    let share = Int((Double(count) * (trial.cell.cancelFraction ?? 1)).rounded())
    switch order {
    case .head: return Array(0..<share)
    case .tail: return (0..<count).reversed().prefix(share).map { $0 }
    case .random:
      var generator = SplitMix64(
        seed: trial.request.seed,
        purpose: .cancellation,
        number: count
      )
      return Array((0..<count).shuffled(using: &generator).prefix(share))
    }
  }
}

extension MechanismProfile {
  /// Whether one task in service keeps another out, whatever it does meanwhile.
  var makesTasksWait: Bool { limit != .none && order != .fifoToFirstSuspension }
}
