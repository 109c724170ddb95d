import Basics
import ExplorableLimiters
import ExplorableSynchronization
import LessonBook
import TestSupport
import Testing

@testable import Grading

/// Answers that are right for a while, for few, or where nobody else comes at that moment.
@Suite(.watched, .serialized) struct `Long lives and large numbers` {
  @Test func `an answer is ended that takes gigabytes, and told so`() async {
    let (isOver, over) = Condition.makeCondition()
    let question = GradeBook.Question.task("grows", "a crowd") { _ in
      try? await isOver.waitUncancellably()
      return GradeItem("grows", passed: true, "")
    }
    let looks = PlainCount()
    let terms = GradeBook.Terms(
      seed: 1,
      executor: racetrack,
      sharesPool: true,
      heap: {
        looks.add(1)
        return Int64(looks.value - 1) << 31
      }
    )
    let item = await onOwnThread { question.ask(terms) }
    #expect(item.sentence.hasPrefix("a crowd: the program had taken 2 GB of memory"))
    over.signal()
  }

  // MARK: Doors

  /// Is never let go of, which the tests are told in bytes.
  private final class KnownForEver: LearnerDoor {
    static let bytes = PlainCount()

    init() { Self.bytes.add(8) }

    func wait() async {}
    func open() {}
  }

  @Test func `a door is graded by a crowd, by who tries its lock, and by what is kept of doors`()
    async
  {
    await expect(Grader.door(RoomForAByte.self), "crowd", refusedSaying: "while the door was shut")
    await expect(
      Grader.door(TriesTheDoor.self),
      "two_wait",
      refusedSaying: "'wait' returned while the door was shut"
    )
    await expect(
      Grader.door(KnownForEver.self),
      "kept_of_doors",
      refusedSaying: "something is kept of each",
      heap: { Int64(KnownForEver.bytes.value) }
    )
  }

  // MARK: Limiters and pools

  /// Frees the permit that a cancelled task was handed, and serves the line in a second step.
  private final class PassesOnInTwoSteps: LearnerLimiter {
    private let state: Mutex<(free: Int, line: [Signal])>

    init(limit: Int) { state = Mutex((limit, [])) }

    func run<Value>(_ body: () async throws -> Value) async throws -> Value {
      let (condition, signal) = Condition.makeCondition()
      let mustWait = state.withLock { state in
        if state.free == 0 { state.line.append(signal) } else { state.free -= 1 }
        return state.line.contains { $0 === signal }
      }
      if mustWait {
        do { try await condition.wait() } catch {
          let wasInLine = state.withLock { state in
            let place = state.line.firstIndex { $0 === signal }
            return place.map { _ = state.line.remove(at: $0) } != nil
          }
          if !wasInLine {
            state.withLock { $0.free += 1 }
            let next = state.withLock { state -> Signal? in
              if state.free == 0 || state.line.isEmpty { return nil }
              state.free -= 1
              return state.line.removeFirst()
            }
            next?.signal()
          }
          throw error
        }
      }
      defer {
        let next = state.withLock { state -> Signal? in
          if state.line.isEmpty { state.free += 1 }
          return state.line.isEmpty ? nil : state.line.removeFirst()
        }
        next?.signal()
      }
      return try await body()
    }
  }

  /// Lends a permit no more after so many visits, as long as there is another.
  private final class Limiter<let life: Int>: LearnerLimiter {
    private let permits: ConcurrencyLimiter
    private let visits = Atomic(0)

    init(limit: Int) { permits = ConcurrencyLimiter(concurrency: limit) }

    func run<Value>(_ body: () async throws -> Value) async throws -> Value {
      let isWorn = visits.add(1, ordering: .relaxed).newValue % life == 0
      if isWorn { permits.setConcurrency(max(1, permits.concurrency - 1)) }
      return try await permits.run(body)
    }
  }

  @Test(.long) func `a limiter is graded by whose permit it is that a cancelled task was handed`()
    async
  {
    await expect(
      Grader.cancellableLimiter(PassesOnInTwoSteps.self),
      "handed_to_the_cancelled",
      refusedSaying: "overtook the one that waited"
    )
  }

  @Test func `a limiter is graded by how many it lets in after a long life`() async {
    await expect(
      Grader.limiter(Limiter<1_000>.self),
      "limit_after_many",
      refusedSaying: "1 of them ran at once"
    )
    await expect(Grader.limiter(Limiter<1_000_000>.self), "limit_after_many")
  }

  /// A line of two arrays: who comes is put into the front one where one is left in it and nobody is behind.
  private struct LineThatLetsOneBy: WaitingLine {
    private var front: [Waiting.Waiter] = []
    private var back: [Waiting.Waiter] = []

    mutating func append(_ waiter: Waiting.Waiter) {
      // The front is taken from at its end.
      if front.count == 1, back.isEmpty { front.append(waiter) } else { back.append(waiter) }
    }

    mutating func popFirst() -> Waiting.Waiter? {
      if front.isEmpty { (front, back) = (back.reversed(), []) }
      return front.popLast()
    }
  }

  @Test func `a pool is graded by who comes and departs at any moment`() async {
    await expect(
      Grader.pool(PoolWithALine<LineThatLetsOneBy>.self),
      "any_moment",
      refusedSaying: "which came later"
    )
  }

  // MARK: Recorders

  private enum RecorderFlaw: Int {
    /// Two may add at once after a thousand.
    case opensUp = 1
    /// Each hundredth is read under the permit.
    case readsUnderIt
    /// Turns away who would be the hundredth in line.
    case turnsAway
  }

  private final class Recorder<let flaw: Int>: LearnerRecorder {
    private let permit = ConcurrencyLimiter(concurrency: 1)
    private let records = Atomic(0)

    func record(_ file: RecordFile, in ledger: Ledger) async throws {
      let number = records.add(1, ordering: .relaxed).newValue
      let flaw = RecorderFlaw(rawValue: flaw)
      if flaw == .readsUnderIt, number % 100 == 0 {
        return try await permit.run { await ledger.add(try await file.read()) }
      }
      let record = try await file.read()
      if flaw == .turnsAway, permit.waiting >= 100 { throw CancellationError() }
      try await permit.run { await ledger.add(record) }
      if flaw == .opensUp, number == 1_000 { permit.setConcurrency(2) }
    }
  }

  @Test func `a recorder is graded by thousands of records, read before the first is added`() async
  {
    await expect(Grader.recorder(Recorder<1>.self), "many", refusedSaying: "at the same time")
    await expect(Grader.recorder(Recorder<2>.self), "many", refusedSaying: "wait for the ledger")
    await expect(Grader.recorder(Recorder<3>.self), "many", refusedSaying: "CancellationError")
    await expect(Grader.recorder(Recorder<0>.self), "many")
  }

  // MARK: Accounts

  /// Looks again only if something has changed meanwhile, by a number that comes again.
  private actor CountsInBytes: LearnerAccount {
    private var balance: Int
    private var version: UInt8 = 0
    private let bank: Bank

    init(balance: Int, bank: Bank) { (self.balance, self.bank) = (balance, bank) }

    func withdraw(_ amount: Int) async -> Bool {
      guard balance >= amount else { return false }
      let seen = version
      await bank.approve()
      guard seen == version || balance >= amount else { return false }
      version &+= 1
      balance -= amount
      return true
    }
  }

  /// Refuses who would be one of more than a thousand.
  private actor HasThousandCounters: LearnerAccount {
    private var balance: Int
    private var underWay = 0
    private let bank: Bank

    init(balance: Int, bank: Bank) { (self.balance, self.bank) = (balance, bank) }

    func withdraw(_ amount: Int) async -> Bool {
      guard underWay < 1_000, balance >= amount else { return false }
      underWay += 1
      balance -= amount
      await bank.approve()
      underWay -= 1
      return true
    }
  }

  @Test func `an account is graded by how many come meanwhile, and at once`() async {
    await expect(
      Grader.account(CountsInBytes.self),
      "many_meanwhile",
      refusedSaying: "513 was paid from 257"
    )
    await expect(
      Grader.account(HasThousandCounters.self),
      "many_at_once",
      refusedSaying: "were paid from 1200, though there is enough"
    )
  }

  // MARK: Copiers

  /// Has a third limit, of its own.
  private final class CopiesAThousand: LearnerCopier {
    private let (all, connections, files):
      (ConcurrencyLimiter, ConcurrencyLimiter, ConcurrencyLimiter)

    init(connections: Int, files: Int) {
      all = ConcurrencyLimiter(concurrency: 1_000)
      self.connections = ConcurrencyLimiter(concurrency: connections)
      self.files = ConcurrencyLimiter(concurrency: files)
    }

    func download(_ copy: () async throws -> Void) async throws {
      try await all.run { try await connections.run { try await files.run(copy) } }
    }

    func upload(_ copy: () async throws -> Void) async throws { try await download(copy) }
  }

  @Test func `a copier is graded by thousands at once`() async {
    await expect(
      Grader.copier(CopiesAThousand.self),
      "limits",
      refusedSaying: "at limits of 1100 and 1100"
    )
  }

  // MARK: Gauges

  private enum GaugeFlaw: Int {
    /// Remembers one departure that comes before its arrival.
    case oneEarly = 1
    /// Forgets departures that come before their arrivals, but for one.
    case neverBelow
    /// Tells nothing in the first second.
    case beginsLate
  }

  private final class Gauge<let flaw: Int>: LearnerGauge {
    private let state = Mutex(
      (arrivals: 0, inside: 0, area: Duration.zero, last: Duration.zero, early: Duration?.none)
    )

    func arrived(at time: Duration) { note(time, 1) }

    func departed(at time: Duration) { note(time, -1) }

    private func note(_ time: Duration, _ change: Int) {
      let flaw = GaugeFlaw(rawValue: flaw)
      state.withLock { state in
        if change > 0 { state.arrivals += 1 }
        if flaw == .oneEarly, state.inside == 0 {
          if change < 0 {
            state.early = time
            return
          }
          if let early = state.early {
            state.early = nil
            state.area += early - time
            return
          }
        }
        state.area += (time - state.last) * state.inside
        state.last = time
        state.inside = max(flaw == .neverBelow ? -1 : .min, state.inside + change)
      }
    }

    func reading(at time: Duration) -> Reading {
      state.withLock { state in
        guard time >= (flaw == GaugeFlaw.beginsLate.rawValue ? .seconds(1) : .nanoseconds(1)) else {
          return Reading(inside: 0, rate: 0, response: nil)
        }
        let area = state.area + (time - state.last) * state.inside
        return Reading(
          inside: area / time,
          rate: Double(state.arrivals) / (time / .seconds(1)),
          response: state.inside == 0 && state.arrivals > 0 ? area / state.arrivals : nil
        )
      }
    }
  }

  @Test func `a gauge is graded by several early departures, and within its first second`() async {
    for name in ["departures_first", "milliseconds"] {
      await expect(Grader.gauge(Gauge<0>.self), name)
    }
    await expect(Grader.gauge(Gauge<1>.self), "departures_first", refusedSaying: "'inside' is")
    await expect(Grader.gauge(Gauge<2>.self), "departures_first", refusedSaying: "'inside' is")
    await expect(Grader.gauge(Gauge<3>.self), "milliseconds", refusedSaying: "'rate' is 0")
  }

  // MARK: Meters

  private enum MeterFlaw: Int {
    /// Takes the time of a refusal from when it was sent.
    case refusedFromSent = 1
    /// Has one table for all meters.
    case oneTable
  }

  private struct Meter<let flaw: Int>: LearnerMeter {
    func measure(
      due: [Duration],
      on clock: RequestClock,
      send: @escaping @Sendable (Int) async throws -> Void
    ) async -> [Duration] {
      let own = MeterTable()
      let table = flaw == MeterFlaw.oneTable.rawValue ? MeterTable.shared : own
      await withTaskGroup { group in
        for (number, time) in due.enumerated() {
          group.addTask {
            await clock.sleep(until: time)
            var begin = time
            let sent = clock.now
            do { try await send(number) } catch {
              if flaw == MeterFlaw.refusedFromSent.rawValue { begin = sent }
            }
            table.times.withLock { $0[number] = clock.now - begin }
          }
        }
      }
      return due.indices.map { number in table.times.withLock { $0[number] ?? .zero } }
    }
  }

  private final class MeterTable: Sendable {
    static let shared = MeterTable()
    let times = Mutex<[Int: Duration]>([:])
  }

  @Test func `a meter is graded by what was refused and overdue, and beside another meter`() async {
    for name in ["overdue", "two_meters"] { await expect(Grader.meter(Meter<0>.self), name) }
    await expect(Grader.meter(Meter<1>.self), "overdue", refusedSaying: "was refused at")
    await expect(
      Grader.meter(Meter<2>.self),
      "two_meters",
      refusedSaying: "Let meters share nothing"
    )
  }
}
