import Basics
import Mechanisms

/// Logs to check against: well-formed ones in which the next task to be admitted is drawn at random,
/// so that limits and orders are kept in some and broken in others.
struct RandomLog {
  let events: [TraceEvent]
  let facts: RunFacts

  init(tasks: Int, limit: Int, seed: UInt64, holds: Bool = false) {
    var random = SplitMix64(seed: seed)
    var events: [TraceEvent] = []
    var time: Int64 = 0
    var absent = Array(1...tasks)
    var waiting: [Int] = []
    var running: [Int] = []
    func log(_ task: Int, _ kind: TraceEvent.Kind) {
      let worker = WorkerID(task % 5 + 1)
      events.append(TraceEvent(time: time, task: TaskID(task), kind: kind, worker: worker))
    }
    while !(absent.isEmpty && waiting.isEmpty && running.isEmpty) {
      time += Int64.random(in: 0...3, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<3 where !absent.isEmpty:
        let task = absent.removeFirst()
        log(task, .arrived)
        waiting.append(task)
        if Bool.random(using: &random) { log(task, .blocked) }
      case 3..<6 where !waiting.isEmpty && running.count <= limit:
        let place = Int.random(in: 0..<min(2, waiting.count), using: &random)
        let task = waiting.remove(at: place)
        log(task, .admitted)
        running.append(task)
      case 6 where !waiting.isEmpty:
        let task = waiting.remove(at: Int.random(in: 0..<waiting.count, using: &random))
        log(task, Bool.random(using: &random) ? .cancelled(.waiting) : .rejected)
      case 7 where !running.isEmpty:
        let task = running[Int.random(in: 0..<running.count, using: &random)]
        log(task, .suspended)
        time += 1
        log(task, .resumed)
      case 8... where !running.isEmpty:
        let task = running.remove(at: Int.random(in: 0..<running.count, using: &random))
        let ends: [TraceEvent.Kind] = [.finished, .failed, .cancelled(.running)]
        log(task, ends[Int.random(in: 0..<ends.count, using: &random)])
      default: continue
      }
    }
    self.events = events
    facts = RunFacts(tasks: tasks, limit: limit, promisesOrder: true, serviceHoldsWorker: holds)
  }
}

/// A log from times, tasks and what happened to them.
func log(_ lines: (Int64, Int, TraceEvent.Kind)...) -> [TraceEvent] {
  lines.map { TraceEvent(time: $0.0, task: TaskID($0.1), kind: $0.2) }
}
