import Foundation
import RealWork
import Synchronization
import TestSupport
import Testing

@Suite(.watched) struct `An attempt that fails` {
  private struct Busy: PassingError {
    let mayPass = true
    var pauseAskedFor: Duration?
  }

  private func pauses(attempts: Int, seed: UInt64, asking pause: Duration? = nil) async
    -> [Duration]
  {
    let clock = NotedClock()
    await #expect(throws: Busy.self) {
      try await retrying(
        attempts: attempts,
        Backoff(first: .milliseconds(100), most: .seconds(1), seed: seed),
        clock: clock
      ) { throw Busy(pauseAskedFor: pause) }
    }
    return clock.pauses
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `is followed by a pause from the upper half of one that doubles, up to the most`(
    _ seed: UInt64
  )
    async
  {
    let pauses = await pauses(attempts: 7, seed: seed)
    #expect(pauses.count == 6)
    for (pause, whole) in zip(pauses, [100, 200, 400, 800, 1_000, 1_000]) {
      #expect(pause >= .milliseconds(whole) / 2 && pause <= .milliseconds(whole))
    }
  }

  @Test func `is followed by no longer pause than the most, though the first were to be longer`() {
    var backoff = Backoff(first: .seconds(10), most: .seconds(1), seed: 1)
    for _ in 1...5 {
      let pause = backoff.pause(after: Busy())
      #expect(pause.map { (.milliseconds(500) ... .seconds(1)).contains($0) } == true)
    }
  }

  @Test func `makes clients come again at different times`() async {
    var first: Set<Duration> = []
    for seed in 1...20 as ClosedRange<UInt64> {
      first.formUnion(await pauses(attempts: 2, seed: seed))
    }
    #expect(first.count == 20)
  }

  @Test
  func `is not repeated before the server asks for it, and not at all if it asks for too much`()
    async
  {
    #expect(
      await pauses(attempts: 3, seed: 1, asking: .milliseconds(900)) == [
        .milliseconds(900), .milliseconds(900),
      ]
    )
    #expect(await pauses(attempts: 3, seed: 1, asking: .milliseconds(1_001)).isEmpty)
    // A pause that is asked for is not shortened by one that is drawn, nor the other way round.
    let drawn = await pauses(attempts: 2, seed: 1)
    #expect(await pauses(attempts: 2, seed: 1, asking: .zero) == drawn)
  }

  @Test func `is not repeated if it cannot end better`() async {
    let errors: [any Error] = [
      CancellationError(), URLError(.badURL), URLError(.unsupportedURL),
      CocoaError(.fileWriteOutOfSpace),
    ]
    let url = URL(fileURLWithPath: "/file")
    let refused = [400, 401, 403, 404, 405, 410, 416, 501, 302].map {
      BadStatus(status: $0, url: url)
    }
    for error in errors + refused { #expect(!isWorthRetrying(error), "\(error)") }
    #expect(!isWorthRetrying(BadAnswer(.encoding("gzip"), url)))
    let passing = [408, 425, 429, 500, 502, 503, 504].map { BadStatus(status: $0, url: url) }
    for error in passing { #expect(isWorthRetrying(error), "\(error)") }
    for fault in [
      .length(received: 1, expected: 2), .cutOff(received: 1, expected: nil),
      .range("bytes 0-1/2", askedFrom: 1), .otherVersion,
    ] as [BadAnswer.Fault] {
      #expect(isWorthRetrying(BadAnswer(fault, url)), "\(fault)")
    }
    #expect(
      isWorthRetrying(URLError(.timedOut)) && isWorthRetrying(URLError(.networkConnectionLost))
    )
    let attempts = Mutex(0)
    await #expect(throws: BadStatus.self) {
      try await retrying(attempts: 4, Backoff(first: .seconds(86_400))) {
        attempts.withLock { $0 += 1 }
        throw BadStatus(status: 404, url: url)
      }
    }
    #expect(attempts.withLock { $0 } == 1)
  }

  @Test func `is followed by a pause that cancellation ends`() async {
    let task = Task {
      try await retrying(attempts: 2, Backoff(first: .seconds(86_400), most: .seconds(86_400))) {
        throw Busy()
      }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func `is the last of as many as were allowed, and its error comes out`() async throws {
    struct Numbered: PassingError {
      let number: Int
      let mayPass = true
    }
    for allowed in [-1, 0, 1, 2, 5] {
      let attempts = Mutex(0)
      let error = await #expect(throws: Numbered.self) {
        try await retrying(attempts: allowed, Backoff(first: .zero), clock: NotedClock()) {
          throw Numbered(
            number: attempts.withLock {
              $0 += 1
              return $0
            }
          )
        }
      }
      #expect(error?.number == max(1, allowed))
    }
  }
}

/// A clock on which every pause is over at once, and is noted.
final class NotedClock: Clock {
  private let instant = Mutex(ContinuousClock.now)
  private let noted = Mutex<[Duration]>([])

  var now: ContinuousClock.Instant { instant.withLock { $0 } }
  var minimumResolution: Duration { .zero }
  var pauses: [Duration] { noted.withLock { $0 } }

  func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
    let pause = deadline - now
    noted.withLock { $0.append(pause) }
    instant.withLock { $0 = deadline }
  }
}
