import Dispatch
import Foundation
import Synchronization

/// Who was the last to have a thing.
private final class LastOne: @unchecked Sendable {
  // Safe: written in the one `deinit` of the thing, and read when all tasks have ended.
  var number = 0
}

private enum Whose {
  @TaskLocal static var number = 0
}

/// Says in whose task it was let go of last.
private final class Thing: Sendable {
  private let last: LastOne
  init(_ last: LastOne) { self.last = last }
  deinit { last.number = Whose.number }
}

/// One task's hold on a thing.
private final class Own: @unchecked Sendable {
  // Safe: one task each.
  var thing: Thing?
  init(_ thing: Thing) { self.thing = thing }
}

/// Looks at a thing without having it.
private final class Look: @unchecked Sendable {
  // Safe: the reference is only read.
  private weak var thing: Thing?
  init(_ thing: Thing) { self.thing = thing }

  var isThere: Bool { thing != nil }
}

/// An actor that says in whose task it was let go of last.
private actor Actor {
  private let last: LastOne
  init(_ last: LastOne) { self.last = last }
  deinit { last.number = Whose.number }
}

/// One task's hold on bytes.
private final class Bytes: @unchecked Sendable {
  // Safe: one task each.
  var bytes: Data?
  init(_ bytes: Data) { self.bytes = bytes }
}

/// One task's hold on a thing, in a type that hides it.
private final class Hold: @unchecked Sendable {
  // Safe: one task each.
  var thing: Any?
  init(_ thing: Any) { self.thing = thing }
}

/// What a lock protects that has no points.
final class SpinningText: @unchecked Sendable {
  // Safe: one task at a time has the lock.
  private var lock = UnsafeMutablePointer<pthread_spinlock_t>.allocate(capacity: 1)
  private(set) var text = ""

  init() { pthread_spin_init(lock, 0) }

  deinit { lock.deallocate() }

  func add(_ number: Int) {
    pthread_spin_lock(lock)
    text += "\(number)"
    pthread_spin_unlock(lock)
  }
}

private func isEmptyNow(_ group: DispatchGroup) -> Bool { group.wait(timeout: .now()) == .success }
private func isEmptyInTime(_ group: DispatchGroup) -> Bool {
  group.wait(timeout: .now() + 1) == .success
}
private func wait(for group: DispatchGroup) { group.wait() }
private func takeNow(_ semaphore: DispatchSemaphore) -> Bool {
  semaphore.wait(timeout: .now()) == .success
}
private func waitAWhile(_ condition: NSCondition) -> Bool {
  condition.wait(until: Date(timeIntervalSinceNow: 1))
}
private func wait(_ condition: NSCondition) { condition.wait() }
private func takeInTime(_ lock: NSLock) -> Bool {
  guard lock.lock(before: Date(timeIntervalSinceNow: 1)) else { return false }
  lock.unlock()
  return true
}

extension SmallProgram {
  /// Programs in which a step tells another something in a way that the others leave out, mostly one that no lock and
  /// no atomic of theirs shows, and then takes a lock: so what it told and who came first are asked together.
  static let finer = groups + owners + waits

  private static let groups = [
    SmallProgram(name: "a discarding group that asks if it is cancelled", preemptions: [0, 1, 2]) {
      let words = Words()
      try? await withThrowingDiscardingTaskGroup { group in
        group.addTask { throw CancellationError() }
        group.addTask { words.add("b") }
        words.add(group.isCancelled)
      }
      return words.text
    },
    SmallProgram(name: "a discarding group that asks whether it is empty", preemptions: [0, 1, 2]) {
      let words = Words()
      let other = Task { words.add("b") }
      await withDiscardingTaskGroup { group in
        group.addTask {}
        words.add(group.isEmpty)
      }
      await other.value
      return words.text
    },
    SmallProgram(name: "a discarding group that takes no more", preemptions: [0, 1, 2]) {
      let words = Words()
      try? await withThrowingDiscardingTaskGroup { group in
        group.addTask { throw CancellationError() }
        group.addTask { words.add("b") }
        words.add(group.addTaskUnlessCancelled {})
      }
      return words.text
    },
    SmallProgram(name: "tasks that begin at once", preemptions: [0, 1]) {
      guard #available(macOS 26, *) else { return "" }
      let words = Words()
      let tasks = (1...2).map { number in
        Task.immediate {
          words.add(number)
          await Task.yield()
          words.add(number + 2)
        }
      }
      for task in tasks { await task.value }
      return words.text
    },
    SmallProgram(name: "the main queue and the main actor", preemptions: [0, 1]) {
      let words = Words()
      DispatchQueue.main.async { words.add(1) }
      let one = Task { @MainActor in words.add(2) }
      let other = Task { await MainActor.run { words.add(3) } }
      _ = await (one.value, other.value)
      await withUnsafeContinuation { continuation in
        DispatchQueue.main.async { continuation.resume() }
      }
      return words.text
    },
    SmallProgram(name: "two children of one scope", preemptions: [0, 1, 2]) {
      let words = Words()
      func part(_ number: Int) async -> Int {
        words.add(number)
        return number
      }
      async let one = part(1)
      async let other = part(2)
      words.add(3)
      let sum = await one + other
      return words.text + "\(sum)"
    },
  ]

  private static let owners = [
    SmallProgram(name: "a cache of Foundation, and then a lock", preemptions: [0, 1, 2]) {
      // Safe: the cache has a lock in it.
      nonisolated(unsafe) let cache = NSCache<NSString, NSNumber>()
      let words = Words()
      await together(2) { number in
        cache.setObject(NSNumber(value: number), forKey: "key")
        words.add(number)
      }
      return words.text + "\(cache.object(forKey: "key") ?? 0)"
    },
    SmallProgram(name: "who lets go last of what he has as anything", preemptions: [0, 1, 2]) {
      let last = LastOne()
      let words = Words()
      let thing = Thing(last)
      let holds = [Hold(thing), Hold(thing)]
      _ = consume thing
      await together(2) { number in
        Whose.$number.withValue(number) { holds[number - 1].thing = nil }
        words.add(number)
      }
      return words.text + "\(last.number)"
    },
    SmallProgram(name: "who lets go last of what he has in an array", preemptions: [0, 1, 2]) {
      let last = LastOne()
      let words = Words()
      let thing = Thing(last)
      let holds = [Hold([thing]), Hold([thing])]
      _ = consume thing
      await together(2) { number in
        Whose.$number.withValue(number) { holds[number - 1].thing = nil }
        words.add(number)
      }
      return words.text + "\(last.number)"
    },
    SmallProgram(name: "who asks whether he alone has a thing", preemptions: [0, 1, 2]) {
      let words = Words()
      let seen = Words()
      let thing = Thing(LastOne())
      let own = [Own(thing), Own(thing)]
      _ = consume thing
      await together(2) { number in
        if number == 1 {
          own[0].thing = nil
        } else {
          seen.add(isKnownUniquelyReferenced(&own[1].thing))
        }
        words.add(number)
      }
      return words.text + seen.text
    },
    SmallProgram(name: "who looks if a thing is there that another has", preemptions: [0, 1, 2]) {
      let words = Words()
      let seen = Words()
      let thing = Thing(LastOne())
      let own = [Own(thing), Own(thing)]
      let look = Look(thing)
      _ = consume thing
      own[1].thing = nil
      await together(2) { number in
        if number == 1 { own[0].thing = nil } else { seen.add(look.isThere) }
        words.add(number)
      }
      return words.text + seen.text
    },
    SmallProgram(name: "cancelled work of Dispatch, and then a lock", preemptions: [0, 1, 2]) {
      // Safe: Dispatch has an atomic in it.
      nonisolated(unsafe) let item = DispatchWorkItem {}
      let words = Words()
      let other = Words()
      await together(2) { number in
        if number == 1 {
          item.cancel()
        } else {
          other.add(item.isCancelled)
        }
        words.add(number)
      }
      return words.text + other.text
    },
    SmallProgram(name: "a timer that one sets and another ends", preemptions: [0, 1, 2]) {
      let words = Words()
      let other = Words()
      // Safe: Dispatch has a lock in it.
      nonisolated(unsafe) let timer = DispatchSource.makeTimerSource(
        queue: DispatchQueue(label: "timer")
      )
      timer.setEventHandler { other.add("f") }
      timer.activate()
      await together(2) { number in
        if number == 1 { timer.schedule(deadline: .now() + 1) } else { timer.cancel() }
        words.add(number)
      }
      try? await Task.sleep(for: .seconds(2))
      return words.text + other.text
    },
    SmallProgram(name: "work that is cancelled before it begins, or not", preemptions: [0, 1, 2]) {
      let words = Words()
      let queue = DispatchQueue(label: "work")
      let other = Words()
      // Safe: Dispatch has an atomic in it.
      nonisolated(unsafe) let item = DispatchWorkItem { other.add("w") }
      await together(2) { number in
        if number == 1 { item.cancel() } else { queue.sync(execute: item) }
        words.add(number)
      }
      return words.text + other.text
    },
    SmallProgram(name: "work that is cancelled before its turn, or not", preemptions: [0, 1]) {
      let words = Words()
      let queue = DispatchQueue(label: "work")
      let other = Words()
      // Safe: Dispatch has an atomic in it.
      nonisolated(unsafe) let item = DispatchWorkItem { other.add("w") }
      queue.async(execute: item)
      let one = Task {
        item.cancel()
        words.add(1)
      }
      queue.async { words.add(2) }
      await one.value
      queue.sync {}
      return words.text + other.text
    },
    SmallProgram(name: "who lets go last of an actor", preemptions: [0, 1, 2]) {
      let last = LastOne()
      let words = Words()
      let actor = Actor(last)
      let holds = [Hold(actor), Hold(actor)]
      _ = consume actor
      await together(2) { number in
        Whose.$number.withValue(number) { holds[number - 1].thing = nil }
        words.add(number)
      }
      return words.text + "\(last.number)"
    },
    SmallProgram(name: "who lets go last of bytes that tell when they go", preemptions: [0, 1, 2]) {
      let last = LastOne()
      let words = Words()
      let bytes = Data(
        bytesNoCopy: .allocate(byteCount: 64, alignment: 8),
        count: 64,
        deallocator: .custom { bytes, _ in
          bytes.deallocate()
          last.number = Whose.number
        }
      )
      let holds = [Bytes(bytes), Bytes(bytes)]
      _ = consume bytes
      await together(2) { number in
        Whose.$number.withValue(number) { holds[number - 1].bytes = nil }
        words.add(number)
      }
      return words.text + "\(last.number)"
    },
    SmallProgram(name: "a lock that spins", preemptions: [0, 1]) {
      let spinning = SpinningText()
      let words = Words()
      await together(2) { number in
        spinning.add(number)
        words.add(number)
      }
      return words.text + spinning.text
    },
  ]

  private static let waits = [
    SmallProgram(name: "a group of Dispatch, asked whether it is empty", preemptions: [0, 1, 2]) {
      let group = DispatchGroup()
      group.enter()
      let words = Words()
      await together(2) { number in
        if number == 1 { group.leave() } else { words.add(isEmptyNow(group)) }
        words.add(number)
      }
      return words.text
    },
    SmallProgram(name: "a group of Dispatch, awaited", preemptions: [0, 1, 2]) {
      let group = DispatchGroup()
      group.enter()
      let words = Words()
      await together(3) { number in
        switch number {
        case 1: group.leave()
        case 2: wait(for: group)
        default: words.add(isEmptyInTime(group))
        }
        words.add(number)
      }
      return words.text
    },
    SmallProgram(name: "a permit that one takes if there is one", preemptions: [0, 1, 2]) {
      let semaphore = DispatchSemaphore(value: 0)
      let words = Words()
      await together(2) { number in
        if number == 1 { semaphore.signal() } else { words.add(takeNow(semaphore)) }
        words.add(number)
      }
      return words.text
    },
    SmallProgram(name: "a condition for which two wait a while", preemptions: [0, 1]) {
      let condition = NSCondition()
      let words = Words()
      await together(3) { number in
        if number == 3 {
          condition.withLock { condition.signal() }
        } else {
          let isDone = condition.withLock { waitAWhile(condition) }
          words.add("\(number)\(isDone) ")
        }
      }
      return words.sortedText
    },
    SmallProgram(name: "a condition that is told to all", preemptions: [0, 1]) {
      let condition = NSCondition()
      let words = Words()
      let isOpen = Mutex(false)
      await together(3) { number in
        condition.withLock {
          if number == 3 {
            isOpen.withLock { $0 = true }
            condition.broadcast()
          } else {
            while !isOpen.withLock({ $0 }) { wait(condition) }
          }
        }
        words.add(number)
      }
      return words.text
    },
    SmallProgram(name: "a lock that one wants in time", preemptions: [0, 1, 2]) {
      let lock = NSLock()
      let words = Words()
      await together(2) { number in
        if number == 1 { lock.withLock {} } else { words.add(takeInTime(lock)) }
        words.add(number)
      }
      return words.text
    },
    SmallProgram(name: "readers who try, and a writer who tries", preemptions: [0, 1, 2]) {
      let lock = TriedLock()
      let words = Words()
      await together(3) { number in words.add("\(number)\(lock.tries(writing: number == 3)) ") }
      return words.sortedText
    },
    SmallProgram(name: "two words at once", preemptions: [0, 1, 2]) {
      let pair = Atomic(WordPair(first: 0, second: 0))
      let words = Words()
      await together(2) { number in
        let found =
          number == 1
          ? pair.exchange(WordPair(first: 1, second: 1), ordering: .relaxed)
          : pair.compareExchange(
            expected: WordPair(first: 0, second: 0),
            desired: WordPair(first: 2, second: 2),
            ordering: .relaxed
          ).original
        words.add("\(number): \(found.first) ")
      }
      let left = pair.load(ordering: .relaxed)
      return words.text + "\(left.first)"
    },
  ]
}

/// A lock of the system that one tries to have together or alone.
final class TriedLock: Sendable {
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

  func tries(writing: Bool) -> Bool {
    let result = writing ? pthread_rwlock_trywrlock(lock) : pthread_rwlock_tryrdlock(lock)
    guard result == 0 else { return false }
    pthread_rwlock_unlock(lock)
    return true
  }
}
