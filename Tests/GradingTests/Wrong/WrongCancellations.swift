import Dispatch
import ExplorableLimiters
import ExplorableSynchronization
import Foundation
import Grading

// Answers that forget who is cancelled before it comes, what is kept while a line never runs empty, that others have
// their own, or that wait by asking. Each is wrong in that only.

/// Who is cancelled needs no permit.
final class CancelledGoFree: LearnerLimiter {
  private let limiter: Flawed<NoFlaw>

  init(limit: Int) { limiter = Flawed(limit: limit) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    if Task.isCancelled { return try await body() }
    return try await limiter.run(body)
  }
}

/// Turns away who was cancelled before it came.
struct TurnsCancelledAway: LearnerLimiter {
  private let limiter: Flawed<NoFlaw>

  init(limit: Int) { limiter = Flawed(limit: limit) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    try Task.checkCancellation()
    return try await limiter.run(body)
  }
}

/// Keeps the Signals of those who were served until the line is empty.
final class KeepsWhileInLine: LearnerLimiter {
  private struct State {
    var free: Int
    var line: [Signal] = []
    var served = 0
  }

  private let state: Mutex<State>

  init(limit: Int) { state = Mutex(State(free: limit)) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    let (condition, signal) = Condition.makeCondition()
    let mustWait = state.withLock { state in
      if state.free > 0 {
        state.free -= 1
        return false
      }
      state.line.append(signal)
      return true
    }
    if mustWait { try await condition.waitUncancellably() }
    defer { giveBack() }
    return try await body()
  }

  private func giveBack() {
    let next = state.withLock { state -> Signal? in
      guard state.served < state.line.count else {
        state.free += 1
        return nil
      }
      let next = state.line[state.served]
      state.served += 1
      OwnHeap.keep()
      if state.served == state.line.count { (state.line, state.served) = ([], 0) }
      return next
    }
    next?.signal()
  }
}

/// Hands out the first element to who is cancelled.
final class CancelledTakeTheFirst: LearnerPool {
  private let pool: SoundPool

  init(size: Int, waiting: Waiting) { pool = SoundPool(size: size, waiting: waiting) }

  func take() async -> Int { Task.isCancelled ? 1 : await pool.take() }

  func giveBack(_ element: Int) { pool.giveBack(element) }
}

/// Lets through who is cancelled.
final class LetsCancelledThrough: LearnerDoor {
  private let door = PollingDoor()

  init() {}

  func wait() async { if !Task.isCancelled { await door.wait() } }

  func open() { door.open() }
}

/// Waits by asking.
final class PollingDoor: LearnerDoor {
  private let isOpen = Atomic(false)

  init() {}

  func wait() async {
    while !isOpen.load(ordering: .acquiring) {
      OwnProcessor.look()
      await Task.yield()
    }
  }

  func open() { isOpen.store(true, ordering: .releasing) }
}

/// Answers who is cancelled with a zero.
final class MadeUpAnswer: LearnerClient {
  private let server: CallingServer

  init(server: CallingServer) { self.server = server }

  func answer(to question: Int) async throws -> Int {
    if Task.isCancelled { return 0 }
    return try await withCheckedThrowingContinuation { continuation in
      server.ask(question) { continuation.resume(with: $0) }
    }
  }
}

/// Knows who waits by how many waited when they came.
final class CountsWhoWaits: LearnerClient {
  private let server: CallingServer
  private let waiting = Mutex<[Int: CheckedContinuation<Int, any Error>]>([:])

  init(server: CallingServer) { self.server = server }

  func answer(to question: Int) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      let (number, replaced) = waiting.withLock { waiting in
        let number = waiting.count
        return (number, waiting.updateValue(continuation, forKey: number))
      }
      // Whom it forgets, a test cannot leave for ever.
      replaced?.resume(returning: -1)
      server.ask(question) { [self] result in
        waiting.withLock { $0.removeValue(forKey: number) }?.resume(with: result)
      }
    }
  }
}

/// Copies eight files at a time at most.
final class EightAtMost: LearnerCopier {
  private let connections: ConcurrencyLimiter
  private let files: ConcurrencyLimiter

  init(connections: Int, files: Int) {
    self.connections = ConcurrencyLimiter(concurrency: min(connections, 8))
    self.files = ConcurrencyLimiter(concurrency: min(files, 8))
  }

  func download(_ copy: () async throws -> Void) async throws {
    try await connections.run { try await files.run { try await copy() } }
  }

  func upload(_ copy: () async throws -> Void) async throws { try await download(copy) }
}

/// Refuses a withdrawal of nothing.
actor RefusesNothing: LearnerAccount {
  private var balance: Int
  private let bank: Bank

  init(balance: Int, bank: Bank) { (self.balance, self.bank) = (balance, bank) }

  func withdraw(_ amount: Int) async -> Bool {
    guard amount > 0, balance >= amount else { return false }
    balance -= amount
    await bank.approve()
    return true
  }
}

/// Has one withdrawal after the other, and those who wait ask whether it is their turn.
actor PollingAccount: LearnerAccount {
  private var balance: Int
  private var isBusy = false
  private let bank: Bank

  init(balance: Int, bank: Bank) { (self.balance, self.bank) = (balance, bank) }

  func withdraw(_ amount: Int) async -> Bool {
    while isBusy {
      OwnProcessor.look()
      await Task.yield()
    }
    guard balance >= amount else { return false }
    isBusy = true
    defer { isBusy = false }
    await bank.approve()
    balance -= amount
    return true
  }
}

/// One queue for the disks of all readers.
final class OneQueueOfReads: LearnerReader {
  private static let queue = DispatchQueue(label: "all disks")
  private let disk: Disk

  init(disk: Disk) { self.disk = disk }

  func read(_ block: Int) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      Self.queue.async { [disk] in continuation.resume(with: Result { try disk.read(block) }) }
    }
  }
}

/// One permit for the ledgers of all recorders.
final class OnePermitForAll: LearnerRecorder {
  private static let permit = ConcurrencyLimiter(concurrency: 1)

  init() {}

  func record(_ file: RecordFile, in ledger: Ledger) async throws {
    let record = try await file.read()
    try await Self.permit.run { await ledger.add(record) }
  }
}

/// Reads a few files at a time.
final class FewReaders: LearnerRecorder {
  private let reading = ConcurrencyLimiter(concurrency: 4)
  private let permit = ConcurrencyLimiter(concurrency: 1)

  init() {}

  func record(_ file: RecordFile, in ledger: Ledger) async throws {
    let record = try await reading.run { try await file.read() }
    try await permit.run { await ledger.add(record) }
  }
}

/// Tells who was cancelled that all went well.
final class SwallowsCancellation: LearnerCopier {
  private let connections: ConcurrencyLimiter
  private let files: ConcurrencyLimiter

  init(connections: Int, files: Int) {
    self.connections = ConcurrencyLimiter(concurrency: connections)
    self.files = ConcurrencyLimiter(concurrency: files)
  }

  func download(_ copy: () async throws -> Void) async throws {
    try await connections.run { try await files.run { try await copy() } }
  }

  func upload(_ copy: () async throws -> Void) async throws {
    do { try await download(copy) } catch is CancellationError where Task.isCancelled {}
  }
}

/// Who was cancelled uploads without a connection and a file.
final class CancelledUploadFree: LearnerCopier {
  private let copier: SwallowsCancellation

  init(connections: Int, files: Int) {
    copier = SwallowsCancellation(connections: connections, files: files)
  }

  func download(_ copy: () async throws -> Void) async throws { try await copier.download(copy) }

  func upload(_ copy: () async throws -> Void) async throws {
    if Task.isCancelled { return try await copy() }
    try await copier.download(copy)
  }
}

/// Fetches nothing for who is cancelled.
final class LeavesCancelledLists: LearnerDownloader {
  private let downloader: FlawedDownloader<SoundDownloads>

  init(limit: Int) { downloader = FlawedDownloader(limit: limit) }

  func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
    if !Task.isCancelled { await downloader.download(files, fetch) }
  }
}

/// Sends no empty message.
final class DropsNothingSaid: LearnerOutbox {
  private let outbox: UnseenOutbox

  init(receiver: Receiver) { outbox = UnseenOutbox(receiver: receiver) }

  func send(_ message: String) { if !message.isEmpty { outbox.send(message) } }
}

/// Keeps what was taken until nothing waits.
final class KeepsWhileSending: LearnerOutbox {
  private struct State {
    var line: [String] = []
    var taken = 0
    var isBusy = false
  }

  private let receiver: Receiver
  private let state = Mutex(State())

  init(receiver: Receiver) { self.receiver = receiver }

  func send(_ message: String) {
    let begins = state.withLock { state in
      state.line.append(message)
      defer { state.isBusy = true }
      return !state.isBusy
    }
    if begins { Task { while let message = next() { await receiver.take(message) } } }
  }

  private func next() -> String? {
    state.withLock { state in
      guard state.taken < state.line.count else {
        state = State()
        return nil
      }
      state.taken += 1
      OwnHeap.keep()
      return state.line[state.taken - 1]
    }
  }
}
