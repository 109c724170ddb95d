// swift-format-ignore-file: NeverForceUnwrap
// As published code does.

import Exploration
import Foundation
import Synchronization

// Cancellation, continuations, and groups.

extension Judged {
  // MARK: A one-shot event

  /// Its handler and its `fire` both resume what they find, and neither takes it out.
  final class EventResumedTwice: Sendable {
    private let waiter = Mutex<CheckedContinuation<Void, Never>?>(nil)

    func wait() async {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let isCancelled = waiter.withLock { waiter in
            let isCancelled = Task.isCancelled
            if !isCancelled { waiter = continuation }
            return isCancelled
          }
          if isCancelled { continuation.resume() }
        }
      } onCancel: {
        waiter.withLock { $0 }?.resume()
      }
    }

    func fire() { waiter.withLock { $0 }?.resume() }
  }

  /// Takes it out under the lock; but a cancellation that comes before the continuation is stored finds nothing.
  final class EventMissingCancellation: Sendable {
    private let waiter = Mutex<CheckedContinuation<Void, Never>?>(nil)

    func wait() async {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in waiter.withLock { $0 = continuation } }
      } onCancel: {
        resume()
      }
    }

    private func resume() { waiter.withLock { $0.take() }?.resume() }
  }

  /// Looks whether it is cancelled, but before it stores its continuation, not under the lock.
  final class EventLooksTooEarly: Sendable {
    private let waiter = Mutex<UnsafeContinuation<Void, Never>?>(nil)

    func wait() async {
      await withTaskCancellationHandler {
        // Safe or not: that is what is asked.
        await withUnsafeContinuation { continuation in
          if Task.isCancelled { return continuation.resume() }
          waiter.withLock { $0 = continuation }
        }
      } onCancel: {
        waiter.withLock { $0.take() }?.resume()
      }
    }
  }

  final class Event: Sendable {
    private enum State {
      case idle
      case waiting(UnsafeContinuation<Bool, Never>)
      case fired, cancelled
    }
    private let state = Mutex(State.idle)

    /// Whether it was fired, and not cancelled.
    func wait() async -> Bool {
      await withTaskCancellationHandler {
        // Safe or not: that is what is asked.
        await withUnsafeContinuation { continuation in
          let known: Bool? = state.withLock { state in
            switch state {
            case .idle:
              state = .waiting(continuation)
              return nil
            case .fired: return true
            case .cancelled: return false
            case .waiting: fatalError("one waiter only")
            }
          }
          if let known { continuation.resume(returning: known) }
        }
      } onCancel: {
        finish(.cancelled)
      }
    }

    func fire() { finish(.fired) }

    private func finish(_ end: State) {
      let continuation: UnsafeContinuation<Bool, Never>? = state.withLock { state in
        switch state {
        case .idle:
          state = end
          return nil
        case .waiting(let continuation):
          state = end
          return continuation
        case .fired, .cancelled: return nil
        }
      }
      guard let continuation else { return }
      if case .fired = end {
        continuation.resume(returning: true)
      } else {
        continuation.resume(returning: false)
      }
    }
  }

  /// The same with an unsafe continuation: nothing traps.
  final class UnsafeEventResumedTwice: Sendable {
    private let waiter = Mutex<UnsafeContinuation<Void, Never>?>(nil)

    func wait() async {
      await withTaskCancellationHandler {
        // Safe or not: that is what is asked.
        await withUnsafeContinuation { continuation in
          let isCancelled = waiter.withLock { waiter in
            let isCancelled = Task.isCancelled
            if !isCancelled { waiter = continuation }
            return isCancelled
          }
          if isCancelled { continuation.resume() }
        }
      } onCancel: {
        waiter.withLock { $0 }?.resume()
      }
    }

    func fire() { waiter.withLock { $0 }?.resume() }
  }

  // MARK: A semaphore

  /// A semaphore as it is often written: a lock, a count, a line, and a cancellation that takes out of the line.
  final class TaskSemaphore: Sendable {
    private struct State {
      var permits: Int
      var ids = 0
      var line: [(id: Int, continuation: CheckedContinuation<Bool, Never>)] = []
      var left: Set<Int> = []
    }
    private let state: Mutex<State>
    /// Whether a waiter that was handed the permit and then finds itself cancelled passes it on.
    private let passesOn: Bool

    init(permits: Int, passesOn: Bool = true) {
      state = Mutex(State(permits: permits))
      self.passesOn = passesOn
    }

    func wait() async throws {
      let id = state.withLock { state in
        state.ids += 1
        return state.ids
      }
      let isGranted = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let answer: Bool? = state.withLock { state in
            if state.left.remove(id) != nil { return false }
            if state.permits > 0 {
              state.permits -= 1
              return true
            }
            state.line.append((id, continuation))
            return nil
          }
          if let answer { continuation.resume(returning: answer) }
        }
      } onCancel: {
        let continuation: CheckedContinuation<Bool, Never>? = state.withLock { state in
          guard let index = state.line.firstIndex(where: { $0.id == id }) else {
            state.left.insert(id)
            return nil
          }
          return state.line.remove(at: index).continuation
        }
        continuation?.resume(returning: false)
      }
      if !isGranted { throw CancellationError() }
      if Task.isCancelled {
        if passesOn { signal() }
        throw CancellationError()
      }
    }

    func signal() {
      let next: CheckedContinuation<Bool, Never>? = state.withLock { state in
        if state.line.isEmpty {
          state.permits += 1
          return nil
        }
        return state.line.removeFirst().continuation
      }
      next?.resume(returning: true)
    }
  }

  static func cancelWaiter(of semaphore: TaskSemaphore) async throws {
    let waiter = Task {
      try await semaphore.wait()
      semaphore.signal()
    }
    async let signalled: Void = semaphore.signal()
    waiter.cancel()
    await signalled
    _ = await waiter.result
    try await semaphore.wait()
  }

  /// Does the work, and gives back the permit unless the work throws.
  static func work(with semaphore: TaskSemaphore, givesBackAlways: Bool) async throws {
    try await semaphore.wait()
    if givesBackAlways {
      defer { semaphore.signal() }
      await Task.yield()
      try Task.checkCancellation()
    } else {
      await Task.yield()
      try Task.checkCancellation()
      semaphore.signal()
    }
  }

  static func cancelWorker(givesBackAlways: Bool) async throws {
    let semaphore = TaskSemaphore(permits: 1)
    let worker = Task { try await work(with: semaphore, givesBackAlways: givesBackAlways) }
    worker.cancel()
    _ = await worker.result
    try await semaphore.wait()
  }

  // MARK: A timeout

  struct TimedOut: Error {}

  /// Leaves the work to itself when the time is over.
  static func withTimeoutThatForgets(
    _ limit: Duration,
    _ work: @escaping @Sendable () async throws -> Int
  ) async throws -> Int {
    let answer = FirstAnswer()
    return try await withCheckedThrowingContinuation { continuation in
      answer.set(continuation)
      Task { answer.resume(await Result { try await work() }) }
      Task {
        try? await Task.sleep(for: limit)
        answer.resume(.failure(TimedOut()))
      }
    }
  }

  final class FirstAnswer: Sendable {
    private let continuation = Mutex<CheckedContinuation<Int, any Error>?>(nil)
    func set(_ continuation: CheckedContinuation<Int, any Error>) {
      self.continuation.withLock { $0 = continuation }
    }
    func resume(_ result: Result<Int, any Error>) {
      continuation.withLock { $0.take() }?.resume(with: result)
    }
  }

  static func withTimeout(_ limit: Duration, _ work: @escaping @Sendable () async throws -> Int)
    async throws -> Int
  {
    try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask { try await work() }
      group.addTask {
        try await Task.sleep(for: limit)
        throw TimedOut()
      }
      defer { group.cancelAll() }
      return try await group.next()!
    }
  }

  static func useTimeout(
    _ withTimeout: (Duration, @escaping @Sendable () async throws -> Int) async throws -> Int
  ) async throws {
    let shared = RunningFlag()
    let result = await Result {
      try await withTimeout(.seconds(1)) {
        shared.isRunning.store(true, ordering: .sequentiallyConsistent)
        defer { shared.isRunning.store(false, ordering: .sequentiallyConsistent) }
        try await Task.sleep(for: .seconds(5))
        return 1
      }
    }
    try require(
      !shared.isRunning.load(ordering: .sequentiallyConsistent),
      "the work runs on behind \(result)"
    )
  }

  final class RunningFlag: Sendable { let isRunning = Atomic(false) }

  // MARK: The first of two

  static func firstOfTwo(asksWhoIsFirst: Bool) async -> Int {
    let isTaken = RunningFlag()
    return await withCheckedContinuation { continuation in
      for number in 1...2 {
        Task {
          await Task.yield()
          if asksWhoIsFirst {
            guard !isTaken.isRunning.exchange(true, ordering: .acquiringAndReleasing) else {
              return
            }
          } else {
            guard !isTaken.isRunning.load(ordering: .acquiring) else { return }
            isTaken.isRunning.store(true, ordering: .releasing)
          }
          continuation.resume(returning: number)
        }
      }
    }
  }

  // MARK: A registry that cancels under its lock

  final class Registry: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private let lock = NSLock()
    private var tasks: [Int: Task<Void, Never>] = [:]
    private var ended = 0

    func start(_ id: Int) {
      let task = Task<Void, Never> {
        await withTaskCancellationHandler {
          _ = try? await Task.sleep(for: .seconds(60))
        } onCancel: {
          lock.withLock { ended += 1 }
        }
      }
      lock.withLock { tasks[id] = task }
    }

    func stopUnderLock(_ id: Int) async {
      let task = lock.withLock {
        let task = tasks.removeValue(forKey: id)
        task?.cancel()
        return task
      }
      await task?.value
    }

    func stop(_ id: Int) async {
      let task = lock.withLock { tasks.removeValue(forKey: id) }
      task?.cancel()
      await task?.value
    }
  }

  // MARK: A mailbox whose waiters are dropped when it closes

  struct Closed: Error {}

  actor Mailbox {
    private var letters: [Int] = []
    private var waiters: [CheckedContinuation<Int, any Error>] = []
    private var isClosed = false
    private let tellsWaiters: Bool

    init(tellsWaiters: Bool) { self.tellsWaiters = tellsWaiters }

    func receive() async throws -> Int {
      if let letter = letters.first {
        letters.removeFirst()
        return letter
      }
      if isClosed { throw Closed() }
      return try await withCheckedThrowingContinuation { waiters.append($0) }
    }

    func close() {
      isClosed = true
      guard tellsWaiters else { return }
      for waiter in waiters { waiter.resume(throwing: Closed()) }
      waiters = []
    }
  }

  // MARK: A hand-over that a cancelled receiver loses

  /// One receiver waits at a time; a value that was handed to a receiver that is cancelled must not be lost.
  actor HandOver {
    private var waiter: (id: Int, continuation: CheckedContinuation<Int?, Never>)?
    private var stored: [Int] = []
    private var ids = 0
    private let keeps: Bool

    init(keeps: Bool) { self.keeps = keeps }

    func send(_ value: Int) {
      if let waiter {
        self.waiter = nil
        waiter.continuation.resume(returning: value)
      } else {
        stored.append(value)
      }
    }

    func receive() async throws -> Int {
      if !stored.isEmpty { return stored.removeFirst() }
      ids += 1
      let id = ids
      let value = await withTaskCancellationHandler {
        await withCheckedContinuation { (continuation: CheckedContinuation<Int?, Never>) in
          if Task.isCancelled {
            continuation.resume(returning: nil)
          } else {
            waiter = (id, continuation)
          }
        }
      } onCancel: {
        Task { await leave(id) }
      }
      if keeps, let value { return value }
      try Task.checkCancellation()
      return value!
    }

    private func leave(_ id: Int) {
      guard let waiter, waiter.id == id else { return }
      self.waiter = nil
      waiter.continuation.resume(returning: nil)
    }

    func rest() -> [Int] { stored }
  }

  static func useHandOver(keeps: Bool) async throws {
    let handOver = HandOver(keeps: keeps)
    let receiver = Task { try await handOver.receive() }
    async let sent: Void = handOver.send(7)
    receiver.cancel()
    await sent
    let received = try? await receiver.value
    let rest = await handOver.rest()
    try require(received == 7 || rest == [7], "the value is lost")
  }

  // MARK: A download that several share

  /// Whoever leaves cancels the download, though others wait for it; or only the last one does.
  actor SharedDownload {
    private var task: Task<Int, any Error>?
    private var readers = 0
    private let countsReaders: Bool

    init(countsReaders: Bool) { self.countsReaders = countsReaders }

    func value() async throws -> Int {
      readers += 1
      let task =
        self.task
        ?? Task {
          try await Task.sleep(for: .seconds(1))
          return 42
        }
      self.task = task
      return try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        if countsReaders { Task { await leave() } } else { task.cancel() }
      }
    }

    private func leave() {
      readers -= 1
      if readers == 0 {
        task?.cancel()
        task = nil
      }
    }
  }

  static func useSharedDownload(countsReaders: Bool) async throws {
    let download = SharedDownload(countsReaders: countsReaders)
    let one = Task { try await download.value() }
    let two = Task { try await download.value() }
    one.cancel()
    _ = await one.result
    let value = try? await two.value
    try require(value == 42, "the other reader was cancelled too")
  }

  // MARK: A retry that does not know that it is cancelled

  static func fetchWithRetries(stopsWhenCancelled: Bool) async throws -> Int {
    while true {
      do {
        try await Task.sleep(for: .seconds(1))
        return 1
      } catch {
        if stopsWhenCancelled { try Task.checkCancellation() }
        try? await Task.sleep(for: .seconds(1))
      }
    }
  }

  // MARK: A group whose child does not hear of its siblings' failure

  struct Failed: Error {}

  static func runGroup(hearsCancellation: Bool) async throws {
    let event = Event()
    let result = await Result<Bool, any Error> {
      try await withThrowingTaskGroup(of: Bool.self) { group in
        group.addTask {
          if hearsCancellation { return await event.wait() }
          return await withCheckedContinuation { continuation in
            Task.detached { if await event.wait() { continuation.resume(returning: true) } }
          }
        }
        group.addTask {
          await Task.yield()
          throw Failed()
        }
        var all = true
        for try await one in group { all = all && one }
        return all
      }
    }
    if case .success = result { try require(false, "nothing failed") }
  }

  // MARK: A save that is undone too late

  /// A cancelled upload must not be stored. Asks before it suspends, or once more behind that, in the same turn.
  actor Uploads {
    private var cancelled: Set<Int> = []
    private(set) var stored: Set<Int> = []
    private(set) var storedAfterCancel = false
    private let asksAgain: Bool

    init(asksAgain: Bool) { self.asksAgain = asksAgain }

    func upload(_ id: Int) async {
      guard !cancelled.contains(id) else { return }
      await Task.yield()
      if asksAgain, cancelled.contains(id) { return }
      if cancelled.contains(id) { storedAfterCancel = true }
      stored.insert(id)
    }

    func cancel(_ id: Int) { cancelled.insert(id) }
  }

  // MARK: A stream whose consumer is cancelled

  /// The consumer takes an element and then asks whether it goes on.
  static func consumeUntilCancelled(keepsWhatItTook: Bool) async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let log = Log()
    let consumer = Task {
      for await number in stream {
        if keepsWhatItTook {
          log.append(number)
          if Task.isCancelled { break }
        } else {
          if Task.isCancelled { break }
          log.append(number)
        }
      }
    }
    continuation.yield(1)
    consumer.cancel()
    await consumer.value
    // Who comes next gets what nobody took.
    continuation.finish()
    for await number in stream { log.append(number) }
    try require(log.all == [1], "an element is lost")
  }

  final class Log: Sendable {
    private let items = Mutex<[Int]>([])
    func append(_ item: Int) { items.withLock { $0.append(item) } }
    var all: [Int] { items.withLock { $0 } }
  }

  static let cancellation: [JudgedProgram] = [
    JudgedProgram(
      "a cancellation handler takes the lock under which the task is cancelled",
      fails: .deadlock
    ) {
      let number = Mutex(0)
      @Sendable func add() { number.withLock { $0 += 1 } }
      let task = Task {
        await withTaskCancellationHandler {
          await Task.yield()
        } onCancel: {
          add()
        }
      }
      number.withLock { _ in task.cancel() }
      await task.value
    },
    JudgedProgram(
      "an event and a cancellation both resume the waiter, and the runtime stops the program",
      fails: .trap
    ) {
      let event = EventResumedTwice()
      let waiter = Task { await event.wait() }
      async let fired: Void = event.fire()
      waiter.cancel()
      await fired
      await waiter.value
    },
    JudgedProgram(
      "an event and a cancellation both resume a waiter that nobody checks",
      fails: .doubleResume
    ) {
      let event = UnsafeEventResumedTwice()
      let waiter = Task { await event.wait() }
      async let fired: Void = event.fire()
      waiter.cancel()
      await fired
      await waiter.value
    },
    JudgedProgram(
      "a cancellation that comes before the continuation is stored finds nobody",
      fails: .deadlock
    ) {
      let event = EventMissingCancellation()
      let waiter = Task { await event.wait() }
      waiter.cancel()
      await waiter.value
    },
    JudgedProgram(
      "a waiter that looks whether it is cancelled before it takes the lock is cancelled in between",
      fails: .deadlock
    ) {
      let event = EventLooksTooEarly()
      let waiter = Task { await event.wait() }
      waiter.cancel()
      await waiter.value
    },
    JudgedProgram(
      "a waiter is resumed once, by an event or by a cancellation"
    ) {
      let event = Event()
      let waiter = Task { await event.wait() }
      async let fired: Void = event.fire()
      waiter.cancel()
      await fired
      _ = await waiter.value
    },
    JudgedProgram(
      "a waiter that was handed the permit and is cancelled takes it with it",
      fails: .deadlock
    ) {
      try await cancelWaiter(of: TaskSemaphore(permits: 0, passesOn: false))
    },
    JudgedProgram(
      "a waiter that was handed the permit and is cancelled passes it on"
    ) {
      try await cancelWaiter(of: TaskSemaphore(permits: 0))
    },
    JudgedProgram(
      "a worker that is cancelled between its wait and its signal keeps the permit",
      fails: .deadlock
    ) { try await cancelWorker(givesBackAlways: false) },
    JudgedProgram(
      "a worker that is cancelled between its wait and its signal gives the permit back"
    ) { try await cancelWorker(givesBackAlways: true) },
    JudgedProgram(
      "the work goes on behind a timeout that only forgets it",
      fails: .requirement
    ) { try await useTimeout(withTimeoutThatForgets) },
    JudgedProgram(
      "the work has ended behind a timeout that cancels it in a group",
      isLong: true
    ) { try await useTimeout(withTimeout) },
    JudgedProgram(
      "two who look whether they are first both are",
      fails: .trap,
      isLong: true
    ) {
      let first = await firstOfTwo(asksWhoIsFirst: false)
      try require(first == 1 || first == 2, "neither")
    },
    JudgedProgram(
      "of two who exchange a flag one is first"
    ) {
      let first = await firstOfTwo(asksWhoIsFirst: true)
      try require(first == 1 || first == 2, "neither")
    },
    JudgedProgram(
      "a task is cancelled under the lock that its cancellation handler takes",
      fails: .deadlock
    ) {
      let registry = Registry()
      registry.start(1)
      await Task.yield()
      await registry.stopUnderLock(1)
    },
    JudgedProgram(
      "a task is cancelled behind the lock that its cancellation handler takes"
    ) {
      let registry = Registry()
      registry.start(1)
      await Task.yield()
      await registry.stop(1)
    },
    JudgedProgram(
      "a mailbox that is closed forgets who waits for a letter",
      fails: .deadlock
    ) {
      let mailbox = Mailbox(tellsWaiters: false)
      async let letter = mailbox.receive()
      await mailbox.close()
      _ = try? await letter
    },
    JudgedProgram(
      "a mailbox that is closed tells who waits for a letter"
    ) {
      let mailbox = Mailbox(tellsWaiters: true)
      async let letter = mailbox.receive()
      await mailbox.close()
      _ = try? await letter
    },
    JudgedProgram(
      "a receiver that is cancelled behind the hand-over throws the value away",
      fails: .requirement,
      isLong: true
    ) { try await useHandOver(keeps: false) },
    JudgedProgram(
      "a receiver that is cancelled behind the hand-over keeps the value",
      isLong: true
    ) { try await useHandOver(keeps: true) },
    JudgedProgram(
      "a reader that is cancelled ends a download that another waits for",
      fails: .requirement
    ) { try await useSharedDownload(countsReaders: false) },
    JudgedProgram(
      "a retry asks whether it is cancelled"
    ) {
      let task = Task { try await fetchWithRetries(stopsWhenCancelled: true) }
      task.cancel()
      _ = await task.result
    },
    JudgedProgram(
      "a child that does not hear of its cancellation keeps its group",
      fails: .deadlock
    ) { try await runGroup(hearsCancellation: false) },
    JudgedProgram(
      "a child that hears of its cancellation lets its group end"
    ) { try await runGroup(hearsCancellation: true) },
    JudgedProgram(
      "an upload that is cancelled while it is sent is stored",
      fails: .requirement
    ) {
      let uploads = Uploads(asksAgain: false)
      async let upload: Void = uploads.upload(1)
      await uploads.cancel(1)
      await upload
      try require(await !uploads.storedAfterCancel, "stored though cancelled")
    },
    JudgedProgram(
      "an upload that is cancelled while it is sent is not stored"
    ) {
      let uploads = Uploads(asksAgain: true)
      async let upload: Void = uploads.upload(1)
      await uploads.cancel(1)
      await upload
      try require(await !uploads.storedAfterCancel, "stored though cancelled")
    },
    JudgedProgram(
      "a consumer that finds itself cancelled drops the element in its hand",
      fails: .requirement
    ) { try await consumeUntilCancelled(keepsWhatItTook: false) },
    JudgedProgram(
      "a consumer that finds itself cancelled deals with the element in its hand"
    ) { try await consumeUntilCancelled(keepsWhatItTook: true) },
  ]
}
