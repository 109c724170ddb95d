internal import Basics
internal import Experiments
internal import LessonBook
internal import Limiters
internal import Mechanisms

/// A server of some permits, which notes when each request came and when it was answered.
final class RequestServer: Sendable {
  struct Failure: Error {}

  struct Request: Sendable {
    var due: Int64
    var work: Int64
    var fails = false
    /// With what it is refused, if it is.
    var error: any Error = Failure()

    var refused: String {
      "refused" + (error is CancellationError ? " with a CancellationError" : "")
    }
  }

  let requests: [Request]
  private let limiter: ConcurrencyLimiter
  private let clock: RequestClock
  private let notes: Lock<(sent: [[Int64]], answered: [Int64])>
  /// A request that was sent and that there is none of.
  private let stray = Lock<Int?>(nil)

  init(_ requests: [Request], limit: Int, clock: RequestClock) {
    self.requests = requests
    self.clock = clock
    limiter = ConcurrencyLimiter(concurrency: limit)
    notes = Lock(
      (Array(repeating: [], count: requests.count), Array(repeating: -1, count: requests.count))
    )
  }

  func answer(_ number: Int) async throws {
    guard requests.indices.contains(number) else {
      stray.withLock { $0 = number }
      throw Failure()
    }
    guard clock.isInside else { return }
    notes.withLock { $0.sent[number].append(clock.clock.now.nanoseconds) }
    await limiter.runUncancellably {
      await clock.pass(requests[number].work)
    }
    notes.withLock { $0.answered[number] = clock.clock.now.nanoseconds }
    if requests[number].fails { throw requests[number].error }
  }

  /// Judges what was sent, and what was said of it.
  ///
  /// - Parameters:
  ///   - took: what was said.
  ///   - begins: when the measuring began: what was due before is sent then.
  ///   - lateness: how late a request may be sent, because the machine that sends it is busy.
  /// - Returns: what is wrong; nil if nothing is.
  func fault(in took: [Duration], begins: Int64, lateness: Int64) -> String? {
    let (sent, answered) = notes.withLock { $0 }
    if let number = stray.withLock({ $0 }) {
      return "request \(number) was sent, and there is no such request"
    }
    for (number, request) in requests.enumerated() {
      let name = "request \(number), due at \(Self.text(request.due)),"
      guard let time = sent[number].first else { return "\(name) was never sent" }
      if sent[number].count > 1 { return "\(name) was sent \(sent[number].count) times" }
      if time < request.due { return "\(name) was sent too early, at \(Self.text(time))" }
      if time > max(request.due, begins) + lateness {
        return "\(name) was sent at \(Self.text(time)), \(Self.text(time - request.due)) late"
      }
      if answered[number] < 0 { return "'measure' returned when \(name) had no answer yet" }
    }
    guard took.count == requests.count else {
      return "\(requests.count) requests were sent, and \(took.count) times came back"
    }
    for (number, request) in requests.enumerated() {
      let due = answered[number] - request.due
      let told = Self.nanoseconds(took[number])
      if told != due {
        return "request \(number), due at \(Self.text(request.due)), was "
          + (request.fails ? request.refused : "answered")
          + " at \(Self.text(answered[number])), so it "
          + "took \(Self.text(due)), and 'measure' says \(Self.text(told, insteadOf: due))"
      }
    }
    return nil
  }

  /// How much more or less, where both would look the same.
  private static func text(_ told: Int64, insteadOf due: Int64) -> String {
    let difference = abs(told - due)
    return difference > due / 100
      ? text(told) : "\(text(difference)) \(told > due ? "more" : "less")"
  }

  private static func text(_ nanoseconds: Int64) -> String {
    (nanoseconds < 0 ? "-" : "") + DurationText.text(abs(nanoseconds))
  }

  static func nanoseconds(_ duration: Duration) -> Int64 {
    duration.components.seconds * 1_000_000_000 + duration.components.attoseconds / 1_000_000_000
  }
}

extension Grader {
  private static let microsecond: Int64 = 1_000
  private static let millisecond: Int64 = 1_000_000

  /// Lesson 15: sent when due, and measured from then.
  package static func meter<Meter: LearnerMeter>(_ type: Meter.Type) -> GradeBook {
    GradeBook([
      measured(type, "steady", "ten requests of 5 ms, one every 10 ms") { _ in
        (0..<10).map { .init(due: $0 * 10 * millisecond, work: 5 * millisecond) }
      },
      measured(
        type,
        "short",
        "nine requests of about 1 us to 500 us, one every 10 ms"
      ) { _ in
        // No whole microseconds.
        [1, 2, 5, 10, 20, 50, 100, 200, 500].enumerated().map { number, work in
          .init(due: Int64(number) * 10 * millisecond, work: work * 1_001)
        }
      },
      measured(
        type,
        "stall",
        "a request that takes 2 s, then 400 of 5 ms, one every 10 ms, one permit"
      ) { _ in
        [.init(due: 0, work: 2_000 * millisecond)]
          + (0..<400).map { .init(due: $0 * 10 * millisecond, work: 5 * millisecond) }
      },
      measured(type, "together", "20,001 requests of 100 s, all due at 1 s", limit: 20_001) { _ in
        (0..<20_001).map { _ in .init(due: 1_000 * millisecond, work: 100_000 * millisecond) }
      },
      measured(
        type,
        "overtaking",
        "20 requests, each shorter than the one before, twenty permits",
        limit: 20
      ) { _ in
        (0..<20).map { .init(due: $0 * millisecond, work: (100 - 4 * $0) * millisecond) }
      },
      measured(
        type,
        "long",
        "six requests that take two hours each, due after nothing, a minute, an hour, a day, a month and a year",
        limit: 6
      ) { _ in
        [0, 60, 3_600, 86_400, 2_592_000, 31_536_000].map {
          .init(due: $0 * 1_000 * millisecond, work: 7_200_000 * millisecond)
        }
      },
      measured(type, "failures", "30 requests of 25 ms, of which every third is refused") { _ in
        (0..<30).map {
          .init(due: $0 * 10 * millisecond, work: 25 * millisecond, fails: $0 % 3 == 1)
        }
      },
      measured(
        type,
        "cancellation_errors",
        "30 requests of 25 ms, of which every third is refused with a CancellationError"
      ) { _ in
        (0..<30).map {
          .init(
            due: $0 * 10 * millisecond,
            work: 25 * millisecond,
            fails: $0 % 3 == 1,
            error: CancellationError()
          )
        }
      },
      measured(
        type,
        "at_once",
        "ten requests, one every 10 ms, each answered or refused in no time"
      ) { _ in
        (0..<10).map { .init(due: $0 * 10 * millisecond, work: 0, fails: $0 % 2 == 1) }
      },
      measured(
        type,
        "same_time",
        "ten requests due at the same time, each of which takes less than the one before",
        limit: 10
      ) { _ in
        (0..<10).map { .init(due: 10 * millisecond, work: (100 - 9 * $0) * millisecond) }
      },
      measured(
        type,
        "busy",
        "20 requests of 5 ms, one every 10 ms, and the machine that sends them is busy from 15 to 115 ms",
        busy: 100 * millisecond
      ) { _ in
        (0..<20).map { .init(due: $0 * 10 * millisecond, work: 5 * millisecond) }
      },
      measured(type, "none", "no request at all") { _ in [] },
      measured(
        type,
        "later",
        "ten requests from 3.01 s on, and 'measure' is called at 3 s",
        begins: 3_000 * millisecond
      ) { _ in
        (1...10).map { .init(due: (3_000 + $0 * 10) * millisecond, work: 25 * millisecond) }
      },
      measured(
        type,
        "overdue",
        "a request due a second before 0, ten from 2.95 s on, one every 10 ms, every second of them refused, and 'measure' is "
          + "called at 3 s",
        begins: 3_000 * millisecond
      ) { _ in
        ([-1_000] + (0..<10).map { 2_950 + $0 * 10 }).enumerated().map { number, due in
          .init(due: due * millisecond, work: 10 * millisecond, fails: number % 2 == 0)
        }
      },
      measured(
        type,
        "cancelled",
        "ten requests, one every 10 ms, measured by a task that was cancelled before",
        isCancelled: true
      ) { _ in
        (1...10).map { .init(due: $0 * 10 * millisecond, work: 25 * millisecond) }
      },
      measured(type, "drawn", "200 requests at drawn times, in no order", limit: 4) { seed in
        var random = SplitMix64(seed: seed)
        return (0..<200).map { _ in
          .init(
            // Not by whole milliseconds.
            due: Int64(random.next(below: 5_000_000)) * microsecond,
            work: Int64(1_000 + random.next(below: 150_000)) * microsecond,
            fails: random.next(below: 5) == 0
          )
        }
      },
      measured(
        type,
        "two_meters",
        "two meters at once, each of 20 requests at drawn times",
        meters: 2
      ) {
        seed in
        var random = SplitMix64(seed: seed)
        return (0..<20).map { _ in
          .init(
            due: Int64(random.next(below: 500)) * millisecond,
            work: Int64(1 + random.next(below: 50)) * millisecond
          )
        }
      },
      measured(type, "many", "10,000 requests of 9 ms, one each millisecond", limit: 10) { _ in
        (0..<10_000).map { .init(due: $0 * millisecond, work: 9 * millisecond) }
      },
    ])
  }

  private static func measured<Meter: LearnerMeter>(
    _ type: Meter.Type,
    _ name: String,
    _ asked: String,
    limit: Int = 1,
    begins: Int64 = 0,
    busy: Int64 = 0,
    isCancelled: Bool = false,
    meters: Int = 1,
    _ draw: @escaping @Sendable (UInt64) -> [RequestServer.Request]
  ) -> GradeBook.Question {
    .task(name, asked, seconds: 20) { seed in
      let scheduler = VirtualScheduler(workers: 1)
      let clock = RequestClock(scheduler: scheduler)
      let servers = (0..<meters).map {
        RequestServer(draw(seed &+ UInt64($0)), limit: limit, clock: clock)
      }
      let told = Lock<[Int: [Duration]]>([:])
      if busy > 0 {
        Task(executorPreference: scheduler) {
          try? await scheduler.clock.sleep(nanoseconds: 15 * millisecond)
          scheduler.hold(for: busy)
        }
      }
      for (number, server) in servers.enumerated() {
        Task(executorPreference: scheduler) { @Sendable in
          if begins > 0 { try? await scheduler.clock.sleep(nanoseconds: begins) }
          if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
          let took = await Meter().measure(
            due: server.requests.map { .nanoseconds($0.due) },
            on: clock
          ) { try await server.answer($0) }
          told.withLock { $0[number] = took }
        }
      }
      _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      let isDrawn = name == "drawn" || meters > 1
      let place = asked + (isDrawn ? ", seed \(seed)" : "") + ": "
      if clock.wasAskedFromOutside.isRaised {
        return GradeItem(
          name,
          passed: false,
          place + "a 'Task {}' of yours knows nothing of this clock. Start tasks in a task group"
        )
      }
      let took = told.withLock { $0 }
      guard took.count == meters else {
        return GradeItem(
          name,
          passed: false,
          place
            + "'measure' had not returned when nothing was left to do. Wait by 'clock.sleep', and start tasks in "
            + "a task group: a 'Task {}' knows nothing of this clock"
        )
      }
      let faults = servers.enumerated().lazy.compactMap { number, server in
        server.fault(in: took[number] ?? [], begins: begins, lateness: busy)
      }
      let fault = faults.first.map { $0 + (meters > 1 ? ". Let meters share nothing" : "") }
      let praise =
        servers[0].requests.isEmpty
        ? "no time comes back"
        : "each was sent \(busy > 0 || begins > 0 ? "as soon as it could be" : "when due"), and measured from when it was due"
      return GradeItem(
        name,
        passed: fault == nil,
        place + (fault ?? praise)
      )
    }
  }
}
