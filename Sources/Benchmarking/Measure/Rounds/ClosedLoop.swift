internal import Basics
internal import Mechanisms
internal import Synchronization

/// Workers that send one visit after the other through one mechanism, each waiting for its own.
struct ClosedLoop: Sendable {
  var workers: Int
  /// The most visits each worker makes.
  var visitsEach: Int
  var kind: ServiceKind
  var world: any World
  /// How urgent the workers are, in turn; none for the priority of who runs the loop.
  var priorities: [TaskPriority] = []
  /// Every visit of so many is cancelled while it waits, if it does; nil for none.
  var cancelsEvery: Int?
  /// What the visit of a number does in place of `kind` in `world`.
  var work: (@Sendable (_ number: Int) -> Visit.Work)?

  struct Outcome: Sendable {
    /// Visits made by each worker.
    var visits: [Int]
    /// Nanoseconds until the last worker was done.
    var elapsed: Int64

    var total: Int { visits.reduce(0, +) }
  }

  /// Turns of a worker between two looks at the clock, which cost a tenth of a short visit.
  private static let turnsBetweenLooks = 16

  /// A log with room for all visits; made before anything is timed, because its memory takes a while.
  func makeLog() -> StampLog { StampLog(capacity: workers * visitsEach) }

  /// Runs until `duration` nanoseconds have passed or every worker has made its visits.
  func run(
    on mechanism: any Mechanism,
    for duration: Int64 = .max,
    tracer: any Tracer = NoTracer()
  ) async -> Outcome {
    let start = MachineClock.monotonic()
    let visits = await withTaskGroup(of: (Int, Int).self) { group in
      for worker in 0..<workers {
        let priority = priorities.isEmpty ? nil : priorities[worker % priorities.count]
        group.addTask(priority: priority) {
          var made = 0
          func hasTime() -> Bool {
            // At least one visit each: the machine may be too busy to start a worker in time.
            made == 0 || !made.isMultiple(of: Self.turnsBetweenLooks)
              || MachineClock.monotonic() - start < duration
          }
          while made < visitsEach, hasTime() {
            made += 1
            // Each worker's numbers are together, so that no two write to one cache line.
            let task = SimulatedTask(
              number: worker * visitsEach + made,
              service: 1,
              kind: kind
            )
            let visit = Visit(task, tracer: tracer, world: world, work: work?(task.number))
            if let cancelsEvery, made.isMultiple(of: cancelsEvery) {
              await Self.cancel(visit, through: mechanism)
            } else {
              await mechanism.carry(visit)
            }
          }
          return (worker, made)
        }
      }
      return await group.reduce(into: [Int](repeating: 0, count: workers)) { $0[$1.0] = $1.1 }
    }
    return Outcome(visits: visits, elapsed: MachineClock.monotonic() - start)
  }

  /// Carries a visit that is cancelled as soon as it has had its turn to arrive.
  private static func cancel(_ visit: Visit, through mechanism: any Mechanism) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await mechanism.carry(visit) }
      await Task.yield()
      group.cancelAll()
    }
  }
}
