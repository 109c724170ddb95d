import Dispatch
import ExplorableSynchronization
import Grading
import Limiters
import TestSupport
import Testing

/// Answers that are right until a reading, a cancellation or an error comes in between.
@Suite(.watched, .serialized) struct `Answers that something in between makes wrong` {
  /// Puts what is told late at the time of the last reading, if it may not lie before that.
  private class GaugeOfSums: @unchecked Sendable {
    // Of one task at a time: the question that is asked here is asked by one.
    private var arrivals = 0
    private var inside = 0
    private var area = Duration.zero
    private var last = Duration.zero
    private var lastReading = Duration.zero
    private var response: Duration?
    private let keepsResponse: Bool
    private let movesWhatIsLate: Bool

    init(keepsResponse: Bool = false, movesWhatIsLate: Bool = false) {
      self.keepsResponse = keepsResponse
      self.movesWhatIsLate = movesWhatIsLate
    }

    func arrived(at time: Duration) { note(time, 1) }
    func departed(at time: Duration) { note(time, -1) }

    private func note(_ time: Duration, _ change: Int) {
      let time = movesWhatIsLate ? max(time, lastReading) : time
      area += (time - last) * inside
      last = time
      inside += change
      arrivals += max(change, 0)
    }

    func reading(at time: Duration) -> Reading {
      lastReading = max(lastReading, time)
      guard time > .zero else { return Reading(inside: 0, rate: 0, response: nil) }
      let area = area + (time - last) * inside
      var told = inside == 0 && arrivals > 0 ? area / arrivals : nil
      if keepsResponse, told != nil {
        response = response ?? told
        told = response
      }
      return Reading(
        inside: area / time,
        rate: Double(arrivals) / (time / .seconds(1)),
        response: told
      )
    }
  }

  private final class MovesWhatIsLate: GaugeOfSums, LearnerGauge, @unchecked Sendable {
    init() { super.init(movesWhatIsLate: true) }
  }

  private final class KeepsItsFirstResponse: GaugeOfSums, LearnerGauge, @unchecked Sendable {
    init() { super.init(keepsResponse: true) }
  }

  private final class Right: GaugeOfSums, LearnerGauge, @unchecked Sendable {
    init() { super.init() }
  }

  @Test func `a gauge that takes what was told late for what was told then is refused`() async {
    await expect(
      Grader.gauge(MovesWhatIsLate.self),
      "told_late",
      refusedSaying: "what is told after it may lie before it"
    )
    await expect(
      Grader.gauge(KeepsItsFirstResponse.self),
      "told_late",
      refusedSaying: "and they were inside for"
    )
    await expect(Grader.gauge(Right.self), "told_late")
    await expect(Grader.gauge(Right.self), "at_zero")
  }

  /// Takes a departure at zero for none.
  private final class DropsZero: LearnerGauge {
    private let gauge = GaugeOfSums()

    func arrived(at time: Duration) { gauge.arrived(at: time) }
    func departed(at time: Duration) { if time > .zero { gauge.departed(at: time) } }
    func reading(at time: Duration) -> Reading { gauge.reading(at: time) }
  }

  @Test func `a gauge that knows no departure at zero is refused`() async {
    await expect(Grader.gauge(DropsZero.self), "at_zero", refusedSaying: "'inside' is")
  }

  /// Knows who waits by the question, and tells all of them when one is cancelled.
  private final class CancelsByQuestion: LearnerClient {
    private typealias Waiter = CheckedContinuation<Int, any Error>

    private let server: CallingServer
    private let waiters = Mutex<[Int: [Waiter]]>([:])

    init(server: CallingServer) { self.server = server }

    func answer(to question: Int) async throws -> Int {
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { (waiter: Waiter) in
          waiters.withLock { $0[question, default: []].append(waiter) }
          server.ask(question) { self.next(question)?.resume(with: $0) }
        }
      } onCancel: {
        while let waiter = next(question) { waiter.resume(throwing: CancellationError()) }
      }
    }

    private func next(_ question: Int) -> Waiter? {
      waiters.withLock { waiters in
        waiters[question]?.isEmpty ?? true ? nil : waiters[question]?.removeFirst()
      }
    }
  }

  @Test func `a client that tells all who ask the same of one's cancellation is refused`() async {
    await expect(
      Grader.client(CancelsByQuestion.self),
      "cancelled_meanwhile",
      refusedSaying: "Know who waits by the call"
    )
  }

  /// Asks once more when its task is cancelled.
  private final class AsksAgain: LearnerClient {
    private let server: CallingServer

    init(server: CallingServer) { self.server = server }

    func answer(to question: Int) async throws -> Int {
      let waiter = Mutex<CheckedContinuation<Int, any Error>?>(nil)
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          waiter.withLock { $0 = continuation }
          server.ask(question) { result in
            waiter.withLock { waiter in
              defer { waiter = nil }
              return waiter
            }?.resume(with: result)
          }
        }
      } onCancel: {
        server.ask(question) { _ in }
      }
    }
  }

  @Test func `a client that asks again for one who is cancelled is refused`() async {
    await expect(
      Grader.client(AsksAgain.self),
      "cancelled_meanwhile",
      refusedSaying: "Each call asks it once"
    )
  }

  /// Fetches without a permit where the wait for one was cancelled.
  private final class FetchesWithoutPermit: LearnerDownloader {
    private let limiter: ConcurrencyLimiter

    init(limit: Int) { limiter = ConcurrencyLimiter(concurrency: limit) }

    func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
      await withTaskGroup { group in
        for file in files {
          group.addTask { [limiter] in
            let permit = try? await limiter.acquire().detach()
            await Task { await fetch(file) }.value
            permit?.release()
          }
        }
      }
    }
  }

  @Test func `a downloader that fetches without a permit for who is cancelled is refused`() async {
    await expect(
      Grader.downloader(FetchesWithoutPermit.self),
      "cancelled_meanwhile",
      refusedSaying: "files were fetched at once"
    )
  }

  /// Gives its permit back when its task is cancelled, and when its copy ends.
  private final class GivesBackWhenCancelled: LearnerCopier {
    private let limiter: ConcurrencyLimiter

    init(connections: Int, files: Int) {
      limiter = ConcurrencyLimiter(concurrency: min(connections, files))
    }

    func download(_ copy: () async throws -> Void) async throws {
      let token = try await limiter.acquire().detach()
      let mine = Mutex(true)
      let giveBack: @Sendable () -> Void = {
        let isMine = mine.withLock { isMine in
          defer { isMine = false }
          return isMine
        }
        if isMine { token.release() }
      }
      defer { giveBack() }
      try await withTaskCancellationHandler {
        try await copy()
      } onCancel: {
        giveBack()
      }
    }

    func upload(_ copy: () async throws -> Void) async throws { try await download(copy) }
  }

  @Test func `a copier that gives back while a cancelled copy goes on is refused`() async {
    await expect(
      Grader.copier(GivesBackWhenCancelled.self),
      "cancelled_copying",
      refusedSaying: "2 copied at once"
    )
  }

  /// Tells the first in line of the error of a connection that was opened for another.
  private final class TellsTheNext: LearnerConnections {
    private typealias Waiter = CheckedContinuation<Result<Void, any Error>, Never>

    private let open: @Sendable () async throws -> any LearnerConnection
    private let state: Mutex<(free: Int, line: [Waiter])>

    init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
      self.open = open
      state = Mutex((limit, []))
    }

    func answer(to question: Int) async throws -> Int {
      try await withCheckedContinuation { (waiter: Waiter) in
        let isFree = state.withLock { state in
          if state.free > 0 {
            state.free -= 1
            return true
          }
          state.line.append(waiter)
          return false
        }
        if isFree { waiter.resume(returning: .success(())) }
      }.get()
      defer { giveBack() }
      do { return try await open().answer(to: question) } catch {
        let next = state.withLock { $0.line.count > 1 ? $0.line.removeFirst() : nil }
        next?.resume(returning: .failure(error))
        throw error
      }
    }

    private func giveBack() {
      let next: Waiter? = state.withLock { state in
        if !state.line.isEmpty { return state.line.removeFirst() }
        state.free += 1
        return nil
      }
      next?.resume(returning: .success(()))
    }
  }

  @Test func `connections that tell the next of another's error are refused`() async {
    await expect(
      Grader.connections(TellsTheNext.self),
      "others_in_line",
      refusedSaying: "no error of a connection that was opened for another"
    )
  }

  /// Makes free what one is handed who is cancelled, and tells nobody in its line.
  private final class FreesWhatWasHanded: LearnerCopier {
    private let state: Mutex<(free: Int, line: [Signal])>

    init(connections: Int, files: Int) { state = Mutex((min(connections, files), [])) }

    func download(_ copy: () async throws -> Void) async throws {
      let (condition, signal) = Condition.makeCondition()
      let mustWait = state.withLock { state in
        if state.free > 0 {
          state.free -= 1
          return false
        }
        state.line.append(signal)
        return true
      }
      if mustWait {
        try await condition.waitUncancellably()
        if Task.isCancelled {
          state.withLock { $0.free += 1 }
          throw CancellationError()
        }
      }
      defer { giveBack() }
      try await copy()
    }

    func upload(_ copy: () async throws -> Void) async throws { try await download(copy) }

    private func giveBack() {
      let next: Signal? = state.withLock { state in
        if !state.line.isEmpty { return state.line.removeFirst() }
        state.free += 1
        return nil
      }
      next?.signal()
    }
  }

  @Test func `a copier that keeps for nobody what a cancelled task was handed is refused`() async {
    await expect(
      Grader.copier(FreesWhatWasHanded.self),
      "cancelled_as_handed",
      refusedSaying: "never finish"
    )
  }

  /// Gives the place of a cancelled task to the next, for which the block of the first comes then.
  private final class UsesPlacesAgain: LearnerReader {
    private typealias Waiter = CheckedContinuation<Int, any Error>

    private let disk: Disk
    private let queue = DispatchQueue(label: "disk")
    private let places = Mutex<[Waiter?]>([])

    init(disk: Disk) { self.disk = disk }

    func read(_ block: Int) async throws -> Int {
      let mine = Mutex<Int?>(nil)
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { (waiter: Waiter) in
          let place = places.withLock { places in
            let free = places.firstIndex { $0 == nil } ?? places.count
            if free == places.count { places.append(waiter) } else { places[free] = waiter }
            return free
          }
          mine.withLock { $0 = place }
          queue.async { [self] in
            let result = Result { try disk.read(block) }
            take(place)?.resume(with: result)
          }
        }
      } onCancel: {
        if let place = mine.withLock({ $0 }) { take(place)?.resume(throwing: CancellationError()) }
      }
    }

    private func take(_ place: Int) -> Waiter? {
      places.withLock { places in
        defer { places[place] = nil }
        return places[place]
      }
    }
  }

  @Test func `a reader that gives one's block to another who came later is refused`() async {
    await expect(
      Grader.reader(UsesPlacesAgain.self),
      "cancelled",
      refusedSaying: "who asked for block 4 got"
    )
  }
}
