// Whether tasks were admitted in the order in which they arrived.
//
// Two questions, because a log cannot see into a limiter. It sees a permit's hand-off only when the
// body's first act is recorded, and on several threads two bodies may begin in another order than
// their permits were handed over.
//
// - `inversions` counts what an onlooker sees: admissions that overtook an earlier arrival which was
//   still waiting and did not give up its place.
// - `breaks` counts those of them that no order of hand-offs explains. Had the order been kept, every
//   earlier arrival still waiting would already hold a permit of its own. If these and the tasks seen
//   running are together more than the limit, that cannot be: the order was broken for certain. Without
//   a limit nobody waits for a permit, and every inversion is a break.
//
// Arrivals at the same instant are in the order of the log. A task that was cancelled while waiting,
// or rejected, was not going to be admitted, and nobody overtakes it.

/// How far the admissions of a run kept the order of arrival.
package struct ArrivalOrder: Hashable, Sendable {
  /// One admission out of order.
  package struct Overtaking: Hashable, Sendable {
    package var time: Int64
    package var task: TaskID
    /// The earliest arrival that was left waiting.
    package var overtaken: TaskID
  }

  /// The number of admissions that overtook an earlier arrival still waiting.
  package private(set) var inversions = 0
  /// The number of those that cannot be explained by bodies starting late: the order was broken.
  package private(set) var breaks = 0
  package private(set) var firstInversion: Overtaking?
  package private(set) var firstBreak: Overtaking?

  /// Without a limit every inversion counts as a break; `limit` is the one at the start.
  ///
  /// Tasks without need of a permit are in no line.
  ///
  /// - Complexity: O(n log n) for n events.
  package init(
    events: [TraceEvent],
    lives: [TaskLife],
    limit: Int?,
    withoutPermit: Set<TaskID> = []
  ) {
    var queue = WaitingByArrival(capacity: lives.count)
    var rank = [Int?](repeating: nil, count: lives.count)
    var inService = [Bool](repeating: false, count: lives.count)
    var running = 0
    var bound = AdmissionBound(limit)
    for event in events {
      if case .limit(let limit) = event.kind { bound.change(to: limit) }
      guard event.task > .run, !withoutPermit.contains(event.task) else { continue }
      let index = Int(event.task.number) - 1
      switch event.kind {
      case .arrived:
        guard rank[index] == nil else { continue }
        let leaves = lives[index].end == .cancelledWhileWaiting || lives[index].end == .rejected
        rank[index] = queue.add(event.task, staysToBeAdmitted: !leaves)
      case .admitted:
        guard let own = rank[index], !inService[index] else { continue }
        inService[index] = true
        running += 1
        queue.remove(own)
        let ahead = queue.waiting(before: own)
        guard ahead > 0, let overtaken = queue.first else { continue }
        let overtaking = Overtaking(time: event.time, task: event.task, overtaken: overtaken)
        inversions += 1
        firstInversion = firstInversion ?? overtaking
        if bound.most.map({ running + ahead > $0 }) ?? true {
          breaks += 1
          firstBreak = firstBreak ?? overtaking
        }
      case .finished, .failed, .cancelled, .rejected:
        if inService[index] {
          inService[index] = false
          running -= 1
          bound.depart()
        } else if let own = rank[index] {
          queue.remove(own)
        }
      case .answered(.hit), .answered(.joined): if let own = rank[index] { queue.remove(own) }
      case .blocked, .unblocked, .answered, .error, .holds, .progress, .suspended, .resumed, .limit:
        continue
      }
    }
  }
}

/// The tasks that wait, by their rank of arrival: a binary indexed tree of who is there.
private struct WaitingByArrival {
  private var tasks: [TaskID] = []
  private var isWaiting: [Bool] = []
  /// `counts[i]` holds how many wait among the `i & -i` ranks that end with rank i - 1.
  private var counts: [Int]
  private var firstRank = 0

  init(capacity: Int) { counts = Array(repeating: 0, count: capacity + 1) }

  /// The rank of a newcomer; one that will give up its place is never counted as waiting.
  mutating func add(_ task: TaskID, staysToBeAdmitted: Bool) -> Int {
    let rank = tasks.count
    tasks.append(task)
    isWaiting.append(staysToBeAdmitted)
    if staysToBeAdmitted { change(rank, by: 1) }
    return rank
  }

  mutating func remove(_ rank: Int) {
    guard isWaiting[rank] else { return }
    isWaiting[rank] = false
    change(rank, by: -1)
    while firstRank < tasks.count, !isWaiting[firstRank] { firstRank += 1 }
  }

  /// The earliest arrival that waits.
  var first: TaskID? {
    var rank = firstRank
    while rank < tasks.count, !isWaiting[rank] { rank += 1 }
    return rank < tasks.count ? tasks[rank] : nil
  }

  func waiting(before rank: Int) -> Int {
    var sum = 0
    var node = rank
    while node > 0 {
      sum += counts[node]
      node &= node - 1
    }
    return sum
  }

  private mutating func change(_ rank: Int, by difference: Int) {
    var node = rank + 1
    while node < counts.count {
      counts[node] += difference
      node += node & -node
    }
  }
}
