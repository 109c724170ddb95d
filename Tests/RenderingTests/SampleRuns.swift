import Basics
import Experiments
import Mechanisms

let millisecond: Int64 = 1_000_000

/// Runs to draw, from a model small enough to be believed: a first-come, first-served queue before
/// `limit` permits.
struct SampleRun {
  var limit = 3
  var plan: [SimulatedTask] = []
  var blocksWhileWaiting = false
  var serviceHoldsWorker = false

  /// `count` tasks of the same length, all arriving at once.
  static func together(_ count: Int, limit: Int, work: Int64) -> SampleRun {
    SampleRun(
      limit: limit,
      plan: (1...count).map { SimulatedTask(number: $0, service: work) }
    )
  }

  /// Tasks with random arrivals, services, failures and cancellations.
  static func random(_ count: Int, limit: Int, seed: UInt64) -> SampleRun {
    var random = SplitMix64(seed: seed)
    var arrival: Int64 = 0
    let plan = (1...count).map { number in
      arrival += Int64.random(in: 0...4, using: &random) * millisecond
      var task = SimulatedTask(
        number: number,
        arrival: arrival,
        service: Int64.random(in: 0...20, using: &random) * millisecond,
        fails: Int.random(in: 0..<8, using: &random) == 0
      )
      if Int.random(in: 0..<6, using: &random) == 0 {
        task.cancelAt = arrival + Int64.random(in: 1...30, using: &random) * millisecond
      }
      return task
    }
    return SampleRun(limit: limit, plan: plan)
  }

  /// Plays the plan and returns the run it leaves.
  func run(mechanism: String = "limiter") -> Run {
    var model = Model(sample: self)
    return Run(
      mechanism: mechanism,
      limit: limit,
      seed: 1,
      clock: .virtual,
      workers: 1,
      facts: RunFacts(
        tasks: plan.count,
        limit: limit,
        promisesOrder: true,
        serviceHoldsWorker: serviceHoldsWorker
      ),
      plan: plan,
      events: model.play(),
      permitsLeft: 0
    )
  }
}

private struct Model {
  enum Happening {
    case arrival
    case departure(TraceEvent.Kind)
    case cancellation
  }

  let sample: SampleRun
  var events: [TraceEvent] = []
  /// The latest first, so that the next is the last.
  var agenda: [(time: Int64, task: SimulatedTask, what: Happening)] = []
  var queue: [SimulatedTask] = []
  var running: Set<Int> = []
  var workers: [Int: Int] = [:]

  init(sample: SampleRun) { self.sample = sample }

  mutating func play() -> [TraceEvent] {
    for task in sample.plan {
      schedule(task.arrival, task, .arrival)
      if let time = task.cancelAt { schedule(time, task, .cancellation) }
    }
    while let (time, task, what) = agenda.popLast() {
      switch what {
      case .arrival:
        log(time, .arrived, task)
        if running.count < sample.limit {
          admit(task, at: time, by: nil)
        } else {
          if sample.blocksWhileWaiting { log(time, .blocked, task) }
          queue.append(task)
        }
      case .departure(let kind):
        guard running.contains(task.number) else { continue }
        depart(task, kind, at: time)
      case .cancellation:
        if running.contains(task.number) {
          depart(task, .cancelled(.running), at: time)
        } else if let place = queue.firstIndex(of: task) {
          queue.remove(at: place)
          log(time, .cancelled(.waiting), task)
          workers[task.number] = nil
        }
      }
    }
    return events
  }

  private mutating func schedule(_ time: Int64, _ task: SimulatedTask, _ what: Happening) {
    // Behind what is planned for the same time.
    var low = 0
    var high = agenda.count
    while low < high {
      let middle = (low + high) / 2
      if agenda[middle].time > time { low = middle + 1 } else { high = middle }
    }
    agenda.insert((time, task, what), at: low)
  }

  private mutating func admit(_ task: SimulatedTask, at time: Int64, by cause: Int?) {
    running.insert(task.number)
    log(time, .admitted, task, cause: cause)
    schedule(time + task.service, task, .departure(task.fails ? .failed : .finished))
  }

  private mutating func depart(_ task: SimulatedTask, _ kind: TraceEvent.Kind, at time: Int64) {
    running.remove(task.number)
    log(time, kind, task)
    workers[task.number] = nil
    if !queue.isEmpty { admit(queue.removeFirst(), at: time, by: task.number) }
  }

  private mutating func log(
    _ time: Int64,
    _ kind: TraceEvent.Kind,
    _ task: SimulatedTask,
    cause: Int? = nil
  ) {
    var worker = workers[task.number]
    if worker == nil, kind == .blocked || kind == .admitted {
      worker = (1...).first { !workers.values.contains($0) }
      workers[task.number] = worker
    }
    if !sample.blocksWhileWaiting, !sample.serviceHoldsWorker { worker = 1 }
    events.append(
      TraceEvent(
        time: time,
        task: TaskID(task.number),
        kind: kind,
        worker: worker.map { WorkerID($0) },
        cause: cause.map { TaskID($0) }
      )
    )
  }
}
