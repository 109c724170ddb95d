internal import Basics
package import Mechanisms
internal import Synchronization

/// The bench's tracer: it stamps when each visit arrived, was admitted and departed or left.
///
/// It finds a limit that was exceeded, visits that did not end, and events that happened twice. It does
/// not check in which order visits were admitted, nor that all permits came back.
///
/// Each visit writes only its own slots, which needs no lock. As long as no promise is broken, the
/// visits share one number and its maximum: how many of them run, because the limit is about that. A
/// log that measures occupancy shares the meter's counters as well.
package final class StampLog: Tracer, @unchecked Sendable {
  // Unchecked: the four arrays of slots are written without a lock. That is safe because a visit has
  // one number, only the visit writes the slots of its number, one after the other, and they are read
  // only after the visit was awaited. A mechanism that runs a body twice breaks this; `fill` counts it,
  // because it finds the slot filled.
  private let arrivals: UnsafeMutablePointer<Int64>
  private let admissions: UnsafeMutablePointer<Int64>
  private let departures: UnsafeMutablePointer<Int64>
  private let leaves: UnsafeMutablePointer<Int64>
  package let capacity: Int
  private let running = Atomic<Int>(0)
  private let peak = Atomic<Int>(0)
  private let repeated = Atomic<Int>(0)
  private let occupancy: OccupancyMeter?

  private static let empty = Int64.min

  /// A log of visits numbered 1 to `capacity`.
  ///
  /// One that measures occupancy also integrates the number present over time.
  package init(capacity: Int, measuresOccupancy: Bool = false) {
    self.capacity = capacity
    // Writing every slot here also has the kernel map the memory before the clock starts.
    func slots() -> UnsafeMutablePointer<Int64> {
      let pointer = UnsafeMutablePointer<Int64>.allocate(capacity: capacity + 1)
      pointer.initialize(repeating: Self.empty, count: capacity + 1)
      return pointer
    }
    arrivals = slots()
    admissions = slots()
    departures = slots()
    leaves = slots()
    occupancy = measuresOccupancy ? OccupancyMeter() : nil
  }

  deinit {
    arrivals.deallocate()
    admissions.deallocate()
    departures.deallocate()
    leaves.deallocate()
  }

  package func record(_ kind: TraceEvent.Kind, of task: TaskID) {
    let number = Int(task.number)
    switch kind {
    case .arrived:
      fill(arrivals, number)
      occupancy?.change(by: 1)
    case .admitted:
      let now = running.add(1, ordering: .acquiringAndReleasing).newValue
      if now > peak.load(ordering: .relaxed) { peak.max(now, ordering: .relaxed) }
      fill(admissions, number)
    case .finished, .failed, .cancelled(.running):
      fill(departures, number)
      occupancy?.change(by: -1)
      running.subtract(1, ordering: .acquiringAndReleasing)
    case .cancelled(.waiting), .rejected:
      fill(leaves, number)
      occupancy?.change(by: -1)
    case .blocked, .unblocked, .answered, .error, .holds, .progress, .suspended, .resumed, .limit:
      break
    }
  }

  private func fill(_ slots: UnsafeMutablePointer<Int64>, _ number: Int) {
    precondition(1...capacity ~= number, "visit \(number) is not among the \(capacity) of this log")
    if slots[number] != Self.empty { repeated.add(1, ordering: .relaxed) }
    slots[number] = MachineClock.monotonic()
  }

  package var peakRunning: Int { peak.load(ordering: .relaxed) }

  /// The visits that arrived, by number; only once they have all been awaited.
  package func visits() -> [StampedVisit] {
    func stamp(_ slots: UnsafeMutablePointer<Int64>, _ number: Int) -> Int64? {
      slots[number] == Self.empty ? nil : slots[number]
    }
    var visits: [StampedVisit] = []
    // A plain loop: most slots of a short trial are empty, and all are looked at several times.
    var number = 0
    while number < capacity {
      number += 1
      if arrivals[number] == Self.empty { continue }
      visits.append(
        StampedVisit(
          number: number,
          arrival: arrivals[number],
          admission: stamp(admissions, number),
          departure: stamp(departures, number),
          leave: stamp(leaves, number)
        )
      )
    }
    return visits
  }

  /// Time-integrated number present, in nanoseconds, where it was measured.
  package var presence: (area: Double, peak: Int)? { occupancy?.reading }

  /// What broke the limit, did not end or happened twice; only once all visits have been awaited.
  ///
  /// `limit` is what the mechanism promised, nil for nothing; `expected` is how many visits were made.
  package func violations(limit: Int?, expected: Int) -> [String] {
    var found: [String] = []
    if let limit, peakRunning > limit {
      found.append("over-admission: \(peakRunning) ran at once, the limit is \(limit)")
    }
    let repeats = repeated.load(ordering: .relaxed)
    if repeats > 0 {
      found.append("\(repeats) events happened to a task to which they had happened already")
    }
    let visits = visits()
    if visits.count != expected {
      found.append("\(visits.count) tasks arrived, \(expected) were sent")
    }
    let endless = visits.count { $0.departure == nil && $0.leave == nil }
    if endless > 0 { found.append("\(endless) tasks never ended") }
    let both = visits.count { $0.admission != nil && $0.leave != nil }
    if both > 0 {
      found.append("\(both) tasks ran and were also reported as cancelled while waiting")
    }
    let still = running.load(ordering: .relaxed)
    if still != 0 {
      found.append("\(still) tasks are still counted as running after the last one ended")
    }
    return found
  }
}

/// When one visit arrived, was admitted, departed or left, in nanoseconds on the monotonic clock.
package struct StampedVisit: Hashable, Sendable {
  package var number: Int
  package var arrival: Int64
  package var admission: Int64?
  package var departure: Int64?
  package var leave: Int64?

  package init(
    number: Int,
    arrival: Int64,
    admission: Int64? = nil,
    departure: Int64? = nil,
    leave: Int64? = nil
  ) {
    self.number = number
    self.arrival = arrival
    self.admission = admission
    self.departure = departure
    self.leave = leave
  }
}

/// Integrates the number of tasks present over time, with its own readings of the clock.
///
/// The integral of the number present is the sum of all departures minus the sum of all arrivals: each
/// task is present from the one to the other. So no lock and no order is needed, and no task's arrival
/// is matched with its own departure, which is what makes the integral a check on those that are.
private final class OccupancyMeter: Sendable {
  private let origin = MachineClock.monotonic()
  private let area = Atomic(0)
  private let present = Atomic(0)
  private let peak = Atomic(0)

  /// Notes that one task came, 1, or went, −1.
  func change(by difference: Int) {
    let now = Int(MachineClock.monotonic() - origin)
    area.subtract(difference * now, ordering: .relaxed)
    let count = present.add(difference, ordering: .relaxed).newValue
    if count > peak.load(ordering: .relaxed) { peak.max(count, ordering: .relaxed) }
  }

  /// Only once no task is present any more.
  var reading: (area: Double, peak: Int) {
    (Double(area.load(ordering: .acquiring)), peak.load(ordering: .relaxed))
  }
}
