import ExplorableSynchronization
import GradeReport
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
    /// What is told of the mean while so many are inside.
    static func response(_ mean: Duration?, inside: Int) -> Duration?
    /// How many arrivals are told of.
    static func arrivals(_ arrivals: Int, inside: Int) -> Int
    /// Whether reading is an event.
    static var countsReading: Bool { get }
    /// Whether what was measured begins anew with each reading.
    static var beginsAnew: Bool { get }
  }

  private final class Flawed<F: Flaw>: LearnerGauge {
    private let state = Mutex(
      (arrivals: 0, inside: 0, area: Duration.zero, last: Duration.zero)
    )

    func arrived(at time: Duration) { note(time, 1) }

    func departed(at time: Duration) { note(time, -1) }

    private func note(_ time: Duration, _ change: Int) {
      state.withLock { state in
        state.area += F.since(time - state.last) * state.inside
        state.last = F.last(state.last, time)
        state.inside += change
        if change > 0 { state.arrivals += 1 }
      }
    }

    func reading(at time: Duration) -> Reading {
      state.withLock { state in
        guard time > .zero else { return Reading(inside: 0, rate: 0, response: nil) }
        if F.countsReading { state.arrivals += 1 }
        let area = state.area + F.since(time - state.last) * state.inside
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

  enum TellsEarly: Flaw {
    static func response(_ mean: Duration?, inside: Int) -> Duration? { mean }
  }

  enum CountsDepartures: Flaw {
    static func arrivals(_ arrivals: Int, inside: Int) -> Int { arrivals - inside }
  }

  enum CountsReadings: Flaw {
    static let countsReading = true
  }

  enum BeginsAnew: Flaw {
    static let beginsAnew = true
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
    for seed: UInt64 in 1...5 {
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
  }

  @Test func `that keep something of each request are refused`() async {
    let failed = await refusal(Grader.gauge(Flawed<NoFlaw>.self), heap: Growing().bytes)
    #expect(failed?.name == "kept")
    #expect(failed?.sentence.contains("keep sums and counts instead of times") == true)
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
  static func last(_ last: Duration, _ time: Duration) -> Duration { time }
  static func since(_ time: Duration) -> Duration { time }
  static func response(_ mean: Duration?, inside: Int) -> Duration? { inside == 0 ? mean : nil }
  static func arrivals(_ arrivals: Int, inside: Int) -> Int { arrivals }
  static var countsReading: Bool { false }
  static var beginsAnew: Bool { false }
}
