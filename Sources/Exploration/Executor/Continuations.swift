internal import Synchronization

/// The continuations of tasks that are explored, to be resumed once each.
///
/// A continuation is known by its task alone, and so is what resumes it. So one that is resumed again while its task
/// waits for another is taken for that, and told of the other, when that is resumed in its turn.
enum Continuations {
  private struct Last {
    var agent: Int32
    var isPending: Bool
  }

  /// The latest of each task of the schedule under way.
  private static let latest = Mutex<[UInt: Last]>([:])

  static func forget() { latest.withLock { $0.removeAll(keepingCapacity: true) } }

  /// Notes that the task, which the calling thread runs, has a new one; `worker` is nil where nobody explores it.
  static func begin(_ task: UInt, by worker: Worker?) {
    let agent = worker.map {
      $0.workers.run.executor.choiceOfCurrentCode(orElse: $0.choice).agent
    }
    latest.withLock { $0[task] = agent.map { Last(agent: $0, isPending: true) } }
  }

  /// Notes that the task's latest is resumed; returns whose it is if it was before.
  static func endTwice(_ task: UInt) -> Int32? {
    latest.withLock { latest in
      guard let last = latest[task] else { return nil }
      latest[task]?.isPending = false
      return last.isPending ? nil : last.agent
    }
  }
}
