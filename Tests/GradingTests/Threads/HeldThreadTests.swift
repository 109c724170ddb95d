import Basics
import Dispatch
import ExplorableSynchronization
import Foundation
import Grading
import TestSupport
import Testing

/// How the task that asks is made to wait.
private protocol WaitingFlaw: SendableMetatype {
  /// What comes on the task's thread before it is suspended.
  static func holdThread(until isThere: () -> Bool)
  /// A thread that is started beside a task that waits.
  static func startThread(of waiting: HeldThreads)
}

extension WaitingFlaw {
  static func holdThread(until isThere: () -> Bool) {}
  static func startThread(of waiting: HeldThreads) {}
}

/// Threads that only wait, of which nobody else has any: other tests' come and go.
private final class HeldThreads: Sendable {
  private static let all = Atomic(0)

  /// How many there are.
  static let count: @Sendable () -> Int = { all.load(ordering: .relaxed) }

  private let mayEnd = ThreadSemaphore()

  func start() {
    Self.all.add(1, ordering: .relaxed)
    OSThread { [mayEnd] in
      mayEnd.wait()
      Self.all.subtract(1, ordering: .relaxed)
    }.detach()
  }

  func end() { mayEnd.post() }
}

private enum Suspends: WaitingFlaw {}

private enum LooksFirst: WaitingFlaw {
  static func holdThread(until isThere: () -> Bool) {
    let end = ContinuousClock.now + .milliseconds(1)
    while !isThere(), ContinuousClock.now < end {}
  }
}

private enum SleepsFirst: WaitingFlaw {
  static func holdThread(until isThere: () -> Bool) {
    _ = ThreadSemaphore().wait(atMost: 1_000_000)
  }
}

private enum HasAThreadWait: WaitingFlaw {
  static func startThread(of waiting: HeldThreads) { waiting.start() }
}

/// Answers that wait as they should, for the most part.
@Suite(.watched, .serialized) struct `Who holds a thread to wait` {
  /// What a task waits for, and its continuation.
  private final class Awaited: Sendable {
    private typealias State = (
      result: Result<Int, any Error>?, continuation: CheckedContinuation<Int, any Error>?
    )

    private let state = Mutex<State>((nil, nil))

    var isThere: Bool { state.withLock { $0.result != nil } }

    func tell(_ result: Result<Int, any Error>) {
      let continuation = state.withLock { state in
        state.result = result
        return state.continuation
      }
      continuation?.resume(with: result)
    }

    func wait() async throws -> Int {
      try await withCheckedThrowingContinuation { continuation in
        let result = state.withLock { state in
          if state.result == nil { state.continuation = continuation }
          return state.result
        }
        if let result { continuation.resume(with: result) }
      }
    }
  }

  private final class Client<W: WaitingFlaw>: LearnerClient {
    private let server: CallingServer

    init(server: CallingServer) { self.server = server }

    func answer(to question: Int) async throws -> Int {
      let awaited = Awaited()
      let threads = HeldThreads()
      server.ask(question) { result in
        awaited.tell(result)
        threads.end()
      }
      W.startThread(of: threads)
      W.holdThread { awaited.isThere }
      return try await awaited.wait()
    }
  }

  private final class Reader<W: WaitingFlaw>: LearnerReader {
    private let disk: Disk
    private let queue = DispatchQueue(label: "disk")

    init(disk: Disk) { self.disk = disk }

    func read(_ block: Int) async throws -> Int {
      let awaited = Awaited()
      let threads = HeldThreads()
      queue.async { [disk] in
        awaited.tell(Result { try disk.read(block) })
        threads.end()
      }
      W.startThread(of: threads)
      W.holdThread { awaited.isThere }
      return try await awaited.wait()
    }
  }

  @Test(.long)
  func `a task that holds its thread for a moment is refused, whether it sleeps or looks`() async {
    await expect(
      Grader.client(Client<LooksFirst>.self),
      "lets_go",
      refusedSaying: "of the processor or more before the task was suspended"
    )
    await expect(
      Grader.reader(Reader<SleepsFirst>.self),
      "lets_go",
      refusedSaying: "in 15 of 15 the thread slept before the task was suspended"
    )
    await expect(Grader.client(Client<Suspends>.self), "lets_go")
    await expect(Grader.reader(Reader<Suspends>.self), "lets_go")
  }

  @Test(.long) func `a thread that waits beside the task is refused`() async {
    let advice = "threads were started that only wait"
    await expect(
      Grader.client(Client<HasAThreadWait>.self),
      "threads",
      refusedSaying: advice,
      threads: HeldThreads.count
    )
    await expect(
      Grader.reader(Reader<HasAThreadWait>.self),
      "threads",
      refusedSaying: advice,
      threads: HeldThreads.count
    )
    await expect(Grader.client(Client<Suspends>.self), "threads", threads: HeldThreads.count)
    await expect(Grader.reader(Reader<Suspends>.self), "threads", threads: HeldThreads.count)
  }

  /// Waits once more, when it has its block, each thousandth time.
  private final class LooksBack: LearnerReader {
    private let disk: Disk
    private let queue = DispatchQueue(label: "disk")
    private let count = Atomic(0)

    init(disk: Disk) { self.disk = disk }

    func read(_ block: Int) async throws -> Int {
      let number = count.add(1, ordering: .relaxed).newValue
      let value = try await withCheckedThrowingContinuation { continuation in
        queue.async { [disk] in continuation.resume(with: Result { try disk.read(block) }) }
      }
      if number % 1_000 == 0 { queue.sync {} }
      return value
    }
  }

  @Test(.long) func `a task that holds its thread when it has its block is refused`() async {
    await expect(
      Grader.reader(LooksBack.self),
      "some",
      refusedSaying: "a task whose block has been read holds its thread"
    )
    await expect(Grader.reader(Reader<Suspends>.self), "some")
  }

  /// Who asks for a block for which ten wait is told what they are.
  private final class SharesWhatManyAskFor: LearnerReader {
    private typealias Waiter = CheckedContinuation<Int, any Error>

    private let disk: Disk
    private let queue = DispatchQueue(label: "disk")
    private let asked = Mutex<[Int: (reads: Int, others: [Waiter])]>([:])

    init(disk: Disk) { self.disk = disk }

    func read(_ block: Int) async throws -> Int {
      try await withCheckedThrowingContinuation { continuation in
        let isMany = asked.withLock { asked in
          var those = asked[block] ?? (0, [])
          defer { asked[block] = those }
          if those.reads >= 10 {
            those.others.append(continuation)
            return true
          }
          those.reads += 1
          return false
        }
        if !isMany { queue.async { [self] in tell(block, continuation) } }
      }
    }

    private func tell(_ block: Int, _ continuation: Waiter) {
      let found = Result { try disk.read(block) }
      let others = asked.withLock { asked in
        let those = asked[block] ?? (1, [])
        asked[block] = (those.reads - 1, [])
        return those.others
      }
      for one in [continuation] + others { one.resume(with: found) }
    }
  }

  @Test(.long) func `one read for many tasks is refused`() async {
    await expect(
      Grader.reader(SharesWhatManyAskFor.self),
      "long_line",
      refusedSaying: "the disk was read 1000 times"
    )
    await expect(Grader.reader(Reader<Suspends>.self), "long_line")
  }

  /// Looks for a moment whether the file comes at once, on the thread that starts its operation.
  private final class LooksWhetherItComes: LearnerDownloader {
    private static let waiting = Atomic(0)

    /// Whether a thread looks so: then the others sleep.
    static let isOneWaiting: @Sendable () -> Bool = { waiting.load(ordering: .relaxed) > 0 }

    private let queue = DispatchQueue(label: "starts")

    init(limit: Int) {}

    func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
      await withTaskGroup { group in
        for file in files {
          group.addTask { [queue] in
            await withCheckedContinuation { continuation in
              queue.async {
                let hasCome = ThreadSemaphore()
                Task.detached(executorPreference: racetrack) {
                  await fetch(file)
                  hasCome.post()
                  continuation.resume()
                }
                Self.waiting.add(1, ordering: .relaxed)
                _ = hasCome.wait(atMost: 20_000_000)
                Self.waiting.subtract(1, ordering: .relaxed)
              }
            }
          }
        }
      }
    }
  }

  @Test(.long) func `an operation whose start waits for a moment is refused`() async {
    await expect(
      Grader.downloader(LooksWhetherItComes.self),
      "begins_at_once",
      refusedSaying: "had begun, every thread slept for a moment",
      areAllAsleep: LooksWhetherItComes.isOneWaiting
    )
  }

  // MARK: What comes later, and what comes beside

  /// Keeps who waits by a number that comes again.
  private final class TwoBytes: LearnerClient {
    private let server: CallingServer
    private let waiting = Mutex<
      (next: UInt16, places: [UInt16: CheckedContinuation<Int, any Error>])
    >(
      (0, [:])
    )

    init(server: CallingServer) { self.server = server }

    func answer(to question: Int) async throws -> Int {
      try await withCheckedThrowingContinuation { continuation in
        let place = waiting.withLock { waiting in
          waiting.next &+= 1
          waiting.places[waiting.next] = continuation
          return waiting.next
        }
        server.ask(question) { [self] result in
          waiting.withLock { $0.places.removeValue(forKey: place) }?.resume(with: result)
        }
      }
    }
  }

  @Test(.long) func `a client that gives a place to another while it is in use is refused`() async {
    await expect(
      Grader.client(TwoBytes.self),
      "many",
      refusedSaying: "the server has answered the first, and it waits for ever"
    )
    await expect(Grader.client(Client<Suspends>.self), "many")
  }

  /// Tells the answer if the lock is free.
  private final class TriesToTell: LearnerClient {
    private let server: CallingServer
    private let waiting = LearnerMutex<[Int: CheckedContinuation<Int, any Error>]>([:])
    private let next = Atomic(0)

    init(server: CallingServer) { self.server = server }

    func answer(to question: Int) async throws -> Int {
      try await withCheckedThrowingContinuation { continuation in
        let number = next.add(1, ordering: .relaxed).newValue
        waiting.withLock { $0[number] = continuation }
        server.ask(question) { [self] result in
          let found = waiting.withLockIfAvailable { $0.removeValue(forKey: number) }
          found??.resume(with: result)
        }
      }
    }
  }

  @Test(.long) func `a client that loses an answer where another thread has its lock is refused`()
    async
  {
    await expect(
      Grader.client(TriesToTell.self),
      "lock_taken",
      refusedSaying: "it waits for ever"
    )
    await expect(Grader.client(Client<Suspends>.self), "lock_taken")
  }
}
