import Dispatch
import ExplorableLimiters
import ExplorableSynchronization
import Grading

// Answers that are right for one list, one question, one ledger, and wrong when others come meanwhile, when many do,
// or when one of them is cancelled while it waits.

// MARK: Downloads

/// How a downloader takes a short cut.
protocol ShortCut: SendableMetatype {
  /// Whether a list of so many needs no queue at this limit.
  static func passesBy(_ count: Int, limit: Int) -> Bool
  /// What is fetched of a list.
  static func files(_ files: [Int]) -> [Int]
  /// Whether what has not begun is left when its task is cancelled.
  static var stops: Bool { get }
  /// Whether a file that another list fetches just now is left to that.
  static var shares: Bool { get }
}

extension ShortCut {
  static func passesBy(_ count: Int, limit: Int) -> Bool { false }
  static func files(_ files: [Int]) -> [Int] { files }
  static var stops: Bool { false }
  static var shares: Bool { false }
}

enum OneFilePassesBy: ShortCut {
  static func passesBy(_ count: Int, limit: Int) -> Bool { count == 1 }
}

enum OneAfterTheOtherPassesBy: ShortCut {
  static func passesBy(_ count: Int, limit: Int) -> Bool { limit == 1 }
}

/// Loses the last page of a long list.
enum WholePages: ShortCut {
  static func files(_ files: [Int]) -> [Int] {
    files.count < 512 ? files : Array(files.prefix(files.count / 512 * 512))
  }
}

enum StopsWhenCancelled: ShortCut {
  static let stops = true
}

enum SharesDownloads: ShortCut {
  static let shares = true
}

final class ShortCutDownloader<S: ShortCut>: LearnerDownloader {
  private let limit: Int
  private let limiter: ConcurrencyLimiter
  private let underWay = Mutex<Set<Int>>([])

  init(limit: Int) {
    self.limit = limit
    limiter = ConcurrencyLimiter(concurrency: limit)
  }

  func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
    if S.passesBy(files.count, limit: limit) {
      for file in files { await fetch(file) }
      return
    }
    // Who comes cancelled is served.
    let stops = S.stops && !Task.isCancelled
    await withDiscardingTaskGroup { group in
      for file in S.files(files) {
        if S.shares, !underWay.withLock({ $0.insert(file).inserted }) { continue }
        group.addTask { [limiter, self] in
          await limiter.runUncancellably {
            if !(stops && Task.isCancelled) { await fetch(file) }
          }
          underWay.withLock { _ = $0.remove(file) }
        }
      }
    }
  }
}

/// A long list gets more permits.
final class LongListGetsMore: LearnerDownloader {
  private let few: ConcurrencyLimiter
  private let many = ConcurrencyLimiter(concurrency: 200)

  init(limit: Int) { few = ConcurrencyLimiter(concurrency: limit) }

  func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
    let limiter = files.count > 1_000 ? many : few
    await withDiscardingTaskGroup { group in
      for file in files {
        group.addTask { await limiter.runUncancellably { await fetch(file) } }
      }
    }
  }
}

// MARK: Batches

/// A list of one file waits for its permit in a thread of its own.
final class OneFileNeedsNoGate: LearnerBatch {
  private let batch: Gated<SoundGate>
  private let queue = DispatchQueue(label: "single files", attributes: .concurrent)
  private let permits: DispatchSemaphore

  init(limit: Int) {
    batch = Gated(limit: limit)
    permits = DispatchSemaphore(value: limit)
  }

  func download(
    _ files: [Int],
    _ fetch: @escaping @Sendable (Int) -> Void,
    whenAll: @escaping @Sendable () -> Void
  ) {
    if files.count != 1 { return batch.download(files, fetch, whenAll: whenAll) }
    queue.async { [permits] in
      GateForEachList.waiting.add(1)
      permits.wait()
      GateForEachList.waiting.add(-1)
      fetch(files[0])
      permits.signal()
      whenAll()
    }
  }
}

/// A short list is sent by the caller's own thread, which waits for that.
final class ShortListsWait: LearnerBatch {
  private let queue = DispatchQueue(label: "downloads", attributes: .concurrent)
  private let gate = DispatchQueue(label: "gate")
  private let permits: DispatchSemaphore

  init(limit: Int) { permits = DispatchSemaphore(value: limit) }

  func download(
    _ files: [Int],
    _ fetch: @escaping @Sendable (Int) -> Void,
    whenAll: @escaping @Sendable () -> Void
  ) {
    if files.isEmpty { return gate.sync(execute: whenAll) }
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

// MARK: Questions

/// The tasks that answers have forgotten: a test cannot leave them for ever.
enum Forgotten {
  private static let questions = Mutex<[CheckedContinuation<Int, any Error>]>([])
  private static let waiters = Mutex<[CheckedContinuation<Void, Never>]>([])

  static func keep(_ continuation: CheckedContinuation<Int, any Error>) {
    questions.withLock { $0.append(continuation) }
  }

  static func keep(_ continuation: CheckedContinuation<Void, Never>) {
    waiters.withLock { $0.append(continuation) }
  }

  static func letGo() {
    for one in questions.withLock({ all in
      defer { all = [] }
      return all
    }) { one.resume(returning: 0) }
    for one in waiters.withLock({ all in
      defer { all = [] }
      return all
    }) { one.resume() }
  }
}

/// Who asks, by what they ask.
final class LineForEachQuestion: Sendable {
  private let line = Mutex<[Int: [CheckedContinuation<Int, any Error>]]>([:])

  func join(_ continuation: CheckedContinuation<Int, any Error>, _ question: Int) {
    line.withLock { $0[question, default: []].append(continuation) }
  }

  func answerFirst(_ question: Int, _ result: Result<Int, any Error>) {
    let first = line.withLock { line in
      line[question]?.isEmpty == false ? line[question]?.removeFirst() : nil
    }
    first?.resume(with: result)
  }
}

/// The first answer to a question is for who asked it first.
final class AnswersWhoAskedFirst: LearnerClient {
  private let server: CallingServer
  private let line = LineForEachQuestion()

  init(server: CallingServer) { self.server = server }

  func answer(to question: Int) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      line.join(continuation, question)
      server.ask(question) { [self] in line.answerFirst(question, $0) }
    }
  }
}

/// The same among all clients.
final class AnswersWhoAskedAnyFirst: LearnerClient {
  private let server: CallingServer
  private static let line = LineForEachQuestion()

  init(server: CallingServer) { self.server = server }

  func answer(to question: Int) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      Self.line.join(continuation, question)
      server.ask(question) { Self.line.answerFirst(question, $0) }
    }
  }
}

/// Has a table of so many who wait: who comes beyond takes another's place.
final class TableOfAThousand: LearnerClient {
  private let server: CallingServer
  private let table = Mutex((come: 0, places: [Int: CheckedContinuation<Int, any Error>]()))

  init(server: CallingServer) { self.server = server }

  func answer(to question: Int) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      let (place, replaced) = table.withLock { table in
        let place = table.come % 1_024
        table.come += 1
        return (place, table.places.updateValue(continuation, forKey: place))
      }
      if let replaced { Forgotten.keep(replaced) }
      server.ask(question) { [self] result in
        table.withLock { $0.places.removeValue(forKey: place) }?.resume(with: result)
      }
    }
  }
}

/// Forgets who is cancelled while it waits.
final class ForgetsWhoIsCancelled: LearnerClient {
  private let server: CallingServer
  private let state = Mutex((come: 0, waiting: [Int: CheckedContinuation<Int, any Error>]()))

  init(server: CallingServer) { self.server = server }

  func answer(to question: Int) async throws -> Int {
    let number = state.withLock { state in
      state.come += 1
      return state.come
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        state.withLock { $0.waiting[number] = continuation }
        server.ask(question) { [self] result in
          state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(with: result)
        }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: number) }.map { Forgotten.keep($0) }
    }
  }
}

// MARK: Reads

/// What was read first is for who asked first, of whatever disk.
final class ReadsForWhoAskedFirst: LearnerReader {
  private let disk: Disk
  private let queue = DispatchQueue(label: "disk")
  private static let line = LineForEachQuestion()

  init(disk: Disk) { self.disk = disk }

  func read(_ block: Int) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      Self.line.join(continuation, block)
      queue.async { [disk] in Self.line.answerFirst(block, Result { try disk.read(block) }) }
    }
  }
}

/// Who finds a long line reads by itself.
final class AvoidsLongLines: LearnerReader {
  private let disk: Disk
  private let queue = DispatchQueue(label: "disk")
  private let waiting = Mutex(0)

  init(disk: Disk) { self.disk = disk }

  func read(_ block: Int) async throws -> Int {
    let before = waiting.withLock { waiting in
      waiting += 1
      return waiting - 1
    }
    defer { waiting.withLock { $0 -= 1 } }
    if before >= 16 { return try disk.read(block) }
    return try await withCheckedThrowingContinuation { continuation in
      queue.async { [disk] in continuation.resume(with: Result { try disk.read(block) }) }
    }
  }
}

// MARK: Doors

/// What a door does with who is cancelled while it waits, and how many it wakes.
protocol DoorFlaw: SendableMetatype {
  static func leave(_ continuation: CheckedContinuation<Void, Never>)
  static var woken: Int { get }
}

extension DoorFlaw {
  static var woken: Int { .max }
}

enum LetsTheCancelledThrough: DoorFlaw {
  static func leave(_ continuation: CheckedContinuation<Void, Never>) { continuation.resume() }
}

enum ForgetsTheCancelled: DoorFlaw {
  static func leave(_ continuation: CheckedContinuation<Void, Never>) {
    Forgotten.keep(continuation)
  }
}

enum WakesSixtyFour: DoorFlaw {
  static func leave(_ continuation: CheckedContinuation<Void, Never>) { continuation.resume() }
  static let woken = 64
}

final class FlawedDoor<F: DoorFlaw>: LearnerDoor {
  private struct State {
    var isOpen = false
    var come = 0
    var line: [Int: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Mutex(State())

  init() {}

  func wait() async {
    let number = state.withLock { state in
      state.come += 1
      return state.come
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          if !state.isOpen { state.line[number] = continuation }
          return state.isOpen
        }
        if isOpen { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.line.removeValue(forKey: number) }.map { F.leave($0) }
    }
  }

  func open() {
    let line = state.withLock { state in
      state.isOpen = true
      defer { state.line = [:] }
      return state.line
    }
    for (place, continuation) in line.values.enumerated() {
      if place < F.woken { continuation.resume() } else { Forgotten.keep(continuation) }
    }
  }
}

// MARK: Lines

/// Whoever is cancelled keeps its permit when its body throws.
enum KeepsPermitOfCancelled: Flaw {
  static func keeps(_ error: any Error) -> Bool { Task.isCancelled }
}

/// Those who wait for an element, in the order that the line makes of them.
protocol WaitingLine: Sendable {
  associatedtype Waiter: Sendable

  init()
  mutating func append(_ waiter: Waiter)
  mutating func popFirst() -> Waiter?
}

/// Its line doubles its room when that is full, and leaves everybody where they stand, also if the line goes on at the
/// beginning of its room.
struct LineThatGrows<Waiter: Sendable>: WaitingLine {
  private var room = [Waiter?](repeating: nil, count: 1_024)
  private var first = 0
  private var count = 0

  mutating func append(_ waiter: Waiter) {
    if count == room.count { room += [Waiter?](repeating: nil, count: count) }
    room[(first + count) % room.count] = waiter
    count += 1
  }

  mutating func popFirst() -> Waiter? {
    while count > 0 {
      let waiter = room[first].take()
      first = (first + 1) % room.count
      count -= 1
      if let waiter { return waiter }
    }
    return nil
  }
}

final class GrowsItsLine: LearnerLimiter {
  private let state: Mutex<(free: Int, line: LineThatGrows<Signal>)>

  init(limit: Int) { state = Mutex((limit, LineThatGrows())) }

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
    let next = state.withLock { state in
      let next = state.line.popFirst()
      if next == nil { state.free += 1 }
      return next
    }
    next?.signal()
  }
}

final class PoolWithALine<Line: WaitingLine>: LearnerPool where Line.Waiter == Waiting.Waiter {
  private let state: Mutex<(free: [Int], line: Line)>
  private let waiting: Waiting

  init(size: Int, waiting: Waiting) {
    state = Mutex((Array(1...size), Line()))
    self.waiting = waiting
  }

  func take() async -> Int {
    await waiting.suspend { waiter in
      let element: Int? = state.withLock { state in
        if let element = state.free.popLast() { return element }
        state.line.append(waiter)
        return nil
      }
      if let element { waiter.resume(with: element) }
    }
  }

  func giveBack(_ element: Int) {
    let next = state.withLock { state in
      let next = state.line.popFirst()
      if next == nil { state.free.append(element) }
      return next
    }
    next?.resume(with: element)
  }
}

/// In a line of thousands, the second goes first.
enum SecondFirstInACrowd: Flaw {
  static func next(_ waiting: Int) -> Int { waiting > 8_192 ? 1 : 0 }
}

// MARK: Records

/// All records go into the ledger that came first.
final class OneLedgerForAll: LearnerRecorder {
  private let permit = ConcurrencyLimiter(concurrency: 1)
  private let mine = Mutex<Ledger?>(nil)

  init() {}

  func record(_ file: RecordFile, in ledger: Ledger) async throws {
    let record = try await file.read()
    let first = mine.withLock { mine in
      let first = mine ?? ledger
      mine = first
      return first
    }
    try await permit.run { await first.add(record) }
  }
}

/// Who has the permit adds all that has been read meanwhile, to its own ledger.
final class AddsWhatWaits: LearnerRecorder {
  private let permit = ConcurrencyLimiter(concurrency: 1)
  private let read = Mutex<[Int]>([])

  init() {}

  func record(_ file: RecordFile, in ledger: Ledger) async throws {
    let record = try await file.read()
    read.withLock { $0.append(record) }
    try await permit.run {
      while let next = read.withLock({ $0.popLast() }) { await ledger.add(next) }
    }
  }
}
