import Basics
import Dispatch
import ExplorableLimiters
import ExplorableSynchronization
import Foundation
import Grading

// Wrong answers to the exercises in which a small edit mends a program: downloads, reads, records, copies.

// MARK: Downloads

/// What is wrong with a downloader.
protocol DownloaderFlaw: SendableMetatype {
  static func permits(_ limit: Int) -> Int
  /// What is fetched in place of these files.
  static func files(_ files: [Int]) -> [Int]
  /// How many files are begun together, the next when all of them are over.
  static var batch: Int { get }
  /// Whether what was downloaded is kept.
  static var keeps: Bool { get }
  /// How many lists are downloaded.
  static var lists: Int { get }
  /// Whether a list is over when as many files are over as it has, of this list or of another.
  static var countsAll: Bool { get }
}

extension DownloaderFlaw {
  static func permits(_ limit: Int) -> Int { limit }
  static func files(_ files: [Int]) -> [Int] { files }
  static var batch: Int { .max }
  static var keeps: Bool { false }
  static var lists: Int { .max }
  static var countsAll: Bool { false }
}

final class FlawedDownloader<F: DownloaderFlaw>: LearnerDownloader {
  private let limiter: ConcurrencyLimiter
  private let state = Mutex(
    (lists: 0, over: 0, kept: [@Sendable (Int) async -> Void](), waiting: [(Int, Signal)]())
  )

  init(limit: Int) { limiter = ConcurrencyLimiter(concurrency: F.permits(limit)) }

  func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
    let number = state.withLock { state in
      state.lists += 1
      if F.keeps { state.kept.append(fetch) }
      return state.lists
    }
    if number > F.lists { return }
    if F.countsAll { return await downloadCounting(files, fetch) }
    var rest = F.files(files)[...]
    while !rest.isEmpty {
      let batch = rest.prefix(F.batch)
      rest = rest.dropFirst(batch.count)
      // No fetch is cancelled with its list.
      await Task { [limiter] in
        await withDiscardingTaskGroup { group in
          for file in batch {
            group.addTask { await limiter.runUncancellably { await fetch(file) } }
          }
        }
      }.value
    }
  }

  private func downloadCounting(
    _ files: [Int],
    _ fetch: @escaping @Sendable (Int) async -> Void
  ) async {
    let (condition, signal) = Condition.makeCondition()
    if files.isEmpty { return }
    state.withLock { $0.waiting.append((files.count, signal)) }
    for file in files {
      Task { [limiter, self] in
        await limiter.runUncancellably { await fetch(file) }
        let done = state.withLock { state in
          state.over += 1
          guard let (count, first) = state.waiting.first, state.over >= count else {
            return nil as Signal?
          }
          state.over -= count
          state.waiting.removeFirst()
          return first
        }
        done?.signal()
      }
    }
    try? await condition.waitUncancellably()
  }
}

enum SoundDownloads: DownloaderFlaw {}

/// Counts instead of reading the list.
enum CountsFiles: DownloaderFlaw {
  static func files(_ files: [Int]) -> [Int] { files.indices.map { $0 + 1 } }
}

/// Takes the number 0 for no file.
enum SkipsZero: DownloaderFlaw {
  static func files(_ files: [Int]) -> [Int] { files.filter { $0 != 0 } }
}

/// Begins the next files when all of the first are over.
enum InBatches: DownloaderFlaw {
  static let batch = 2
}

enum KeepsDownloads: DownloaderFlaw {
  static let keeps = true
}

enum DownloadsThrice: DownloaderFlaw {
  static let lists = 3
}

enum CountsAllLists: DownloaderFlaw {
  static let countsAll = true
}

enum NeverOne: DownloaderFlaw {
  static func permits(_ limit: Int) -> Int { max(2, limit) }
}

enum SomeAreMore: DownloaderFlaw {
  static func permits(_ limit: Int) -> Int { limit == 5 ? 6 : limit }
}

/// Looks now and then whether its files are there: that takes next to no processor time.
final class LooksForTheEnd: LearnerDownloader {
  private let downloader: FlawedDownloader<SoundDownloads>

  init(limit: Int) { downloader = FlawedDownloader(limit: limit) }

  func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
    let isOver = Mutex(false)
    async let downloads: Void = {
      await downloader.download(files, fetch)
      isOver.withLock { $0 = true }
    }()
    while !isOver.withLock({ $0 }) {
      OwnProcessor.lookAndSleep()
      await Moment.pass()
    }
    await downloads
  }
}

/// The last limit that was asked for holds for all.
final class OneQueueForAll: LearnerDownloader {
  private static let current = Mutex<ConcurrencyLimiter?>(nil)

  init(limit: Int) {
    let limiter = ConcurrencyLimiter(concurrency: limit)
    Self.current.withLock { $0 = limiter }
  }

  func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
    guard let limiter = Self.current.withLock({ $0 }) else { preconditionFailure("init makes one") }
    await withDiscardingTaskGroup { group in
      for file in files { group.addTask { await limiter.runUncancellably { await fetch(file) } } }
    }
  }
}

// MARK: Reads

/// What is wrong with a reader.
protocol ReaderFlaw: SendableMetatype {
  /// The value of a block, on a thread that may be held.
  static func read(_ block: Int, from disk: Disk) throws -> Int
  /// Whether one error is an error for ever.
  static var failsForEver: Bool { get }
  /// Whether those who ask for one block together are one, of whom one gets the answer.
  static var isShared: Bool { get }
  /// Whether the last who asked gets the first answer.
  static var isLastFirst: Bool { get }
  /// Whether what was read is kept.
  static var keeps: Bool { get }
  /// What an error becomes.
  static func told(_ error: any Error) -> any Error
  /// Whether the task that asks reads by itself, before it would wait.
  static var readsItself: Bool { get }
  /// Whether it reads once more by itself, after its wait.
  static var readsAgain: Bool { get }
}

extension ReaderFlaw {
  static func read(_ block: Int, from disk: Disk) throws -> Int { try disk.read(block) }
  static var failsForEver: Bool { false }
  static var isShared: Bool { false }
  static var isLastFirst: Bool { false }
  static var keeps: Bool { false }
  static func told(_ error: any Error) -> any Error { error }
  static var readsItself: Bool { false }
  static var readsAgain: Bool { false }
}

/// Who is cancelled already need not wait in the line, and blocks a thread of the pool instead.
enum CancelledReadsItself: ReaderFlaw {
  static var readsItself: Bool { Task.isCancelled }
}

/// Who is cancelled meanwhile looks whether the block is still the same.
enum CancelledReadsAgain: ReaderFlaw {
  static var readsAgain: Bool { Task.isCancelled }
}

/// Who is urgent need not wait in the line, and blocks a thread of the pool instead.
enum UrgentReadsItself: ReaderFlaw {
  static var readsItself: Bool { Task.currentPriority == .high }
}

final class FlawedReader<F: ReaderFlaw>: LearnerReader {
  private struct State {
    var error: (any Error)?
    var asking: Set<Int> = []
    var line: [CheckedContinuation<Int, any Error>] = []
    var values: [Int: Int] = [:]
  }

  private let disk: Disk
  private let queue = DispatchQueue(label: "disk")
  private let state = Mutex(State())

  init(disk: Disk) { self.disk = disk }

  func read(_ block: Int) async throws -> Int {
    if let error = state.withLock({ $0.error }) { throw error }
    if F.keeps, let value = state.withLock({ $0.values[block] }) { return value }
    if F.isShared, !state.withLock({ $0.asking.insert(block).inserted }) { return 0 }
    if F.readsItself { return try disk.read(block) }
    let value = try await valueInTurn(block)
    return F.readsAgain ? try disk.read(block) : value
  }

  private func valueInTurn(_ block: Int) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      // Under one lock, so that the line and the queue have one order.
      state.withLock { state in
        state.line.append(continuation)
        queue.async { [self] in answer(block) }
      }
    }
  }

  private func answer(_ block: Int) {
    let result = Result { try F.read(block, from: disk) }.mapError { F.told($0) }
    let next = state.withLock { state in
      if F.failsForEver, case .failure(let error) = result { state.error = error }
      if F.keeps, case .success(let value) = result { state.values[block] = value }
      state.asking.remove(block)
      return F.isLastFirst ? state.line.removeLast() : state.line.removeFirst()
    }
    next.resume(with: result)
  }
}

enum SoundReads: ReaderFlaw {}

enum FailsForEver: ReaderFlaw {
  static let failsForEver = true
}

/// Knows what stands in a block without asking.
enum KnowsBlocks: ReaderFlaw {
  static func read(_ block: Int, from disk: Disk) throws -> Int {
    block < 3 ? try disk.read(block) : 10 * block
  }
}

/// Reads once to see whether it works, and once for the value.
enum ReadsTwice: ReaderFlaw {
  static func read(_ block: Int, from disk: Disk) throws -> Int {
    _ = try disk.read(block)
    return try disk.read(block)
  }
}

enum SharesReads: ReaderFlaw {
  static let isShared = true
}

enum AnswersTheLast: ReaderFlaw {
  static let isLastFirst = true
}

enum KeepsBlocks: ReaderFlaw {
  static let keeps = true
}

enum FailsInItsOwnWay: ReaderFlaw {
  struct Failed: Error {}
  static func told(_ error: any Error) -> any Error { Failed() }
}

/// The last disk is every reader's.
final class OneDiskForAll: LearnerReader {
  private static let current = Mutex<Disk?>(nil)
  private let queue = DispatchQueue(label: "disk")

  init(disk: Disk) { Self.current.withLock { $0 = disk } }

  func read(_ block: Int) async throws -> Int {
    guard let disk = Self.current.withLock({ $0 }) else { preconditionFailure("init keeps one") }
    return try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try disk.read(block) }) }
    }
  }
}

/// Blocks the threads of the priority that `P` names.
final class ElsewhereReader<P: Urgency>: LearnerReader {
  private let disk: Disk

  init(disk: Disk) { self.disk = disk }

  func read(_ block: Int) async throws -> Int {
    try await Task.detached(priority: P.priority) { [disk] in try disk.read(block) }.value
  }
}

protocol Urgency: SendableMetatype { static var priority: TaskPriority { get } }

enum Low: Urgency {
  static let priority = TaskPriority.low
}

enum Background: Urgency {
  static let priority = TaskPriority.background
}

enum High: Urgency {
  static let priority = TaskPriority.high
}

/// Blocks now these threads, now those.
final class ScatteringReader: LearnerReader {
  private let disk: Disk
  private let count = Mutex(0)

  init(disk: Disk) { self.disk = disk }

  func read(_ block: Int) async throws -> Int {
    let number = count.withLock { count in
      count += 1
      return count
    }
    let priorities: [TaskPriority] = [.low, .high, .background, .medium]
    let priority = priorities[number % priorities.count]
    return try await Task.detached(priority: priority) { [disk] in try disk.read(block) }.value
  }
}

/// Blocks the threads that GCD has for everybody.
final class EverybodysQueueReader: LearnerReader {
  private let disk: Disk

  init(disk: Disk) { self.disk = disk }

  func read(_ block: Int) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { [disk] in
        continuation.resume(with: Result { try disk.read(block) })
      }
    }
  }
}

/// A thread for each read: hundreds of threads, where one would do.
final class ThreadReader: LearnerReader {
  private let disk: Disk

  init(disk: Disk) { self.disk = disk }

  func read(_ block: Int) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      Thread { [disk] in continuation.resume(with: Result { try disk.read(block) }) }.start()
    }
  }
}

// MARK: Records

/// What is wrong with a recorder.
protocol RecorderFlaw: SendableMetatype {
  /// The record of a file.
  static func read(_ file: RecordFile) async throws -> Int
  /// Adds it, under the permit.
  static func add(_ record: Int, to ledger: Ledger) async throws
  /// Whether a task that was cancelled leaves without a word.
  static var isSilent: Bool { get }
  /// Whether a record that was added before is not added again.
  static var addsOnce: Bool { get }
  /// Whether it returns before the record has been added.
  static var isHasty: Bool { get }
  /// Whether nothing is added after an error.
  static var closes: Bool { get }
  /// Whether the file is read while the permit is held.
  static var readsUnderPermit: Bool { get }
}

extension RecorderFlaw {
  static func read(_ file: RecordFile) async throws -> Int { try await file.read() }
  static func add(_ record: Int, to ledger: Ledger) async throws { await ledger.add(record) }
  static var isSilent: Bool { false }
  static var addsOnce: Bool { false }
  static var isHasty: Bool { false }
  static var closes: Bool { false }
  static var readsUnderPermit: Bool { false }
}

final class FlawedRecorder<F: RecorderFlaw>: LearnerRecorder {
  private let permit = ConcurrencyLimiter(concurrency: 1)
  private let added = Mutex<Set<Int>>([])
  private let isClosed = Mutex(false)

  init() {}

  func record(_ file: RecordFile, in ledger: Ledger) async throws {
    if F.readsUnderPermit {
      return try await permit.run { try await F.add(try await F.read(file), to: ledger) }
    }
    let record: Int
    do {
      record = try await F.read(file)
    } catch {
      if F.closes { isClosed.withLock { $0 = true } }
      throw error
    }
    if isClosed.withLock({ $0 }) { return }
    if F.addsOnce, !added.withLock({ $0.insert(record).inserted }) { return }
    if F.isHasty {
      Task { try await permit.run { await ledger.add(record) } }
      return
    }
    do {
      try await permit.run { try await F.add(record, to: ledger) }
    } catch is CancellationError {
      if !F.isSilent { throw CancellationError() }
    }
  }
}

enum SoundRecords: RecorderFlaw {}

/// Who is urgent takes the permit first, and reads then.
enum UrgentReadUnderPermit: RecorderFlaw {
  static var readsUnderPermit: Bool { Task.currentPriority >= .high }
}

enum LeavesSilently: RecorderFlaw {
  static let isSilent = true
}

enum AddsOnce: RecorderFlaw {
  static let addsOnce = true
}

enum ReturnsEarly: RecorderFlaw {
  static let isHasty = true
}

enum ClosesOnError: RecorderFlaw {
  static let closes = true
}

enum ReadsAgain: RecorderFlaw {
  static func read(_ file: RecordFile) async throws -> Int {
    do { return try await file.read() } catch { return try await file.read() }
  }
}

enum TakesCancellationForZero: RecorderFlaw {
  static func read(_ file: RecordFile) async throws -> Int {
    do { return try await file.read() } catch is CancellationError { return 0 }
  }
}

/// Adds, and tells a task that was cancelled that it did not.
enum AddsAndThrows: RecorderFlaw {
  static func add(_ record: Int, to ledger: Ledger) async throws {
    await ledger.add(record)
    try Task.checkCancellation()
  }
}

enum AddsNothingNegative: RecorderFlaw {
  static func add(_ record: Int, to ledger: Ledger) async throws {
    if record > 0 { await ledger.add(record) }
  }
}

/// Loses its permit when a task that waits for it is cancelled.
final class LosesPermitOnCancel: LearnerRecorder {
  private let permit = Flawed<LosesOnCancel>(limit: 1)

  init() {}

  func record(_ file: RecordFile, in ledger: Ledger) async throws {
    let record = try await file.read()
    try await permit.run { await ledger.add(record) }
  }
}

// MARK: Copies

/// What is wrong with a copier.
protocol CopierFlaw: SendableMetatype {
  static func permits(_ limit: Int) -> Int
  /// How many copies may be at it at all, of so many connections and files.
  static func gate(_ connections: Int, _ files: Int) -> Int?
  /// Whether a copy that ends with this error runs again.
  static func again(_ error: any Error) -> Bool
  /// Whether uploads take the limits in the other order.
  static var isOpposite: Bool { get }
}

extension CopierFlaw {
  static func permits(_ limit: Int) -> Int { limit }
  static func gate(_ connections: Int, _ files: Int) -> Int? { nil }
  static func again(_ error: any Error) -> Bool { false }
  static var isOpposite: Bool { false }
}

final class FlawedCopier<F: CopierFlaw>: LearnerCopier {
  private let connections: ConcurrencyLimiter
  private let files: ConcurrencyLimiter
  private let gate: ConcurrencyLimiter?

  init(connections: Int, files: Int) {
    self.connections = ConcurrencyLimiter(concurrency: F.permits(connections))
    self.files = ConcurrencyLimiter(concurrency: F.permits(files))
    gate = F.gate(connections, files).map { ConcurrencyLimiter(concurrency: $0) }
  }

  func download(_ copy: () async throws -> Void) async throws {
    try await pass(connections, files, copy)
  }

  func upload(_ copy: () async throws -> Void) async throws {
    if F.isOpposite {
      try await pass(files, connections, copy)
    } else {
      try await pass(connections, files, copy)
    }
  }

  private func pass(
    _ first: ConcurrencyLimiter,
    _ second: ConcurrencyLimiter,
    _ copy: () async throws -> Void
  ) async throws {
    if let gate {
      try await gate.run { try await both(first, second, copy) }
    } else {
      try await both(first, second, copy)
    }
  }

  private func both(
    _ first: ConcurrencyLimiter,
    _ second: ConcurrencyLimiter,
    _ copy: () async throws -> Void
  ) async throws {
    try await first.run {
      try await second.run {
        do { try await copy() } catch  where F.again(error) { try await copy() }
      }
    }
  }
}

enum SoundCopies: CopierFlaw {}

/// Both orders, behind a gate that keeps the ring from closing: while one waits, a permit rests.
enum GateBeforeRing: CopierFlaw {
  static func gate(_ connections: Int, _ files: Int) -> Int? { connections + files - 1 }
  static let isOpposite = true
}

enum GateOfOneMore: CopierFlaw {
  static func gate(_ connections: Int, _ files: Int) -> Int? {
    connections == 1 || files == 1 ? 1 : min(connections, files) + 1
  }
  static let isOpposite = true
}

/// Both orders, and no more copies than can have both: right too.
enum GateOfFewer: CopierFlaw {
  static func gate(_ connections: Int, _ files: Int) -> Int? { min(connections, files) }
  static let isOpposite = true
}

enum CopiesAgain: CopierFlaw {
  static func again(_ error: any Error) -> Bool { true }
}

enum CopiesCancelledAgain: CopierFlaw {
  static func again(_ error: any Error) -> Bool { error is CancellationError }
}

enum TwoAtMost: CopierFlaw {
  static func permits(_ limit: Int) -> Int { min(2, limit) }
}

enum FourIsFive: CopierFlaw {
  static func permits(_ limit: Int) -> Int { limit == 4 ? 5 : limit }
}

/// Keeps a connection when it is cancelled while it waits for a file.
final class KeepsFirstOnCancel: LearnerCopier {
  private let connections: ConcurrencyLimiter
  private let files: ConcurrencyLimiter
  private let kept = KeptTokens()

  init(connections: Int, files: Int) {
    self.connections = ConcurrencyLimiter(concurrency: connections)
    self.files = ConcurrencyLimiter(concurrency: files)
  }

  func download(_ copy: () async throws -> Void) async throws { try await both(copy) }
  func upload(_ copy: () async throws -> Void) async throws { try await both(copy) }

  private func both(_ copy: () async throws -> Void) async throws {
    let connection = try await connections.acquire().detach()
    do {
      try await files.run(copy)
    } catch is CancellationError where Task.isCancelled {
      kept.keep(connection)
      throw CancellationError()
    } catch {
      connection.release()
      throw error
    }
    connection.release()
  }
}

/// Tokens that are never given back.
private final class KeptTokens: Sendable {
  private let tokens = Mutex<[PermitToken]>([])

  func keep(_ token: PermitToken) { tokens.withLock { $0.append(token) } }
}

/// The last limits are every copier's.
final class OneCopierForAll: LearnerCopier {
  private static let current = Mutex<FlawedCopier<SoundCopies>?>(nil)

  init(connections: Int, files: Int) {
    let copier = FlawedCopier<SoundCopies>(connections: connections, files: files)
    Self.current.withLock { $0 = copier }
  }

  private var copier: FlawedCopier<SoundCopies> {
    guard let copier = Self.current.withLock({ $0 }) else { preconditionFailure("init makes one") }
    return copier
  }

  func download(_ copy: () async throws -> Void) async throws { try await copier.download(copy) }
  func upload(_ copy: () async throws -> Void) async throws { try await copier.upload(copy) }
}

/// Keeps the place in line of each copy that has waited: the line has a head that only goes on.
final class KeepsPlacesInLine: LearnerCopier {
  private struct State {
    var free: Int
    var line: [CheckedContinuation<Void, Never>] = []
    var head = 0
  }

  private let state: Mutex<State>

  init(connections: Int, files: Int) { state = Mutex(State(free: min(connections, files))) }

  func download(_ copy: () async throws -> Void) async throws {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.free > 0 {
          state.free -= 1
          return true
        }
        state.line.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
    defer { giveBack() }
    try await copy()
  }

  func upload(_ copy: () async throws -> Void) async throws { try await download(copy) }

  private func giveBack() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard state.head < state.line.count else {
        state.free += 1
        return nil
      }
      state.head += 1
      return state.line[state.head - 1]
    }
    next?.resume()
  }
}

/// Two uploads at most, whatever the limits.
final class FewUploads: LearnerCopier {
  private let copier: FlawedCopier<SoundCopies>
  private let uploads = ConcurrencyLimiter(concurrency: 2)

  init(connections: Int, files: Int) {
    copier = FlawedCopier(connections: connections, files: files)
  }

  func download(_ copy: () async throws -> Void) async throws { try await copier.download(copy) }
  func upload(_ copy: () async throws -> Void) async throws {
    try await uploads.run { try await copier.upload(copy) }
  }
}
