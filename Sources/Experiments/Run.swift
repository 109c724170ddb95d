package import Tracing
package import WorkStealing
package import Workloads

/// Which clock a run was timed with.
package enum RunClock: String, Hashable, Sendable {
  case virtual
  case real
}

/// Everything one run left behind: what was asked, what was planned, what happened.
///
/// Every view, check, lesson and export is a pure function of this value.
package struct Run: Sendable {
  /// The mechanism's identifier.
  package var mechanism: String
  /// The limit at the start, or 1 for the ordered queues, or nil for `none`.
  package var limit: Int?
  package var seed: UInt64
  package var clock: RunClock
  /// How many workers the virtual pool or the lanes had; nil on the global pool.
  package var workers: Int?
  /// What the workers of the lanes did; nil elsewhere.
  package var lanes: WorkStealingExecutor.Statistics?
  /// What the mechanism promised in this run.
  package var facts: RunFacts
  /// The tasks, by number from 1.
  package var plan: [SimulatedTask]
  /// In the order of time.
  package var events: [TraceEvent]
  /// When the mechanism itself said that all was done, in nanoseconds, for those that say so.
  package var completion: Int64?
  /// Permits still in use after the last task ended, where the mechanism can tell.
  ///
  /// Anything but 0 is a leak.
  package var permitsLeft: Int?
  /// Why the run could not end by itself, as a line for people: a deadlock, an interrupt.
  package var stoppedBecause: String?

  package init(
    mechanism: String,
    limit: Int?,
    seed: UInt64,
    clock: RunClock,
    workers: Int?,
    lanes: WorkStealingExecutor.Statistics? = nil,
    facts: RunFacts,
    plan: [SimulatedTask],
    events: [TraceEvent],
    completion: Int64? = nil,
    permitsLeft: Int? = nil,
    stoppedBecause: String? = nil
  ) {
    self.mechanism = mechanism
    self.limit = limit
    self.seed = seed
    self.clock = clock
    self.workers = workers
    self.lanes = lanes
    self.facts = facts
    self.plan = plan
    self.events = events
    self.completion = completion
    self.permitsLeft = permitsLeft
    self.stoppedBecause = stoppedBecause
  }
}
