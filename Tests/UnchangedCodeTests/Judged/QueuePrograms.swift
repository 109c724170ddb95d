import Dispatch
import Exploration
import Foundation
import Synchronization

// Dispatch queues of more than one kind: what keeps whose work apart.

extension Judged {
  // MARK: Readers and writers

  /// How a writer keeps the others away.
  enum Barrier: Sendable { case sync, async, asyncInGroup, item, none }

  /// Values behind a concurrent queue.
  final class Values: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private var values = [1]
    private let queue = DispatchQueue(label: "values", attributes: .concurrent)
    private let barrier: Barrier

    init(_ barrier: Barrier) { self.barrier = barrier }

    var sum: Int { queue.sync { values.reduce(0, +) } }

    func add(_ value: Int) {
      switch barrier {
      case .sync: queue.sync(flags: .barrier) { values.append(value) }
      case .async: queue.async(flags: .barrier) { self.values.append(value) }
      case .asyncInGroup:
        let group = DispatchGroup()
        queue.async(group: group, flags: .barrier) { self.values.append(value) }
        group.wait()
      case .item:
        queue.async(execute: DispatchWorkItem(flags: .barrier) { self.values.append(value) })
      case .none: queue.async { self.values.append(value) }
      }
    }
  }

  static func readAndWrite(_ barrier: Barrier) async throws {
    let values = Values(barrier)
    try await both {
      values.add(2)
    } _: {
      let sum = values.sum
      try require(sum == 1 || sum == 3, "\(sum)")
    }
    let sum = values.sum
    try require(sum == 3, "\(sum)")
  }

  // MARK: Queues that nobody keeps

  /// Of one queue nobody has anything any more but the work that was given to it.
  static func leaveWork(isAlone: Bool) async {
    let number = Box(0)
    let queue = DispatchQueue(label: "left", attributes: isAlone ? .concurrent : [])
    async let one: Void = { queue.sync { number.value += 1 } }()
    async let other: Void = {
      queue.async(flags: isAlone ? .barrier : []) { number.value += 1 }
    }()
    _ = await (one, other)
  }

  // MARK: Queues with a target

  /// A number that two queues touch.
  static func touchByTwo(haveTarget: Bool, attributes: DispatchQueue.Attributes = []) throws {
    let target = DispatchQueue(label: "target")
    let number = Box(0)
    let group = DispatchGroup()
    for name in ["one", "other"] {
      let queue = DispatchQueue(
        label: name,
        attributes: attributes,
        target: haveTarget ? target : nil
      )
      queue.async(group: group) {
        dispatchPrecondition(condition: .onQueue(queue))
        if haveTarget { dispatchPrecondition(condition: .onQueue(target)) }
        number.value += 1
      }
    }
    group.wait()
    try require(number.value == 2, "\(number.value)")
  }

  /// Asks a queue for work while it does work of that one's target.
  static func askOwnTarget(asksAnother: Bool) throws {
    let target = DispatchQueue(label: "target")
    let other = DispatchQueue(label: "other", target: asksAnother ? nil : target)
    target.sync { other.sync {} }
  }

  /// Suspends one of two queues of a target, and waits for the other's work.
  static func suspendOne(waitsForIt: Bool) throws {
    let target = DispatchQueue(label: "target")
    let suspended = DispatchQueue(label: "suspended", target: target)
    let other = DispatchQueue(label: "other", target: target)
    let count = Mutex(0)
    suspended.suspend()
    suspended.async { count.withLock { $0 += 1 } }
    other.sync { count.withLock { $0 += 10 } }
    try require(count.withLock { $0 } == 10, "work of a suspended queue")
    if waitsForIt { suspended.sync {} }
    suspended.resume()
    suspended.sync {}
    try require(count.withLock { $0 } == 11, "lost")
  }

  // MARK: The end of an item

  /// How one finds that an item has run.
  enum Knowledge: Sendable { case waits, isTold, asksGroup, none }

  static func useItem(_ knowledge: Knowledge) async throws {
    let number = Box(0)
    let item = DispatchWorkItem { number.value = 1 }
    let group = DispatchGroup()
    if case .asksGroup = knowledge {
      DispatchQueue.global().async(group: group, execute: item)
    } else {
      DispatchQueue.global().async(execute: item)
    }
    switch knowledge {
    case .waits: wait(for: item)
    case .isTold:
      await withCheckedContinuation { continuation in
        item.notify(queue: .global()) { continuation.resume() }
      }
    case .asksGroup:
      await withCheckedContinuation { continuation in
        group.notify(queue: .global()) { continuation.resume() }
      }
    case .none: break
    }
    try require(number.value == 1, "\(number.value)")
  }

  /// As code does that tasks call without knowing that it blocks them.
  static func wait(for item: DispatchWorkItem) { item.wait() }

  // MARK: What only Dispatch keeps

  /// Asks for all, and keeps nothing of it.
  static func fetchAll(_ done: @escaping @Sendable (Int) -> Void) {
    let sum = Mutex(0)
    let group = DispatchGroup()
    for number in 1...2 {
      group.enter()
      DispatchQueue.global().async {
        sum.withLock { $0 += number }
        group.leave()
      }
    }
    group.notify(queue: .global()) { done(sum.withLock { $0 }) }
  }

  /// Puts a value under a key of a queue, and looks for it in work of another one whose target that is.
  static func askForKey(hasTarget: Bool) throws {
    let key = DispatchSpecificKey<Int>()
    let target = DispatchQueue(label: "target")
    target.setSpecific(key: key, value: 1)
    let queue = DispatchQueue(label: "queue", target: hasTarget ? target : nil)
    let found = queue.sync { DispatchQueue.getSpecific(key: key) }
    try require(found == 1, "\(found ?? 0)")
  }

  /// Not to be called by a task, says its declaration.
  static func waitForEnd(of group: DispatchGroup) { group.wait() }

  /// Gives an item, and cancels it.
  static func cancelItem(looksIfItRan: Bool) throws {
    let queue = DispatchQueue(label: "payments")
    let paid = Mutex(0)
    let item = DispatchWorkItem { paid.withLock { $0 += 1 } }
    queue.async(execute: item)
    item.cancel()
    let ran = queue.sync { paid.withLock { $0 } > 0 }
    try require(looksIfItRan || !ran, "it was cancelled, and it ran")
  }

  /// Two parts of a work change a variable of the function that has it done.
  static func sumUp(side: Bool) throws {
    // Safe or not: that is what is asked.
    nonisolated(unsafe) var sum = 0
    if side {
      DispatchQueue.concurrentPerform(iterations: 2) { sum += $0 }
    } else {
      for number in 0..<2 { sum += number }
    }
    try require(sum == 1, "\(sum)")
  }

  /// Where no task is known: a task must not wait for a semaphore.
  private static func take(_ semaphore: DispatchSemaphore) { semaphore.wait() }

  static let queues: [JudgedProgram] = [
    JudgedProgram("a semaphore is let go of that somebody has taken", fails: .trap) {
      let task = Task {
        let semaphore = DispatchSemaphore(value: 1)
        take(semaphore)
      }
      await task.value
    },
    JudgedProgram("a semaphore is let go of that has its permit again") {
      let task = Task {
        let semaphore = DispatchSemaphore(value: 1)
        take(semaphore)
        semaphore.signal()
      }
      await task.value
    },
    JudgedProgram("a group that nobody keeps tells of its end") {
      let sum = await withCheckedContinuation { continuation in
        fetchAll { continuation.resume(returning: $0) }
      }
      try require(sum == 3, "\(sum)")
    },
    JudgedProgram("work finds what its queue's target has") { try askForKey(hasTarget: true) },
    JudgedProgram("work finds what another queue has", fails: .requirement) {
      try askForKey(hasTarget: false)
    },
    JudgedProgram("an item that is cancelled as it was given may have run") {
      try cancelItem(looksIfItRan: true)
    },
    JudgedProgram("an item that is cancelled as it was given never runs", fails: .requirement) {
      try cancelItem(looksIfItRan: false)
    },
    JudgedProgram("a loop adds up in a variable of its function") { try sumUp(side: false) },
    JudgedProgram("parts side by side add up in a variable of their function", fails: .race) {
      try sumUp(side: true)
    },
    JudgedProgram("work of a global queue is a barrier to nobody") {
      let meeting = DispatchSemaphore(value: 0)
      let other = DispatchSemaphore(value: 0)
      let group = DispatchGroup()
      DispatchQueue.global().async(group: group, flags: .barrier) {
        meeting.signal()
        other.wait()
      }
      DispatchQueue.global().async(group: group, flags: .barrier) {
        other.signal()
        meeting.wait()
      }
      waitForEnd(of: group)
    },
    JudgedProgram("blocks of one queue, and barriers of another") {
      let queues = ["a", "b"].map { DispatchQueue(label: $0, attributes: .concurrent) }
      let group = DispatchGroup()
      for _ in 1...2 { queues[0].async(group: group) {} }
      queues[1].async(group: group, flags: .barrier) {}
      waitForEnd(of: group)
    },
    JudgedProgram("a writer waits for its turn alone") { try await readAndWrite(.sync) },
    JudgedProgram("a writer has its work done alone") { try await readAndWrite(.async) },
    JudgedProgram("a writer has its work done alone, in a group") {
      try await readAndWrite(.asyncInGroup)
    },
    JudgedProgram("a writer gives an item that is a barrier") { try await readAndWrite(.item) },
    JudgedProgram("a writer has its work done beside readers", fails: .race) {
      try await readAndWrite(.none)
    },
    JudgedProgram("two queues of one target touch a number") { try touchByTwo(haveTarget: true) },
    JudgedProgram("two concurrent queues of a serial target touch a number") {
      try touchByTwo(haveTarget: true, attributes: .concurrent)
    },
    JudgedProgram("two queues of their own touch a number", fails: .race) {
      try touchByTwo(haveTarget: false)
    },
    JudgedProgram("work of a target asks a queue of its own") {
      try askOwnTarget(asksAnother: true)
    },
    JudgedProgram("work of a target asks a queue that it is the target of", fails: .deadlock) {
      try askOwnTarget(asksAnother: false)
    },
    JudgedProgram("a queue of a target is suspended, and the other is not") {
      try suspendOne(waitsForIt: false)
    },
    JudgedProgram("a suspended queue is asked for work before it is resumed", fails: .deadlock) {
      try suspendOne(waitsForIt: true)
    },
    JudgedProgram("a queue that nobody keeps does one thing after the other") {
      await leaveWork(isAlone: false)
    },
    JudgedProgram("a barrier of a queue that nobody keeps is alone") {
      await leaveWork(isAlone: true)
    },
    JudgedProgram("who waits for an item finds what it wrote") { try await useItem(.waits) },
    JudgedProgram("who is told of an item's end finds what it wrote") {
      try await useItem(.isTold)
    },
    JudgedProgram("who waits for an item's group finds what it wrote") {
      try await useItem(.asksGroup)
    },
    JudgedProgram("who does not wait for an item reads while it writes", fails: .requirement) {
      try await useItem(.none)
    },
  ]
}
