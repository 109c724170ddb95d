import Exploration
import Foundation
import Synchronization
import TestSupport
import Testing

/// What is found between the hops of a task, and what is none of an exploration's making.
@Suite(.inTurn, .watched) struct `Hops, starts and cancellations of unchanged code` {
  actor Account {
    private(set) var balance = 100

    func take(_ amount: Int) { balance -= amount }

    func takeIfThere(_ amount: Int) { if balance >= amount { balance -= amount } }
  }

  // Without a call in between the compiler makes one visit of two.
  static func isEnough(_ balance: Int) -> Bool { balance >= 80 }

  @Test func `a look at an actor and a change, each a visit, overdraw`() throws {
    let failure = try failure("overdraws") {
      let account = Account()
      await withTaskGroup { group in
        for _ in 1...2 {
          group.addTask { if Self.isEnough(await account.balance) { await account.take(80) } }
        }
      }
      try require(await account.balance >= 0, "overdrawn")
    }
    guard case .requirement = failure.kind else { throw failure }
    let verdict = try explore("draws") {
      let account = Account()
      await withTaskGroup { group in
        for _ in 1...2 { group.addTask { await account.takeIfThere(80) } }
      }
      try require(await account.balance >= 0, "overdrawn")
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  /// Shows what was asked for last, unless an answer comes late.
  @MainActor final class Search {
    private(set) var result = ""
    private var asked: Task<Void, Never>?

    nonisolated init() {}

    func ask(_ text: String) {
      asked?.cancel()
      asked = Task {
        let answer = await Self.answer(text)
        result = answer
      }
    }

    nonisolated static func answer(_ text: String) async -> String {
      try? await Task.sleep(for: .milliseconds(50))
      return text
    }

    func settle() async { await asked?.value }
  }

  @Test func `an answer that comes late is told by the two visits that show answers`() throws {
    let failure = try failure("search") {
      let search = Search()
      await search.ask("a")
      try? await Task.sleep(for: .milliseconds(50))
      await search.ask("b")
      await search.settle()
      try? await Task.sleep(for: .milliseconds(50))
      try require(await search.result == "b", "the first answer is shown")
    }
    let marked = failure.description.split(separator: "\n").filter { $0.hasSuffix("◀") }
    #expect(
      marked.count == 2 && marked.allSatisfy { $0.contains("enters the main actor") },
      "\(failure)"
    )
  }

  @MainActor final class Log {
    private(set) var entries: [Int] = []

    nonisolated init() {}

    func add(_ entry: Int) { entries.append(entry) }
  }

  @MainActor private static func startOnMain() { Task {} }

  private struct Behind: Error {}

  @Test func `who waits behind another at the main actor takes the turn from nobody`() {
    for most in 0...2 {
      let failure = #expect(throws: ExplorationFailure.self) {
        try explore("behind another", preemptions: most) {
          for _ in 0...most { await Self.startOnMain() }
          for _ in 0...most {
            Task { @MainActor in }
            await Self.startOnMain()
          }
          throw Behind()
        }
      }
      guard case .thrown = failure?.kind else {
        Issue.record("at most \(most) pre-emptions: \(String(describing: failure))")
        continue
      }
    }
  }

  @Test func `two tasks of the main actor, started in a row, never swap`() throws {
    try explore("main actor", preemptions: nil) {
      let log = Log()
      let one = Task { @MainActor in log.add(1) }
      let two = Task { @MainActor in log.add(2) }
      await one.value
      await two.value
      try require(await log.entries == [1, 2], "swapped")
    }
  }

  @Test func `a task may be over before who starts it has gone on`() throws {
    final class Flag: @unchecked Sendable { var isSet = false }
    let failure = try failure("a start", races: false) {
      let flag = Flag()
      let task = Task { flag.isSet = true }
      try require(!flag.isSet, "it was set at once")
      await task.value
    }
    guard case .requirement = failure.kind else { throw failure }
  }

  @Test func `another task may be cancelled between two looks at whether it is`() throws {
    let failure = try failure("two looks") {
      let other = Task { await Task.yield() }
      let looker = Task { [other.isCancelled, other.isCancelled] }
      other.cancel()
      let looks = await looker.value
      try require(looks[0] == looks[1], "it was cancelled in between")
    }
    guard case .requirement = failure.kind else { throw failure }
  }

  /// A semaphore of one permit, as packages have it: a lock, a line, and a handler that leaves the line.
  final class Semaphore: @unchecked Sendable {
    private let lock = NSLock()
    private var permits: Int
    private var line: [(id: Int, continuation: UnsafeContinuation<Void, any Error>)] = []
    private var cancelled: Set<Int> = []
    private var ids = 0
    private let holdsLockWhileRegistering: Bool

    init(permits: Int, holdsLockWhileRegistering: Bool = false) {
      self.permits = permits
      self.holdsLockWhileRegistering = holdsLockWhileRegistering
    }

    func wait() async throws {
      if holdsLockWhileRegistering { return try await waitHoldingTheLock() }
      let id = lock.withLock {
        ids += 1
        return ids
      }
      try await withTaskCancellationHandler {
        try await withUnsafeThrowingContinuation { continuation in
          let now: Result<Void, any Error>? = lock.withLock {
            if cancelled.remove(id) != nil { return .failure(CancellationError()) }
            if permits > 0 {
              permits -= 1
              return .success(())
            }
            line.append((id, continuation))
            return nil
          }
          if let now { continuation.resume(with: now) }
        }
      } onCancel: {
        let waiter: UnsafeContinuation<Void, any Error>? = lock.withLock {
          guard let index = line.firstIndex(where: { $0.id == id }) else {
            cancelled.insert(id)
            return nil
          }
          return line.remove(at: index).continuation
        }
        waiter?.resume(throwing: CancellationError())
      }
    }

    private func waitHoldingTheLock() async throws {
      take()
      if Task.isCancelled {
        give()
        throw CancellationError()
      }
      if permits > 0 {
        permits -= 1
        return give()
      }
      ids += 1
      let id = ids
      try await withTaskCancellationHandler {
        try await withUnsafeThrowingContinuation { continuation in
          line.append((id, continuation))
          give()
        }
      } onCancel: {
        take()
        let index = line.firstIndex { $0.id == id }
        let waiter = index.map { line.remove(at: $0).continuation }
        give()
        waiter?.resume(throwing: CancellationError())
      }
    }

    // Not in an asynchronous function, where the compiler refuses them.
    private func take() { lock.lock() }
    private func give() { lock.unlock() }

    func signal() {
      let waiter: UnsafeContinuation<Void, any Error>? = lock.withLock {
        if line.isEmpty {
          permits += 1
          return nil
        }
        return line.removeFirst().continuation
      }
      waiter?.resume()
    }
  }

  @Test func `a semaphore that is right is found to be, with one waiter cancelled`() throws {
    let verdict = try explore("semaphore") {
      let semaphore = Semaphore(permits: 1)
      try await semaphore.wait()
      let waiter = Task {
        do { try await semaphore.wait() } catch { return }
        semaphore.signal()
      }
      waiter.cancel()
      semaphore.signal()
      await waiter.value
      try await semaphore.wait()
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  /// Resumes who waits twice, as a signal and a cancellation may that both find it waiting.
  final class Gate: Sendable {
    private let waiting = Mutex<UnsafeContinuation<Void, Never>?>(nil)

    func wait() async {
      await withUnsafeContinuation { continuation in waiting.withLock { $0 = continuation } }
    }

    func open() {
      guard let continuation = waiting.withLock({ $0.take() }) else { return }
      continuation.resume()
      continuation.resume()
    }
  }

  @Test func `a continuation that is resumed twice is told, and does not end the program`() throws {
    let failure = try failure("resumed twice") {
      let gate = Gate()
      async let waiting: Void = gate.wait()
      async let opening: Void = gate.open()
      await opening
      gate.open()
      await waiting
    }
    #expect("\(failure)".contains("was resumed twice"), "\(failure)")
  }

  /// Keeps what resumes who waits, and so can resume it again.
  final class Latch: Sendable {
    private struct State {
      var waiting: UnsafeContinuation<Void, Never>?
      var arrival: UnsafeContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func wait() async {
      await withUnsafeContinuation { continuation in
        state.withLock {
          $0.waiting = continuation
          $0.arrival?.resume()
          $0.arrival = nil
        }
      }
    }

    /// Returns when somebody waits.
    func arrive() async {
      await withUnsafeContinuation { continuation in
        state.withLock {
          if $0.waiting == nil { $0.arrival = continuation } else { continuation.resume() }
        }
      }
    }

    func open() { state.withLock { $0.waiting }?.resume() }
  }

  @Test(arguments: [false, true])
  func `a continuation resumed again after its task has gone on is told as that`(
    isAtItsEnd: Bool
  ) throws {
    let failure = try failure("resumed again") {
      let latch = Latch()
      let waiter = Task {
        await latch.wait()
        if !isAtItsEnd { try? await Task.sleep(for: .seconds(1)) }
      }
      await latch.arrive()
      latch.open()
      if isAtItsEnd { await waiter.value } else { await Task.yield() }
      latch.open()
      await waiter.value
    }
    guard case .requirement("the continuation of task 2 was resumed twice") = failure.kind else {
      throw failure
    }
  }

  /// Looks, with its lock held, whether it is being closed, and is told by a flag that has no lock.
  final class Door: @unchecked Sendable {
    private let lock = NSLock()
    private var isClosing = false

    func close(for waiter: Task<Void, Never>) {
      isClosing = true
      waiter.cancel()
    }

    func wait() async {
      take()
      if isClosing { return give() }
      await withTaskCancellationHandler {
        give()
      } onCancel: {
        take()
        give()
      }
    }

    private func take() { lock.lock() }
    private func give() { lock.unlock() }
  }

  @Test func `a cancellation just before a handler is registered is one of the schedules`() throws {
    let failure = try failure("registers", races: false) {
      let door = Door()
      let waiter = Task { await door.wait() }
      door.close(for: waiter)
      await waiter.value
    }
    guard case .deadlock = failure.kind else { throw failure }
    let line = #line - 20
    let step = "\(failure)".split(separator: "\n").first {
      $0.contains("registers a cancellation handler")
    }
    #expect(step?.contains("ActorTests.swift:\(line) ") == true, "\(failure)")
  }

  @Test func `a cancellation between the check and the handler, with the lock held, is a deadlock`()
    throws
  {
    let failure = try failure("check and handler") {
      let semaphore = Semaphore(permits: 0, holdsLockWhileRegistering: true)
      let waiter = Task { try? await semaphore.wait() }
      waiter.cancel()
      await waiter.value
    }
    guard case .deadlock = failure.kind else { throw failure }
  }

  private actor Agent {
    private var count = 0

    func restart() {
      count += 1
      let isLast = count == 2
      Task { if isLast { await never() } }
    }

    private func never() async {
      await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }
  }

  @Test func `a task ends once, also where an actor's turn begins in its name`() throws {
    let failure = try failure("once") {
      let agent = Agent()
      await agent.restart()
      await agent.restart()
    }
    let ends = "\(failure)".split(separator: "\n").filter {
      $0.contains("  task 1  ") && $0.contains("ends")
    }
    #expect(ends.count == 1, "\(failure)")
  }
}
