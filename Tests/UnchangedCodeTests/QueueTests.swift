import Dispatch
import Exploration
import Foundation
import Synchronization
import TestSupport
import Testing

/// Dispatch queues and groups, as code has them that was written before tasks.
@Suite(.inTurn, .watched) struct `Dispatch queues in unchanged code` {
  final class Account: @unchecked Sendable {
    private let queue = DispatchQueue(label: "account")
    private var balance = 100

    var left: Int { queue.sync { balance } }

    func take(_ amount: Int) { queue.sync { balance -= amount } }

    func takeIfThere(_ amount: Int) -> Bool {
      queue.sync {
        guard balance >= amount else { return false }
        balance -= amount
        return true
      }
    }

    func takeLater(_ amount: Int) {
      queue.async { [self] in if balance >= amount { balance -= amount } }
    }
  }

  @Test func `who asks and takes in two turns of a queue overdraws, and in one does not`() throws {
    let verdict = try explore("one turn") {
      let account = Account()
      await withTaskGroup { group in
        for _ in 1...2 { group.addTask { _ = account.takeIfThere(80) } }
      }
      try require(account.left == 20)
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
    let failure = try failure("two turns") {
      let account = Account()
      await withTaskGroup { group in
        for _ in 1...2 { group.addTask { if account.left >= 80 { account.take(80) } } }
      }
      try require(account.left >= 0, "overdrawn")
    }
    guard case .requirement = failure.kind else { throw failure }
  }

  @Test func `what is given to a serial queue is done in order, before who asks later`() throws {
    let verdict = try explore("in order") {
      let queue = DispatchQueue(label: "numbers")
      let numbers = Mutex<[Int]>([])
      for number in 1...3 { queue.async { numbers.withLock { $0.append(number) } } }
      let seen = queue.sync { numbers.withLock { $0 } }
      try require(seen == [1, 2, 3], "\(seen)")
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
    let failure = try failure("unfinished") {
      let account = Account()
      let queue = DispatchQueue(label: "other")
      queue.async { account.takeLater(80) }
      try require(account.left == 20, "not taken yet")
    }
    guard case .requirement = failure.kind else { throw failure }
  }

  /// Values behind a concurrent queue: readers together, a writer alone.
  final class Shared: @unchecked Sendable {
    private let queue = DispatchQueue(label: "shared", attributes: .concurrent)
    private let writing = Atomic(0)
    private let isAlone: Bool

    init(isAlone: Bool) { self.isAlone = isAlone }

    private func change() -> Bool {
      let others = writing.add(1, ordering: .relaxed).oldValue
      writing.subtract(1, ordering: .relaxed)
      return others == 0
    }

    /// Whether nobody else wrote meanwhile.
    func write() async -> Bool {
      await withCheckedContinuation { caller in
        queue.async(flags: isAlone ? .barrier : []) { [self] in caller.resume(returning: change()) }
      }
    }
  }

  @Test(arguments: [true, false])
  func `blocks of a concurrent queue run side by side, barriers alone`(isAlone: Bool) throws {
    let body: @Sendable () async throws -> Void = {
      let shared = Shared(isAlone: isAlone)
      async let one = shared.write()
      async let two = shared.write()
      let alone = await [one, two]
      try require(alone == [true, true], "two write at once")
    }
    if isAlone {
      let verdict = try explore("barriers", body)
      #expect(verdict.coverage == .exhaustive, "\(verdict)")
    } else {
      guard case .requirement = try failure("no barriers", body).kind else {
        throw TestFailure.passed
      }
    }
  }

  private enum TestFailure: Error { case passed }

  @Test func `a queue that waits for itself, and two that wait for each other, are deadlocks`()
    throws
  {
    for isOne in [true, false] {
      let failure = try failure("circle") {
        let one = DispatchQueue(label: "one")
        let other = isOne ? one : DispatchQueue(label: "other")
        async let first: Void = one.sync { other.sync {} }
        async let second: Void = other.sync { one.sync {} }
        _ = await (first, second)
      }
      guard case .deadlock = failure.kind else { throw failure }
    }
  }

  private static let name = DispatchSpecificKey<String>()

  @Test func `work knows its queue`() throws {
    try explore("names") {
      let queue = DispatchQueue(label: "named")
      queue.setSpecific(key: Self.name, value: "named")
      try require(DispatchQueue.getSpecific(key: Self.name) == nil)
      let found = queue.sync {
        dispatchPrecondition(condition: .onQueue(queue))
        return DispatchQueue.getSpecific(key: Self.name)
      }
      try require(found == "named", "\(found ?? "none")")
      dispatchPrecondition(condition: .notOnQueue(queue))
    }
  }

  @Test func `a group ends when all its work is done, and tells who asked to be told`() throws {
    let verdict = try explore("group", preemptions: 1) {
      let group = DispatchGroup()
      let queue = DispatchQueue(label: "work", attributes: .concurrent)
      let done = Atomic(0)
      for _ in 1...2 { queue.async(group: group) { done.add(1, ordering: .relaxed) } }
      let seen = await withCheckedContinuation { caller in
        group.notify(queue: queue) { caller.resume(returning: done.load(ordering: .relaxed)) }
      }
      try require(seen == 2, "told when \(seen) of 2 were done")
      Self.wait(for: group)
    }
    #expect(verdict.coverage == .exhaustive || verdict.schedules > 10, "\(verdict)")
    let failure = try failure("never left") {
      let group = DispatchGroup()
      group.enter()
      Self.wait(for: group)
    }
    guard case .deadlock = failure.kind else { throw failure }
  }

  private static func wait(for group: DispatchGroup) { group.wait() }

  @Test func `a step on a queue says which`() throws {
    let failure = try failure("told") {
      let account = Account()
      await withTaskGroup { group in
        for _ in 1...2 { group.addTask { if account.left >= 80 { account.take(80) } } }
      }
      try require(account.left >= 0, "overdrawn")
    }
    #expect(failure.description.contains("asks for its turn on queue 1"), "\(failure)")
    #expect(failure.description.contains("QueueTests.swift:"), "\(failure)")
  }

  @Test func `who waits for a queue for ever is told who is on it, and that a barrier is before`()
    throws
  {
    let crossed = try failure("crossed") {
      let (queue, lock) = (DispatchQueue(label: "records"), NSLock())
      async let one: Void = lock.withLock { queue.sync {} }
      async let other: Void = queue.sync { lock.withLock {} }
      _ = await (one, other)
    }
    #expect(
      crossed.description.firstMatch(of: /waits for queue 2, which task [23] is on/) != nil,
      "\(crossed)"
    )
    #expect(
      crossed.description.contains("by which each has what the other waits for"),
      "\(crossed)"
    )
    let two = try failure("two queues") {
      let (one, other) = (DispatchQueue(label: "one"), DispatchQueue(label: "other"))
      async let first: Void = one.sync { Self.read(other) }
      async let second: Void = other.sync { Self.read(one) }
      _ = await (first, second)
    }
    #expect(two.description.contains("by which each has what the other waits for"), "\(two)")
    let nested = try failure("nested") {
      let queue = DispatchQueue(label: "records", attributes: .concurrent)
      async let writer: Void = queue.async(flags: .barrier) {}
      queue.sync { Self.read(queue) }
      await writer
    }
    #expect(
      nested.description.contains("waits for queue 1, which task 1 is on, behind a barrier"),
      "\(nested)"
    )
    let suspended = try failure("suspended") {
      let queue = DispatchQueue(label: "records")
      queue.suspend()
      defer { queue.resume() }
      Self.read(queue)
    }
    #expect(suspended.description.contains("waits for queue 1, which is suspended"), "\(suspended)")
  }

  private static func read(_ queue: DispatchQueue) { queue.sync {} }

  /// Waits and gives work in all ways, and fails; returns nothing, but the lines of what it calls are these.
  private static func useDispatch() {
    let images = DispatchQueue(label: "images")
    let semaphore = DispatchSemaphore(value: 0)
    let batch = DispatchGroup()
    let item = DispatchWorkItem { semaphore.signal() }
    images.async { semaphore.signal() }
    images.async(group: batch) { semaphore.signal() }
    images.async(execute: item)
    images.sync { _ = semaphore.signal() }
    _ = semaphore.wait(timeout: .now() + 1)
    _ = batch.wait(timeout: .now() + 1)
    item.wait()
    semaphore.wait()
    batch.notify(queue: images) { semaphore.signal() }
    images.asyncAfter(deadline: .now() + 1) { semaphore.signal() }
  }

  @Test func `a step at Dispatch stands in the line that calls it`() throws {
    let first = #line - 13
    let failure = try failure("lines") {
      Self.useDispatch()
      throw CancellationError()
    }
    let rows = failure.description.split(separator: "\n")
    let calls = [
      "gives work to queue", "gives work to queue", "gives work to queue",
      "asks for its turn on queue", "semaphore", "group", "group", "semaphore",
    ]
    for (index, call) in calls.enumerated() {
      let place = "QueueTests.swift:\(first + index)"
      #expect(
        rows.contains { $0.contains(place) && $0.contains(call) },
        "\(call) at \(place):\n\(failure)"
      )
    }
    // What each block begins with is told where it was given.
    for index in 0...1 {
      let begins = "QueueTests.swift:\(first + index)      begins a block of queue 1 (images)"
      #expect(rows.contains { $0.hasSuffix(begins) }, "\(failure)")
    }
    // What comes between two lines is of the line before.
    #expect(rows.contains { $0.hasSuffix("QueueTests.swift:\(first)      goes on") }, "\(failure)")
  }

  @MainActor final class Log {
    private(set) var entries: [Int] = []

    nonisolated init() {}

    func add(_ entry: Int) { entries.append(entry) }
  }

  @Test func `work of the main queue is the main actor's`() throws {
    let verdict = try explore("main queue") {
      let log = Log()
      async let one: Void = MainActor.run { log.add(1) }
      await withCheckedContinuation { continuation in
        DispatchQueue.main.async {
          log.add(2)
          continuation.resume()
        }
      }
      await one
      try require(await log.entries.sorted() == [1, 2], "lost")
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @Test func `work that is waited for on the main queue is the main actor's, too`() throws {
    let verdict = try explore("main queue, waited for") {
      let log = Log()
      async let one: Void = MainActor.run { log.add(1) }
      let told = await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          let told = DispatchQueue.main.sync {
            MainActor.assumeIsolated {
              log.add(2)
              return log.entries.last
            }
          }
          continuation.resume(returning: told)
        }
      }
      await one
      try require(told == 2, "told \(String(describing: told))")
      try require(await log.entries.sorted() == [1, 2], "lost")
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @MainActor private static func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }

  @Test func `who blocks the main actor until something has run there waits for ever`() {
    let failure = #expect(throws: ExplorationFailure.self) {
      try explore("main queue, blocked") {
        let semaphore = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
          DispatchQueue.main.sync {}
          semaphore.signal()
        }
        await Self.wait(semaphore)
      }
    }
    guard case .deadlock = failure?.kind else {
      Issue.record("\(String(describing: failure))")
      return
    }
  }

  @MainActor private static func waitForOneself() { DispatchQueue.main.sync {} }

  @Test func `who is on the main actor and waits for work there waits for ever`() {
    let failure = #expect(throws: ExplorationFailure.self) {
      try explore("main queue, oneself") { await Self.waitForOneself() }
    }
    guard case .deadlock = failure?.kind else {
      Issue.record("\(String(describing: failure))")
      return
    }
  }
}
