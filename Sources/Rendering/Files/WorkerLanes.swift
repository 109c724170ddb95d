import Basics
import Experiments
import Mechanisms

/// The workers of a run as lanes of slices that never overlap.
struct WorkerLanes {
  struct Slice {
    /// Which lane, from 0.
    var lane: Int
    var start: Int64
    var end: Int64
    var name: String
    /// Whether the slice stands for steps that took no time.
    var isStep = false
  }

  private(set) var names: [String] = []
  private(set) var slices: [Slice] = []
  /// Where an event's slice is, by its worker, its task and its time.
  private var places: [Place: Int] = [:]

  private struct Place: Hashable {
    var worker: WorkerID
    var task: TaskID
    var time: Int64
  }

  /// How long a step is drawn, in nanoseconds, where the next leaves room.
  private static let stepLength: Int64 = 1_000

  init(_ timeline: Timeline, _ run: Run) {
    let onlySteps = timeline.held.steps.isEmpty
    for worker in timeline.workers {
      if onlySteps { addSteps(of: worker, run) } else { addSpans(of: worker, run) }
    }
  }

  /// The slice in which an event happened; nil if it happened outside any.
  func slice(of event: TraceEvent) -> Slice? {
    guard let worker = event.worker else { return nil }
    return places[Place(worker: worker, task: event.task, time: event.time)].map { slices[$0] }
  }

  private mutating func addSpans(of worker: Timeline.WorkerLane, _ run: Run) {
    // The first lane that is free takes the next span.
    var freeFrom: [Int64] = []
    let first = names.count
    for span in worker.spans {
      var lane = freeFrom.firstIndex { $0 <= span.start }
      if lane == nil {
        freeFrom.append(0)
        lane = freeFrom.count - 1
        names.append(worker.worker.label + (freeFrom.count > 1 ? " (\(freeFrom.count))" : ""))
      }
      guard let lane else { continue }
      freeFrom[lane] = span.end
      let name = run.label(of: span.task) + (span.phase == .blocked ? " waits" : "")
      for time in [span.start, span.end] {
        places[Place(worker: worker.worker, task: span.task, time: time)] = slices.count
      }
      slices.append(Slice(lane: first + lane, start: span.start, end: span.end, name: name))
    }
  }

  private mutating func addSteps(of worker: Timeline.WorkerLane, _ run: Run) {
    guard !worker.marks.isEmpty else { return }
    let lane = names.count
    names.append(worker.worker.label)
    var index = 0
    while index < worker.marks.count {
      let time = worker.marks[index].time
      var tasks: [TaskID] = []
      while index < worker.marks.count, worker.marks[index].time == time {
        let task = worker.marks[index].task
        places[Place(worker: worker.worker, task: task, time: time)] = slices.count
        if tasks.last != task { tasks.append(task) }
        index += 1
      }
      let next = index < worker.marks.count ? worker.marks[index].time : .max
      let name = ListText.first(3, of: tasks.map(run.label(of:)))
      let end = min(time + Self.stepLength, next)
      slices.append(Slice(lane: lane, start: time, end: end, name: name, isStep: true))
    }
  }
}
