/// Who waits for a signal of which condition, and which signals nobody has taken yet; pure decisions.
///
/// A signal is for one of those who waited when it was given, and which of them takes it is not decided before one
/// goes on: each of them can.
struct ConditionTable {
  /// The workers whose jobs wait, in the order in which they came.
  private var waiters: [Int: [Int]] = [:]
  /// The signals of each condition, each with those who waited when it was given.
  private var signals: [Int: [[Int]]] = [:]

  mutating func removeAll() {
    waiters.removeAll(keepingCapacity: true)
    signals.removeAll(keepingCapacity: true)
  }

  /// Notes that the worker's job waits.
  mutating func beginWait(for condition: Int, by worker: Int) {
    waiters[condition, default: []].append(worker)
  }

  /// Whether there is a signal that the worker's job could take.
  func hasSignal(_ condition: Int, for worker: Int) -> Bool {
    signals[condition]?.contains { $0.contains(worker) } == true
  }

  /// Ends the wait of the worker's job, which takes the oldest signal that it could take, if there is one.
  ///
  /// - Returns: whether there was one.
  mutating func endWait(for condition: Int, by worker: Int) -> Bool {
    waiters[condition]?.removeAll { $0 == worker }
    guard let index = signals[condition]?.firstIndex(where: { $0.contains(worker) }) else {
      return false
    }
    signals[condition]?.remove(at: index)
    for other in (signals[condition] ?? []).indices {
      signals[condition]?[other].removeAll { $0 == worker }
    }
    signals[condition]?.removeAll(where: \.isEmpty)
    return true
  }

  /// Gives a signal to one of those who wait, or one to each; none to those for whom there are enough.
  mutating func signal(_ condition: Int, all: Bool) {
    let waiting = waiters[condition] ?? []
    let given = signals[condition]?.count ?? 0
    for _ in 0..<min(all ? waiting.count : 1, waiting.count - given) {
      signals[condition, default: []].append(waiting)
    }
  }
}
