internal import Basics
internal import Experiments
internal import Mechanisms
internal import Rendering

// Workloads that nobody has seen, drawn to reach each design's corner: what an exploration of three
// tasks cannot meet, because it takes a line of forty, or six permits, or amounts that differ.
//
// They run in virtual time, so a seed shows the same again.

/// A workload drawn from a seed, and what is asked of its run.
struct HiddenWorkload: Sendable {
  /// What kind of corner: "a long line".
  var title: String
  var limit: Int
  var workload: Workload
  /// How often a waiting task may be overtaken.
  var overtakings = 0
  /// What comes to the same limiter when all is over, one after the other.
  var later: [Workload] = []

  /// Lines of more than a hundred, behind few permits and behind many.
  static func longLines(_ seed: UInt64) -> [HiddenWorkload] {
    var random = SplitMix64(seed: seed)
    return [1, 2 + random.next(below: 7), 41 + random.next(below: 40)].map { limit in
      HiddenWorkload(
        title: "a long line",
        limit: limit,
        workload: Workload(
          count: 150 + 2 * limit + random.next(below: 60),
          service: .uniform(100_000_000...(1_000_000_000 + Int64(limit) * 20_000_000)),
          arrivals: .every(1_000_000),
          seed: random.next()
        )
      )
    }
  }

  /// The same lines with bodies of which half throw.
  static func throwing(_ seed: UInt64) -> [HiddenWorkload] {
    longLines(seed &+ 1).map { hidden in
      var hidden = hidden
      hidden.title = "bodies that throw"
      hidden.workload.failPercent = 50
      return hidden
    }
  }

  /// The same lines, cancelled in waves: the first, the last and some of those that wait, all of
  /// them, and some that are in service.
  static func waves(_ seed: UInt64) -> [HiddenWorkload] {
    var random = SplitMix64(seed: seed)
    return longLines(seed &+ 2).flatMap { hidden in
      (0..<3).map { kind in
        var times: [Int: Int64] = [:]
        for _ in 0..<3 {
          // Behind the arrival of more than forty, mostly.
          let wave = Int64(20 + random.next(below: 200)) * 1_000_000 + 500_000
          let size = 1 + random.next(below: hidden.workload.count)
          for number in 1...hidden.workload.count where times[number] == nil {
            let isHit =
              switch kind {
              case 0: number <= size
              case 1: number > hidden.workload.count - size
              default: random.next(below: hidden.workload.count) < size
              }
            if isHit { times[number] = wave }
          }
        }
        var hidden = hidden
        hidden.title = "waves of cancellation"
        hidden.workload.cancellations = .chosen(times)
        hidden.workload.failPercent = Double(random.next(below: 3) * 20)
        return hidden
      }
    }
  }

  /// Short lines, of which every part is cancelled: the first, the last, the middle, in either order.
  static func shortLines(_ seed: UInt64) -> [HiddenWorkload] {
    let places = ["first", "second", "third", "fourth", "fifth"]
    return (1...2).flatMap { limit in
      (1...5).flatMap { waiting in
        (1..<1 << waiting).flatMap { part in
          [1, -1].map { order in
            let hit = (0..<waiting).filter { part >> $0 & 1 == 1 }
            let times = hit.map { place in
              (limit + place + 1, Int64(50 + order * 5 * (place + 1)) * 1_000_000)
            }
            return HiddenWorkload(
              title: "a line of \(waiting), of which the "
                + ListText.all((order > 0 ? hit : hit.reversed()).map { places[$0] })
                + " is cancelled".replacing(" is", with: hit.count == 1 ? " is" : " are"),
              limit: limit,
              workload: Workload(
                count: limit + waiting,
                service: .fixed(100_000_000),
                arrivals: .every(1_000_000),
                cancellations: .chosen(Dictionary(uniqueKeysWithValues: times)),
                seed: seed
              )
            )
          }
        }
      }
    }
  }

  /// Every number of permits up to twenty and some beyond, with bodies of which some throw, and lines that come when
  /// others are over.
  static func limits(_ seed: UInt64) -> [HiddenWorkload] {
    var random = SplitMix64(seed: seed)
    return (Array(1...20) + [24, 32, 33, 64, 100]).map { limit in
      func line(_ waiting: Int) -> Workload {
        Workload(
          count: limit + waiting,
          service: .uniform(100_000_000...300_000_000),
          arrivals: .every(1_000_000),
          failPercent: Double(random.next(below: 3) * 20),
          seed: random.next()
        )
      }
      return HiddenWorkload(
        title: "line after line",
        limit: limit,
        workload: line(2 + random.next(below: 8)),
        later: [line(1 + random.next(below: 3)), line(3 + random.next(below: 3))]
      )
    }
  }

  /// Runs it, and then as many further tasks as there are permits, which must be in service together.
  func run(on entry: CatalogueEntry) async -> Run {
    let run = VirtualRun(Experiment(mechanism: entry, limit: limit, workload: workload))
    run.submit(workload)
    guard await run.idle() == .finished else { return await run.finish() }
    for workload in later {
      run.submit(workload)
      guard await run.idle() == .finished else { return await run.finish() }
    }
    run.submit(Workload(count: limit, service: .fixed(1_000_000_000)))
    return await run.finish()
  }

  /// What the run shows that must not be, the first of each kind in a line.
  func faults(in run: Run) -> [String] {
    let lives = TaskLife.all(in: run.events, tasks: run.plan.count)
    let count = run.plan.count
    var faults = run.summary.violations
    if let reason = run.stoppedBecause { faults.append(reason) }
    func first(_ fault: (SimulatedTask, TaskLife) -> String?) {
      faults += zip(run.plan, lives).lazy.compactMap(fault).prefix(1)
    }
    first { task, life in
      guard life.admitted == nil, task.cancelAt == nil, life.ended != nil else { return nil }
      let told = life.end == .cancelledWhileWaiting ? "told that it was cancelled" : "turned away"
      return "\(life.task.label(amongst: count)) was never served: nobody cancelled it, and it was "
        + "\(told) at \(DurationText.text(life.ended ?? 0))"
    }
    first { task, life in
      guard let cancelled = task.cancelAt, let arrived = life.arrived, arrived < cancelled else {
        return nil
      }
      let name = life.task.label(amongst: count)
      if let admitted = life.admitted, admitted > cancelled {
        return "\(name) was cancelled at \(DurationText.text(cancelled)) while it waited, and was "
          + "admitted \(DurationText.text(admitted - cancelled)) later"
      }
      guard life.end == .cancelledWhileWaiting, let ended = life.ended, ended > cancelled else {
        return nil
      }
      return "\(name) was cancelled at \(DurationText.text(cancelled)) while it waited, and left "
        + "only \(DurationText.text(ended - cancelled)) later"
    }
    if let fault = overtaking(lives) { faults.append(fault) }
    if let fault = idlePermit(run.events, lives) { faults.append(fault) }
    let last = lives.suffix(limit)
    let isProbed = count == workload.count + later.reduce(0) { $0 + $1.count } + limit
    if isProbed, faults.isEmpty, let late = last.first(where: { $0.admitted != $0.arrived }) {
      faults.append(
        "a permit is lost: with everybody gone, \(late.task.label(amongst: count)) had to wait "
          + "though fewer than \(limit) were in service"
      )
    }
    return faults
  }

  /// Who was overtaken more often than is allowed: by tasks that arrived later and were admitted earlier, by the
  /// clock, so that steps of one instant are in no order.
  private func overtaking(_ lives: [TaskLife]) -> String? {
    for (index, life) in lives.enumerated() {
      guard let arrived = life.arrived, life.end != .cancelledWhileWaiting else { continue }
      let left = life.admitted ?? .max
      let others = lives[(index + 1)...].filter { other in
        guard let came = other.arrived, let went = other.admitted else { return false }
        return came > arrived && went < left
      }
      guard others.count > overtakings else { continue }
      let names = others.map { $0.task.label(amongst: lives.count) }
      let name = life.task.label(amongst: lives.count)
      return "\(name), which came at \(DurationText.text(arrived)), was overtaken by "
        + "\(ListText.some(names)), which came later"
    }
    return nil
  }

  /// When a permit lay idle while somebody waited, for longer than an instant.
  private func idlePermit(_ events: [TraceEvent], _ lives: [TaskLife]) -> String? {
    var running = 0
    var waiting: Set<TaskID> = []
    for (index, event) in events.enumerated() where event.task > .run {
      switch event.kind {
      case .arrived: waiting.insert(event.task)
      case .admitted:
        waiting.remove(event.task)
        running += 1
      case .finished, .failed, .cancelled(.running): running -= 1
      case .cancelled(.waiting), .rejected: waiting.remove(event.task)
      case .blocked, .unblocked, .answered, .error, .holds, .progress, .suspended, .resumed, .limit:
        continue
      }
      let next = events.indices.contains(index + 1) ? events[index + 1].time : event.time
      guard next > event.time, running < limit, let one = waiting.min() else { continue }
      return "\(one.label(amongst: lives.count)) waited from \(DurationText.text(event.time)) to "
        + "\(DurationText.text(next)) though only \(running) of \(limit) permits were in use"
    }
    return nil
  }
}

extension HiddenWorkload {
  /// The same of withdrawals: a task's milliseconds of service are the amount that it withdraws.
  static func withdrawals(_ seed: UInt64) -> [HiddenWorkload] {
    var random = SplitMix64(seed: seed)
    let arrivals: [Arrivals] = [.together, .poisson(perSecond: 1_000), .every(2_000_000_000)]
    return (0..<30).map { number in
      HiddenWorkload(
        title: "unequal amounts",
        limit: 1 + random.next(below: 12),
        workload: Workload(
          count: 3 + random.next(below: 40),
          service: .uniform(1_000_000...(50_000_000 + Int64(random.next(below: 200)) * 1_000_000)),
          arrivals: arrivals[number % arrivals.count],
          seed: random.next()
        )
      )
    }
  }

  /// What a run of withdrawals shows that must not be.
  func accountFaults(in run: Run) -> [String] {
    let lives = TaskLife.all(in: run.events, tasks: run.plan.count)
    let balance = LearnerAccountLedger.balance(limit: limit)
    let amounts = run.plan.map(LearnerAccountLedger.amount)
    let paid = zip(amounts, lives).filter { $1.admitted != nil }.map(\.0)
    let left = balance - paid.reduce(0, +)
    if let reason = run.stoppedBecause { return [reason] }
    if left < 0 {
      return [
        "overdrawn: \(ListText.some(paid.map(String.init))) were paid out of \(balance), "
          + "\(-left) too much"
      ]
    }
    let refused = zip(amounts, lives).first { $1.end == .rejected && $0 <= left }
    return refused.map { amount, life in
      [
        "\(life.task.label(amongst: run.plan.count)) was refused \(amount), though \(left) of "
          + "\(balance) are left in the end"
      ]
    } ?? []
  }
}
