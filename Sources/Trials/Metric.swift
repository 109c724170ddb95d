/// Something the bench measures: its name in the files, its unit, and which way is better.
package struct Metric: Hashable, Sendable {
  package enum Better: String, Hashable, Codable, Sendable {
    case lower
    case higher
    /// Neither: a description, or a figure with one right value.
    case exact
  }

  package let id: String
  package let unit: String
  package let better: Better
  /// One sentence, for `Results/README.md` and the report.
  package let meaning: String

  private init(_ id: String, _ unit: String, _ better: Better, _ meaning: String) {
    self.id = id
    self.unit = unit
    self.better = better
    self.meaning = meaning
  }

  package static let timePerOperation = Metric(
    "time_per_op",
    "ns",
    .lower,
    "Wall time of a repetition divided by the operations in it: passes, visits or tasks."
  )
  package static let throughput = Metric(
    "throughput",
    "per_s",
    .higher,
    "Operations completed a second of wall time."
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
    "From the departure that freed a permit to the admission of a task that was waiting for it."
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
  package static let achievedRate = Metric(
    "achieved_rate",
    "per_s",
    .higher,
    "Departures a second, from the first arrival to the last departure."
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
    "Voluntary and involuntary context switches of the process for each operation."
  )
  package static let runQueueDelay = Metric(
    "run_queue_delay_per_op",
    "ns",
    .lower,
    "Time in which threads of the process were ready but had no core, for each operation."
  )
  package static let allocations = Metric(
    "allocations_per_op",
    "count",
    .lower,
    "Blocks allocated for each operation, counted in a repetition of its own that is not timed."
  )
  package static let peakMemory = Metric(
    "peak_memory",
    "bytes",
    .lower,
    "The largest resident size of the trial's process."
  )
  package static let peakThreads = Metric(
    "peak_threads",
    "count",
    .lower,
    "The most threads alive at once, those of the harness left out."
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
    "The most bodies running at once; never above the limit."
  )
  package static let littleError = Metric(
    "little_error",
    "percent",
    .lower,
    "How far the time-integrated number of tasks present is from arrival rate times mean response."
  )
  package static let oracleWait = Metric(
    "oracle_wait",
    "ns",
    .exact,
    "The mean wait a perfect first-come-first-served limiter would have given these very arrivals and "
      + "measured service times (Kiefer and Wolfowitz)."
  )
  package static let erlangWait = Metric(
    "erlang_wait",
    "ns",
    .exact,
    "The mean wait in theory at the achieved utilisation: Erlang C, with Allen and Cunneen's factor."
  )
  package static let residualWait = Metric(
    "residual_wait",
    "ns",
    .lower,
    "Mean wait beyond the oracle's: what the limiter, the runtime and the generator added."
  )
  package static let recovery = Metric(
    "recovery",
    "ns",
    .lower,
    "From the end of an overload until nobody more was present than the limit allows to run."
  )
  package static let peakPresent = Metric(
    "peak_present",
    "count",
    .lower,
    "The most tasks present at once, waiting and running."
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
    "Tasks whose body ran although they had been cancelled while waiting."
  )
  package static let permitsLeft = Metric(
    "permits_left",
    "count",
    .exact,
    "Permits still in use after the last task ended; anything but 0 leaks."
  )
  package static let overtakings = Metric(
    "overtaken",
    "percent",
    .lower,
    "Share of visits that a task which arrived more than a microsecond later was admitted before."
  )
  package static let longestOvertakenWait = Metric(
    "longest_overtaken_wait",
    "ns",
    .lower,
    "The longest wait of a visit that was overtaken."
  )
  package static let fairness = Metric(
    "jain_index",
    "ratio",
    .higher,
    "Jain's index of the visits each worker got: 1 when all got the same, 1/n when one got all."
  )
  package static let heapPerWaiter = Metric(
    "heap_per_waiter",
    "bytes",
    .lower,
    "Heap in use for each waiting task, the task itself included."
  )
  package static let residentPerWaiter = Metric(
    "resident_per_waiter",
    "bytes",
    .lower,
    "Resident memory gained for each waiting task."
  )
  package static let heapAfterDrain = Metric(
    "heap_after_drain_per_waiter",
    "bytes",
    .lower,
    "Heap still in use after all waiters were served and gone, for each of them."
  )

  package static let all: [Metric] = [
    timePerOperation, throughput, waiting, handOff, service, response, uncorrectedResponse,
    offeredRate, achievedRate, lateness, processorTime, contextSwitches, runQueueDelay, allocations,
    peakMemory, peakThreads, makespan, threadRamp, peakRunning, littleError, oracleWait, erlangWait,
    residualWait, recovery, peakPresent, leaveTime, stormTime, lateWakeUps, permitsLeft,
    overtakings,
    longestOvertakenWait, fairness, heapPerWaiter, residentPerWaiter, heapAfterDrain,
  ]

  package static let named = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })
}
