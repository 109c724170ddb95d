import Dispatch
import Foundation
import Synchronization

/// What an object of somebody else's locks protects.
private final class Ledger: @unchecked Sendable {
  // Safe: each program uses it under one lock only.
  var count = 0
  var text = ""
}

/// A lock of the system for many readers or one writer.
final class ReadersLock: Sendable {
  // Safe: the system's own lock, which lives as long as the object.
  nonisolated(unsafe) private let lock: UnsafeMutablePointer<pthread_rwlock_t>

  init() {
    lock = .allocate(capacity: 1)
    pthread_rwlock_init(lock, nil)
  }

  deinit {
    pthread_rwlock_destroy(lock)
    lock.deallocate()
  }

  func reading<Result>(_ body: () -> Result) -> Result {
    pthread_rwlock_rdlock(lock)
    defer { pthread_rwlock_unlock(lock) }
    return body()
  }

  func writing(_ body: () -> Void) {
    pthread_rwlock_wrlock(lock)
    defer { pthread_rwlock_unlock(lock) }
    body()
  }
}

/// An actor whose jobs a queue of Dispatch runs.
actor QueueActor {
  private final class Executor: SerialExecutor {
    private let queue = DispatchQueue(label: "executor")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
  }

  private let executor = Executor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  private(set) var text = ""

  func add(_ number: Int) { text += "\(number)" }
}

/// An actor that starts tasks of its own, and lets others in while it waits.
private actor Starter {
  private(set) var text = ""

  func start(_ number: Int) -> Task<Void, Never> {
    Task {
      text += "\(number)"
      await Task.yield()
      text += "\(number + 2)"
    }
  }

  /// Works as long as it takes to come in between.
  func count() async -> Int {
    let before = text.count
    await Task.yield()
    return text.count - before
  }
}

private func wait(for condition: NSCondition) { condition.wait() }

private func tries(_ lock: NSRecursiveLock) -> Bool {
  guard lock.try() else { return false }
  lock.unlock()
  return true
}

private func take(_ semaphore: DispatchSemaphore) -> Bool {
  semaphore.wait(timeout: .now() + 1) == .success
}

extension SmallProgram {
  /// Programs for what the others leave out.
  static let further = libraries + tasksInTurn + endings

  /// Locks and queues that others made.
  private static let libraries = [
    SmallProgram(name: "a condition, two who wait, two signals", preemptions: [0, 1]) {
      let condition = NSCondition()
      let ledger = Ledger()
      await together(3) { number in
        condition.withLock {
          if number == 3 {
            ledger.count += 1
            condition.signal()
          } else {
            while ledger.count == 0 { wait(for: condition) }
            ledger.count -= 1
            ledger.text += "\(number)"
          }
        }
        guard number == 3 else { return }
        condition.withLock {
          ledger.count += 1
          condition.signal()
        }
      }
      return ledger.text
    },
    SmallProgram(name: "readers and a writer") {
      let lock = ReadersLock()
      let ledger = Ledger()
      let words = Words()
      await together(3) { number in
        if number == 3 {
          lock.writing { ledger.count = 1 }
        } else {
          words.add("\(number): \(lock.reading { ledger.count }) ")
        }
      }
      return words.sortedText
    },
    SmallProgram(name: "a semaphore that is given, or not in time", preemptions: [0, 1, 2, nil]) {
      let semaphore = DispatchSemaphore(value: 0)
      let words = Words()
      await together(3) {
        if $0 == 3 { semaphore.signal() } else { words.add("\($0): \(take(semaphore)) ") }
      }
      return words.sortedText
    },
    SmallProgram(name: "a queue with a barrier", preemptions: [0, 1]) {
      let queue = DispatchQueue(label: "barrier", attributes: .concurrent)
      let words = Words()
      queue.async { words.add(1) }
      queue.async(flags: .barrier) { words.add(2) }
      queue.async { words.add(3) }
      queue.async { words.add(4) }
      queue.sync(flags: .barrier) {}
      return words.text
    },
    SmallProgram(name: "a group of Dispatch that tells when it is empty", preemptions: [0, 1]) {
      let group = DispatchGroup()
      let queue = DispatchQueue(label: "group", attributes: .concurrent)
      let words = Words()
      for number in 1...2 { queue.async(group: group) { words.add(number) } }
      await withUnsafeContinuation { continuation in
        group.notify(queue: queue) { continuation.resume() }
        words.add("n")
      }
      return words.text
    },
    SmallProgram(name: "work of Dispatch that is cancelled", preemptions: [0, 1, 2]) {
      // Safe: Dispatch has an atomic in it.
      nonisolated(unsafe) let item = DispatchWorkItem {}
      let words = Words()
      await together(2) { if $0 == 1 { item.cancel() } else { words.add(item.isCancelled) } }
      return words.text
    },
    SmallProgram(name: "notifications", preemptions: [0, 1]) {
      let center = NotificationCenter()
      let name = Notification.Name("word")
      let words = Words()
      await together(2) { number in
        if number == 1 {
          center.post(name: name, object: nil)
        } else {
          _ = center.addObserver(forName: name, object: nil, queue: nil) { _ in words.add("o") }
          words.add("a")
        }
      }
      return words.text
    },
    SmallProgram(name: "an actor that a queue runs", preemptions: [0, 1]) {
      let actor = QueueActor()
      await together(2) { await actor.add($0) }
      return await actor.text
    },
    SmallProgram(name: "a lock that one tries and another has twice") {
      let lock = NSRecursiveLock()
      let words = Words()
      await together(2) { number in
        if number == 1 {
          lock.withLock { lock.withLock {} }
        } else {
          words.add(tries(lock))
        }
      }
      return words.text
    },
  ]

  private static let tasksInTurn = [
    SmallProgram(name: "a task whose value two await") {
      let words = Words()
      let task = Task {
        await Task.yield()
        return 5
      }
      await together(2) { words.add("\($0)\(await task.value) ") }
      return words.text
    },
    SmallProgram(name: "who is first resumes it", preemptions: [0, 1, 2, nil]) {
      let isResumed = Atomic(false)
      let continuation = Mutex<UnsafeContinuation<Int, Never>?>(nil)
      let waiting = Task {
        await withUnsafeContinuation { one in continuation.withLock { $0 = one } }
      }
      while continuation.withLock({ $0 == nil }) { await Task.yield() }
      await together(2) { number in
        guard !isResumed.exchange(true, ordering: .relaxed) else { return }
        continuation.withLock { $0?.resume(returning: number) }
      }
      return "\(await waiting.value)"
    },
    SmallProgram(name: "tasks that an actor starts", preemptions: [0, 1]) {
      let starter = Starter()
      await together(2) { await starter.start($0).value }
      return await starter.text
    },
    SmallProgram(name: "an actor that lets another in while it waits", preemptions: [0, 1]) {
      let starter = Starter()
      async let one = starter.count()
      async let other = starter.start(1)
      let count = await one
      await other.value
      return "\(count) \(await starter.text)"
    },
    SmallProgram(name: "urgent tasks in line at an actor", preemptions: [0, 1]) {
      let notes = Notes()
      await withTaskGroup { group in
        for (number, priority) in [(1, TaskPriority.low), (2, .high), (3, .medium)] {
          group.addTask(priority: priority) { await notes.add(number) }
        }
      }
      return await notes.text
    },
    SmallProgram(name: "an array that two have", preemptions: [0, 1, 2, nil]) {
      final class Box {}
      final class Own: @unchecked Sendable {
        // Safe: one task each.
        var box: Box?
        init(_ box: Box) { self.box = box }
      }
      let words = Words()
      let box = Box()
      let own = [Own(box), Own(box)]
      _ = consume box
      await together(2) { number in
        words.add("\(number): \(isKnownUniquelyReferenced(&own[number - 1].box)) ")
        own[number - 1].box = nil
      }
      return words.sortedText
    },
    SmallProgram(name: "a stream that keeps the oldest, and says what it dropped") {
      let (stream, giver) = AsyncStream.makeStream(
        of: Int.self,
        bufferingPolicy: .bufferingOldest(1)
      )
      let words = Words()
      await together(2) { number in
        if case .dropped = giver.yield(number) { words.add("-\(number)") }
      }
      giver.finish()
      for await number in stream { words.add(number) }
      return words.text
    },
  ]

  /// Cancellations by the language and by others, errors, and time.
  private static let endings = [
    SmallProgram(name: "a discarding group of which one throws", preemptions: [0, 1, 2]) {
      let words = Words()
      do {
        try await withThrowingDiscardingTaskGroup { group in
          group.addTask { throw CancellationError() }
          group.addTask {
            await withTaskCancellationHandler {
              words.add(Task.isCancelled ? "c" : "a")
              await Task.yield()
              words.add(Task.isCancelled ? "c" : "b")
            } onCancel: {
              words.add("h")
            }
          }
        }
      } catch {
        words.add("t")
      }
      return words.text
    },
    SmallProgram(name: "work that is cancelled when its time is over", preemptions: [0, 1]) {
      let words = Words()
      await withTaskGroup { group in
        group.addTask {
          words.add((try? await Task.sleep(for: .seconds(1))) == nil ? "c" : "l")
        }
        group.addTask {
          await Task.yield()
          words.add(Task.isCancelled ? "x" : "w")
        }
        await group.next()
        group.cancelAll()
      }
      return words.text
    },
    SmallProgram(name: "sleeps of three lengths, and a cancellation", preemptions: [0, 1]) {
      let words = Words()
      let tasks = (1...2).map { number in
        Task {
          let isWhole = (try? await Task.sleep(for: .seconds(number))) != nil
          words.add(isWhole ? "\(number)" : "c")
        }
      }
      let other = Task {
        try? await Task.sleep(for: .milliseconds(1_500))
        tasks[1].cancel()
        words.add(3)
      }
      for task in tasks { await task.value }
      await other.value
      return words.text
    },
    SmallProgram(name: "who reads a stream is cancelled", preemptions: [0, 1]) {
      let (stream, giver) = AsyncStream.makeStream(of: Int.self)
      let words = Words()
      giver.onTermination = { words.add($0 == .cancelled ? "x" : "f") }
      let reader = Task {
        for await number in stream { words.add(number) }
        words.add("e")
      }
      let writer = Task { giver.yield(1) }
      reader.cancel()
      _ = await (reader.value, writer.value)
      return words.text
    },
    SmallProgram(name: "a task that cancels itself, and its child") {
      let words = Words()
      let task = Task {
        async let child: Void = words.add(Task.isCancelled ? "c" : "a")
        withUnsafeCurrentTask { $0?.cancel() }
        words.add(Task.isCancelled ? "C" : "A")
        await child
      }
      await task.value
      return words.text
    },
    SmallProgram(name: "a group that takes no more when it is cancelled", preemptions: [0, 1, 2]) {
      let words = Words()
      let task = Task {
        await withTaskGroup { group in
          words.add(group.addTaskUnlessCancelled { words.add(1) })
          await Task.yield()
          words.add(group.addTaskUnlessCancelled { words.add(2) })
        }
      }
      let other = Task { task.cancel() }
      _ = await (task.value, other.value)
      return words.text
    },
    SmallProgram(name: "who is told that a task has become more urgent", preemptions: [0, 1, 2]) {
      let words = Words()
      let task = Task(priority: .low) {
        await withTaskPriorityEscalationHandler {
          words.add(1)
          await Task.yield()
          words.add(2)
        } onPriorityEscalated: { _, _ in
          words.add("h")
        }
      }
      let other = Task { task.escalatePriority(to: .high) }
      _ = await (task.value, other.value)
      return words.text
    },
  ]
}
