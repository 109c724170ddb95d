import ExplorableSynchronization
import Foundation
import LessonBook
import TestSupport
import Testing

@testable import Grading

/// The exercise on Little's law: what it takes, and by which question it refuses.
@Suite(.watched, .serialized) struct `Gauges` {
  /// What is wrong with a gauge.
  protocol Flaw: SendableMetatype {
    /// From which event on time has passed.
    static func last(_ last: Duration, _ time: Duration) -> Duration
    /// How long the time since the last event is taken to be.
    static func since(_ time: Duration) -> Duration
    /// How many are inside after an event, by what is counted.
    static func inside(_ inside: Int) -> Int
    /// What is told of the mean while so many are inside.
    static func response(_ mean: Duration?, inside: Int) -> Duration?
    /// How many arrivals are told of.
    static func arrivals(_ arrivals: Int, inside: Int) -> Int
    /// What is kept of a time.
    static func kept(_ time: Duration) -> Duration
    /// Whether reading is an event.
    static var countsReading: Bool { get }
    /// Whether what was measured begins anew with each reading.
    static var beginsAnew: Bool { get }
    /// Whether a reading takes the sum up to its own time.
    static var advances: Bool { get }
  }

  private final class Flawed<F: Flaw>: LearnerGauge {
    private let state = Mutex(
      (arrivals: 0, inside: 0, area: Duration.zero, last: Duration.zero)
    )

    func arrived(at time: Duration) { note(F.kept(time), 1) }

    func departed(at time: Duration) { note(F.kept(time), -1) }

    private func note(_ time: Duration, _ change: Int) {
      state.withLock { state in
        state.area += F.since(time - state.last) * state.inside
        state.last = F.last(state.last, time)
        state.inside = F.inside(state.inside + change)
        if change > 0 { state.arrivals += 1 }
      }
    }

    func reading(at time: Duration) -> Reading {
      state.withLock { state in
        guard time > .zero else { return Reading(inside: 0, rate: 0, response: nil) }
        if F.countsReading { state.arrivals += 1 }
        var area = state.area + F.since(time - state.last) * state.inside
        if F.advances {
          if time < state.last { area = state.area }
          (state.area, state.last) = (area, max(time, state.last))
        }
        let arrivals = F.arrivals(state.arrivals, inside: state.inside)
        let mean = arrivals > 0 ? area / arrivals : nil
        if F.beginsAnew { (state.area, state.last) = (.zero, time) }
        return Reading(
          inside: area / time,
          rate: Double(arrivals) / (time / .seconds(1)),
          response: F.response(mean, inside: state.inside)
        )
      }
    }
  }

  enum NoFlaw: Flaw {}

  enum NeverBackwards: Flaw {
    static func last(_ last: Duration, _ time: Duration) -> Duration { max(last, time) }
    static func since(_ time: Duration) -> Duration { max(time, .zero) }
  }

  enum WholeMilliseconds: Flaw {
    static func kept(_ time: Duration) -> Duration {
      .milliseconds(Int(time / .milliseconds(1)))
    }
  }

  enum WholeMicroseconds: Flaw {
    static func kept(_ time: Duration) -> Duration {
      .microseconds(Int(time / .microseconds(1)))
    }
  }

  enum NobodyAtLeast: Flaw {
    static func inside(_ inside: Int) -> Int { max(0, inside) }
  }

  enum TellsEarly: Flaw {
    static func response(_ mean: Duration?, inside: Int) -> Duration? { mean }
  }

  enum CountsDepartures: Flaw {
    static func arrivals(_ arrivals: Int, inside: Int) -> Int { arrivals - inside }
  }

  /// Takes requests that took no time for none.
  enum NoTimeIsNobody: Flaw {
    static func response(_ mean: Duration?, inside: Int) -> Duration? {
      inside == 0 && mean != .zero ? mean : nil
    }
  }

  enum CountsReadings: Flaw {
    static let countsReading = true
  }

  enum BeginsAnew: Flaw {
    static let beginsAnew = true
  }

  enum ReadsForwards: Flaw {
    static let advances = true
  }

  /// Looks at the count, and adds to the area, under two locks.
  private final class TwoLocks: LearnerGauge {
    private let counts = Mutex((arrivals: 0, inside: 0))
    private let sums = Mutex((area: Duration.zero, last: Duration.zero))

    func arrived(at time: Duration) {
      note(time)
      counts.withLock { $0 = ($0.arrivals + 1, $0.inside + 1) }
    }

    func departed(at time: Duration) {
      note(time)
      counts.withLock { $0.inside -= 1 }
    }

    private func note(_ time: Duration) {
      let inside = counts.withLock { $0.inside }
      sums.withLock { $0 = ($0.area + (time - $0.last) * inside, time) }
    }

    func reading(at time: Duration) -> Reading {
      let (arrivals, inside) = counts.withLock { $0 }
      let area = sums.withLock { $0.area + (time - $0.last) * inside }
      guard time > .zero else { return Reading(inside: 0, rate: 0, response: nil) }
      return Reading(
        inside: area / time,
        rate: Double(arrivals) / (time / .seconds(1)),
        response: inside == 0 && arrivals > 0 ? area / arrivals : nil
      )
    }
  }

  /// Counts arrivals under a lock of their own, and all else under another.
  private final class ArrivalsApart: LearnerGauge {
    private let arrivals = Mutex(0)
    private let rest = Mutex((inside: 0, area: Duration.zero, last: Duration.zero))

    func arrived(at time: Duration) {
      arrivals.withLock { $0 += 1 }
      note(time, 1)
    }

    func departed(at time: Duration) { note(time, -1) }

    private func note(_ time: Duration, _ change: Int) {
      rest.withLock { $0 = ($0.inside + change, $0.area + (time - $0.last) * $0.inside, time) }
    }

    func reading(at time: Duration) -> Reading {
      let (inside, area) = rest.withLock { ($0.inside, $0.area + (time - $0.last) * $0.inside) }
      let arrivals = arrivals.withLock { $0 }
      guard time > .zero else { return Reading(inside: 0, rate: 0, response: nil) }
      return Reading(
        inside: area / time,
        rate: Double(arrivals) / (time / .seconds(1)),
        response: inside == 0 && arrivals > 0 ? area / arrivals : nil
      )
    }
  }

  /// Sums up arrivals under one lock and departures under another.
  private final class TwoSums: LearnerGauge {
    private let came = Mutex((count: 0, sum: Duration.zero))
    private let went = Mutex((count: 0, sum: Duration.zero))

    func arrived(at time: Duration) { came.withLock { $0 = ($0.count + 1, $0.sum + time) } }

    func departed(at time: Duration) { went.withLock { $0 = ($0.count + 1, $0.sum + time) } }

    func reading(at time: Duration) -> Reading {
      let came = came.withLock { $0 }
      let went = went.withLock { $0 }
      guard time > .zero else { return Reading(inside: 0, rate: 0, response: nil) }
      let inside = came.count - went.count
      let area = went.sum - came.sum + time * inside
      return Reading(
        inside: area / time,
        rate: Double(came.count) / (time / .seconds(1)),
        response: inside == 0 && came.count > 0 ? area / came.count : nil
      )
    }
  }

  /// Gives a reading again if it is asked for at the same time, and nobody has arrived.
  private final class CachesReading: LearnerGauge {
    private let gauge = Flawed<NoFlaw>()
    private let arrivals = Mutex(0)
    private let cache = Mutex<(time: Duration, arrivals: Int, reading: Reading)?>(nil)

    func arrived(at time: Duration) {
      arrivals.withLock { $0 += 1 }
      gauge.arrived(at: time)
    }

    func departed(at time: Duration) { gauge.departed(at: time) }

    func reading(at time: Duration) -> Reading {
      let arrivals = arrivals.withLock { $0 }
      if let cache = cache.withLock({ $0 }), cache.time == time, cache.arrivals == arrivals {
        return cache.reading
      }
      let reading = gauge.reading(at: time)
      cache.withLock { $0 = (time, arrivals, reading) }
      return reading
    }
  }

  /// The sum of all times inside as whole nanoseconds; it wraps around where a learner's would trap.
  private final class WholeNanoseconds: LearnerGauge {
    private let state = Mutex((arrivals: 0, inside: 0, area: 0, last: 0))

    func arrived(at time: Duration) { note(time, 1) }

    func departed(at time: Duration) { note(time, -1) }

    private func whole(_ time: Duration) -> Int { Int(time / .nanoseconds(1)) }

    private func note(_ time: Duration, _ change: Int) {
      state.withLock { state in
        state.area &+= (whole(time) - state.last) &* state.inside
        state.last = whole(time)
        state.inside += change
        if change > 0 { state.arrivals += 1 }
      }
    }

    func reading(at time: Duration) -> Reading {
      state.withLock { state in
        guard time > .zero else { return Reading(inside: 0, rate: 0, response: nil) }
        let area = state.area &+ (whole(time) - state.last) &* state.inside
        return Reading(
          inside: Double(area) / Double(whole(time)),
          rate: Double(state.arrivals) / (time / .seconds(1)),
          response: state.inside == 0 && state.arrivals > 0
            ? .nanoseconds(area / state.arrivals) : nil
        )
      }
    }
  }

  /// Sums of times as whole nanoseconds.
  protocol Sums: Sendable {
    init()
    func add(arrivals: Int, inside: Int, time: Int)
    var value: (arrivals: Int, inside: Int, time: Int) { get }
  }

  private final class Summed<S: Sums>: LearnerGauge {
    private let sums = S()

    func arrived(at time: Duration) { sums.add(arrivals: 1, inside: 1, time: 0 &- whole(time)) }

    func departed(at time: Duration) { sums.add(arrivals: 0, inside: -1, time: whole(time)) }

    private func whole(_ time: Duration) -> Int { Int(time / .nanoseconds(1)) }

    func reading(at time: Duration) -> Reading {
      let value = sums.value
      guard time > .zero else { return Reading(inside: 0, rate: 0, response: nil) }
      let area = value.time &+ whole(time) &* value.inside
      return Reading(
        inside: Double(area) / Double(whole(time)),
        rate: Double(value.arrivals) / (time / .seconds(1)),
        response: value.inside == 0 && value.arrivals > 0
          ? .nanoseconds(area / value.arrivals) : nil
      )
    }
  }

  /// Two sums, of arrivals and of departures; one that is too large stays at the largest, where a learner's would trap.
  private final class Saturated: Sums {
    private let sums = Mutex((arrivals: 0, inside: 0, came: 0, went: 0))

    func add(arrivals: Int, inside: Int, time: Int) {
      sums.withLock { sums in
        sums.arrivals += arrivals
        sums.inside += inside
        if inside > 0 {
          sums.came = max(sums.came, .min - time) + time
        } else {
          sums.went = min(sums.went, .max - time) + time
        }
      }
    }

    var value: (arrivals: Int, inside: Int, time: Int) {
      sums.withLock { ($0.arrivals, $0.inside, $0.came &+ $0.went) }
    }
  }

  /// As plain variables without a lock.
  private final class Unlocked: Sums {
    private let arrivals = PlainCount()
    private let inside = PlainCount()
    private let time = PlainCount()

    func add(arrivals: Int, inside: Int, time: Int) {
      self.arrivals.addUnguarded(arrivals)
      self.inside.addUnguarded(inside)
      self.time.addUnguarded(time)
    }

    var value: (arrivals: Int, inside: Int, time: Int) {
      (arrivals.value, inside.value, time.value)
    }
  }

  /// Measures right, and keeps something.
  private final class Keeping<K: Kept>: LearnerGauge {
    private let gauge = Flawed<NoFlaw>()

    func arrived(at time: Duration) {
      K.bytes.add(K.ofRequest)
      gauge.arrived(at: time)
    }

    func departed(at time: Duration) {
      K.bytes.add(-K.ofRequest)
      gauge.departed(at: time)
    }

    func reading(at time: Duration) -> Reading {
      K.bytes.add(K.ofReading)
      return gauge.reading(at: time)
    }
  }

  /// How many bytes are kept of each request that is inside, and of each reading.
  protocol Kept: SendableMetatype {
    static var bytes: PlainCount { get }
    static var ofRequest: Int { get }
    static var ofReading: Int { get }
  }

  private enum WhoIsInside: Kept {
    static let bytes = PlainCount()
    static let ofRequest = 8
    static let ofReading = 0
  }

  private enum Readings: Kept {
    static let bytes = PlainCount()
    static let ofRequest = 0
    static let ofReading = 8
  }

  private func expect<Gauge: LearnerGauge>(
    _ type: Gauge.Type,
    refusedBy name: String,
    saying part: String,
    _ location: SourceLocation = #_sourceLocation
  ) async {
    let failed = await refusal(Grader.gauge(type))
    #expect(failed?.name == name, "\(failed as Any)", sourceLocation: location)
    #expect(failed?.sentence.contains(part) == true, "\(failed as Any)", sourceLocation: location)
  }

  @Test func `that measure by sums and counts pass, with every seed`() async {
    for seed: UInt64 in (1...5).fewUnlessLong(1) {
      let failed = await refusal(Grader.gauge(Flawed<NoFlaw>.self), seed: seed)
      #expect(failed == nil, "\(failed as Any)")
    }
  }

  @Test func `that measure something else are refused by the log that shows it`() async {
    await expect(
      Flawed<NeverBackwards>.self,
      refusedBy: "swapped",
      saying: "read at 8 s, 'inside' is 0.5, and it is 0.625"
    )
    await expect(
      Flawed<NobodyAtLeast>.self,
      refusedBy: "departure_first",
      saying: "'inside' is 1.125, and it is 0.5 on average"
    )
    await expect(
      Flawed<TellsEarly>.self,
      refusedBy: "still_inside",
      saying: "'response' is 1 s, though somebody is still inside"
    )
    await expect(
      Flawed<CountsDepartures>.self,
      refusedBy: "still_inside",
      saying: "'rate' is 0.25 a second, and 2 arrived in 4 s: 0.5 a second"
    )
    await expect(Flawed<CountsReadings>.self, refusedBy: "alone", saying: "'rate' is 0.5 a second")
    await expect(Flawed<BeginsAnew>.self, refusedBy: "still_inside", saying: "'inside' is 0, and")
    await expect(
      TwoLocks.self,
      refusedBy: "together",
      saying: "what one task told was lost"
    )
    await expect(
      ArrivalsApart.self,
      refusedBy: "whole",
      saying: "'rate' is 0.25, 'inside' 0.25 and 'response' 1 s. That is neither"
    )
    await expect(
      Flawed<ReadsForwards>.self,
      refusedBy: "still_inside",
      saying: "let a reading change nothing"
    )
    await expect(Summed<Saturated>.self, refusedBy: "year", saying: "'inside' is")
  }

  @Test(.long) func `that are right but for one case are refused by it`() async {
    await expect(
      Flawed<NoTimeIsNobody>.self,
      refusedBy: "no_time",
      saying: "'response' is nil, though all have departed"
    )
    await expect(
      CachesReading.self,
      refusedBy: "same_moment",
      saying: "It was read at 3 s before, and something was told since"
    )
    await expect(
      TwoSums.self,
      refusedBy: "whole_visit",
      saying: "which was so at no moment"
    )
    await expect(
      WholeNanoseconds.self,
      refusedBy: "thousand_years",
      saying: "in nanoseconds are too many for an Int"
    )
  }

  @Test func `that round are told so, with the digits that differ`() async {
    await expect(
      Flawed<WholeMilliseconds>.self,
      refusedBy: "lab",
      saying: "so near that it was rounded on the way. Keep times and sums as 'Duration'"
    )
    await expect(
      Flawed<WholeMicroseconds>.self,
      refusedBy: "nanoseconds",
      saying:
        "'inside' is 0.001, and it is 0.0003 on average over the time. Keep all digits of a time"
    )
  }

  @Test func `that two threads change without a lock are refused by threads`() async {
    await expect(Summed<Unlocked>.self, refusedBy: "threads", saying: "let one lock guard all")
  }

  /// Reads nothing at all where another tells at that moment.
  private final class LooksOnce: LearnerGauge {
    private let state = Mutex(
      (arrivals: 0, inside: 0, area: Duration.zero, last: Duration.zero)
    )

    func arrived(at time: Duration) { note(time, 1) }

    func departed(at time: Duration) { note(time, -1) }

    private func note(_ time: Duration, _ change: Int) {
      state.withLock { state in
        state.area += (time - state.last) * state.inside
        state.last = time
        state.inside += change
        if change > 0 { state.arrivals += 1 }
      }
    }

    func reading(at time: Duration) -> Reading {
      let nothing = Reading(inside: 0, rate: 0, response: nil)
      return state.withLockIfAvailable { state in
        guard time > .zero else { return nothing }
        let area = state.area + (time - state.last) * state.inside
        return Reading(
          inside: area / time,
          rate: Double(state.arrivals) / (time / .seconds(1)),
          response: state.inside == 0 && state.arrivals > 0 ? area / state.arrivals : nil
        )
      } ?? nothing
    }
  }

  // An exploration does not always see the try of a lock; on one processor hardly anybody meets there.
  @Test(.enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1))
  func `that read nothing while another thread tells are refused by threads`() async {
    await GradingTests.expect(
      Grader.gauge(LooksOnce.self),
      "threads",
      refusedSaying: "have a reading wait for it"
    )
  }

  @Test(.long) func `that keep something of each request are refused`() async {
    let failed = await refusal(Grader.gauge(Flawed<NoFlaw>.self), heap: Growing().bytes)
    #expect(failed?.name == "kept")
    #expect(failed?.sentence.contains("keep sums and counts instead of times") == true)
  }

  @Test(.long) func `that keep those inside, or readings, are refused by what they kept then`()
    async
  {
    let ofInside = await refusal(
      Grader.gauge(Keeping<WhoIsInside>.self),
      heap: { Int64(WhoIsInside.bytes.value) }
    )
    #expect(ofInside?.sentence.contains("requests, all inside: memory grows") == true)
    let ofReadings = await refusal(
      Grader.gauge(Keeping<Readings>.self),
      heap: { Int64(Readings.bytes.value) }
    )
    #expect(ofReadings?.sentence.contains("readings: memory grows") == true)
  }

  /// A heap that has grown by a million bytes whenever it is looked at.
  private final class Growing: Sendable {
    private let looks = Atomic<Int64>(0)

    var bytes: @Sendable () -> Int64 {
      { [self] in looks.add(1_000_000, ordering: .relaxed).newValue }
    }
  }
}

extension Gauges.Flaw {
  static func kept(_ time: Duration) -> Duration { time }
  static func inside(_ inside: Int) -> Int { inside }
  static func last(_ last: Duration, _ time: Duration) -> Duration { time }
  static func since(_ time: Duration) -> Duration { time }
  static func response(_ mean: Duration?, inside: Int) -> Duration? { inside == 0 ? mean : nil }
  static func arrivals(_ arrivals: Int, inside: Int) -> Int { arrivals }
  static var countsReading: Bool { false }
  static var beginsAnew: Bool { false }
  static var advances: Bool { false }
}
