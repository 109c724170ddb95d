// swift-format-ignore-file: NeverForceUnwrap
// As published code does.

import Dispatch
import Exploration
import Foundation
import Synchronization

// What is held, lent, and given back.

extension Judged {
  // MARK: A recursive lock held over an await

  final class HeldRecursively: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private let lock = NSRecursiveLock()
    private let count = Atomic(0)
    private let most = Atomic(0)

    func enter() { lock.lock() }
    func leave() { lock.unlock() }

    func visit() async {
      enter()
      most.max(
        count.add(1, ordering: .sequentiallyConsistent).newValue,
        ordering: .sequentiallyConsistent
      )
      await Task.yield()
      count.subtract(1, ordering: .sequentiallyConsistent)
      leave()
    }

    func checkAlone() throws {
      try require(most.load(ordering: .sequentiallyConsistent) <= 1, "two were inside")
    }
  }

  final class HeldPlainly: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private let lock = NSLock()
    func enter() { lock.lock() }
    func leave() { lock.unlock() }
    func visit() async {
      enter()
      await Task.yield()
      leave()
    }
  }

  // MARK: What a thread knows

  enum ThreadLocale {
    static func set(_ value: String) { Thread.current.threadDictionary["locale"] = value }
    static var now: String? { Thread.current.threadDictionary["locale"] as? String }
  }

  enum Request { @TaskLocal static var name = "" }

  // MARK: Two consumers of one stream

  static func twoConsumers() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    async let one: Void = { for await _ in stream {} }()
    async let two: Void = { for await _ in stream {} }()
    continuation.yield(1)
    continuation.finish()
    _ = await (one, two)
  }

  // MARK: Waits with a limit

  static func waitWithLimit(asks: Bool) async throws {
    let semaphore = DispatchSemaphore(value: 0)
    let box = ResultBox()
    let worker = Task {
      box.value.withLock { $0 = 7 }
      semaphore.signal()
    }
    let isThere = waitBriefly(semaphore)
    if asks, !isThere {
      await worker.value
      return
    }
    let seen = box.value.withLock { $0 }
    await worker.value
    try require(seen == 7, "used before it was there")
  }

  static func waitBriefly(_ semaphore: DispatchSemaphore) -> Bool {
    semaphore.wait(timeout: .now() + .milliseconds(100)) == .success
  }

  final class ResultBox: Sendable { let value = Mutex<Int?>(nil) }

  static func waitOnCondition(asks: Bool) async throws {
    let box = ConditionBox()
    let worker = Task { box.put(7) }
    let seen = box.waitBriefly()
    await worker.value
    try require(seen == 7 || asks && seen == nil, "used before it was there")
  }

  final class ConditionBox: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private let condition = NSCondition()
    private var value: Int?
    func put(_ new: Int) {
      condition.lock()
      value = new
      condition.signal()
      condition.unlock()
    }
    func waitBriefly() -> Int? {
      condition.lock()
      defer { condition.unlock() }
      let end = Date(timeIntervalSinceNow: 1)
      while value == nil { if !condition.wait(until: end) { break } }
      return value
    }
  }

  // MARK: A lock that is tried

  final class Hits: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private let lock = NSLock()
    private var count = 0
    func add() {
      while !lock.try() {}
      count += 1
      lock.unlock()
    }
    var now: Int { lock.withLock { count } }
  }

  // MARK: Exchange that may fail

  final class WeakCounter: Sendable {
    private let count = Atomic(0)
    func addOnce() {
      let seen = count.load(ordering: .relaxed)
      _ = count.compareExchange(expected: seen, desired: seen + 1, ordering: .relaxed)
    }
    func add() {
      var seen = count.load(ordering: .relaxed)
      while true {
        let (exchanged, original) = count.weakCompareExchange(
          expected: seen,
          desired: seen + 1,
          ordering: .relaxed
        )
        if exchanged { return }
        seen = original
      }
    }
    var now: Int { count.load(ordering: .relaxed) }
  }

  // MARK: Queues

  final class Nested: Sendable {
    private let queue = DispatchQueue(label: "nested")
    private let other = DispatchQueue(label: "other")
    func total() -> Int { queue.sync { part() } }
    func part() -> Int { queue.sync { 1 } }
    func there() -> Int { queue.sync { other.sync { 1 } } }
    func back() -> Int { other.sync { queue.sync { 1 } } }
  }

  // MARK: A bridge that blocks

  static func bridge() -> Int {
    let semaphore = DispatchSemaphore(value: 0)
    let box = ResultBox()
    Task {
      await Task.yield()
      box.value.withLock { $0 = 1 }
      semaphore.signal()
    }
    semaphore.wait()
    return box.value.withLock { $0! }
  }

  // MARK: Operations

  static func operations(serial: Bool) async throws {
    let totals = Totals()
    let queue = OperationQueue()
    if serial { queue.maxConcurrentOperationCount = 1 }
    await withCheckedContinuation { continuation in
      let left = Left(2)
      for _ in 1...2 {
        queue.addOperation {
          totals.sum += 1
          if left.leave() { continuation.resume() }
        }
      }
    }
    try require(totals.sum == 2, "lost")
  }

  // MARK: An unowned reference

  final class Parent: Sendable {
    let name = Atomic(1)
    func child() -> Child { Child(self) }
  }

  final class Child: Sendable {
    private unowned let parent: Parent
    private let uses = Atomic(0)
    init(_ parent: Parent) { self.parent = parent }
    func use() -> Int {
      uses.add(1, ordering: .relaxed)
      return parent.name.load(ordering: .relaxed)
    }
  }

  final class Holder: Sendable {
    private let parent: Mutex<Parent?>
    let child: Child
    init() {
      let parent = Parent()
      child = parent.child()
      self.parent = Mutex(parent)
    }
    func drop() { parent.withLock { $0 = nil } }
  }

  // MARK: A reference in an atomic

  final class Setting: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
  }

  /// The reader takes a reference that the writer may have let go of.
  final class CurrentSetting: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private let current: Atomic<UnsafeMutableRawPointer?>
    init() { current = Atomic(Unmanaged.passRetained(Setting(1)).toOpaque()) }
    deinit {
      if let last = current.load(ordering: .acquiring) {
        Unmanaged<Setting>.fromOpaque(last).release()
      }
    }
    func read() -> Int {
      let seen = current.load(ordering: .acquiring)!
      return Unmanaged<Setting>.fromOpaque(seen).takeUnretainedValue().number
    }
    func readSlowly(_ pause: borrowing Atomic<Int>) -> Int {
      let seen = current.load(ordering: .acquiring)!
      pause.add(1, ordering: .relaxed)
      return Unmanaged<Setting>.fromOpaque(seen).takeUnretainedValue().number
    }
    func replace(by number: Int) {
      let new = Unmanaged.passRetained(Setting(number)).toOpaque()
      let old = current.exchange(new, ordering: .acquiringAndReleasing)!
      Unmanaged<Setting>.fromOpaque(old).release()
    }
  }

  /// The same with memory of its own.
  final class CurrentPointer: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private let current: Atomic<UnsafeMutablePointer<Int>?>
    private let pause = Atomic(0)
    init() {
      let first = UnsafeMutablePointer<Int>.allocate(capacity: 1)
      first.initialize(to: 1)
      current = Atomic(first)
    }
    deinit { current.load(ordering: .acquiring)?.deallocate() }
    func read() -> Int {
      let seen = current.load(ordering: .acquiring)!
      pause.add(1, ordering: .relaxed)
      return seen.pointee
    }
    func replace(by number: Int, freesOld: Bool) {
      let new = UnsafeMutablePointer<Int>.allocate(capacity: 1)
      new.initialize(to: number)
      let old = current.exchange(new, ordering: .acquiringAndReleasing)!
      if freesOld { old.deallocate() }
    }
  }

  // MARK: A bounded buffer with one line

  /// Producers and consumers wait in one line, and one of them is woken: it may be the wrong one.
  actor BoundedBuffer {
    private var item: Int?
    private var line: [CheckedContinuation<Void, Never>] = []
    private let wakesAll: Bool
    init(wakesAll: Bool) { self.wakesAll = wakesAll }

    private func wake() {
      if wakesAll {
        let all = line
        line = []
        for one in all { one.resume() }
      } else if !line.isEmpty {
        line.removeFirst().resume()
      }
    }
    func put(_ new: Int) async {
      while item != nil { await withCheckedContinuation { line.append($0) } }
      item = new
      wake()
    }
    func take() async -> Int {
      while item == nil { await withCheckedContinuation { line.append($0) } }
      defer {
        item = nil
        wake()
      }
      return item!
    }
  }

  static func useBuffer(wakesAll: Bool) async throws {
    let buffer = BoundedBuffer(wakesAll: wakesAll)
    await withTaskGroup { group in
      for number in 1...2 { group.addTask { await buffer.put(number) } }
      for _ in 1...2 { group.addTask { _ = await buffer.take() } }
    }
  }

  // MARK: An executor of an actor

  final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "on queue")
    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  actor OnQueue {
    private let queue = QueueExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
    private var count = 0
    func addHastily() async {
      let now = count
      await Task.yield()
      count = now + 1
    }
    func add() { count += 1 }
    var now: Int { count }
  }

  actor Fragile {
    private var count = 0
    nonisolated func touch() { assumeIsolated { $0.count += 1 } }
    func touchInside() { touch() }
  }

  // MARK: The main actor

  @MainActor static func makeModel() -> Model { Model() }

  @MainActor final class Model {
    var rows: [Int] = []
    func reload(dropsOld: Bool, _ rows: [Int]) async {
      if dropsOld { self.rows = [] }
      await Task.yield()
      self.rows += rows
    }
    func reloadAtOnce(_ rows: [Int]) async {
      await Task.yield()
      self.rows = rows
    }
  }

  // MARK: A task that nobody awaits

  static func leaveBehind(waits: Bool) async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let heard = Number()
    let task = Task { for await number in stream { heard.value.add(number, ordering: .relaxed) } }
    continuation.yield(1)
    if waits {
      continuation.finish()
      await task.value
    }
    try require(!waits || heard.value.load(ordering: .relaxed) == 1, "not heard")
  }

  // MARK: Parts of an array

  static func parallelMap(disjoint: Bool) async throws {
    let buffer = UnsafeMutableBufferPointer<Int>.allocate(capacity: 2)
    buffer.initialize(repeating: 0)
    defer { buffer.deallocate() }
    let shared = SharedBuffer(buffer)
    try await both {
      shared.buffer[0] = 1
    } _: {
      shared.buffer[disjoint ? 1 : 0] = 2
    }
    try require(buffer[0] + buffer[1] >= 2, "nothing was written")
  }

  struct SharedBuffer: @unchecked Sendable {
    // Safe or not: that is what is asked.
    let buffer: UnsafeMutableBufferPointer<Int>
    init(_ buffer: UnsafeMutableBufferPointer<Int>) { self.buffer = buffer }
  }

  // MARK: Lazy

  final class LazyTable: @unchecked Sendable {
    // Safe or not: that is what is asked.
    lazy var table: [Int] = [1, 2, 3]
    private let lock = NSLock()
    func readLocked() -> Int { lock.withLock { table[0] } }
  }

  // MARK: A future with several waiters

  final class Future: Sendable {
    private enum State {
      case open([CheckedContinuation<Int, Never>])
      case done(Int)
    }
    private let state = Mutex(State.open([]))
    private let resumesUnderLock: Bool
    init(resumesUnderLock: Bool) { self.resumesUnderLock = resumesUnderLock }

    func value() async -> Int {
      await withCheckedContinuation { continuation in
        let known: Int? = state.withLock { state in
          switch state {
          case .open(let waiters):
            state = .open(waiters + [continuation])
            return nil
          case .done(let value): return value
          }
        }
        if let known { continuation.resume(returning: known) }
      }
    }

    /// Asks in one section whether it is open, and writes in another.
    func fulfilHastily(_ value: Int) {
      let waiters = state.withLock { state in
        if case .open(let waiters) = state { return waiters }
        return []
      }
      state.withLock { $0 = .done(value) }
      for waiter in waiters { waiter.resume(returning: value) }
    }

    func fulfil(_ value: Int) {
      let waiters: [CheckedContinuation<Int, Never>] = state.withLock { state in
        guard case .open(let waiters) = state else { return [] }
        state = .done(value)
        return waiters
      }
      for waiter in waiters { waiter.resume(returning: value) }
    }
  }

  // MARK: A child that outlives what it borrows

  static func borrow(awaits: Bool) async throws {
    let memory = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    memory.initialize(to: 1)
    let shared = SharedPointer(memory)
    let reader = Task { shared.memory.pointee }
    if awaits { _ = await reader.value }
    memory.deinitialize(count: 1)
    memory.deallocate()
    _ = await reader.value
  }

  struct SharedPointer: @unchecked Sendable {
    // Safe or not: that is what is asked.
    let memory: UnsafeMutablePointer<Int>
    init(_ memory: UnsafeMutablePointer<Int>) { self.memory = memory }
  }

  // MARK: Escalation, discarding groups, adding to a cancelled group

  static func addUnlessCancelled(counts: Bool) async throws {
    let left = Number()
    await withDiscardingTaskGroup { group in
      group.cancelAll()
      let isAdded = group.addTaskUnlessCancelled { left.value.subtract(1, ordering: .relaxed) }
      if isAdded || !counts { left.value.add(1, ordering: .relaxed) }
    }
    try require(left.value.load(ordering: .relaxed) == 0, "counted work that never began")
  }

  // MARK: A circuit breaker by time

  actor Breaker {
    private var openUntil: ContinuousClock.Instant?
    private(set) var probes = 0
    private(set) var most = 0
    private var probing = false
    private let oneProbe: Bool
    init(oneProbe: Bool) { self.oneProbe = oneProbe }

    func trip() { openUntil = .now + .seconds(30) }

    /// After the break one call may try whether the service is back.
    func call() async -> Bool {
      if let openUntil {
        if ContinuousClock.now < openUntil { return false }
        if oneProbe {
          if probing { return false }
          probing = true
        }
        probes += 1
        most = max(most, probes)
        await Task.yield()
        probes -= 1
        probing = false
        self.openUntil = nil
      }
      return true
    }
  }

  static func useBreaker(oneProbe: Bool) async throws {
    let breaker = Breaker(oneProbe: oneProbe)
    await breaker.trip()
    try await Task.sleep(for: .seconds(31))
    try await both {
      _ = await breaker.call()
    } _: {
      _ = await breaker.call()
    }
    try require(await breaker.most <= 1, "two probes")
  }

  // MARK: Resource whose use and close overlap

  final class File: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private let users = Atomic(0)
    private let isClosing = Atomic(false)
    private let isClosed = Atomic(false)
    private let usedAfterClose = Atomic(false)

    func use(entersFirst: Bool) {
      if entersFirst {
        users.add(1, ordering: .sequentiallyConsistent)
        if !isClosing.load(ordering: .sequentiallyConsistent) { touch() }
      } else {
        if isClosing.load(ordering: .sequentiallyConsistent) { return }
        users.add(1, ordering: .sequentiallyConsistent)
        touch()
      }
      users.subtract(1, ordering: .sequentiallyConsistent)
    }
    private func touch() {
      if isClosed.load(ordering: .sequentiallyConsistent) {
        usedAfterClose.store(true, ordering: .sequentiallyConsistent)
      }
    }
    func close() async {
      isClosing.store(true, ordering: .sequentiallyConsistent)
      while users.load(ordering: .sequentiallyConsistent) > 0 { await Task.yield() }
      isClosed.store(true, ordering: .sequentiallyConsistent)
    }
    func checkUse() throws {
      try require(!usedAfterClose.load(ordering: .sequentiallyConsistent), "used behind its close")
    }
  }

  static let harder: [JudgedProgram] = [
    JudgedProgram(
      "a recursive lock that is held over a suspension lets another task of the thread in",
      fails: .requirement
    ) {
      let held = HeldRecursively()
      try await both {
        await held.visit()
      } _: {
        await held.visit()
      }
      try held.checkAlone()
    },
    JudgedProgram(
      "a lock that is held over a suspension blocks the pool",
      fails: .blockedPool
    ) {
      let held = HeldPlainly()
      await withTaskGroup { group in
        for _ in 1...3 { group.addTask { await held.visit() } }
      }
    },
    JudgedProgram(
      "what a task leaves with its thread is another task's behind a suspension",
      fails: .requirement
    ) {
      let one = Task {
        ThreadLocale.set("de")
        await Task.yield()
        return ThreadLocale.now
      }
      let two = Task {
        ThreadLocale.set("fr")
        await Task.yield()
        return ThreadLocale.now
      }
      let seen = (await one.value, await two.value)
      try require(seen == ("de", "fr"), "saw another's")
    },
    JudgedProgram(
      "what a task keeps in a task-local value is its own behind a suspension"
    ) {
      let one = Task {
        await Request.$name.withValue("de") {
          await Task.yield()
          return Request.name
        }
      }
      let two = Task {
        await Request.$name.withValue("fr") {
          await Task.yield()
          return Request.name
        }
      }
      let seen = (await one.value, await two.value)
      try require(seen == ("de", "fr"), "saw another's")
    },
    JudgedProgram(
      "a wait for a semaphore is over before its permit comes, and the value is taken to be there",
      fails: .requirement
    ) { try await waitWithLimit(asks: false) },
    JudgedProgram(
      "who waited for a semaphore asks whether its permit came in time"
    ) { try await waitWithLimit(asks: true) },
    JudgedProgram(
      "a wait for a condition is over before its signal comes, and the value is taken to be there",
      fails: .requirement
    ) { try await waitOnCondition(asks: false) },
    JudgedProgram(
      "who waited for a condition asks whether its signal came in time"
    ) { try await waitOnCondition(asks: true) },
    JudgedProgram(
      "a hit is counted by who tries until the lock is free",
      spins: true,
      isLong: true
    ) {
      let hits = Hits()
      try await both {
        hits.add()
      } _: {
        hits.add()
      }
      try require(hits.now == 2, "a hit is lost")
    },
    JudgedProgram(
      "an exchange that failed and is not tried again loses an update",
      fails: .requirement
    ) {
      let counter = WeakCounter()
      try await both {
        counter.addOnce()
      } _: {
        counter.addOnce()
      }
      try require(counter.now == 2, "lost")
    },
    JudgedProgram(
      "an exchange that is tried until it succeeds loses none"
    ) {
      let counter = WeakCounter()
      try await both {
        counter.add()
      } _: {
        counter.add()
      }
      try require(counter.now == 2, "lost")
    },
    JudgedProgram(
      "work waits for work of the queue that it is on",
      fails: .deadlock
    ) {
      _ = Nested().total()
    },
    JudgedProgram(
      "work of two queues waits for work of the other",
      fails: .deadlock
    ) {
      let nested = Nested()
      try await both {
        _ = nested.there()
      } _: {
        _ = nested.back()
      }
    },
    JudgedProgram(
      "work of one queue waits for work of the other"
    ) {
      let nested = Nested()
      try await both {
        _ = nested.there()
      } _: {
        _ = nested.there()
      }
    },
    JudgedProgram(
      "two who block their threads until a task signals keep the pool from it",
      fails: .blockedPool
    ) {
      try await both {
        _ = bridge()
      } _: {
        _ = bridge()
      }
    },
    JudgedProgram(
      "one who blocks its thread until a task signals leaves the pool another"
    ) { _ = bridge() },
    JudgedProgram(
      "two operations of one queue add to one field at once",
      fails: .race,
      isLong: true
    ) { try await operations(serial: false) },
    JudgedProgram(
      "two operations of a queue that runs one at a time add to one field",
      isLong: true
    ) { try await operations(serial: true) },
    JudgedProgram(
      "a child asks for a parent that is gone",
      fails: .trap,
      isLong: true
    ) {
      let holder = Holder()
      try await both {
        _ = holder.child.use()
      } _: {
        holder.drop()
      }
    },
    JudgedProgram(
      "a pointer that was loaded from an atomic is used when its memory has been given back",
      fails: .race
    ) {
      let current = CurrentPointer()
      try await both {
        try require([1, 2].contains(current.read()), "neither")
      } _: {
        current.replace(by: 2, freesOld: true)
      }
    },
    JudgedProgram(
      "a pointer that was loaded from an atomic is used while its memory is kept"
    ) {
      let current = CurrentPointer()
      try await both {
        try require([1, 2].contains(current.read()), "neither")
      } _: {
        current.replace(by: 2, freesOld: false)
      }
    },
    JudgedProgram(
      "an actor with a dispatch queue for its executor is re-entered where it suspends",
      fails: .requirement,
      isLong: true
    ) {
      let actor = OnQueue()
      try await both {
        await actor.addHastily()
      } _: {
        await actor.addHastily()
      }
      try require(await actor.now == 2, "lost")
    },
    JudgedProgram(
      "an actor with a dispatch queue for its executor does one turn after the other",
      isLong: true
    ) {
      let actor = OnQueue()
      try await both {
        await actor.add()
      } _: {
        await actor.add()
      }
      try require(await actor.now == 2, "lost")
    },
    JudgedProgram(
      "code that assumes to be on its actor is not",
      fails: .trap,
      isLong: true
    ) {
      let fragile = Fragile()
      try await both {
        fragile.touch()
      } _: {
        await fragile.touchInside()
      }
    },
    JudgedProgram(
      "code that assumes to be on its actor is"
    ) {
      let fragile = Fragile()
      try await both {
        await fragile.touchInside()
      } _: {
        await fragile.touchInside()
      }
    },
    JudgedProgram(
      "a model on the main actor that suspends between two changes shows the rows of two reloads",
      fails: .requirement
    ) {
      let model = await makeModel()
      try await both {
        await model.reload(dropsOld: true, [1])
      } _: {
        await model.reload(dropsOld: true, [1])
      }
      try require(await model.rows == [1], "rows of both")
    },
    JudgedProgram(
      "a model on the main actor that changes at once shows the rows of one reload",
      isLong: true
    ) {
      let model = await makeModel()
      try await both {
        await model.reloadAtOnce([1])
      } _: {
        await model.reloadAtOnce([1])
      }
      try require(await model.rows == [1], "rows of both")
    },
    JudgedProgram(
      "a listener waits for a stream that nobody ends",
      fails: .deadlock
    ) { try await leaveBehind(waits: false) },
    JudgedProgram(
      "a listener hears a stream to its end"
    ) { try await leaveBehind(waits: true) },
    JudgedProgram(
      "two tasks write to one place of a buffer",
      fails: .race
    ) { try await parallelMap(disjoint: false) },
    JudgedProgram(
      "two tasks write to two places of a buffer"
    ) { try await parallelMap(disjoint: true) },
    JudgedProgram(
      "a lazy variable is made by two at once",
      fails: .race
    ) {
      let table = LazyTable()
      try await both {
        try require(table.table[0] == 1, "empty")
      } _: {
        try require(table.table[0] == 1, "empty")
      }
    },
    JudgedProgram(
      "a lazy variable is made under a lock"
    ) {
      let table = LazyTable()
      try await both {
        try require(table.readLocked() == 1, "empty")
      } _: {
        try require(table.readLocked() == 1, "empty")
      }
    },
    JudgedProgram(
      "a waiter that comes between a look at a future and its fulfilment is forgotten",
      fails: .deadlock
    ) {
      let future = Future(resumesUnderLock: false)
      async let value = future.value()
      async let fulfilled: Void = future.fulfilHastily(1)
      _ = await (value, fulfilled)
    },
    JudgedProgram(
      "two who fulfil a future both find its waiter",
      fails: .trap,
      isLong: true
    ) {
      let future = Future(resumesUnderLock: false)
      async let value = future.value()
      async let one: Void = future.fulfilHastily(1)
      async let two: Void = future.fulfilHastily(1)
      _ = await (value, one, two)
    },
    JudgedProgram(
      "of two who fulfil a future one finds its waiter",
      isLong: true
    ) {
      let future = Future(resumesUnderLock: false)
      async let value = future.value()
      async let one: Void = future.fulfil(1)
      async let two: Void = future.fulfil(1)
      _ = await (value, one, two)
    },
    JudgedProgram(
      "memory is given back while a task may read it",
      fails: .race
    ) { try await borrow(awaits: false) },
    JudgedProgram(
      "memory is given back when its reader has ended"
    ) { try await borrow(awaits: true) },
    JudgedProgram(
      "work that a cancelled group did not take is counted",
      fails: .requirement
    ) { try await addUnlessCancelled(counts: false) },
    JudgedProgram(
      "only work that a group took is counted"
    ) { try await addUnlessCancelled(counts: true) },
    JudgedProgram(
      "two calls find the break over, and both probe",
      fails: .requirement
    ) { try await useBreaker(oneProbe: false) },
    JudgedProgram(
      "of two calls that find the break over one probes",
      isLong: true
    ) { try await useBreaker(oneProbe: true) },
    JudgedProgram(
      "a file is closed between the look at it and its use",
      fails: .requirement
    ) {
      let file = File()
      try await both {
        file.use(entersFirst: false)
      } _: {
        await file.close()
      }
      try file.checkUse()
    },
    JudgedProgram(
      "a file is closed when nobody is about to use it",
      spins: true,
      isLong: true
    ) {
      let file = File()
      try await both {
        file.use(entersFirst: true)
      } _: {
        await file.close()
      }
      try file.checkUse()
    },
  ]
}
