// The line of a limiter: first come, first served, or the important first.
//
// One queue for each priority, and among those of equal priority the order of arrival. First come, first
// served is the case of one queue. Those who have waited for the aging bound go before all others, in
// order of arrival. So a task waits at most that long, plus its turn among those who were there earlier.

/// Who waits, for how many permits, since when.
struct WaitingLine<Waiter> {
  struct Place {
    let waiter: Waiter
    var weight = 1
    /// Larger goes first.
    var priority: UInt8 = 0
    var arrived = Duration.zero
    /// Whether it goes on waiting when the limiter is closed.
    var outlastsClosing = false
  }

  struct Ticket: Hashable, Sendable {
    fileprivate let place: WaiterQueue<Place>.Ticket
    fileprivate let priority: UInt8
  }

  fileprivate struct Lane {
    let priority: UInt8
    var queue = WaiterQueue<Place>()
  }

  /// Highest priority first; a lane stays when it is empty.
  private var lanes: [Lane] = []
  private let agingAfter: Duration?
  private(set) var count = 0

  init(agingAfter: Duration? = nil) { self.agingAfter = agingAfter }

  /// When the one who has waited longest arrived.
  var oldestArrival: Duration? { lanes.compactMap { $0.queue.first { $0.arrived } }.min() }

  mutating func append(_ place: consuming Place) -> Ticket {
    let priority = place.priority
    var lane = 0
    while lane < lanes.count, lanes[lane].priority > priority { lane += 1 }
    if lane == lanes.count || lanes[lane].priority < priority {
      lanes.insert(Lane(priority: priority), at: lane)
    }
    count += 1
    return Ticket(place: lanes[lane].queue.append(place), priority: priority)
  }

  /// Removes and returns the one whose turn it is, unless it needs more than `weight` permits.
  mutating func popFirst(at now: Duration, upTo weight: Int) -> Place? {
    guard count > 0, let lane = nextLane(at: now) else { return nil }
    guard let needed = lanes[lane].queue.first({ $0.weight }), needed <= weight else { return nil }
    count -= 1
    return lanes[lane].queue.popFirst()
  }

  mutating func remove(_ ticket: Ticket) -> Place? {
    guard let lane = lanes.firstIndex(where: { $0.priority == ticket.priority }),
      let place = lanes[lane].queue.remove(ticket.place)
    else { return nil }
    count -= 1
    return place
  }

  /// Removes all who do not outlast closing, in no particular order of priorities.
  mutating func close() -> [Waiter] {
    let places = lanes.indices.flatMap { lanes[$0].queue.removeAll() }
    count = 0
    for place in places where place.outlastsClosing { _ = append(place) }
    return places.filter { !$0.outlastsClosing }.map(\.waiter)
  }

  @inline(__always)
  private func nextLane(at now: Duration) -> Int? {
    lanes.count == 1 ? 0 : nextLaneOfMany(at: now)
  }

  private func nextLaneOfMany(at now: Duration) -> Int? {
    let waiting = lanes.indices.filter { lanes[$0].queue.count > 0 }
    guard let agingAfter else { return waiting.first }
    let oldest = waiting.min { firstArrival(in: $0) < firstArrival(in: $1) }
    return oldest.flatMap { firstArrival(in: $0) + agingAfter <= now ? $0 : nil } ?? waiting.first
  }

  private func firstArrival(in lane: Int) -> Duration {
    lanes[lane].queue.first { $0.arrived } ?? .zero
  }
}

extension WaitingLine: Sendable where Waiter: Sendable {}
extension WaitingLine.Place: Sendable where Waiter: Sendable {}
extension WaitingLine.Lane: Sendable where Waiter: Sendable {}
