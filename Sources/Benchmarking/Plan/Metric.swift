/// Something the bench measures: its name in the files, its unit, and which way is better.
package struct Metric: Hashable, Sendable {
  package enum Better: String, Hashable, Codable, Sendable {
    case lower
    case higher
    /// Neither: a description, or a figure with one right value.
    case exact
  }

  /// How finely a metric can differ from fork to fork.
  package enum Grain: Hashable, Sendable {
    /// So finely that several equal forks mean a constant rather than a measurement.
    case fine
    /// In whole things, such as threads or pages.
    case counted
  }

  package let id: String
  package let unit: String
  package let better: Better
  package let grain: Grain
  /// One sentence, for `Results/REFERENCE.md` and the report.
  package let meaning: String

  private init(
    _ id: String,
    _ unit: String,
    _ better: Better,
    _ meaning: String,
    _ grain: Grain = .fine
  ) {
    self.id = id
    self.unit = unit
    self.better = better
    self.grain = grain
    self.meaning = meaning
  }

  package static let timePerOperation = Metric(
    "time_per_op",
    "ns",
    .lower,
    "Wall time of a round or a repetition divided by the operations in it: passes, visits or tasks."
  )
  package static let waiting = Metric(
    "waiting",
    "ns",
    .lower,
    "Arrival to admission; in an open loop from the intended arrival, so that a late generator or a "
      + "stalled machine cannot hide a wait."
  )
  package static let handOff = Metric(
    "hand_off",
    "ns",
    .lower,
    "From the departure that freed a permit to the admission of a task that was waiting for it; of "
      + "`none`, from each departure to the next admission."
  )
  package static let waited = Metric(
    "waited",
    "percent",
    .exact,
    "Share of the visits that found no free permit: where it is low, nobody waited, and nothing about "
      + "waiting was measured."
  )
  package static let service = Metric(
    "service",
    "ns",
    .lower,
    "Admission to departure, as measured: what the body really took."
  )
  package static let response = Metric(
    "response",
    "ns",
    .lower,
    "Arrival to departure; in an open loop from the intended arrival."
  )
  package static let uncorrectedResponse = Metric(
    "response_uncorrected",
    "ns",
    .lower,
    "The response from the moment the task really arrived: what a benchmark that forgets the intended "
      + "arrival would report."
  )
  package static let offeredRate = Metric(
    "offered_rate",
    "per_s",
    .exact,
    "Intended arrivals a second."
  )
  package static let lateness = Metric(
    "generator_lateness",
    "ns",
    .lower,
    "How long after its intended arrival the generator really started a task."
  )
  package static let processorTime = Metric(
    "cpu_time_per_op",
    "ns",
    .lower,
    "Processor time of the whole process, the generator's thread excepted, for each operation."
  )
  package static let contextSwitches = Metric(
    "context_switches_per_op",
    "count",
    .lower,
    "Voluntary and involuntary context switches of the process for each operation.",
    .counted
  )
  package static let runQueueDelay = Metric(
    "run_queue_delay_per_op",
    "ns",
    .lower,
    "Time in which threads of the process were ready but had no core, for each operation.",
    .counted
  )
  package static let allocations = Metric(
    "allocations_per_op",
    "count",
    .lower,
    "Blocks allocated for each operation, counted in a repetition of its own that is not timed.",
    .counted
  )
  package static let bytesAllocated = Metric(
    "bytes_allocated_per_op",
    "bytes",
    .lower,
    "What these blocks were asked to hold for each operation; most of it is soon freed.",
    .counted
  )
  package static let peakMemory = Metric(
    "peak_memory",
    "bytes",
    .lower,
    "The largest resident size of the trial's process.",
    .counted
  )
  package static let peakThreads = Metric(
    "peak_threads",
    "count",
    .lower,
    "The most threads alive at once, those of the harness left out.",
    .counted
  )
  package static let makespan = Metric(
    "makespan",
    "ns",
    .lower,
    "From the first arrival to the last departure."
  )
  package static let threadRamp = Metric(
    "thread_ramp",
    "ns",
    .lower,
    "How long a pool of threads took to grow until as many bodies ran as the limit allows."
  )
  package static let peakRunning = Metric(
    "peak_running",
    "count",
    .exact,
    "The most bodies running at once; never above a limit that is promised.",
    .counted
  )
  package static let littleError = Metric(
    "little_error",
    "percent",
    .lower,
    "Bookkeeping, no test of the limiter: how far the time-integrated number of tasks present is from "
      + "arrival rate times mean response; above 1 % the stamps are wrong."
  )
  package static let oracleWait = Metric(
    "oracle_wait",
    "ns",
    .exact,
    "The mean wait a perfect first-come-first-served limiter would have given these very arrivals and "
      + "measured service times (Kiefer and Wolfowitz)."
  )
  package static let residualWait = Metric(
    "residual_wait",
    "ns",
    .lower,
    "Mean wait beyond the oracle's: what the limiter, the runtime and the generator added. Only of "
      + "mechanisms that admit first come, first served: another order has another oracle."
  )
  package static let stretch = Metric(
    "stretch",
    "ratio",
    .lower,
    "Mean response as a multiple of what a perfect first-come-first-served limiter would have made of these very "
      + "arrivals and measured service times. Of another order, and of `none`, too."
  )
  package static let recovery = Metric(
    "recovery",
    "ns",
    .lower,
    "From the end of an overload to the first departure after which nobody waited; 0 where nobody "
      + "waited at its end."
  )
  package static let peakPresent = Metric(
    "peak_present",
    "count",
    .lower,
    "The most tasks present at once, waiting and running.",
    .counted
  )
  package static let leaveTime = Metric(
    "leave_time_per_waiter",
    "ns",
    .lower,
    "From the first cancellation until the last cancelled task had ended, while the permit was still "
      + "held, for each cancelled task."
  )
  package static let stormTime = Metric(
    "storm_time_per_waiter",
    "ns",
    .lower,
    "From the first cancellation until every task had ended, the permit released in between, for each "
      + "task."
  )
  package static let lateWakeUps = Metric(
    "late_wake_ups",
    "count",
    .exact,
    "Tasks whose body ran although they had been cancelled while waiting.",
    .counted
  )
  package static let permitsLeft = Metric(
    "permits_left",
    "count",
    .exact,
    "Permits still in use after the last task ended; anything but 0 leaks.",
    .counted
  )
  package static let overtakings = Metric(
    "overtaken",
    "percent",
    .lower,
    "Share of visits that a task which arrived more than a microsecond later was admitted before.",
    .counted
  )
  package static let longestOvertakenWait = Metric(
    "longest_overtaken_wait",
    "ns",
    .lower,
    "The longest wait of a visit that was overtaken."
  )
  package static let timesOvertaken = Metric(
    "times_overtaken",
    "count",
    .lower,
    "By how many visits that arrived more than a microsecond later a visit was overtaken.",
    .counted
  )
  package static let fairness = Metric(
    "jain_index",
    "ratio",
    .higher,
    "Jain's index of the visits each worker got: 1 when all got the same, 1/n when one got all.",
    .counted
  )
  package static let heapPerWaiter = Metric(
    "heap_per_waiter",
    "bytes",
    .lower,
    "Heap in use for each waiting task, the task itself included.",
    .counted
  )
  package static let residentPerWaiter = Metric(
    "resident_per_waiter",
    "bytes",
    .lower,
    "Resident memory gained for each waiting task.",
    .counted
  )
  package static let heapAfterDrain = Metric(
    "heap_after_drain_per_waiter",
    "bytes",
    .lower,
    "Heap still in use after all waiters were served and gone, for each of them.",
    .counted
  )

  package static let wakeUp = Metric(
    "wake_up",
    "ns",
    .lower,
    "From handing a task to an executor that sleeps, on a thread outside, to the task's first statement."
  )
  package static let restingTime = Metric(
    "resting_cpu_time",
    "ns",
    .lower,
    "Processor time that the process takes in a second in which nothing is to be done.",
    .counted
  )
  package static let schedules = Metric(
    "schedules",
    "per_s",
    .higher,
    "Schedules that an exploration runs in a second of wall time."
  )
  package static let timePerStep = Metric(
    "time_per_step",
    "ns",
    .lower,
    "Wall time of an exploration divided by the steps in it: what a scheduling point costs."
  )

  package static let duplicates = Metric(
    "duplicate_fetches",
    "count",
    .lower,
    "How often the server sent an image that it had sent before: 0 if each was fetched once.",
    .counted
  )
  package static let peakRequests = Metric(
    "peak_requests",
    "count",
    .exact,
    "The most requests that the server had at once, answered or waiting for it, those cancelled left out; never above a "
      + "limit that is promised.",
    .counted
  )
  package static let peakConnections = Metric(
    "peak_connections",
    "count",
    .lower,
    "The most sockets that were open at once at the server, in use or kept for the next request.",
    .counted
  )

  package static let all: [Metric] = [
    timePerOperation, waiting, handOff, waited, service, response, uncorrectedResponse,
    offeredRate, lateness, processorTime, contextSwitches, runQueueDelay, allocations,
    bytesAllocated, peakMemory, peakThreads, makespan, threadRamp, peakRunning, littleError,
    oracleWait, residualWait, stretch, recovery, peakPresent, leaveTime, stormTime, lateWakeUps,
    permitsLeft, overtakings, timesOvertaken, longestOvertakenWait, fairness, heapPerWaiter,
    residentPerWaiter, heapAfterDrain, wakeUp, restingTime, schedules, timePerStep, duplicates,
    peakRequests, peakConnections,
  ]

  /// Whether several forks may well have this very value: it has one right value, comes in whole things,
  /// or is a single reading of a clock that ticks in nanoseconds.
  package func mayRepeat(_ stat: String, _ value: Double) -> Bool {
    better == .exact || grain == .counted || (unit == "ns" && stat != "mean" && value < 10_000)
  }

  /// Whether it says that a promise was broken, and not how well it was kept.
  var isPromise: Bool { self == .peakRunning || self == .peakRequests }

  package static let named = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })
}
