package import Mechanisms

/// How many tasks of one mechanism in a race waited, ran, were served and had ended at each moment since the first
/// of them arrived, counted from its events as they come.
package struct RaceLane: Sendable {
  package let name: String
  /// The limit that it promised to keep; nil where it promised none.
  let limit: Int?
  private var board: LiveBoard
  private(set) var running = StepFunction()
  private(set) var waiting = StepFunction()
  /// How many of those that wait hold a thread.
  private(set) var blocked = StepFunction()
  private(set) var ended = StepFunction()
  /// How many of those that have ended were served: neither cancelled nor rejected.
  private(set) var served = StepFunction()
  /// When the first task arrived: what the clock of the lane begins at.
  private var start: Int64?
  /// The time of the latest event.
  private(set) var lastTime: Int64 = 0

  package init(name: String, plan: [SimulatedTask], limit: Int?) {
    (self.name, self.limit) = (name, limit)
    board = LiveBoard(plan: plan)
  }

  package mutating func take(_ events: [TraceEvent]) {
    for event in events {
      let before = board.ended
      board.take(event)
      let start = start ?? event.time
      self.start = start
      // The threads' logs are read one after the other: what was read later may have come a little earlier.
      lastTime = max(lastTime, event.time - start)
      running.set(board.running, at: lastTime)
      waiting.set(board.waiting, at: lastTime)
      blocked.set(board.blocked, at: lastTime)
      ended.set(board.ended, at: lastTime)
      if [.finished, .failed].contains(event.kind) {
        served.set(served.value + board.ended - before, at: lastTime)
      }
    }
  }

  /// A moment of the run's own clock, on that of the lane.
  package func moment(at time: Int64) -> Int64 { max(0, time - (start ?? time)) }

  var tasks: Int { board.plan.count }

  /// When the last task ended; nil while one has not.
  package var end: Int64? { board.isOver ? ended.steps.last?.time ?? 0 : nil }

  /// The moments at which something changed, in the order of time.
  var moments: [Int64] { (running.steps + waiting.steps + ended.steps).map(\.time).sorted() }
}
