import Dispatch
import ExplorableLimiters
import ExplorableSynchronization
import Foundation
import Glibc
import Grading

// Wrong answers in how tasks and threads wait, each taken for right once.

/// Gives the waiters ids of one byte.
final class RepeatsIds: LearnerLimiter {
  private struct State {
    var free: Int
    var next: UInt8 = 0
    var line: [(id: UInt8, signal: Signal)] = []
  }
  private let state: Mutex<State>
  init(limit: Int) { state = Mutex(State(free: limit)) }
  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    try Task.checkCancellation()
    let (condition, signal) = Condition.makeCondition()
    let id = state.withLock { s -> UInt8? in
      if s.free > 0 {
        s.free -= 1
        return nil
      }
      s.next &+= 1
      s.line.append((s.next, signal))
      return s.next
    }
    if let id {
      do { try await condition.wait() } catch {
        let left = state.withLock { s in
          if let i = s.line.firstIndex(where: { $0.id == id }) {
            s.line.remove(at: i)
            return true
          }
          return false
        }
        if !left { giveBack() }
        throw error
      }
    }
    defer { giveBack() }
    return try await body()
  }
  private func giveBack() {
    state.withLock { s -> Signal? in
      if s.line.isEmpty {
        s.free += 1
        return nil
      }
      return s.line.removeFirst().signal
    }?.signal()
  }
}

/// Notes a cancellation that nobody asks for any more.
final class MarksGranted: LearnerLimiter {
  private enum Place {
    case waiting(CheckedContinuation<Bool, Never>)
    case cancelled
  }
  private struct State {
    var free: Int
    var next = 0
    var places: [Int: Place] = [:]
    var order: [Int] = []
  }
  private let state: Mutex<State>
  init(limit: Int) { state = Mutex(State(free: limit)) }
  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    try Task.checkCancellation()
    let id: Int? = state.withLock { s in
      if s.free > 0 {
        s.free -= 1
        return nil
      }
      s.next += 1
      return s.next
    }
    if let id {
      let ok = await withTaskCancellationHandler {
        await withCheckedContinuation { (c: CheckedContinuation<Bool, Never>) in
          let now: Bool? = state.withLock { s in
            if case .cancelled? = s.places[id] {
              s.places[id] = nil
              return false
            }
            if s.free > 0 {
              s.free -= 1
              return true
            }
            s.places[id] = .waiting(c)
            s.order.append(id)
            return nil
          }
          if let now { c.resume(returning: now) }
        }
      } onCancel: {
        let c: CheckedContinuation<Bool, Never>? = state.withLock { s in
          switch s.places[id] {
          case .waiting(let c)?:
            s.places[id] = nil
            s.order.removeAll { $0 == id }
            return c
          default:
            s.places[id] = .cancelled
            OwnHeap.keep()
            return nil
          }
        }
        c?.resume(returning: false)
      }
      if !ok { throw CancellationError() }
    }
    defer { giveBack() }
    return try await body()
  }
  private func giveBack() {
    let c: CheckedContinuation<Bool, Never>? = state.withLock { s in
      guard !s.order.isEmpty,
        case .waiting(let c)? = s.places.removeValue(forKey: s.order.removeFirst())
      else {
        s.free += 1
        return nil
      }
      return c
    }
    c?.resume(returning: true)
  }
}

/// Who is cancelled stays in the line until a permit comes by.
final class LeavesLater: LearnerLimiter {
  private struct State {
    var free: Int
    var next = 0
    var line: [(id: Int, signal: Signal)] = []
    var gone: Set<Int> = []
    var granted: Set<Int> = []
  }
  private let state: Mutex<State>
  init(limit: Int) { state = Mutex(State(free: limit)) }
  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    try Task.checkCancellation()
    let (condition, signal) = Condition.makeCondition()
    let id = state.withLock { s -> Int? in
      if s.free > 0 {
        s.free -= 1
        return nil
      }
      s.next += 1
      s.line.append((s.next, signal))
      return s.next
    }
    if let id {
      do {
        try await condition.wait()
        state.withLock { _ = $0.granted.remove(id) }
      } catch {
        let mine = state.withLock { s in
          if s.granted.remove(id) != nil { return true }
          s.gone.insert(id)
          OwnHeap.keep()
          return false
        }
        if mine { giveBack() }
        throw error
      }
    }
    defer { giveBack() }
    return try await body()
  }
  private func giveBack() {
    state.withLock { s -> Signal? in
      while !s.line.isEmpty {
        let first = s.line.removeFirst()
        if s.gone.remove(first.id) != nil { continue }
        s.granted.insert(first.id)
        return first.signal
      }
      s.free += 1
      return nil
    }?.signal()
  }
}

/// Makes an element free, and then hands it to a waiter too.
final class GivesBackTwice: LearnerPool {
  private struct S {
    var free: [Int]
    var line: [Waiting.Waiter] = []
  }
  private let s: Mutex<S>
  private let waiting: Waiting

  init(size: Int, waiting: Waiting) {
    self.waiting = waiting
    s = Mutex(S(free: Array(1...size)))
  }

  func take() async -> Int {
    await waiting.suspend { waiter in
      let e: Int? = s.withLock { s in
        if s.free.isEmpty {
          s.line.append(waiter)
          return nil
        }
        return s.free.removeFirst()
      }
      if let e { waiter.resume(with: e) }
    }
  }

  func giveBack(_ element: Int) {
    s.withLock { $0.free.append(element) }
    let next: Waiting.Waiter? = s.withLock { s in
      if s.line.isEmpty { return nil }
      s.free.removeAll { $0 == element }
      return s.line.removeFirst()
    }
    next?.resume(with: element)
  }
}

/// Makes a permit free, and then hands on one that a newcomer may have taken.
final class FreesThenHandsOn: LearnerLimiter {
  private struct State {
    var free: Int
    var line: [Signal] = []
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
    if mustWait {
      do { try await condition.wait() } catch {
        let wasThere = state.withLock { s in
          guard let i = s.line.firstIndex(where: { $0 === signal }) else { return false }
          s.line.remove(at: i)
          return true
        }
        if !wasThere { giveBack() }
        throw error
      }
    }
    defer { giveBack() }
    return try await body()
  }

  private func giveBack() {
    state.withLock { $0.free += 1 }
    let next: Signal? = state.withLock { state in
      if state.line.isEmpty { return nil }
      state.free -= 1
      return state.line.removeFirst()
    }
    next?.signal()
  }
}

/// Each list has a gate of its own, and a thread that waits at it.
final class GateForEachList: LearnerBatch {
  /// How many threads wait at gates.
  static let waiting = PlainCount()
  private let queue = DispatchQueue(label: "downloads", attributes: .concurrent)
  private let permits: DispatchSemaphore

  init(limit: Int) { permits = DispatchSemaphore(value: limit) }

  func download(
    _ files: [Int],
    _ fetch: @escaping @Sendable (Int) -> Void,
    whenAll: @escaping @Sendable () -> Void
  ) {
    let group = DispatchGroup()
    let gate = DispatchQueue(label: "gate")
    gate.async(group: group) { [permits, queue] in
      for file in files {
        Self.waiting.add(1)
        permits.wait()
        Self.waiting.add(-1)
        queue.async(group: group) {
          fetch(file)
          permits.signal()
        }
      }
    }
    group.notify(queue: queue, execute: whenAll)
  }
}

/// Tells the end of a list on the gate, where the next list waits.
final class EndsAtTheGate: LearnerBatch {
  private let queue = DispatchQueue(label: "downloads", attributes: .concurrent)
  private let gate = DispatchQueue(label: "gate")
  private let permits: DispatchSemaphore
  init(limit: Int) { permits = DispatchSemaphore(value: limit) }
  func download(
    _ files: [Int],
    _ fetch: @escaping @Sendable (Int) -> Void,
    whenAll: @escaping @Sendable () -> Void
  ) {
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
    group.notify(queue: gate, execute: whenAll)
  }
}

/// What is wrong with a downloader that is mended as the lesson does it.
protocol GatedFlaw: SendableMetatype {
  /// What is downloaded of a list.
  static func files(_ files: [Int]) -> [Int]
  /// Whether all batches have one gate.
  static var sharesGate: Bool { get }
  /// Whether a file that may begin is fetched by the caller's thread.
  static var fetchesAtOnce: Bool { get }
  /// Whether what waits at the gate keeps the batch and what belongs to it.
  static var keepsBatch: Bool { get }
  /// Whether the only file of a list is fetched at the gate.
  static var fetchesAtGate: Bool { get }
  /// Waits for a permit at the gate.
  static func wait(for permits: DispatchSemaphore)
  /// How many run at once at the most.
  static func room(_ limit: Int) -> Int
  /// Whether the groups of all lists are kept.
  static var keepsGroups: Bool { get }
}

extension GatedFlaw {
  static func files(_ files: [Int]) -> [Int] { files }
  static var sharesGate: Bool { false }
  static var fetchesAtOnce: Bool { false }
  static var keepsBatch: Bool { true }
  static var fetchesAtGate: Bool { false }
  static func wait(for permits: DispatchSemaphore) { permits.wait() }
  static func room(_ limit: Int) -> Int { limit }
  static var keepsGroups: Bool { false }
}

enum SoundGate: GatedFlaw {}

/// A file that is named twice is downloaded once.
enum SetOfFiles: GatedFlaw {
  static func files(_ files: [Int]) -> [Int] { Set(files).sorted() }
}

enum GateForAll: GatedFlaw {
  static let sharesGate = true
}

/// A list of one file is fetched by the caller, if there is a permit.
enum FetchesAtOnce: GatedFlaw {
  static let fetchesAtOnce = true
}

/// The only file of a list is fetched at the gate, where the other lists wait.
enum FetchesAtGate: GatedFlaw {
  static let fetchesAtGate = true
}

/// Of a batch that nobody keeps only those files are fetched that have begun.
enum ForgetsItself: GatedFlaw {
  static let keepsBatch = false
}

/// Looks for a permit once a second, which takes next to nothing.
enum LooksEachSecond: GatedFlaw {
  static func wait(for permits: DispatchSemaphore) {
    while permits.wait(timeout: .now() + .seconds(1)) == .timedOut {}
  }
}

/// Asks for a permit again and again.
enum AsksForPermits: GatedFlaw {
  static func wait(for permits: DispatchSemaphore) {
    while permits.wait(timeout: .now()) == .timedOut {
      OwnProcessor.lookAndSleep()
      usleep(200)
    }
  }
}

/// Takes a limit above six for none.
enum NoLimitAboveSix: GatedFlaw {
  static func room(_ limit: Int) -> Int { limit > 6 ? 10_000 : limit }
}

enum KeepsGroups: GatedFlaw {
  static let keepsGroups = true
}

final class Gated<F: GatedFlaw>: LearnerBatch {
  private let queue = DispatchQueue(label: "downloads", attributes: .concurrent)
  private let gate: DispatchQueue
  private let permits: DispatchSemaphore
  private let groups = Mutex<[DispatchGroup]>([])

  init(limit: Int) {
    permits = DispatchSemaphore(value: F.room(limit))
    gate = F.sharesGate ? gateOfAll : DispatchQueue(label: "gate")
  }

  func download(
    _ files: [Int],
    _ fetch: @escaping @Sendable (Int) -> Void,
    whenAll: @escaping @Sendable () -> Void
  ) {
    if F.fetchesAtOnce, files.count == 1, permits.wait(timeout: .now()) == .success {
      fetch(files[0])
      permits.signal()
      return whenAll()
    }
    let group = DispatchGroup()
    if F.keepsGroups {
      groups.withLock { $0.append(group) }
      OwnHeap.keep()
    }
    let kept = F.keepsBatch ? self : nil
    for file in F.files(files) {
      gate.async(group: group) { [weak self, queue, permits] in
        guard kept != nil || self != nil else { return }
        F.wait(for: permits)
        if F.fetchesAtGate, files.count == 1 {
          fetch(file)
          permits.signal()
          return
        }
        queue.async(group: group) {
          fetch(file)
          permits.signal()
        }
      }
    }
    group.notify(queue: queue, execute: whenAll)
  }
}

private let gateOfAll = DispatchQueue(label: "gate of all")

/// The group knows nothing of what waits at the gate.
final class GateOutsideGroup: LearnerBatch {
  private let queue = DispatchQueue(label: "downloads", attributes: .concurrent)
  private let permits: DispatchSemaphore

  init(limit: Int) { permits = DispatchSemaphore(value: limit) }

  func download(
    _ files: [Int],
    _ fetch: @escaping @Sendable (Int) -> Void,
    whenAll: @escaping @Sendable () -> Void
  ) {
    let group = DispatchGroup()
    let gate = DispatchQueue(label: "gate")
    let isAsked = DispatchSemaphore(value: 0)
    gate.async { [permits, queue] in
      // Else the group may know of the first file by chance.
      isAsked.wait()
      for file in files {
        permits.wait()
        queue.async(group: group) {
          fetch(file)
          permits.signal()
        }
      }
    }
    group.notify(queue: queue, execute: whenAll)
    isAsked.signal()
  }
}

/// Asks the next question when a while has passed since the one before, if that was not answered.
final class AsksInTurn: LearnerClient {
  /// How many threads wait before they ask.
  static let waiting = PlainCount()
  private let server: CallingServer
  private let queue = DispatchQueue(label: "questions")

  init(server: CallingServer) { self.server = server }

  func answer(to question: Int) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { [server] in
        let isAnswered = DispatchSemaphore(value: 0)
        server.ask(question) { result in
          continuation.resume(with: result)
          isAnswered.signal()
        }
        Self.waiting.add(1)
        _ = isAnswered.wait(timeout: .now() + .milliseconds(20))
        Self.waiting.add(-1)
      }
    }
  }
}

/// Of those who were cancelled one holds a thread until it is answered, and the others wait behind it.
final class HoldsThreadOfCancelled: LearnerClient {
  private let server: CallingServer
  private let queue = DispatchQueue(label: "those who were cancelled")

  init(server: CallingServer) { self.server = server }

  func answer(to question: Int) async throws -> Int {
    let isCancelled = Task.isCancelled
    return try await withCheckedThrowingContinuation { continuation in
      guard isCancelled else { return server.ask(question) { continuation.resume(with: $0) } }
      queue.async { [server] in
        let isThere = DispatchSemaphore(value: 0)
        server.ask(question) { result in
          continuation.resume(with: result)
          isThere.signal()
        }
        isThere.wait()
      }
    }
  }
}

/// Looks for the answer again and again.
final class PollingClient: LearnerClient {
  private let server: CallingServer

  init(server: CallingServer) { self.server = server }

  func answer(to question: Int) async throws -> Int {
    let answer = Mutex<Result<Int, any Error>?>(nil)
    server.ask(question) { result in answer.withLock { $0 = result } }
    while true {
      if let result = answer.withLock({ $0 }) { return try result.get() }
      OwnProcessor.look()
      await Task.yield()
    }
  }
}

/// Looks for the image again and again, and fetches it again where that fails.
actor PollingCache: LearnerImageCache {
  private let fetch: @Sendable (String) async throws -> [UInt8]
  private var images: [String: [UInt8]] = [:]
  private var busy: Set<String> = []

  init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

  func image(_ name: String) async throws -> [UInt8] {
    while busy.contains(name) {
      OwnProcessor.look()
      await Task.yield()
    }
    if let image = images[name] { return image }
    busy.insert(name)
    defer { busy.remove(name) }
    let image = try await fetch(name)
    images[name] = image
    return image
  }
}

/// Has the door opened by another task.
final class OpensLater: LearnerDoor {
  private actor Door {
    var isOpen = false
    var line: [CheckedContinuation<Void, Never>] = []
    func wait() async {
      if isOpen { return }
      await withCheckedContinuation { line.append($0) }
    }
    func open() {
      isOpen = true
      for c in line { c.resume() }
      line = []
    }
  }
  private let door = Door()
  init() {}
  func wait() async { await door.wait() }
  func open() { Task { await door.open() } }
}

/// Keeps who comes when the door is open.
final class KeepsLater: LearnerDoor {
  private struct S {
    var isOpen = false
    var line: [CheckedContinuation<Void, Never>] = []
  }
  private let s = Mutex(S())
  init() {}
  func wait() async {
    await withCheckedContinuation { c in
      let now = s.withLock { s in
        s.line.append(c)
        OwnHeap.keep()
        return s.isOpen
      }
      if now { c.resume() }
    }
  }
  func open() {
    let woken = s.withLock { s in
      let first = !s.isOpen
      s.isOpen = true
      return first ? s.line : []
    }
    for c in woken { c.resume() }
  }
}

/// Gives the worker away while it has the permit.
final class YieldsWithPermit: LearnerRecorder {
  private let permit = ConcurrencyLimiter(concurrency: 1)

  init() {}

  func record(_ file: RecordFile, in ledger: Ledger) async throws {
    let record = try await file.read()
    try await permit.run {
      for _ in 0..<30 { await Task.yield() }
      await ledger.add(record)
    }
  }
}

/// Records in an urgent task of its own.
final class RecordsElsewhere: LearnerRecorder {
  private let permit = ConcurrencyLimiter(concurrency: 1)

  init() {}

  func record(_ file: RecordFile, in ledger: Ledger) async throws {
    try await Task(priority: .high) { [permit] in
      try await permit.run {
        let record = try await file.read()
        await ledger.add(record)
      }
    }.value
  }
}

/// Frees the permit under one lock and hands it on under the next: who comes between the two takes it first.
final class FreesBeforeItHandsOn: LearnerLimiter {
  private struct State {
    var free: Int
    var line: [Signal] = []
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
    if mustWait {
      do { try await condition.wait() } catch {
        let wasThere = state.withLock { state in
          guard let place = state.line.firstIndex(where: { $0 === signal }) else { return false }
          state.line.remove(at: place)
          return true
        }
        if !wasThere { giveBack() }
        throw error
      }
    }
    defer { giveBack() }
    return try await body()
  }

  private func giveBack() {
    state.withLock { $0.free += 1 }
    let next: Signal? = state.withLock { state in
      if state.line.isEmpty || state.free == 0 { return nil }
      state.free -= 1
      return state.line.removeFirst()
    }
    next?.signal()
  }
}

/// Lets in whom a body starts without a permit: they have what the body has.
final class KnowsItsChildren: LearnerLimiter {
  @TaskLocal private static var hasPermit = false

  private let limiter: Flawed<NoFlaw>

  init(limit: Int) { limiter = Flawed(limit: limit) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    if Self.hasPermit { return try await body() }
    return try await limiter.run { try await Self.$hasPermit.withValue(true) { try await body() } }
  }
}

/// Has room for so many in its line: who comes beyond takes another's place.
final class RoomForAThousand: LearnerLimiter {
  private struct State {
    var free: Int
    var line = [Signal?](repeating: nil, count: 1_024)
    var served = 0
    var come = 0
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
      state.line[state.come % state.line.count] = signal
      state.come += 1
      return true
    }
    if mustWait {
      do { try await condition.wait() } catch {
        let wasThere = state.withLock { state in
          guard let place = state.line.firstIndex(where: { $0 === signal }) else { return false }
          state.line[place] = nil
          return true
        }
        if !wasThere { giveBack() }
        throw error
      }
    }
    defer { giveBack() }
    return try await body()
  }

  private func giveBack() {
    let next = state.withLock { state -> Signal? in
      while state.served < state.come {
        let next = state.line[state.served % state.line.count].take()
        state.served += 1
        if let next { return next }
      }
      state.free += 1
      return nil
    }
    next?.signal()
  }
}

/// Who has no permit begins in whatever order, once three wait.
final class AnyOfThree: LearnerBatch {
  private let queue = DispatchQueue(label: "downloads", attributes: .concurrent)
  private let state: Mutex<(free: Int, line: [@Sendable () -> Void])>

  init(limit: Int) { state = Mutex((limit, [])) }

  func download(
    _ files: [Int],
    _ fetch: @escaping @Sendable (Int) -> Void,
    whenAll: @escaping @Sendable () -> Void
  ) {
    let group = DispatchGroup()
    for file in files {
      group.enter()
      let work: @Sendable () -> Void = {
        fetch(file)
        group.leave()
      }
      let begins = state.withLock { state in
        if state.free == 0 { state.line.append(work) }
        defer { state.free -= state.free > 0 ? 1 : 0 }
        return state.free > 0
      }
      if begins { start(work) }
    }
    group.notify(queue: queue, execute: whenAll)
  }

  private func start(_ work: @escaping @Sendable () -> Void) {
    queue.async { [self] in
      work()
      let next = state.withLock { state -> (@Sendable () -> Void)? in
        if state.line.isEmpty { state.free += 1 }
        guard state.line.count > 2 else {
          return state.line.isEmpty ? nil : state.line.removeFirst()
        }
        return state.line.remove(at: 1)
      }
      if let next { start(next) }
    }
  }
}

/// All lists have one group, so each hears of the end of all.
final class OneGroupForAll: LearnerDownloader {
  private let limiter: ConcurrencyLimiter
  private let group = DispatchGroup()

  init(limit: Int) { limiter = ConcurrencyLimiter(concurrency: limit) }

  func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
    for file in files {
      group.enter()
      Task { [limiter, group] in
        try? await limiter.run { await fetch(file) }
        group.leave()
      }
    }
    await withCheckedContinuation { ended in
      group.notify(queue: .global()) { ended.resume() }
    }
  }
}

/// Where it is cancelled it asks again and again whether all files have come.
final class AsksWhenCancelled: LearnerDownloader {
  private let limiter: ConcurrencyLimiter

  init(limit: Int) { limiter = ConcurrencyLimiter(concurrency: limit) }

  func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
    let group = DispatchGroup()
    for file in files {
      group.enter()
      Task { [limiter] in
        try? await limiter.run { await fetch(file) }
        group.leave()
      }
    }
    while !Self.isOver(group) {
      OwnProcessor.lookAndSleep()
      try? await Task.sleep(for: .milliseconds(50))
    }
  }

  private static func isOver(_ group: DispatchGroup) -> Bool {
    group.wait(timeout: .now()) == .success
  }
}

/// Lets go of the one permit where the other is not free, and tries again.
final class TriesBoth: LearnerCopier {
  private let connections: ConcurrencyLimiter
  private let files: ConcurrencyLimiter

  init(connections: Int, files: Int) {
    self.connections = ConcurrencyLimiter(concurrency: connections)
    self.files = ConcurrencyLimiter(concurrency: files)
  }

  func download(_ copy: () async throws -> Void) async throws {
    try await run(copy, connections, files)
  }

  func upload(_ copy: () async throws -> Void) async throws {
    try await run(copy, files, connections)
  }

  private func run(
    _ copy: () async throws -> Void,
    _ one: ConcurrencyLimiter,
    _ other: ConcurrencyLimiter
  ) async throws {
    while try await one.run({ try await other.runIfFree { try await copy() } }) == nil {
      OwnProcessor.look()
      await Task.yield()
    }
  }
}

/// Takes no permit where one is not free, and asks again a millisecond later.
final class AsksForTheLedger: LearnerRecorder {
  private let permit = ConcurrencyLimiter(concurrency: 1)

  init() {}

  func record(_ file: RecordFile, in ledger: Ledger) async throws {
    let record = try await file.read()
    while await permit.runIfFree({ await ledger.add(record) }) == nil {
      OwnProcessor.lookAndSleep()
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}

/// Has threads of its own, which wait for work as long as the program runs.
final class OwnThreads: LearnerBatch {
  private let batch: Gated<SoundGate>

  init(limit: Int) {
    GateForEachList.waiting.add(limit)
    batch = Gated(limit: limit)
  }

  func download(
    _ files: [Int],
    _ fetch: @escaping @Sendable (Int) -> Void,
    whenAll: @escaping @Sendable () -> Void
  ) { batch.download(files, fetch, whenAll: whenAll) }
}

/// A list begins when the one before is over.
final class ListAfterList: LearnerDownloader {
  private let limiter: ConcurrencyLimiter
  private let list = ConcurrencyLimiter(concurrency: 1)

  init(limit: Int) { limiter = ConcurrencyLimiter(concurrency: limit) }

  func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
    await list.runUncancellably {
      await withTaskGroup { [limiter] group in
        for file in files { group.addTask { await limiter.runUncancellably { await fetch(file) } } }
      }
    }
  }
}

/// At most four run, whatever the limit.
final class AtMostFourFiles: LearnerDownloader {
  private let limiter: ConcurrencyLimiter

  init(limit: Int) { limiter = ConcurrencyLimiter(concurrency: min(4, limit)) }

  func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
    await withTaskGroup { [limiter] group in
      for file in files { group.addTask { await limiter.runUncancellably { await fetch(file) } } }
    }
  }
}

/// A list of one file holds a thread for it.
final class ThreadForOneFile: LearnerDownloader {
  private let limiter: ConcurrencyLimiter
  private let queue = OperationQueue()

  init(limit: Int) {
    limiter = ConcurrencyLimiter(concurrency: limit)
    queue.maxConcurrentOperationCount = limit
  }

  func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
    guard files.count == 1 else {
      return await withTaskGroup { [limiter] group in
        for file in files { group.addTask { await limiter.runUncancellably { await fetch(file) } } }
      }
    }
    await withCheckedContinuation { ended in
      queue.addOperation {
        let hasCome = DispatchSemaphore(value: 0)
        Task {
          await fetch(files[0])
          hasCome.signal()
        }
        hasCome.wait()
        ended.resume()
      }
    }
  }
}
