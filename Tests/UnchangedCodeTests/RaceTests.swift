import Dispatch
import Exploration
import Foundation
import Synchronization
import TestSupport
import Testing

/// Plain memory that two tasks use: what orders them and what does not.
@Suite(.inTurn, .watched) struct `Data races in unchanged code` {
  /// What nobody checks: the compiler takes its word that it is shared well.
  final class Shared: @unchecked Sendable {
    // Safe only where a test says so: that is what is tested.
    var value = 0
    var text = ""
    var list: [Int] = []
    var other: Shared?
  }

  /// Explores what must be a race; returns what is told of it.
  private func race(
    _ name: String,
    _ body: @escaping @Sendable () async throws -> Void
  ) throws -> String {
    let failure = try failure(name, body)
    guard case .race = failure.kind else { throw failure }
    return failure.description
  }

  @Test func `two tasks that write one variable race, and both places and tasks are named`() throws
  {
    let told = try race("writes") {
      let shared = Shared()
      await withTaskGroup { group in
        group.addTask { shared.value = 1 }
        group.addTask { shared.value = 2 }
      }
    }
    #expect(told.contains("a data race: task"), "\(told)")
    #expect(told.contains("writes at RaceTests.swift:34 what task"), "\(told)")
    #expect(told.contains("writes at RaceTests.swift:35"), "\(told)")
  }

  @Test func `a look beside a write is a race, two looks are none`() throws {
    _ = try race("look") {
      let shared = Shared()
      async let written: Void = { shared.text = "new" }()
      async let seen = shared.text.count
      _ = await (written, seen)
    }
    try explore("looks") {
      let shared = Shared()
      shared.text = "new"
      async let one = shared.text.count
      async let two = shared.text.count
      _ = await (one, two)
    }
  }

  @Test func `a race is one in whatever order the tasks come`() throws {
    let told = try race("after a yield") {
      let shared = Shared()
      let task = Task { shared.value += 1 }
      await Task.yield()
      shared.value += 1
      await task.value
    }
    #expect(told.contains("s at RaceTests.swift:62"), "\(told)")
    #expect(told.contains("s at RaceTests.swift:64"), "\(told)")
  }

  @Test func `both places are named where the compiler gives the code no line`() throws {
    let shared = Shared()
    let line = #line
    let told = try race("async let") {
      async let seen = shared.value
      shared.value = 2
      _ = await seen
    }
    #expect(told.contains("reads at RaceTests.swift:\(line + 2)"), "\(told)")
    #expect(told.contains("writes at RaceTests.swift:\(line + 3)"), "\(told)")
  }

  @Test func `a race inside what a macro has made is named by who calls it`() throws {
    let line = #line
    let told = try race("observable") {
      let model = ObservableModel()
      async let one: Void = { model.count = 1 }()
      model.count = 2
      await one
    }
    #expect(told.contains("RaceTests.swift:\(line + 3)"), "\(told)")
    #expect(told.contains("RaceTests.swift:\(line + 4)"), "\(told)")
  }

  @Test func `what a task hands to its starter, and is handed, is in order`() throws {
    try explore("handed") {
      let shared = Shared()
      shared.value = 1
      let task = Task {
        shared.value += 1
        return shared
      }
      let same = await task.value
      same.value += 1
      await withTaskGroup(of: Void.self) { group in
        group.addTask { same.value += 1 }
        await group.next()
        same.value += 1
        group.addTask { same.value += 1 }
      }
      async let more: Void = { same.list.append(same.value) }()
      await more
      try require(same.list == [6], "\(same.list)")
    }
  }

  @Test func `a continuation puts who resumes before who waits, whoever comes first`() throws {
    try explore("continuation") {
      let shared = Shared()
      let task = Task {
        await withCheckedContinuation { continuation in
          Task {
            shared.value = 1
            continuation.resume()
          }
        }
        return shared.value
      }
      try require(await task.value == 1, "lost")
    }
  }

  @Test(.long) func `locks order what they guard, and one that is forgotten does not`() throws {
    final class Guarded: @unchecked Sendable {
      // Safe where the lock is held.
      let lock = NSLock()
      let mutex = Mutex(0)
      var value = 0
    }
    try explore("lock") {
      let guarded = Guarded()
      await withTaskGroup { group in
        for _ in 1...2 {
          group.addTask { guarded.lock.withLock { guarded.value += 1 } }
          group.addTask { guarded.mutex.withLock { $0 += 1 } }
        }
      }
      try require(guarded.value == 2, "lost")
    }
    _ = try race("one lock of two") {
      let guarded = Guarded()
      async let one: Void = guarded.lock.withLock { guarded.value += 1 }
      async let two: Void = guarded.mutex.withLock { _ in guarded.value += 1 }
      _ = await (one, two)
    }
    _ = try race("a look without the lock") {
      let guarded = Guarded()
      async let one: Void = guarded.lock.withLock { guarded.value += 1 }
      async let two = guarded.value
      _ = await (one, two)
    }
  }

  @Test func `an atomic orders what its orders say`() throws {
    final class Published: Sendable {
      let flag = Atomic(false)
      let shared = Shared()
    }
    try explore("release and acquire") {
      let published = Published()
      async let one: Void = {
        published.shared.value = 1
        published.flag.store(true, ordering: .releasing)
      }()
      async let two = published.flag.load(ordering: .acquiring) ? published.shared.value : 1
      let seen = await (one, two)
      try require(seen.1 == 1, "not seen")
    }
    _ = try race("relaxed") {
      let published = Published()
      async let one: Void = {
        published.shared.value = 1
        published.flag.store(true, ordering: .relaxed)
      }()
      async let two = published.flag.load(ordering: .relaxed) ? published.shared.value : 1
      _ = await (one, two)
    }
    try explore("fences") {
      let published = Published()
      async let one: Void = {
        published.shared.value = 1
        atomicMemoryFence(ordering: .releasing)
        published.flag.store(true, ordering: .relaxed)
      }()
      async let two: Int = {
        guard published.flag.load(ordering: .relaxed) else { return 1 }
        atomicMemoryFence(ordering: .acquiring)
        return published.shared.value
      }()
      let seen = await (one, two)
      try require(seen.1 == 1, "not seen")
    }
  }

  @Test func `actors and the main actor order their state`() throws {
    actor Counter {
      var value = 0
      let shared = Shared()
      func add() {
        value += 1
        shared.value += 1
        shared.list.append(value)
      }
    }
    try explore("actor") {
      let counter = Counter()
      await withTaskGroup { group in
        for _ in 1...3 { group.addTask { await counter.add() } }
      }
      try require(await counter.value == 3, "lost")
    }
    try explore("main actor") {
      let shared = Shared()
      await withTaskGroup { group in
        for _ in 1...2 { group.addTask { @MainActor in shared.value += 1 } }
      }
      try require(shared.value == 2, "lost")
    }
  }

  @Test func `queues, groups and semaphores order what they run`() throws {
    try explore("serial queue") {
      let shared = Shared()
      let queue = DispatchQueue(label: "serial")
      let group = DispatchGroup()
      for _ in 1...2 { queue.async(group: group) { shared.value += 1 } }
      queue.sync { shared.value += 1 }
      await withCheckedContinuation { continuation in
        group.notify(queue: queue) { continuation.resume() }
      }
      try require(shared.value == 3, "lost")
    }
    try explore("readers and a barrier") {
      let shared = Shared()
      let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
      async let one = queue.sync { shared.value }
      async let two = queue.sync { shared.value }
      async let three: Void = queue.sync(flags: .barrier) { shared.value = 1 }
      _ = await (one, two, three)
    }
    _ = try race("concurrent queue") {
      let shared = Shared()
      let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
      async let one: Void = queue.sync { shared.value = 1 }
      async let two: Void = queue.sync { shared.value = 2 }
      _ = await (one, two)
    }
    try explore("semaphore") {
      let shared = Shared()
      let semaphore = DispatchSemaphore(value: 1)
      @Sendable func add() {
        semaphore.wait()
        shared.value += 1
        semaphore.signal()
      }
      async let one: Void = add()
      async let two: Void = add()
      _ = await (one, two)
      try require(shared.value == 2, "lost")
    }
  }

  @Test func `values that are copied on write, and objects that die, race with nobody`() throws {
    try explore("copies") {
      let list = Array(0..<10)
      let sums = await withTaskGroup(of: Int.self) { group in
        for number in 0..<2 {
          group.addTask {
            var mine = list
            mine[number] += 100
            mine.append(number)
            return mine.reduce(0, +)
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      try require(sums.sorted() == [145, 146], "\(sums)")
    }
    try explore("last owner") {
      final class Owner: @unchecked Sendable {
        // Safe: what is written before it is let go is read by who lets it go last.
        var count = 0
        let total: Mutex<Int>
        init() { total = Mutex(0) }
        deinit { total.withLock { $0 += count } }
      }
      let shared = Owner()
      shared.count = 1
      let one = Task { _ = shared.count }
      let two = Task { _ = shared.count }
      _ = await (one.value, two.value)
    }
    try explore("a large block used again") {
      @Sendable func use() {
        let block = UnsafeMutablePointer<Int>.allocate(capacity: 6_000_000)
        block[0] = 1
        block[0] += 1
        block.deallocate()
      }
      async let one: Void = use()
      async let two: Void = use()
      _ = await (one, two)
    }
    try explore("memory used again") {
      for _ in 1...3 {
        await withTaskGroup { group in
          for number in 1...2 {
            group.addTask {
              let mine = Shared()
              mine.value = number
              mine.list = [number, number]
              mine.text = String(repeating: "x", count: 40)
            }
          }
        }
      }
    }
  }

  enum Globals {
    static let table: [Int] = (0..<5).map { $0 * 2 }
  }

  @Test func `a static that two tasks use first races with nobody`() throws {
    try explore("static") {
      async let one = Globals.table[1]
      async let two = Globals.table[2]
      let both = await (one, two)
      try require(both == (2, 4), "\(both)")
    }
  }

  @Test func `a handler of cancellation comes behind what its task did before`() throws {
    try explore("handler") {
      let task = Task {
        let shared = Shared()
        shared.value = 1
        await withTaskCancellationHandler {
          await Task.yield()
        } onCancel: {
          _ = shared.value
        }
      }
      task.cancel()
      await task.value
    }
  }

  @Test func `a handler that is registered late sees what the canceller did`() throws {
    try explore("canceller") {
      let shared = Shared()
      let task = Task {
        await withTaskCancellationHandler {
          await Task.yield()
        } onCancel: {
          _ = shared.value
        }
      }
      shared.value = 1
      task.cancel()
      await task.value
    }
  }

  /// Where the compiler gives a call no line of its own, the code behind it has it, not the line before.
  @Test func `each of two uses is told with the line in which it is`() throws {
    final class Sum: @unchecked Sendable {
      // Safe only where a test says so: that is what is tested.
      var value = 0
      var counts: [Int: Int] = [:]
    }
    let told = try race("sum") {
      let sum = Sum()
      DispatchQueue.concurrentPerform(iterations: 2) { number in
        let next = number + 1
        let third = next + 1

        sum.value += third
      }
    }
    let line = "writes at RaceTests.swift:\(#line - 3) "
    #expect(told.contains("\(line)what task 2 \(line.dropLast()),"), "\(told)")
    let closure = try race("counts") {
      let sum = Sum()
      DispatchQueue.concurrentPerform(iterations: 2) { number in
        sum.counts[number % 2, default: 0] += 1
      }
    }
    let only = "writes at RaceTests.swift:\(#line - 3) "
    #expect(closure.contains("\(only)what task 2 \(only.dropLast()),"), "\(closure)")
  }

  @Test func `the last of two lists lets go of what both have, and accuses nobody`() throws {
    final class Owner: @unchecked Sendable {
      // Safe: what is written before it is let go is read by who lets it go last.
      let used = Shared()
      let total: Mutex<Int>
      init() { total = Mutex(0) }
      deinit { total.withLock { $0 += used.value } }
    }
    try explore("lists") {
      let owner = Owner()
      owner.used.value = 1
      let one = Task { [list = [owner, owner]] in list[1].used.value += 1 }
      let two = Task { [list = [owner]] in _ = list.count }
      _ = await (one.value, two.value)
    }
  }

  /// Flags that lie side by side in one word.
  final class Flags: Sendable {
    let isReady = Atomic(false)
    let isSeen = Atomic(false)
    let state = Mutex(false)
  }

  @Test func `flags that lie side by side order each its own`() throws {
    // Who reads one has no order behind what is written under another, though it lies beside.
    let told = try race("another flag") {
      let (flags, shared) = (Flags(), Shared())
      async let written: Void = {
        shared.value = 1
        flags.isReady.store(true, ordering: .releasing)
        _ = flags.isSeen.exchange(true, ordering: .relaxed)
      }()
      async let seen: Void = {
        if flags.isSeen.load(ordering: .acquiring) { precondition(shared.value == 1) }
      }()
      _ = await (written, seen)
    }
    #expect(told.contains("reads at RaceTests.swift"), "\(told)")
    // What is written over one ends no order of another's.
    try explore("the flag") {
      let (flags, shared) = (Flags(), Shared())
      async let written: Void = {
        shared.value = 1
        flags.isReady.store(true, ordering: .releasing)
        flags.isSeen.store(true, ordering: .relaxed)
        flags.state.withLock { $0 = true }
      }()
      async let seen: Void = {
        if flags.isReady.load(ordering: .acquiring) { precondition(shared.value == 1) }
      }()
      _ = await (written, seen)
    }
  }

  @Test func `a flag in memory that is used anew orders nothing of the one before`() throws {
    _ = try race("anew") {
      let shared = Shared()
      async let written: Void = {
        let flags = UnsafeMutablePointer<Flags?>.allocate(capacity: 1)
        flags.initialize(to: Flags())
        shared.value = 1
        flags.pointee?.isSeen.store(true, ordering: .releasing)
        flags.deinitialize(count: 1).deallocate()
      }()
      async let seen: Void = {
        // As large, so most likely in the same place.
        let flags = Flags()
        _ = flags.isSeen.load(ordering: .acquiring)
        shared.value = 2
      }()
      _ = await (written, seen)
    }
  }

  @Test func `who draws random numbers is in no order with others who do`() throws {
    _ = try race("random") {
      let shared = Shared()
      @Sendable func roll() {
        _ = Int.random(in: 1...6)
        shared.value += 1
        _ = Int.random(in: 1...6)
      }
      async let one: Void = roll()
      async let other: Void = roll()
      _ = await (one, other)
    }
  }

  @Test func `code that uses generic types is in no order with others that do`() throws {
    _ = try race("map and sort") {
      let shared = Shared()
      @Sendable func count(_ numbers: [Int]) -> [Int] {
        let doubled = numbers.map { 2 * $0 }
        shared.value += doubled.count
        return zip(doubled.sorted(), stride(from: 0, to: 9, by: 3)).map { $0 + $1 }
      }
      async let one = count([3, 1, 2])
      async let other = count([2, 3])
      _ = await (one, other)
    }
    _ = try race("objects") {
      let shared = Shared()
      @Sendable func count() -> Int {
        let number = made(7).value
        shared.value += number
        return made(7).value
      }
      async let one = count()
      async let other = count()
      _ = await (one, other)
    }
    _ = try race("descriptions") {
      let shared = Shared()
      @Sendable func count() -> Int {
        let length = description(of: 7).count
        shared.value += length
        return description(of: 7).count
      }
      async let one = count()
      async let other = count()
      _ = await (one, other)
    }
    _ = try race("sets and shuffles") {
      let shared = Shared()
      @Sendable func count(_ numbers: Set<Int>) -> [Int] {
        let all = numbers.union([7])
        shared.value += all.count
        return all.shuffled().reversed().enumerated().map { $0 + $1 }
      }
      async let one = count([3, 1])
      async let other = count([2])
      _ = await (one, other)
    }
  }

  @Test func `the verdict says where a lock of Foundation may hide races`() throws {
    func verdict(_ name: String, shared: Bool) throws -> ExplorationVerdict {
      try explore(name) {
        let queues = [OperationQueue(), OperationQueue()]
        async let one = queues[0].operationCount
        async let other = queues[shared ? 0 : 1].operationCount
        _ = await (one, other)
      }
    }
    func isSaid(_ verdict: ExplorationVerdict) -> Bool {
      verdict.notCovered.contains { $0.hasPrefix("races between two calls of Foundation") }
    }
    let (together, apart) = (
      try verdict("together", shared: true), try verdict("apart", shared: false)
    )
    #expect(isSaid(together), "\(together)")
    #expect(!isSaid(apart), "\(apart)")
  }

  @Test func `races are looked for unless one says not to`() throws {
    try explore("switched off", races: false) {
      let shared = Shared()
      async let one: Void = { shared.value = 1 }()
      async let two: Void = { shared.value = 2 }()
      _ = await (one, two)
    }
  }

  @Test func `the verdict names weak orders, and races where they were not looked for`() throws {
    let strong = try explore("strong") {
      final class Counter: Sendable { let count = Mutex(0) }
      let counter = Counter()
      async let one: Void = counter.count.withLock { $0 += 1 }
      async let two: Void = counter.count.withLock { $0 += 1 }
      _ = await (one, two)
    }
    #expect(
      !strong.notCovered.contains { $0.contains("data races") || $0.contains("weak") },
      "\(strong)"
    )
    let weak = try explore("weak") {
      let count = Atomic(0)
      _ = count.add(1, ordering: .relaxed)
    }
    #expect(
      weak.notCovered.contains { $0.contains("weaker than sequentially consistent") },
      "\(weak)"
    )
    #expect(!weak.notCovered.contains { $0.contains("data races") }, "\(weak)")
    // Also in the line that calls it exhaustive.
    #expect(weak.description.contains("weaker than sequentially consistent"), "\(weak)")
    #expect(!strong.description.contains("not covered"), "\(strong)")
    let off = try explore("off", races: false) {}
    #expect(off.notCovered.contains { $0.contains("data races") }, "\(off)")
  }

  private static let declarations = #line + 6

  private static func writeWhileRead() {
    let queue = DispatchQueue(label: "lines")
    let group = DispatchGroup()
    // Unsafe on purpose: it is the race.
    nonisolated(unsafe) var text = "one"
    let lines = Mutex([String]())
    for next in ["one", "two"] {
      text = next
      // So is what shares it.
      nonisolated(unsafe) let note = {
        let text = text
        lines.withLock { $0.append(text) }
      }
      queue.async(group: group) { note() }
    }
    group.wait()
  }

  @Test func `what a closure reads that it has captured is told in the closure`() throws {
    let told = try race("captured") { Self.writeWhileRead() }
    for line in Self.declarations...Self.declarations + 1 {
      #expect(!told.contains("RaceTests.swift:\(line)"), "\(told)")
    }
  }

  @Test func `the two steps that race are marked, not two whose order changes something else`()
    throws
  {
    let told = try race("behind locks") {
      let shared = Shared()
      let lock = NSLock()
      await withTaskGroup { group in
        for _ in 1...2 {
          group.addTask {
            lock.withLock {}
            await Task.yield()
            shared.value += 1
            await Task.yield()
            lock.withLock {}
          }
        }
      }
    }
    let steps = try #require(
      told.firstMatch(
        of: /what matters: step (\d+) and step (\d+), which nothing puts in an order/
      ),
      "\(told)"
    )
    let marked = told.matches(of: /\n +(\d+) +task (\d)[^\n]*◀/)
    #expect(marked.map(\.1) == [steps.1, steps.2], "\(told)")
    #expect(Set(marked.map(\.2)) == ["2", "3"], "\(told)")
    // Behind its yield: in the step that goes on from it.
    for row in marked { #expect(row.0.contains("goes on"), "\(told)") }
  }
}

private final class Made<Value> {
  var value: Value

  init(_ value: Value) { self.value = value }
}

private func made<Value>(_ value: Value) -> Made<Value> { Made(value) }

private struct Pair<One, Other> {
  var one: One
  var other: Other
}

private func description<Value>(of value: Value) -> String {
  "\(Pair(one: value, other: [value]))"
}
