import Basics
import Limiters
import Synchronization
import TestSupport
import Testing

// Random cancellations on real threads, then an audit. The tests driven by hand show that particular
// interleavings come out right; these look for one that nobody thought of.

/// A mechanism under stress: how a body passes through it, and what it must be like afterwards.
private struct Subject: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The most bodies that may run at once.
  let limit: Int
  let pass: @Sendable (@escaping @Sendable () async -> Void) async throws -> Void
  /// Permits in use, and waiters.
  let leftOver: @Sendable () -> [Int]

  static var all: [Subject] {
    let limiter = ConcurrencyLimiter(concurrency: 3)
    let resized = ConcurrencyLimiter(concurrency: 3)
    let turns = Counter()
    let pool = AsyncPool(maxElements: 3) {
      await Task.yield()
      return Tracked(in: Tracked.Census())
    }
    let fifo = FIFOQueue()
    let ledger = Ledger()
    let actorQueue = ActorQueue<Ledger>()
    actorQueue.adoptExecutionContext(of: ledger)
    return [
      Subject(
        testDescription: "limiter",
        limit: 3,
        pass: { body in try await limiter.run { await body() } },
        leftOver: { [limiter.running, limiter.waiting] }
      ),
      Subject(
        testDescription: "limiter, resized and with weights and deadlines",
        limit: 3,
        pass: { body in
          let turn = turns.next()
          resized.setConcurrency(1 + turn % 3)
          switch turn % 4 {
          case 0: try await resized.run(weight: 2) { await body() }
          case 1: try await resized.run(waitingAtMost: .microseconds(turn % 97)) { await body() }
          case 2: try await resized.run { await body() }
          default:
            let token = try await resized.acquire().detach()
            await body()
            token.release()
          }
        },
        leftOver: { [resized.running, resized.waiting] }
      ),
      Subject(
        testDescription: "pool, with leases",
        limit: 3,
        pass: { body in
          let lease = try await pool.lease()
          await body()
          if turns.next() % 5 == 0 { lease.discard() }
        },
        leftOver: { [pool.lent, pool.waiting] }
      ),
      Subject(
        testDescription: "pool",
        limit: 3,
        pass: { body in try await pool.withElement { _ in await body() } },
        leftOver: { [pool.lent, pool.waiting] }
      ),
      Subject(
        testDescription: "FIFO queue",
        limit: 1,
        pass: { body in try await fifo.enqueueAndWait { await body() } },
        leftOver: { [fifo.isRunning ? 1 : 0, fifo.waiting] }
      ),
      Subject(
        testDescription: "actor queue",
        // Bodies of an actor queue overlap once they suspend: it limits how they start.
        limit: .max,
        pass: { body in
          try await actorQueue.enqueueAndWait { _ in await body() }
          // The queue refers to its actor weakly.
          withExtendedLifetime(ledger) {}
        },
        leftOver: { [actorQueue.isStarting ? 1 : 0, actorQueue.waiting] }
      ),
    ]
  }
}

private actor Ledger {}

private final class Counter: Sendable {
  private let count = Atomic(0)

  func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

@Suite(.watched, .serialized) struct `Under random cancellation` {
  // The storm of .ci asks for ten million.
  private static let rounds = searchesRun ? 5 : 1
  private static let cancellationsPerRound = 10_000

  /// What became of one task, counted over all.
  private struct Tally {
    var ran = 0
    var denied = 0
    /// Told that it was cancelled while it waited, yet its body ran; or the reverse.
    var contradictions = 0
  }

  @Test(arguments: Subject.all)
  fileprivate func `no permit is lost, none is given twice, and no denied body runs`(
    subject: Subject
  ) async {
    for round in 1...Self.rounds {
      let peak = PeakCount()
      let tally = await run(subject, peak, seed: UInt64(round))
      #expect(peak.highest <= subject.limit)
      #expect(tally.contradictions == 0)
      #expect(tally.ran + tally.denied == Self.cancellationsPerRound)
      #expect(tally.ran == peak.entries)
      #expect(tally.denied > 0, "a round in which nobody is cancelled in time tests nothing")
      #expect(subject.leftOver() == [0, 0])
    }
  }

  /// Starts the round's tasks, cancelling random ones meanwhile, and waits until all have ended.
  private func run(_ subject: Subject, _ peak: PeakCount, seed: UInt64) async -> Tally {
    var generator = SplitMix64(seed: seed)
    var tasks: [Task<(ran: Bool, denied: Bool), Never>] = []
    tasks.reserveCapacity(Self.cancellationsPerRound)
    for _ in 0..<Self.cancellationsPerRound {
      let task = Task {
        let body = Body(peak)
        do {
          try await subject.pass { await body.run() }
        } catch {
          return (ran: body.hasRun, denied: true)
        }
        return (ran: body.hasRun, denied: false)
      }
      tasks.append(task)
      tasks[Int.random(in: max(0, tasks.count - 50)..<tasks.count, using: &generator)].cancel()
    }
    var tally = Tally()
    for task in tasks {
      let (ran, denied) = await task.value
      if ran == denied { tally.contradictions += 1 }
      if ran { tally.ran += 1 }
      if denied { tally.denied += 1 }
    }
    return tally
  }
}

/// A body that knows whether it has run.
private final class Body: Sendable {
  private let peak: PeakCount
  private let ran = Atomic(false)

  init(_ peak: PeakCount) { self.peak = peak }

  var hasRun: Bool { ran.load(ordering: .acquiring) }

  func run() async {
    ran.store(true, ordering: .releasing)
    peak.enter()
    await Task.yield()
    peak.leave()
  }
}
