/// The figures of one run, all derived from its events.
package struct RunSummary: Hashable, Sendable {
  /// First arrival to last end, in nanoseconds; of a run under way, to now: what has passed so far.
  package var makespan: Int64
  /// The largest number of tasks in service at once.
  package var peakRunning: Int
  /// The limit in force at that moment; nil where there is none.
  package var limitAtPeak: Int?
  /// Whether as many were in service, at some moment, as the limit of that moment allowed.
  package var reachedLimit: Bool
  /// The limit over time; without steps where there is none.
  package var limit: StepFunction
  /// The largest number that waited at once for longer than an instant.
  package var peakWaiting: Int
  /// For how many nanoseconds somebody waited although fewer were in service than the limit allowed.
  package var waitedBesideRoom: Int64
  /// Finished tasks per second of makespan; 0 where the makespan is.
  package var throughput: Double
  /// Arrival to admission, of the tasks that were admitted; of a run under way also arrival to now, of
  /// those that still wait.
  package var waiting: Percentiles
  /// Admission to departure, of the tasks that were admitted and have departed; of a run under way also
  /// admission to now, of those in service.
  package var service: Percentiles
  /// Arrival to departure, of the same; of a run under way also arrival to now, of those that wait or are
  /// in service.
  package var response: Percentiles
  /// The largest number of workers held at once, by blocked tasks and by tasks whose service holds
  /// its worker; where no worker is ever held, the number of different workers seen.
  package var threadsPeak: Int
  /// The largest number of workers held at once by tasks that waited.
  package var blockedPeak: Int
  /// The number of admissions that overtook an earlier arrival still waiting; see `ArrivalOrder`.
  package var fifoInversions: Int
  /// The number of those that no late start of a body explains.
  package var orderBreaks: Int
  package var finished: Int
  package var failed: Int
  package var cancelledWhileWaiting: Int
  package var cancelledWhileRunning: Int
  package var rejected: Int
  /// The number of admissions above the limit.
  package var overAdmissions: Int
  /// How the run came to its end, or that it has not.
  package enum Ending: Hashable, Sendable {
    case byItself
    case stopped
    /// The run is under way, and this is what has happened by then.
    case notYet(now: Int64)
  }

  package var ending: Ending
  /// The moment of a run under way; nil of one that has ended.
  package var now: Int64? { ending.now }
  /// How many still wait for a permit.
  package var stillWaiting: Int
  /// How many are in service.
  package var inService: Int
  /// The tasks that arrived and never ended.
  package var unended: [TaskID]
  /// What the work of some tasks failed of, where that was not asked for: the commonest first.
  package var errors: [WorkError]
  /// One line for each kind of rule broken; empty for a run that is all right.
  package var violations: [String]

  package var cancelled: Int { cancelledWhileWaiting + cancelledWhileRunning }

  /// Reads the whole log, which is in the order of time.
  ///
  /// `permitsLeft` is the number of permits still in use after the last end, where the mechanism can
  /// tell.
  ///
  /// - Complexity: O(n log n) for n events.
  package init(
    events: [TraceEvent],
    facts: RunFacts,
    permitsLeft: Int? = nil,
    ending: Ending = .byItself
  ) {
    let lives = TaskLife.all(in: events, tasks: facts.tasks)
    self.init(
      events: events,
      facts: facts,
      lives: lives,
      permitsLeft: permitsLeft,
      ending: ending
    )
  }

  package init(
    events: [TraceEvent],
    facts: RunFacts,
    lives: [TaskLife],
    permitsLeft: Int? = nil,
    ending: Ending = .byItself
  ) {
    let order = ArrivalOrder(
      events: events,
      lives: lives,
      limit: facts.limit,
      withoutPermit: facts.withoutPermit
    )
    let check = LogCheck(
      events: events,
      facts: facts,
      lives: lives,
      order: order,
      ending: ending
    )
    peakRunning = check.peakRunning
    limitAtPeak = check.limitAtPeak ?? facts.limit
    reachedLimit = check.reachedLimit
    limit = StepFunction(limit: facts.limit, in: events)
    peakWaiting = check.peakWaiting
    waitedBesideRoom = check.waitedBesideRoom
    overAdmissions = check.overAdmissions
    self.ending = ending
    unended = check.unended
    violations = check.violations
    // A task that never ended still has its permits, and is reported itself.
    if let permitsLeft, permitsLeft != 0, permitsLeft != check.permitsHeld {
      let lost = permitsLeft - check.permitsHeld
      violations.append(
        "permit-leak: \(lost) permit\(lost == 1 ? "" : "s") still in use after the last task ended"
      )
    }
    fifoInversions = order.inversions
    orderBreaks = order.breaks

    errors = WorkError.all(in: lives)
    let now = ending.now
    waiting = Percentiles(lives.compactMap { $0.waiting(by: now) })
    service = Percentiles(lives.compactMap { $0.service(by: now) })
    response = Percentiles(lives.compactMap { $0.response(by: now) })
    stillWaiting = lives.count(where: \.stillWaits)
    inService = lives.count(where: \.isInService)
    finished = lives.count { $0.end == .finished }
    failed = lives.count { $0.end == .failed }
    cancelledWhileWaiting = lives.count { $0.end == .cancelledWhileWaiting }
    cancelledWhileRunning = lives.count { $0.end == .cancelledWhileRunning }
    rejected = lives.count { $0.end == .rejected }

    let start = lives.lazy.compactMap(\.arrived).min()
    let end = now ?? lives.lazy.compactMap(\.ended).max()
    makespan = if let start, let end { max(0, end - start) } else { 0 }
    throughput = makespan > 0 ? Double(finished) * 1e9 / Double(makespan) : 0
    (threadsPeak, blockedPeak) = Self.peaks(events, facts)
  }

  private static func peaks(
    _ events: [TraceEvent],
    _ facts: RunFacts
  ) -> (threads: Int, blocked: Int) {
    var held = HeldWorkers(facts: facts)
    var peak = 0
    var blocked = 0
    var seen = 0
    for event in events {
      held.note(event)
      peak = max(peak, held.count)
      blocked = max(blocked, held.blockedCount)
      // Workers are numbered from 1 in the order of appearance.
      seen = max(seen, Int(event.worker?.number ?? 0))
    }
    return (peak > 0 ? peak : seen, blocked)
  }
}

extension RunSummary.Ending {
  /// The moment of a run under way.
  var now: Int64? { if case .notYet(let now) = self { now } else { nil } }
}
