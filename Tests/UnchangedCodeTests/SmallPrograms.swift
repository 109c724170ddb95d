import Dispatch
import Exploration
import Foundation
import Synchronization
import Testing

/// A small program whose tasks meet in one way or another.
struct SmallProgram: Sendable, CustomTestStringConvertible {
  var name: String
  /// Within how many pre-emptions it is compared.
  var preemptions: [Int?] = [2]
  /// Runs it; returns what it came to.
  var body: @Sendable () async -> String

  var testDescription: String { name }
}

/// What programs came to; it is a lock's, and the last thing that a schedule does.
final class Outcomes: Sendable {
  private let found = Mutex<Set<String>>([])

  func note(_ outcome: String) { _ = found.withLock { $0.insert(outcome) } }

  var all: Set<String> { found.withLock { $0 } }
}

/// Words under a lock.
final class Words: Sendable {
  private let words = Mutex<[String]>([])

  func add(_ word: some CustomStringConvertible & Sendable) {
    words.withLock { $0.append("\(word)") }
  }

  var text: String { words.withLock { $0.joined() } }
  var sortedText: String { words.withLock { $0.sorted().joined() } }
}

/// Words in an actor.
actor Notes {
  private(set) var text = ""

  func add(_ word: some CustomStringConvertible & Sendable) { text += "\(word)" }

  func count() -> Int { text.count }
}

/// Two atomics.
final class Numbers: Sendable {
  let one = Atomic(0)
  let other = Atomic(0)

  func change<Result>(_ isOther: Bool, _ body: (borrowing Atomic<Int>) -> Result) -> Result {
    isOther ? body(other) : body(one)
  }

  var text: String { "\(one.load(ordering: .relaxed)),\(other.load(ordering: .relaxed))" }
}

/// Lets tasks wait until it is opened.
final class Gate: Sendable {
  private typealias Waiter = UnsafeContinuation<Void, Never>
  private let state = Mutex<(isOpen: Bool, waiting: [Waiter])>((false, []))
  /// Whether it looks and waits in two turns of the lock, so that it can be opened in between.
  private let looksBefore: Bool

  init(looksBefore: Bool = false) { self.looksBefore = looksBefore }

  func wait() async {
    if looksBefore, state.withLock({ $0.isOpen }) { return }
    await withUnsafeContinuation { continuation in
      let isOpen = state.withLock { state in
        if looksBefore || !state.isOpen { state.waiting.append(continuation) }
        return !looksBefore && state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}

/// Tokens in an actor, and a line of those who wait for one.
actor TokenBucket {
  private var tokens = 1
  private var line: [UnsafeContinuation<Void, Never>] = []

  func take() async {
    if tokens > 0 { tokens -= 1 } else { await withUnsafeContinuation { line.append($0) } }
  }

  func give() { if line.isEmpty { tokens += 1 } else { line.removeFirst().resume() } }
}

/// Tasks that wait inside an actor, and are resumed by others.
actor WaitingRoom {
  private(set) var text = ""
  private let line = Mutex<[UnsafeContinuation<Void, Never>]>([])

  func wait(_ number: Int) async {
    await withUnsafeContinuation { continuation in line.withLock { $0.append(continuation) } }
    text += "\(number)"
  }

  nonisolated func call() {
    line.withLock { $0.isEmpty ? nil : $0.removeFirst() }?.resume()
  }

  func stay() { line.withLock { _ in } }
}

/// Has so many tasks of a group each do its part.
func together(_ count: Int, _ part: @escaping @Sendable (Int) async -> Void) async {
  await withTaskGroup { group in
    for number in 1...count { group.addTask { await part(number) } }
  }
}

private func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

extension SmallProgram {
  static let all: [SmallProgram] = meetings + orders + cancellations + retries + further + finer

  /// One of each kind that has few schedules.
  static let few = all.compactMap { program in
    guard namesOfFew.contains(program.name) else { return nil as SmallProgram? }
    var program = program
    program.preemptions = [1]
    return program
  }

  private static let namesOfFew: Set = [
    "a lock, taken twice by each", "comparisons, of which one succeeds",
    "a gate that looks and waits at once", "a stream that keeps the newest",
    "who is first resumes it", "a bucket of one token", "the main actor",
    "cancelled work of Dispatch, and then a lock", "a child whose scope ends",
    "a timer that one sets and another ends",
  ]

  /// Locks and atomics.
  private static let meetings = [
    SmallProgram(name: "a lock, taken by three") {
      let words = Words()
      await together(3) { words.add($0) }
      return words.text
    },
    SmallProgram(name: "a lock, taken twice by each", preemptions: [0, 1, 2, nil]) {
      let words = Words()
      await together(2) {
        words.add($0)
        words.add($0 + 2)
      }
      return words.text
    },
    SmallProgram(name: "stores to one atomic") {
      let numbers = Numbers()
      await together(3) { numbers.one.store($0, ordering: .relaxed) }
      return numbers.text
    },
    SmallProgram(name: "tickets, two for each", preemptions: [1, 2, nil]) {
      let numbers = Numbers()
      let words = Words()
      await together(2) { number in
        let one = numbers.one.add(1, ordering: .relaxed).newValue
        let other = numbers.one.add(1, ordering: .relaxed).newValue
        words.add("\(number): \(one), \(other) ")
      }
      return words.sortedText
    },
    SmallProgram(name: "two atomics, one read and the other written", preemptions: [0, 2, nil]) {
      let numbers = Numbers()
      let words = Words()
      await together(2) { number in
        numbers.change(number == 1) { $0.store(1, ordering: .relaxed) }
        let seen = numbers.change(number == 2) { $0.load(ordering: .relaxed) }
        words.add("\(number): \(seen) ")
      }
      return words.sortedText
    },
    SmallProgram(name: "an update in two operations") {
      let numbers = Numbers()
      await together(2) { number in
        let seen = numbers.one.load(ordering: .relaxed)
        numbers.one.store(seen + number, ordering: .relaxed)
      }
      return numbers.text
    },
    SmallProgram(name: "comparisons, of which one succeeds") {
      let numbers = Numbers()
      await together(2) { number in
        let isFirst = numbers.one.compareExchange(expected: 0, desired: number, ordering: .relaxed)
        if !isFirst.exchanged { numbers.other.add(number, ordering: .relaxed) }
      }
      return numbers.text
    },
    SmallProgram(name: "two locks in two orders", preemptions: [0, 1, 2, nil]) {
      let one = NSLock()
      let other = NSLock()
      await together(2) { number in
        (number == 1 ? one : other).withLock { (number == 1 ? other : one).withLock {} }
      }
      return "both"
    },
    SmallProgram(name: "a semaphore of Dispatch") {
      let semaphore = DispatchSemaphore(value: 1)
      let words = Words()
      await together(2) {
        wait(for: semaphore)
        words.add($0)
        semaphore.signal()
      }
      return words.text
    },
    SmallProgram(name: "a queue of Dispatch") {
      let words = Words()
      let queue = DispatchQueue(label: "words")
      await together(2) { number in
        if number == 1 { queue.sync { words.add(1) } } else { queue.async { words.add(2) } }
      }
      queue.sync {}
      return words.text
    },
  ]

  /// Who comes first, of tasks, actors, groups and streams.
  private static let orders = [
    SmallProgram(name: "yields, and a lock") {
      let words = Words()
      await together(2) {
        await Task.yield()
        words.add($0)
      }
      return words.text
    },
    SmallProgram(name: "results of a group") {
      await withTaskGroup(of: Int.self) { group in
        for number in 1...3 { group.addTask { number } }
        var text = ""
        for await number in group { text += "\(number)" }
        return text
      }
    },
    SmallProgram(name: "results of a group that is asked late") {
      await withTaskGroup(of: Int.self) { group in
        for number in 1...2 {
          group.addTask {
            await Task.yield()
            return number
          }
        }
        await Task.yield()
        var text = ""
        for await number in group { text += "\(number)" }
        return text
      }
    },
    SmallProgram(name: "a stream of two who give") {
      let (stream, giver) = AsyncStream.makeStream(of: Int.self)
      let one = Task { _ = giver.yield(1) }
      let two = Task { _ = (giver.yield(2), giver.yield(3)) }
      _ = await (one.value, two.value)
      giver.finish()
      var text = ""
      for await number in stream { text += "\(number)" }
      return text
    },
    SmallProgram(name: "a stream that keeps the newest") {
      let (stream, giver) = AsyncStream.makeStream(
        of: Int.self,
        bufferingPolicy: .bufferingNewest(1)
      )
      let one = Task { _ = (giver.yield(1), giver.yield(2)) }
      let two = Task {
        var text = ""
        for await number in stream { text += "\(number)" }
        return text
      }
      await one.value
      giver.finish()
      return await two.value
    },
    SmallProgram(name: "an actor, visited by three") {
      let notes = Notes()
      await together(3) { await notes.add($0) }
      return await notes.text
    },
    SmallProgram(name: "two actors, visited in two orders", preemptions: [0, 1, 2, nil]) {
      let notes = (Notes(), Notes())
      await together(2) { number in
        await (number == 1 ? notes.0 : notes.1).add(number)
        await (number == 1 ? notes.1 : notes.0).add(number)
      }
      return await "\(notes.0.text)/\(notes.1.text)"
    },
    SmallProgram(name: "tasks that wait in an actor, called while it is taken", preemptions: [0]) {
      let room = WaitingRoom()
      let waiting = (1...2).map { number in Task { await room.wait(number) } }
      await Task.yield()
      let calling = (1...2).map { _ in Task { room.call() } }
      await room.stay()
      for task in calling { await task.value }
      for _ in 1...2 { room.call() }
      room.call()
      await waiting[0].value
      return await room.text
    },
    SmallProgram(name: "a bucket of one token", preemptions: [1]) {
      let bucket = TokenBucket()
      let words = Words()
      await together(2) {
        await bucket.take()
        words.add($0)
        await bucket.give()
      }
      return words.text
    },
    SmallProgram(name: "the main actor") {
      let words = Words()
      let one = Task { @MainActor in
        words.add(1)
        await Task.yield()
        words.add(2)
      }
      let two = Task { @MainActor in words.add(3) }
      _ = await (one.value, two.value)
      return words.text
    },
    SmallProgram(name: "a gate that looks and waits at once", preemptions: [0, 1, 2, nil]) {
      let gate = Gate()
      await together(2) { if $0 == 1 { await gate.wait() } else { gate.open() } }
      return "through"
    },
    SmallProgram(name: "a gate that is opened between a look and a wait", preemptions: [0, 1, 2]) {
      let gate = Gate(looksBefore: true)
      await together(2) { if $0 == 1 { await gate.wait() } else { gate.open() } }
      return "through"
    },
  ]

  /// Cancellations, those that the language makes too, and time.
  private static let cancellations = [
    SmallProgram(name: "a task that asks whether it is cancelled") {
      let words = Words()
      let one = Task {
        words.add(Task.isCancelled ? "c" : "a")
        await Task.yield()
        words.add(Task.isCancelled ? "c" : "b")
      }
      let two = Task { one.cancel() }
      _ = await (one.value, two.value)
      return words.text
    },
    SmallProgram(name: "a handler") {
      let words = Words()
      let one = Task {
        await withTaskCancellationHandler {
          words.add(1)
          await Task.yield()
          words.add(2)
        } onCancel: {
          words.add(3)
        }
      }
      let two = Task { one.cancel() }
      _ = await (one.value, two.value)
      return words.text
    },
    SmallProgram(name: "a group that ends by an error") {
      let words = Words()
      do {
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            let before = Task.isCancelled
            await Task.yield()
            words.add("\(before), \(Task.isCancelled)")
          }
          group.addTask { throw CancellationError() }
          for try await _ in group {}
        }
      } catch {
        words.add("; thrown")
      }
      return words.text
    },
    SmallProgram(name: "a child whose scope ends") {
      let words = Words()
      func child() async {
        let before = Task.isCancelled
        await Task.yield()
        words.add("\(before), \(Task.isCancelled)")
      }
      do {
        async let one: Void = child()
        words.add("; ")
        if words.text.count > 10 { await one }
      }
      return words.text
    },
    SmallProgram(name: "a sleep that is cancelled") {
      let words = Words()
      let one = Task {
        do { try await Task.sleep(for: .seconds(1)) } catch { words.add("thrown") }
        words.add(1)
      }
      let two = Task {
        words.add(2)
        one.cancel()
        words.add(3)
      }
      _ = await (one.value, two.value)
      return words.text
    },
  ]

  /// Loops, of which the search keeps some from going on.
  private static let retries = [
    SmallProgram(name: "a loop that waits for a flag") {
      let numbers = Numbers()
      let words = Words()
      await together(2) { number in
        if number == 1 {
          while numbers.one.load(ordering: .relaxed) == 0 {}
        } else {
          numbers.one.store(1, ordering: .relaxed)
        }
        words.add(number)
      }
      return words.text
    },
    SmallProgram(name: "a loop of yields", preemptions: [1]) {
      let numbers = Numbers()
      let words = Words()
      await together(2) { number in
        if number == 1 {
          while numbers.one.load(ordering: .relaxed) == 0 { await Task.yield() }
        } else {
          words.add(number)
          numbers.one.store(1, ordering: .relaxed)
        }
        words.add(number)
      }
      return words.text
    },
  ]
}
