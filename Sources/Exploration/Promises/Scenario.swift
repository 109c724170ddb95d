/// What is explored: some tasks on fresh state, and what they are promised.
///
/// A schedule begins by calling `make`, which builds everything anew, and then lets the tasks 1 to
/// `tasks` each run the instance's body. The same choices must lead to the same run: no clock, no random
/// numbers, no state that outlives the instance.
package struct Scenario: Sendable {
  /// How many simulated tasks there are.
  package var tasks: Int
  /// How many of them may be in service at once; nil for no limit.
  package var limit: Int?
  /// Whether cancelling any task at any step is among the choices.
  package var cancellable: Bool
  /// How often each task arrives, one visit after the other.
  package var visits = 1
  /// What the limit may become, at any step, once; nil for a limit that stays.
  package var resize: Int?
  /// How often a task may yield in a row, nothing else happening, while others could go on; nil for any
  /// number, and then a retry loop has endless schedules.
  package var fair: Int? = 2
  /// Whether agents may stop inside synchronous code: before each operation on a lock or an atomic of
  /// `ExplorableSynchronization`, and before each call that is taken over.
  package var inside = false
  /// Whether accesses to memory that nothing orders are looked for, where the code is instrumented.
  var looksForRaces = false
  /// How often every task that can run may use up its yields, nothing happening, before it is called a
  /// livelock; nil where only a schedule's length brings up the question.
  var mostIdleRounds: Int? = 20
  /// How many threads the pool has, on which jobs can block each other; nil for as many as it takes.
  var poolWidth: Int?
  /// When the time allowed is over, from when on a long step is not waited for; nil for never.
  var isOverAt: ContinuousClock.Instant?
  /// Judges a schedule at whose end nothing can run, in place of the promises of a limiter.
  ///
  /// A scenario that has it is code of which nothing is known: its tasks report nothing, and what they
  /// do to each other is what counts as something happening.
  var atRest: (@Sendable (ScheduleRun) -> Violation?)?
  /// How the names of functions begin, as the compiler mangles them, whose lines are not told: what stands around
  /// the code under test and below it.
  package var besides: [String] = []

  /// What stands around an answer to an exercise, and below it: who gave it is told its own lines and none of ours.
  package static let aroundAnswers = [
    "$s7Grading", "$s18ExplorableLimiters", "$s8Limiters", "$s8RealWork", "$s6Basics",
    "$s25ExplorableSynchronization", "$s10Mechanisms", "$s20ExplorableMechanisms",
    "$s11Experiments",
  ]

  /// What else is promised.
  package var promises: Promises
  /// Whether the tasks are identical but for their number, so that which of several fresh ones comes
  /// first makes no difference.
  package var symmetric: Bool
  /// Names the scenario in schedules.
  ///
  /// Whatever must be equal for a schedule to mean the same is in the name. It has no colon, which ends the name
  /// in a schedule.
  package var fingerprint: @Sendable (Scenario) -> String
  /// Builds the state of one schedule.
  package var make: @Sendable (ScenarioContext) -> ScenarioInstance

  package struct Promises: Hashable, Sendable {
    /// Tasks are admitted in the order of their arrivals.
    package var order: Bool
    /// A task cancelled while it waits, nobody having handed it a permit, is not admitted.
    package var cancelledWaitersNeverRun: Bool
    /// At most this many later arrivals are admitted before one that waits; nil for no promise.
    package var overtakingBound: Int?
    /// Every task that nobody cancels is served.
    package var service = true
    /// While somebody waits, no permit rests, and at the end all can be taken.
    package var workConservation = true
    /// What it is called when tasks wait for ever for what bodies outside any service hold.
    ///
    /// Nil has it judged: a permit leak when permits are in use though no body is in service, else a
    /// lost wake-up.
    package var whenAllWait: Violation.Kind?

    package init(
      order: Bool = false,
      service: Bool = true,
      workConservation: Bool = true,
      cancelledWaitersNeverRun: Bool = true,
      overtakingBound: Int? = nil,
      whenAllWait: Violation.Kind? = nil
    ) {
      self.order = order
      self.service = service
      self.workConservation = workConservation
      self.cancelledWaitersNeverRun = cancelledWaitersNeverRun
      self.overtakingBound = overtakingBound
      self.whenAllWait = whenAllWait
    }
  }

  package init(
    tasks: Int,
    limit: Int?,
    cancellable: Bool,
    promises: Promises = Promises(),
    symmetric: Bool = false,
    fingerprint: @escaping @Sendable (Scenario) -> String,
    make: @escaping @Sendable (ScenarioContext) -> ScenarioInstance
  ) {
    guard tasks >= 1 else { fatalError("a scenario needs at least 1 task, not \(tasks)") }
    self.tasks = tasks
    self.limit = limit
    self.cancellable = cancellable
    self.promises = promises
    self.symmetric = symmetric
    self.fingerprint = fingerprint
    self.make = make
  }

  /// The scenario's name in schedules.
  package var name: String { fingerprint(self) }

  /// How many permits may have to be tried at the end: the highest limit; 0 where it is too high to take them all.
  var probes: Int {
    guard let last = [limit, resize].compactMap({ $0 }).max(), last <= 16 else { return 0 }
    return last
  }
}

/// The state of one schedule, and what its tasks do with it.
package struct ScenarioInstance: Sendable {
  /// What task 1 to N does: arrives, is admitted, departs, reporting each to the context.
  package var body: @Sendable (_ task: Int) async -> Void
  /// How many permits are in use; exact when every task has ended, and then it must be 0.
  ///
  /// Where it is nil, or returns nil, further tasks try at the end whether all permits can be taken.
  package var permitsInUse: (@Sendable () -> Int?)?
  /// Changes the limit, for scenarios that resize.
  package var changeLimit: (@Sendable (Int) -> Void)?

  package init(
    body: @escaping @Sendable (_ task: Int) async -> Void,
    permitsInUse: (@Sendable () -> Int?)? = nil,
    changeLimit: (@Sendable (Int) -> Void)? = nil
  ) {
    self.body = body
    self.changeLimit = changeLimit
    self.permitsInUse = permitsInUse
  }
}

/// What a simulated task can report of itself.
package enum Observation: UInt8, Hashable, Sendable {
  case arrived
  case admitted
  case finished
  case failed
  /// Cancelled in service: its departure.
  case cancelledRunning
  /// Cancelled before it was admitted: it leaves.
  case cancelledWaiting
  case rejected
  /// Of two limits it has a permit of the one on connections, and asks the other.
  case holdsConnection
  /// Of two limits it has a permit of the one on files, and asks the other.
  case holdsFile
  /// The body had ended, and the limiter returned neither its value nor its error.
  case lostResult
}
