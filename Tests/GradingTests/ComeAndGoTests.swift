import ExplorableLimiters
import ExplorableSynchronization
import Exploration
import Foundation
import Grading
import TestSupport
import Testing

/// A pool that gives a place back to nobody, in one case.
private protocol Loss: SendableMetatype {
  static func isLost(asOpeningFailed error: any Error) -> Bool
  static func isLost(asReopeningFailed error: any Error) -> Bool
  /// As a connection breaks.
  static var isLostAsCancelled: Bool { get }
  /// As a place is given to one in line.
  static var isLostAsTaken: Bool { get }
  /// Whether who had a connection that broke keeps its place.
  static var keepsPlace: Bool { get }
}

extension Loss {
  static func isLost(asOpeningFailed error: any Error) -> Bool { false }
  static func isLost(asReopeningFailed error: any Error) -> Bool { false }
  static var isLostAsCancelled: Bool { false }
  static var isLostAsTaken: Bool { false }
  static var keepsPlace: Bool { false }
}

/// Answers that are wrong only where one comes or leaves while another is under way.
@Suite(.watched, .serialized) struct `Answers that confuse who came and went` {
  /// Numbers what is pending by how many are, so that two have one number.
  private actor ReusesNumbers: LearnerAccount {
    private var balance: Int
    private let bank: Bank
    private var pending: [Int: Int] = [:]

    init(balance: Int, bank: Bank) {
      self.balance = balance
      self.bank = bank
    }

    func withdraw(_ amount: Int) async -> Bool {
      guard balance - pending.values.reduce(0, +) >= amount else { return false }
      let number = pending.count
      pending[number] = amount
      await bank.approve()
      pending[number] = nil
      balance -= amount
      return true
    }
  }

  @Test func `an account that numbers what is pending by how many are is refused`() async {
    await expect(
      Grader.account(ReusesNumbers.self),
      "come_and_go",
      refusedSaying: "160 were paid from 100"
    )
  }

  /// Forgets the last message when none is pending, in a step of its own.
  private final class CountsApart: LearnerOutbox {
    private let receiver: Receiver
    private let last = Mutex<Task<Void, Never>?>(nil)
    private let pending = Atomic(0)

    init(receiver: Receiver) { self.receiver = receiver }

    func send(_ message: String) {
      pending.add(1, ordering: .sequentiallyConsistent)
      last.withLock { last in
        last = Task { [self, before = last] in
          await before?.value
          await receiver.take(message)
          if pending.subtract(1, ordering: .sequentiallyConsistent).newValue == 0 {
            self.last.withLock { $0 = nil }
          }
        }
      }
    }
  }

  @Test func `an outbox that forgets the last message in a step of its own is refused`() async {
    await expect(
      Grader.outbox(CountsApart.self),
      "two_later",
      refusedSaying: "sent were 's', 'sw' and 'swi', in this order"
    )
  }

  /// Forgets every fetch where one has failed.
  private actor ForgetsAll: LearnerImageCache {
    private let fetch: @Sendable (String) async throws -> [UInt8]
    private var images: [String: [UInt8]] = [:]
    private var fetches: [String: Task<[UInt8], any Error>] = [:]

    init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

    func image(_ name: String) async throws -> [UInt8] {
      if let image = images[name] { return image }
      let task = fetches[name] ?? Task { [fetch] in try await fetch(name) }
      fetches[name] = task
      do {
        let image = try await task.value
        images[name] = image
        fetches[name] = nil
        return image
      } catch {
        if fetches[name] == task { fetches.removeAll() }
        throw error
      }
    }
  }

  @Test func `a cache that forgets all fetches where one has failed is refused`() async {
    await expect(
      Grader.imageCache(ForgetsAll.self),
      "failure_beside",
      refusedSaying: "it was fetched 2 times"
    )
  }

  /// What a cache calls an image by.
  private protocol Naming: SendableMetatype {
    static func key(_ name: String) -> String
  }

  private enum ByFile: Naming {
    static func key(_ name: String) -> String { name.replacing("/", with: "_") }
  }

  private enum ByPath: Naming {
    static func key(_ name: String) -> String { (name as NSString).standardizingPath }
  }

  private enum ByAddress: Naming {
    static func key(_ name: String) -> String { name.removingPercentEncoding ?? name }
  }

  private enum WithoutScheme: Naming {
    static func key(_ name: String) -> String {
      name.replacing("https://", with: "").replacing("http://", with: "")
    }
  }

  private enum ByBeginning: Naming {
    static func key(_ name: String) -> String { String(name.prefix(200)) }
  }

  private actor Keyed<N: Naming>: LearnerImageCache {
    private let fetch: @Sendable (String) async throws -> [UInt8]
    private var fetches: [String: Task<[UInt8], any Error>] = [:]

    init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

    func image(_ name: String) async throws -> [UInt8] {
      let key = N.key(name)
      let task = fetches[key] ?? Task { [fetch] in try await fetch(name) }
      fetches[key] = task
      do {
        return try await task.value
      } catch {
        if fetches[key] == task { fetches[key] = nil }
        throw error
      }
    }
  }

  @Test func `a cache to which two names are one is refused`() async {
    for book in [
      Grader.imageCache(Keyed<ByFile>.self), Grader.imageCache(Keyed<ByPath>.self),
      Grader.imageCache(Keyed<ByAddress>.self), Grader.imageCache(Keyed<WithoutScheme>.self),
      Grader.imageCache(Keyed<ByBeginning>.self),
    ] {
      await expect(book, "many", refusedSaying: "who asked for")
    }
  }

  private enum CancelledOpening: Loss {
    static func isLost(asOpeningFailed error: any Error) -> Bool { error is CancellationError }
  }

  private enum CancelledOpener: Loss {
    static func isLost(asOpeningFailed error: any Error) -> Bool { Task.isCancelled }
  }

  private enum CancelledAsItBreaks: Loss {
    static let isLostAsCancelled = true
  }

  private enum CancelledInLine: Loss {
    static let isLostAsTaken = true
  }

  private enum Reopening: Loss {
    static func isLost(asReopeningFailed error: any Error) -> Bool { true }
    static let keepsPlace = true
  }

  private enum NoLoss: Loss {}

  private enum NoLossOfPlaces: Loss {
    static let keepsPlace = true
  }

  private final class Flag: @unchecked Sendable {
    // Safe: written before the task waits, and read by itself behind that.
    var isSet = false
  }

  private final class Losing<L: Loss>: LearnerConnections {
    private typealias Waiter = CheckedContinuation<(any LearnerConnection)?, Never>

    private struct State {
      var idle: [any LearnerConnection] = []
      var places: Int
      var line: [Waiter] = []
    }

    private let state: Mutex<State>
    private let open: @Sendable () async throws -> any LearnerConnection

    init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
      state = Mutex(State(places: limit))
      self.open = open
    }

    func answer(to question: Int) async throws -> Int {
      var hasPlace = false
      while true {
        let connection = hasPlace ? try await reopen() : try await take()
        do {
          let answer = try await connection.answer(to: question)
          giveBack(connection)
          return answer
        } catch is ConnectionBroken {
          hasPlace = L.keepsPlace && !Task.isCancelled
          if hasPlace { continue }
          freePlace(tellingLine: !L.isLostAsCancelled || !Task.isCancelled)
          if Task.isCancelled { throw CancellationError() }
        } catch {
          giveBack(connection)
          throw error
        }
      }
    }

    private func reopen() async throws -> any LearnerConnection {
      do { return try await open() } catch {
        freePlace(tellingLine: !L.isLost(asReopeningFailed: error))
        throw error
      }
    }

    private func take() async throws -> any LearnerConnection {
      let hasWaited = Flag()
      let given: (any LearnerConnection)? = await withCheckedContinuation { waiter in
        let (mustWait, connection): (Bool, (any LearnerConnection)?) = state.withLock { state in
          if let connection = state.idle.popLast() { return (false, connection) }
          if state.places > 0 {
            state.places -= 1
            return (false, nil)
          }
          hasWaited.isSet = true
          state.line.append(waiter)
          return (true, nil)
        }
        if !mustWait { waiter.resume(returning: connection) }
      }
      if let given { return given }
      if hasWaited.isSet, Task.isCancelled {
        freePlace(tellingLine: !L.isLostAsTaken)
        throw CancellationError()
      }
      do { return try await open() } catch {
        freePlace(tellingLine: !L.isLost(asOpeningFailed: error))
        throw error
      }
    }

    private func giveBack(_ connection: any LearnerConnection) {
      let next: Waiter? = state.withLock { state in
        if !state.line.isEmpty { return state.line.removeFirst() }
        state.idle.append(connection)
        return nil
      }
      next?.resume(returning: connection)
    }

    private func freePlace(tellingLine: Bool) {
      let next: Waiter? = state.withLock { state in
        if tellingLine, !state.line.isEmpty { return state.line.removeFirst() }
        state.places += 1
        return nil
      }
      next?.resume(returning: nil)
    }
  }

  @Test(.long) func `a pool whose place is given back to nobody is refused`() async {
    for book in [
      Grader.connections(Losing<CancelledOpening>.self),
      Grader.connections(Losing<CancelledOpener>.self),
      Grader.connections(Losing<CancelledAsItBreaks>.self),
      Grader.connections(Losing<CancelledInLine>.self), Grader.connections(Losing<Reopening>.self),
    ] {
      await expect(book, "others_in_line", refusedSaying: "of them wait for ever")
    }
    await expect(Grader.connections(Losing<NoLoss>.self), "others_in_line")
    await expect(Grader.connections(Losing<NoLossOfPlaces>.self), "others_in_line")
  }

  /// Numbers who waits by how many do, so that two have one number.
  private final class NumbersTheLine: LearnerRecorder {
    private let state = Mutex((isBusy: false, line: [Int: CheckedContinuation<Void, Never>]()))

    init() {}

    func record(_ file: RecordFile, in ledger: Ledger) async throws {
      let record = try await file.read()
      await withCheckedContinuation { continuation in
        let isFree = state.withLock { state in
          if state.isBusy {
            state.line[state.line.count] = continuation
            return false
          }
          state.isBusy = true
          return true
        }
        if isFree { continuation.resume() }
      }
      await ledger.add(record)
      let next: CheckedContinuation<Void, Never>? = state.withLock { state in
        if let number = state.line.keys.min() { return state.line.removeValue(forKey: number) }
        state.isBusy = false
        return nil
      }
      next?.resume()
    }
  }

  @Test func `a recorder that numbers who waits by how many do is refused`() async {
    await expect(
      Grader.recorder(NumbersTheLine.self),
      "come_and_go",
      refusedSaying: "nothing can run any more"
    )
  }

  /// Who joined a fetch that was told to end asks again.
  private actor AsksAgain: LearnerImageCache {
    private let fetch: @Sendable (String) async throws -> [UInt8]
    private var fetches: [String: Task<[UInt8], any Error>] = [:]

    init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

    func image(_ name: String) async throws -> [UInt8] {
      let isFirst = fetches[name] == nil
      let task = fetches[name] ?? Task { [fetch] in try await fetch(name) }
      fetches[name] = task
      do {
        return try await task.value
      } catch {
        if fetches[name] == task { fetches[name] = nil }
        if !isFirst, error is CancellationError { return try await image(name) }
        throw error
      }
    }
  }

  @Test func `a cache whose joiners do not get a fetch's CancellationError is refused`() async {
    await expect(
      Grader.imageCache(AsksAgain.self),
      "failure",
      refusedSaying: "in no schedule were both told"
    )
  }

  private protocol Forgetting: SendableMetatype {
    static var isOfWaiters: Bool { get }
  }

  private enum ByWaiters: Forgetting {
    static let isOfWaiters = true
  }

  private enum ByTheFetch: Forgetting {
    static let isOfWaiters = false
  }

  /// Lets who is cancelled go at once; a fetch that failed is forgotten by those who wait for it, or by itself.
  private actor LeftFetches<F: Forgetting>: LearnerImageCache {
    private let fetch: @Sendable (String) async throws -> [UInt8]
    private var fetches: [String: Task<[UInt8], any Error>] = [:]

    init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

    func image(_ name: String) async throws -> [UInt8] {
      let task =
        fetches[name]
        ?? Task { try await fetchForAll(name) }
      fetches[name] = task
      do {
        return try await Self.value(of: task)
      } catch {
        if F.isOfWaiters, !Task.isCancelled, fetches[name] == task { fetches[name] = nil }
        throw error
      }
    }

    private func fetchForAll(_ name: String) async throws -> [UInt8] {
      do {
        return try await fetch(name)
      } catch {
        if !F.isOfWaiters { fetches[name] = nil }
        throw error
      }
    }

    private static func value(of task: Task<[UInt8], any Error>) async throws -> [UInt8] {
      let waiter = Mutex<CheckedContinuation<[UInt8], any Error>?>(nil)
      @Sendable func goOn(with result: Result<[UInt8], any Error>) {
        waiter.withLock { $0.take() }?.resume(with: result)
      }
      let wait: @Sendable () async -> Void = { goOn(with: await task.result) }
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          waiter.withLock { $0 = continuation }
          Task { await wait() }
          if Task.isCancelled { goOn(with: .failure(CancellationError())) }
        }
      } onCancel: {
        goOn(with: .failure(CancellationError()))
      }
    }
  }

  @Test func `a cache that keeps a fetch which fails when all have left is refused`() async {
    await expect(
      Grader.imageCache(LeftFetches<ByWaiters>.self),
      "failed_after_all_left",
      refusedSaying: "it was told of the old failure"
    )
    await expect(
      Grader.imageCache(LeftFetches<ByTheFetch>.self),
      "failed_after_all_left",
      refusedSaying: nil
    )
  }

  @Test func `a cache that forgets a fetch which nobody waits for, and lets it go on, is refused`()
    async
  {
    await expect(
      Grader.imageCache(LeftAlone<ForgetsIt>.self),
      "left_alone",
      refusedSaying: "it was fetched again while the first fetch was still on its way"
    )
    await expect(Grader.imageCache(LeftAlone<LeavesIt>.self), "left_alone")
    await expect(Grader.imageCache(LeftAlone<CancelsIt>.self), "left_alone")
  }

  @Test func `a cache whose images grow old is refused`() async {
    await expect(
      Grader.imageCache(Fresh<ByTheContinuousClock>.self),
      "there_next_year",
      refusedSaying: "it was fetched 4 times. One that is there stays"
    )
    await expect(
      Grader.imageCache(Fresh<ByTheSuspendingClock>.self),
      "there_next_year",
      refusedSaying: "it was fetched 4 times. One that is there stays"
    )
    await expect(Grader.imageCache(LeftAlone<LeavesIt>.self), "there_next_year")
  }

  /// Looks only whether values are the same, or not.
  private struct ComparesOnly: LearnerTest {
    static func check(_ cache: any LearnerCache) async throws {
      async let one = cache.value(for: "logo")
      async let two = cache.value(for: "logo")
      async let other = cache.value(for: "photograph")
      let values = await [one, two, other]
      try require(values[0] == values[1] && values[0] != values[2], "the wrong value")
      try require(await cache.downloads == 2, "downloaded twice")
    }
  }

  /// Looks at the first key's value only.
  private struct LooksAtTheFirst: LearnerTest {
    static func check(_ cache: any LearnerCache) async throws {
      async let one = cache.value(for: "logo")
      async let two = cache.value(for: "logo")
      async let other = cache.value(for: "photograph")
      let values = await [one, two, other]
      try require(values[0] == 4 && values[1] == 4 && values[2] != 4, "the wrong value")
      try require(await cache.downloads == 2, "downloaded twice")
    }
  }

  /// The value of the key that it asks for twice is that of nothing.
  private struct AsksTwiceForNothing: LearnerTest {
    static func check(_ cache: any LearnerCache) async throws {
      async let one = cache.value(for: "")
      async let two = cache.value(for: "")
      async let other = cache.value(for: "logo")
      let values = await [one, two, other]
      try require(values == [0, 0, 4], "the wrong value")
      try require(await cache.downloads == 2, "downloaded twice")
    }
  }

  @Test func `a test that does not tell a value from nothing is refused`() async {
    await expect(
      Grader.test(AsksTwiceForNothing.self),
      "nothing_at_once",
      refusedSaying: "0 is what it tells whoever asks while the same key is downloaded"
    )
  }

  @Test(.long) func `a test that does not look at each key's length is refused`() async {
    await expect(
      Grader.test(ComparesOnly.self),
      "lengths",
      refusedSaying: "the value of 'logo' is one more than its length"
    )
    await expect(
      Grader.test(LooksAtTheFirst.self),
      "lengths",
      refusedSaying: "the value of 'photograph' is one more than its length"
    )
  }

  /// Calls the end of an empty list itself.
  private final class EndsNothingAtOnce: LearnerBatch {
    private let queue = DispatchQueue(label: "downloads", attributes: .concurrent)
    private let gate = DispatchQueue(label: "gate")
    private let permits: DispatchSemaphore

    init(limit: Int) { permits = DispatchSemaphore(value: limit) }

    func download(
      _ files: [Int],
      _ fetch: @escaping @Sendable (Int) -> Void,
      whenAll: @escaping @Sendable () -> Void
    ) {
      if files.isEmpty { return whenAll() }
      let group = DispatchGroup()
      for file in files {
        gate.async(group: group) { [queue, permits] in
          permits.wait()
          queue.async(group: group) {
            fetch(file)
            permits.signal()
          }
        }
      }
      group.notify(queue: queue, execute: whenAll)
    }
  }

  @Test(.long) func `a batch that calls the end of an empty list itself is refused`() async {
    await expect(
      Grader.batch(EndsNothingAtOnce.self),
      "returns_before_end",
      refusedSaying: "it did not return"
    )
  }

  /// Lets one who comes pass the line, once for each who is the first in it.
  private final class NotesTheFirst: LearnerLimiter {
    private final class Waiter {
      var signal: Signal
      var isSignalled = false
      var wasOvertaken = false
      init(_ signal: Signal) { self.signal = signal }
    }

    // Safe: what changes is behind the lock.
    private struct State: @unchecked Sendable {
      var free: Int
      var line: [Waiter] = []

      mutating func next() -> Signal? {
        guard free > 0, let first = line.first, !first.isSignalled else { return nil }
        first.isSignalled = true
        return first.signal
      }
    }

    private let state: Mutex<State>

    init(limit: Int) { state = Mutex(State(free: limit)) }

    func run<Value>(_ body: () async throws -> Value) async throws -> Value {
      try await take()
      defer {
        let next = state.withLock { state in
          state.free += 1
          return state.next()
        }
        next?.signal()
      }
      return try await body()
    }

    private func take() async throws {
      var (condition, signal) = Condition.makeCondition()
      let first = signal
      let isIn = state.withLock { state in
        if state.free > 0, state.line.first?.wasOvertaken != true {
          state.line.first?.wasOvertaken = true
          state.free -= 1
          return true
        }
        state.line.append(Waiter(first))
        return false
      }
      if isIn { return }
      while true {
        let mine = signal
        do { try await condition.wait() } catch {
          let next = state.withLock { state in
            state.line.removeAll { $0.signal == mine }
            return state.next()
          }
          next?.signal()
          throw error
        }
        let (again, anew) = Condition.makeCondition()
        let (isIn, next): (Bool, Signal?) = state.withLock { state in
          if state.free > 0 {
            state.free -= 1
            state.line.removeFirst()
            return (true, state.next())
          }
          state.line[0].signal = anew
          state.line[0].isSignalled = false
          return (false, nil)
        }
        next?.signal()
        if isIn { return }
        (condition, signal) = (again, anew)
      }
    }
  }

  @Test(.long) func `a limiter that lets one pass for each who is first in line is refused`()
    async
  {
    await expect(
      Grader.design(NotesTheFirst.self),
      "fairness_of_five",
      refusedSaying: "was overtaken 2 times"
    )
  }
}
