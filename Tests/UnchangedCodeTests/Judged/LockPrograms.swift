// swift-format-ignore-file: NeverForceUnwrap
// As published code does.

import Exploration
import Foundation
import Synchronization

// Locks, and what is built of atomics in their stead.

extension Judged {
  // MARK: A gate: a lost wake-up

  /// Looks at the flag outside of the lock that the condition belongs to.
  final class HastyGate: Sendable {
    private let isOpen = Mutex(false)
    private let condition = NSCondition()

    func pass() {
      if !isOpen.withLock({ $0 }) {
        condition.lock()
        condition.wait()
        condition.unlock()
      }
    }

    func open() {
      isOpen.withLock { $0 = true }
      condition.lock()
      condition.broadcast()
      condition.unlock()
    }
  }

  final class Gate: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private var isOpen = false
    private let condition = NSCondition()

    func pass() {
      condition.lock()
      defer { condition.unlock() }
      while !isOpen { condition.wait() }
    }

    func open() {
      condition.lock()
      isOpen = true
      condition.unlock()
      condition.signal()
    }
  }

  // MARK: A blocking queue: `if` for `while`

  final class BlockingQueue: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private var items: [Int] = []
    private let condition = NSCondition()
    private let looksAgain: Bool

    init(looksAgain: Bool) { self.looksAgain = looksAgain }

    func put(_ item: Int) {
      condition.lock()
      items.append(item)
      condition.signal()
      condition.unlock()
    }

    func take() -> Int {
      condition.lock()
      defer { condition.unlock() }
      if looksAgain {
        while items.isEmpty { condition.wait() }
      } else {
        if items.isEmpty { condition.wait() }
      }
      return items.removeFirst()
    }

    func takeIfAny() -> Int? {
      condition.lock()
      defer { condition.unlock() }
      return items.isEmpty ? nil : items.removeFirst()
    }
  }

  static func useBlockingQueue(_ queue: BlockingQueue) async throws {
    let taker = Task { queue.take() }
    let other = Task { queue.takeIfAny() }
    queue.put(1)
    queue.put(2)
    let taken = [await taker.value, await other.value].compactMap { $0 }
    try require(Set(taken).count == taken.count, "one was taken twice")
  }

  // MARK: Two accounts: an order of locks

  final class LockedAccount: @unchecked Sendable {
    // Safe or not: that is what is asked.
    let number: Int
    private var balance = 100
    let lock = NSLock()

    init(_ number: Int) { self.number = number }

    func move(_ amount: Int, to other: LockedAccount, ordered: Bool) {
      let (first, second) = ordered && other.number < number ? (other, self) : (self, other)
      first.lock.lock()
      second.lock.lock()
      balance -= amount
      other.balance += amount
      second.lock.unlock()
      first.lock.unlock()
    }

    var now: Int { lock.withLock { balance } }
  }

  static func moveBothWays(ordered: Bool) async throws {
    let a = LockedAccount(1)
    let b = LockedAccount(2)
    try await both {
      a.move(10, to: b, ordered: ordered)
    } _: {
      b.move(20, to: a, ordered: ordered)
    }
    try require(a.now == 110 && b.now == 90, "money is lost")
  }

  // MARK: Three philosophers

  static func dine(lastIsLeftHanded: Bool) async throws {
    final class Fork: Sendable { let taken = Mutex(0) }
    let forks = [Fork(), Fork(), Fork()]
    await withTaskGroup { group in
      for seat in 0..<3 {
        group.addTask {
          var (first, second) = (forks[seat], forks[(seat + 1) % 3])
          if lastIsLeftHanded, seat == 2 { swap(&first, &second) }
          first.taken.withLock { count in
            count += 1
            second.taken.withLock { $0 += 1 }
          }
        }
      }
    }
    try require(forks.reduce(0) { $0 + $1.taken.withLock { $0 } } == 6, "somebody did not eat")
  }

  // MARK: A stack: looks, then pops

  final class LockedStack: Sendable {
    private let items = Mutex([1])

    var isEmpty: Bool { items.withLock { $0.isEmpty } }
    func pop() -> Int { items.withLock { $0.removeLast() } }
    func popIfAny() -> Int? { items.withLock { $0.popLast() } }
  }

  // MARK: Stock: an unsigned number that goes below zero

  final class Seats: Sendable {
    private let free = Mutex<UInt>(1)

    func bookHastily() -> Bool {
      guard free.withLock({ $0 }) > 0 else { return false }
      free.withLock { $0 -= 1 }
      return true
    }

    func book() -> Bool {
      free.withLock { free in
        guard free > 0 else { return false }
        free -= 1
        return true
      }
    }
  }

  // MARK: A value that is made once

  final class OnceHasty: Sendable {
    private let isMade = Atomic(false)
    private let stored = Mutex<Int?>(nil)

    func value() -> Int {
      if !isMade.exchange(true, ordering: .acquiringAndReleasing) {
        stored.withLock { $0 = 42 }
      }
      return stored.withLock { $0! }
    }
  }

  /// Looks twice: once by the flag, which is set last, and once more under the lock.
  final class OnceChecked: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private let isMade = Atomic(false)
    private let lock = NSLock()
    private var stored: Int?
    let makings = Atomic(0)

    func value() -> Int {
      if !isMade.load(ordering: .acquiring) {
        lock.withLock {
          if stored == nil {
            makings.add(1, ordering: .relaxed)
            stored = 42
            isMade.store(true, ordering: .releasing)
          }
        }
      }
      return stored!
    }
  }

  // MARK: A read-write lock

  final class Rates: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
    private var rates = [1: 1]

    init() { pthread_rwlock_init(lock, nil) }
    deinit {
      pthread_rwlock_destroy(lock)
      lock.deallocate()
    }

    func read(_ key: Int) -> Int {
      pthread_rwlock_rdlock(lock)
      defer { pthread_rwlock_unlock(lock) }
      return rates[key]!
    }

    /// Reads with one lock and writes with another.
    func raiseHastily(_ key: Int) {
      let now = read(key)
      pthread_rwlock_wrlock(lock)
      rates[key] = now + 1
      pthread_rwlock_unlock(lock)
    }

    func raise(_ key: Int) {
      pthread_rwlock_wrlock(lock)
      rates[key]! += 1
      pthread_rwlock_unlock(lock)
    }

    /// Writes where it may only read.
    func raiseAsReader(_ key: Int) {
      pthread_rwlock_rdlock(lock)
      rates[key]! += 1
      pthread_rwlock_unlock(lock)
    }
  }

  // MARK: Slots: a pool over an atomic

  final class Slots: Sendable {
    private let next = Atomic(0)

    func takeHastily() -> Int {
      let slot = next.load(ordering: .acquiring)
      next.store(slot + 1, ordering: .releasing)
      return slot
    }

    func take() -> Int {
      var slot = next.load(ordering: .relaxed)
      while true {
        let (exchanged, original) = next.compareExchange(
          expected: slot,
          desired: slot + 1,
          ordering: .acquiringAndReleasing
        )
        if exchanged { return slot }
        slot = original
      }
    }
  }

  // MARK: A free list: ABA

  /// A stack of the numbers 0..<3 in two words for each; the head carries a version if it is tagged.
  final class FreeList: Sendable {
    private let head: Atomic<Int>
    private let nexts: [Next]
    private let tag: Int

    final class Next: Sendable {
      let index: Atomic<Int>
      init(_ index: Int) { self.index = Atomic(index) }
    }

    init(isTagged: Bool) {
      tag = isTagged ? 8 : 0
      nexts = [Next(1), Next(2), Next(3)]
      head = Atomic(0)
    }

    func pop() -> Int? {
      while true {
        let seen = head.load(ordering: .acquiring)
        let index = seen % 8
        guard index < 3 else { return nil }
        let next = nexts[index].index.load(ordering: .acquiring)
        let desired = (seen / 8) * 8 + tag + next
        if head.compareExchange(expected: seen, desired: desired, ordering: .acquiringAndReleasing)
          .exchanged
        {
          return index
        }
      }
    }

    func push(_ index: Int) {
      while true {
        let seen = head.load(ordering: .acquiring)
        nexts[index].index.store(seen % 8, ordering: .releasing)
        let desired = (seen / 8) * 8 + tag + index
        if head.compareExchange(expected: seen, desired: desired, ordering: .acquiringAndReleasing)
          .exchanged
        {
          return
        }
      }
    }
  }

  static func useFreeList(isTagged: Bool) async throws {
    let list = FreeList(isTagged: isTagged)
    let one = Task { list.pop() }
    let two = Task {
      let a = list.pop()
      let b = list.pop()
      if let a { list.push(a) }
      return b
    }
    var held = [await one.value, await two.value].compactMap { $0 }
    while let more = list.pop() {
      held.append(more)
      if held.count > 3 { break }
    }
    try require(held.sorted() == [0, 1, 2], "handed out \(held)")
  }

  // MARK: Mutual exclusion by hand

  final class SpinLock: Sendable {
    private let isTaken = Atomic(false)

    func lockHastily() {
      while isTaken.load(ordering: .acquiring) {}
      isTaken.store(true, ordering: .releasing)
    }

    func lock() {
      while isTaken.exchange(true, ordering: .acquiringAndReleasing) {}
    }

    func unlock() { isTaken.store(false, ordering: .releasing) }
  }

  final class Peterson: Sendable {
    private let wants0 = Atomic(false)
    private let wants1 = Atomic(false)
    private let turn = Atomic(0)
    private let wantsFirst: Bool

    init(wantsFirst: Bool) { self.wantsFirst = wantsFirst }

    func lock(_ me: Int) {
      if !wantsFirst { turn.store(1 - me, ordering: .sequentiallyConsistent) }
      if me == 0 {
        wants0.store(true, ordering: .sequentiallyConsistent)
      } else {
        wants1.store(true, ordering: .sequentiallyConsistent)
      }
      if wantsFirst { turn.store(1 - me, ordering: .sequentiallyConsistent) }
      while me == 0
        ? wants1.load(ordering: .sequentiallyConsistent)
        : wants0.load(ordering: .sequentiallyConsistent),
        turn.load(ordering: .sequentiallyConsistent) != me
      {}
    }

    func unlock(_ me: Int) {
      if me == 0 {
        wants0.store(false, ordering: .sequentiallyConsistent)
      } else {
        wants1.store(false, ordering: .sequentiallyConsistent)
      }
    }
  }

  /// Who is inside, so that two at once are seen.
  final class Inside: Sendable {
    private let count = Atomic(0)
    private let most = Atomic(0)

    func visit() {
      let now = count.add(1, ordering: .sequentiallyConsistent).newValue
      most.max(now, ordering: .sequentiallyConsistent)
      count.subtract(1, ordering: .sequentiallyConsistent)
    }

    func checkAlone() throws {
      try require(most.load(ordering: .sequentiallyConsistent) <= 1, "two were inside")
    }
  }

  // MARK: A sequence lock

  final class Point: Sendable {
    private let version = Atomic(0)
    private let x = Atomic(0)
    private let y = Atomic(0)

    func move(to value: Int) {
      version.add(1, ordering: .sequentiallyConsistent)
      x.store(value, ordering: .sequentiallyConsistent)
      y.store(value, ordering: .sequentiallyConsistent)
      version.add(1, ordering: .sequentiallyConsistent)
    }

    /// The careless reader does not ask whether a writer was at work when it began.
    func read(asksAtFirst: Bool) -> (Int, Int)? {
      for _ in 1...2 {
        let before = version.load(ordering: .sequentiallyConsistent)
        let seen = (
          x.load(ordering: .sequentiallyConsistent), y.load(ordering: .sequentiallyConsistent)
        )
        let after = version.load(ordering: .sequentiallyConsistent)
        if before == after, !asksAtFirst || before % 2 == 0 { return seen }
      }
      return nil
    }
  }

  static func usePoint(asksAtFirst: Bool) async throws {
    let point = Point()
    let writer = Task { point.move(to: 7) }
    let seen = point.read(asksAtFirst: asksAtFirst)
    await writer.value
    try require(seen.map { $0.0 == $0.1 } ?? true, "half a point")
  }

  // MARK: Observers that ask what they are told of

  /// Calls its observers while the list of them is being changed.
  final class Readings: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private var values = [1, 2]
    private let lock = NSRecursiveLock()
    private let isWatched = Atomic(false)

    func watch() { isWatched.store(true, ordering: .releasing) }

    func sum() -> Int { lock.withLock { values.reduce(0, +) } }

    func scaleInPlace(by factor: Int) {
      lock.withLock {
        for index in values.indices { scale(&values[index], by: factor) }
      }
    }

    func scaleCopied(by factor: Int) {
      lock.withLock {
        var copy = values
        for index in copy.indices { scale(&copy[index], by: factor) }
        values = copy
      }
    }

    private func scale(_ value: inout Int, by factor: Int) {
      value *= factor
      if isWatched.load(ordering: .acquiring) { _ = sum() }
    }
  }

  // MARK: A lock that is taken again

  final class Names: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private let lock: any NSLocking
    private var names: [String] = []
    var onChange: (@Sendable (Names) -> Void)?

    init(lock: any NSLocking) { self.lock = lock }

    var count: Int {
      lock.lock()
      defer { lock.unlock() }
      return names.count
    }

    func add(_ name: String) {
      lock.lock()
      defer { lock.unlock() }
      names.append(name)
      if names.count == 2 { onChange?(self) }
    }
  }

  static func useNames(lock: any NSLocking & Sendable) async throws {
    let names = Names(lock: lock)
    names.onChange = { _ = $0.count }
    try await both {
      names.add("a")
    } _: {
      names.add("b")
    }
    try require(names.count == 2, "a name is lost")
  }

  static let locks: [JudgedProgram] = [
    JudgedProgram(
      "a gate that is looked at outside of its condition's lock misses its opening",
      fails: .deadlock
    ) {
      let gate = HastyGate()
      try await both {
        gate.pass()
      } _: {
        gate.open()
      }
    },
    JudgedProgram(
      "a gate that is looked at under its condition's lock is passed"
    ) {
      let gate = Gate()
      try await both {
        gate.pass()
      } _: {
        gate.open()
      }
    },
    JudgedProgram(
      "who is woken and does not look again takes from an empty queue",
      fails: .trap,
      isLong: true
    ) {
      try await useBlockingQueue(BlockingQueue(looksAgain: false))
    },
    JudgedProgram(
      "who is woken and looks again finds the queue empty, and waits on"
    ) {
      try await useBlockingQueue(BlockingQueue(looksAgain: true))
    },
    JudgedProgram(
      "two transfers that take two locks in two orders wait for each other",
      fails: .deadlock
    ) { try await moveBothWays(ordered: false) },
    JudgedProgram(
      "two transfers that take two locks in the order of their numbers come to their ends"
    ) { try await moveBothWays(ordered: true) },
    JudgedProgram(
      "three who take the left fork first starve",
      fails: .deadlock,
      isLong: true
    ) { try await dine(lastIsLeftHanded: false) },
    JudgedProgram(
      "three of whom one takes the right fork first eat",
      isLong: true
    ) { try await dine(lastIsLeftHanded: true) },
    JudgedProgram(
      "a stack that was not empty when it was looked at is popped when it is",
      fails: .trap
    ) {
      let stack = LockedStack()
      try await both {
        if !stack.isEmpty { _ = stack.pop() }
      } _: {
        if !stack.isEmpty { _ = stack.pop() }
      }
    },
    JudgedProgram(
      "a stack is looked at and popped under one lock"
    ) {
      let stack = LockedStack()
      try await both {
        _ = stack.popIfAny()
      } _: {
        _ = stack.popIfAny()
      }
    },
    JudgedProgram(
      "the last seat is booked twice, and their number falls below zero",
      fails: .trap,
      isLong: true
    ) {
      let seats = Seats()
      try await both {
        _ = seats.bookHastily()
      } _: {
        _ = seats.bookHastily()
      }
    },
    JudgedProgram(
      "the last seat is booked once"
    ) {
      let seats = Seats()
      async let one = seats.book()
      async let two = seats.book()
      let booked = await [one, two].filter { $0 }.count
      try require(booked == 1, "\(booked) booked")
    },
    JudgedProgram(
      "a value that is said to be made before it is made is not there",
      fails: .trap,
      isLong: true
    ) {
      let once = OnceHasty()
      try await both {
        _ = once.value()
      } _: {
        _ = once.value()
      }
    },
    JudgedProgram(
      "a value behind a flag is looked for twice, and made once",
      isLong: true
    ) {
      let once = OnceChecked()
      try await both {
        try require(once.value() == 42, "another value")
      } _: {
        try require(once.value() == 42, "another value")
      }
      try require(once.makings.load(ordering: .relaxed) == 1, "made twice")
    },
    JudgedProgram(
      "a value that is read under a lock to read, and written under another one later, loses an update",
      fails: .requirement
    ) {
      let rates = Rates()
      try await both {
        rates.raiseHastily(1)
      } _: {
        rates.raiseHastily(1)
      }
      try require(rates.read(1) == 3, "a raise is lost")
    },
    JudgedProgram(
      "two who hold a lock to read both write",
      fails: .race
    ) {
      let rates = Rates()
      try await both {
        rates.raiseAsReader(1)
      } _: {
        rates.raiseAsReader(1)
      }
      try require(rates.read(1) == 3, "a raise is lost")
    },
    JudgedProgram(
      "a value that is read and written under the lock to write keeps all updates"
    ) {
      let rates = Rates()
      try await both {
        rates.raise(1)
      } _: {
        rates.raise(1)
      }
      try require(rates.read(1) == 3, "a raise is lost")
    },
    JudgedProgram(
      "a slot that is looked at and counted apart is handed out twice",
      fails: .requirement
    ) {
      let slots = Slots()
      async let one = slots.takeHastily()
      async let two = slots.takeHastily()
      let (a, b) = await (one, two)
      try require(a != b, "a slot twice")
    },
    JudgedProgram(
      "a slot that is counted by an exchange is handed out once"
    ) {
      let slots = Slots()
      async let one = slots.take()
      async let two = slots.take()
      let (a, b) = await (one, two)
      try require(a != b, "a slot twice")
    },
    JudgedProgram(
      "a free list whose head is the same again, though all behind it has changed, hands out one number twice",
      fails: .requirement
    ) { try await useFreeList(isTagged: false) },
    JudgedProgram(
      "a free list whose head has a version hands out each number once",
      isLong: true
    ) { try await useFreeList(isTagged: true) },
    JudgedProgram(
      "a spin lock that is tested and then set lets two in",
      fails: .requirement,
      isLong: true
    ) {
      let lock = SpinLock()
      let inside = Inside()
      try await both {
        lock.lockHastily()
        inside.visit()
        lock.unlock()
      } _: {
        lock.lockHastily()
        inside.visit()
        lock.unlock()
      }
      try inside.checkAlone()
    },
    JudgedProgram(
      "a spin lock that is tested and set at once lets one in",
      spins: true,
      isLong: true
    ) {
      let lock = SpinLock()
      let inside = Inside()
      try await both {
        lock.lock()
        inside.visit()
        lock.unlock()
      } _: {
        lock.lock()
        inside.visit()
        lock.unlock()
      }
      try inside.checkAlone()
    },
    JudgedProgram(
      "Peterson's lock with its two writes exchanged lets two in",
      fails: .requirement,
      isLong: true
    ) {
      let lock = Peterson(wantsFirst: false)
      let inside = Inside()
      try await both {
        lock.lock(0)
        inside.visit()
        lock.unlock(0)
      } _: {
        lock.lock(1)
        inside.visit()
        lock.unlock(1)
      }
      try inside.checkAlone()
    },
    JudgedProgram(
      "Peterson's lock lets one in",
      spins: true,
      isLong: true
    ) {
      let lock = Peterson(wantsFirst: true)
      let inside = Inside()
      try await both {
        lock.lock(0)
        inside.visit()
        lock.unlock(0)
      } _: {
        lock.lock(1)
        inside.visit()
        lock.unlock(1)
      }
      try inside.checkAlone()
    },
    JudgedProgram(
      "a reader of a sequence lock that takes an odd version for a good one sees half a point",
      fails: .requirement
    ) { try await usePoint(asksAtFirst: false) },
    JudgedProgram(
      "a reader of a sequence lock that tries anew at an odd version sees whole points"
    ) { try await usePoint(asksAtFirst: true) },
    JudgedProgram(
      "an array is read while one of its elements is being changed in place",
      fails: .trap,
      isLong: true
    ) {
      let readings = Readings()
      try await both {
        readings.scaleInPlace(by: 2)
      } _: {
        readings.watch()
      }
    },
    JudgedProgram(
      "an array is read while an element of its copy is being changed"
    ) {
      let readings = Readings()
      try await both {
        readings.scaleCopied(by: 2)
      } _: {
        readings.watch()
      }
      try require(readings.sum() == 6, "not scaled")
    },
    JudgedProgram(
      "a callback under a plain lock takes it once more",
      fails: .deadlock
    ) { try await useNames(lock: NSLock()) },
    JudgedProgram(
      "a callback under a recursive lock takes it once more"
    ) { try await useNames(lock: NSRecursiveLock()) },
  ]
}
