import Dispatch
import Exploration
import Foundation
import Synchronization

/// Where a drawn program plays.
private final class DrawnScene: Sendable {
  private let numbers = Numbers()
  private let one = Mutex("")
  private let other = Mutex("")
  private let notes = [Notes(), Notes()]
  private let gates = [Gate(), Gate()]
  private let begin = ContinuousClock.now
  private let things: Things
  private let tasks = Mutex<[Task<String, Never>]>([])
  private let given = AsyncStream.makeStream(of: Int.self)
  private let queue = DispatchQueue(label: "sent")
  private let sent = Mutex("")
  private let worked = Words()
  private let executor = QueueOfTasks()
  private let anywhere = DispatchQueue(label: "anywhere", attributes: .concurrent)
  private let group = DispatchGroup()
  private let locks = DrawnLocks()
  private let waits = DrawnWaits()
  private let threads = DrawnThreads()
  private let room = WaitingRoom()
  private let looking = [Gate(looksBefore: true), Gate(looksBefore: true)]
  private let queueActor = QueueActor()
  private let expected = Mutex<CheckedContinuation<Void, Never>?>(nil)
  private let newest = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
  private let holds: DrawnHolds
  private let operations = OperationQueue()
  private let operation: Operation
  // Safe: Dispatch has an atomic in it.
  nonisolated(unsafe) private let work: DispatchWorkItem

  init(tasks: Int) {
    things = Things(tasks)
    holds = DrawnHolds(tasks)
    operations.maxConcurrentOperationCount = 1
    operation = BlockOperation { [worked] in worked.add("o") }
    work = DispatchWorkItem { [worked] in worked.add("w") }
  }

  private func append(_ number: Int, to lock: Int) {
    if lock == 0 {
      self.one.withLock { $0 += "\(number)" }
    } else {
      self.other.withLock { $0 += "\(number)" }
    }
  }

  private func task(_ number: Int) -> Task<String, Never>? {
    tasks.withLock { $0.isEmpty ? nil : $0[number % $0.count] }
  }

  /// Does it; returns what was seen.
  private func act(_ deed: DrawnProgram.Deed, _ number: Int, _ seen: String) async -> String {
    switch deed {
    case .when(let deed):
      guard let last = seen.utf8.last, last % 2 == 1 else { return "" }
      return await act(deed, number, seen)
    case .load, .store, .add, .compare, .swap, .spin: return await change(deed, number)
    case .take, .tryToTake, .nest, .takeInTime, .tryRecursively, .read, .write, .tryToRead,
      .tryToWrite, .guardedStore, .guardedLoad, .spinLock:
      return lock(deed, number)
    case .enterAlone, .signal, .await, .awaitNow, .awaitInTime, .awaitWord, .awaitWordInTime,
      .tellOne, .tellAll:
      return waits.act(deed, number)
    case .send, .sync, .sendAnywhere, .sendAlone, .mainQueue, .join, .joinNow, .workInGroup,
      .notify, .work, .cancelWork, .isWorkCancelled:
      return dispatch(deed, number)
    case .group, .groupThatIsCancelled, .groupThatThrows, .groupThatDiscards, .groupOfWriters,
      .groupInTime:
      return await together(deed, number)
    case .yield, .start, .child, .value, .detach, .urgent, .atOnce, .raise, .rank:
      return await task(deed, number)
    case .visit, .visitTwice, .through, .stay, .waitInside, .call, .visitByQueue, .main, .elsewhere:
      return await visit(deed, number)
    case .wait, .open, .waitLooking, .expect, .answer, .give, .giveNewest, .receive:
      return await meet(deed, number)
    case .cancel, .ask, .handle, .cancelSelf, .check, .askOther, .sleep, .time:
      return await stop(deed, number)
    case .drop: things.drop(number)
    case .look: return things.isThere ? "o" : "d"
    case .isAlone: return things.isAlone(number) ? "1" : "2"
    case .dropHidden: holds.dropHidden(number)
    case .dropActor: holds.dropActor(number)
    case .dropResident: holds.dropResident(number)
    case .draw: return "\(Int.random(in: 0..<1_000))"
    case .keep: locks.keep(number)
    case .recall: return locks.recalled
    case .operate: operations.addOperation { self.worked.add(number) }
    case .cancelOperation: operation.cancel()
    case .isOperating: return "\(operation.isCancelled)\(operation.isFinished)"
    case .thread, .threadThatCounts, .threadOfFoundation, .threadThatSignals, .joinThread,
      .countOfThreads, .post, .takePost, .tryPost, .enterBySemaphore:
      return threads.act(deed, number)
    }
    return ""
  }

  private func change(_ deed: DrawnProgram.Deed, _ number: Int) async -> String {
    switch deed {
    case .load(let one): return "\(numbers.change(one == 1) { $0.load(ordering: .relaxed) })"
    case .store(let one): numbers.change(one == 1) { $0.store(number + 1, ordering: .relaxed) }
    case .add(let one):
      return "\(numbers.change(one == 1) { $0.wrappingAdd(1, ordering: .relaxed).newValue })"
    case .compare(let one):
      let result = numbers.change(one == 1) {
        $0.compareExchange(expected: 0, desired: number + 1, ordering: .relaxed)
      }
      return "\(result.exchanged)"
    case .swap(let one):
      return "\(numbers.change(one == 1) { $0.exchange(number + 1, ordering: .relaxed) })"
    case .spin(let one):
      for count in 0..<2 {
        if numbers.change(one == 1, { $0.load(ordering: .relaxed) }) != 0 { return "\(count)" }
        await Task.yield()
      }
      return "2"
    default: fatalError("\(deed)")
    }
    return ""
  }

  private func lock(_ deed: DrawnProgram.Deed, _ number: Int) -> String {
    switch deed {
    case .take(let one): append(number, to: one)
    case .tryToTake(let one):
      let isDone: ()? =
        one == 1
        ? other.withLockIfAvailable { $0 += "t" } : self.one.withLockIfAvailable { $0 += "t" }
      return isDone == nil ? "-" : "+"
    case .nest(let one):
      if one == 0 {
        self.one.withLock { _ in append(number, to: 1) }
      } else {
        self.other.withLock { _ in append(number, to: 0) }
      }
    default: return locks.act(deed, number)
    }
    return ""
  }

  private func dispatch(_ deed: DrawnProgram.Deed, _ number: Int) -> String {
    let note: @Sendable () -> Void = { self.sent.withLock { $0 += "\(number)" } }
    switch deed {
    case .send: queue.async { note() }
    case .sync: queue.sync { note() }
    case .sendAnywhere: anywhere.async { note() }
    case .sendAlone: anywhere.async(flags: .barrier) { note() }
    case .mainQueue: DispatchQueue.main.async { note() }
    case .join: group.wait()
    case .joinNow: return group.wait(timeout: .now()) == .success ? "e" : "b"
    case .workInGroup: anywhere.async(group: group) { note() }
    case .notify: group.notify(queue: queue) { note() }
    case .work: queue.async(execute: work)
    case .cancelWork: work.cancel()
    case .isWorkCancelled: return "\(work.isCancelled)"
    default: fatalError("\(deed)")
    }
    return ""
  }

  private func task(_ deed: DrawnProgram.Deed, _ number: Int) async -> String {
    switch deed {
    case .yield: await Task.yield()
    case .start(let one): Task { [notes] in await notes[one].add(number + 5) }
    case .detach: Task.detached { self.append(number + 5, to: 0) }
    case .urgent(let one): Task(priority: .high) { [notes] in await notes[one].add(number + 5) }
    case .atOnce:
      guard #available(macOS 26, *) else { break }
      Task.immediate {
        self.append(number + 5, to: 0)
        await Task.yield()
        self.append(number + 7, to: 0)
      }
    case .child(let one):
      async let child: Void = append(number + 5, to: one)
      if one == 0 { await child }
    case .value(let other):
      guard let task = task(number + other) else { return "-" }
      return await task.value
    case .raise(let other):
      guard let task = task(number + other) else { return "-" }
      task.escalatePriority(to: .high)
    case .rank: return "\(Task.currentPriority.rawValue)"
    default: fatalError("\(deed)")
    }
    return ""
  }

  private func visit(_ deed: DrawnProgram.Deed, _ number: Int) async -> String {
    switch deed {
    case .visit(let one): await notes[one].add(number)
    case .visitTwice(let one):
      let count = await notes[one].count()
      await notes[one].add(number)
      return "\(count)"
    case .through(let one): return await notes[one].add(number, to: notes[1 - one])
    case .stay(let one): await notes[one].stay { append(number, to: 1) }
    case .waitInside: await room.wait(number)
    case .call: room.call()
    case .visitByQueue: await queueActor.add(number)
    case .main: await MainActor.run { append(number, to: 0) }
    case .elsewhere:
      await withTaskExecutorPreference(executor) { append(number, to: 1) }
    default: fatalError("\(deed)")
    }
    return ""
  }

  private func meet(_ deed: DrawnProgram.Deed, _ number: Int) async -> String {
    switch deed {
    case .wait(let one): await gates[one].wait()
    case .waitLooking(let one): await looking[one].wait()
    case .open(let one):
      gates[one].open()
      looking[one].open()
    case .expect:
      await withCheckedContinuation { continuation in expected.withLock { $0 = continuation } }
    case .answer:
      // It stays, so that two who answer resume it twice.
      guard let continuation = expected.withLock({ $0 }) else { return "n" }
      continuation.resume()
    case .give: given.continuation.yield(number)
    case .giveNewest:
      if case .dropped(let dropped) = newest.continuation.yield(number) { return "\(dropped)" }
      return "k"
    case .receive:
      // Only one task may wait for a stream at a time.
      guard number == 0 else { return "" }
      for await number in given.stream { return "\(number)" }
      return "e"
    default: fatalError("\(deed)")
    }
    return ""
  }

  private func stop(_ deed: DrawnProgram.Deed, _ number: Int) async -> String {
    switch deed {
    case .cancel(let other):
      // Before all have begun there may be none yet.
      guard let task = task(number + other) else { return "-" }
      task.cancel()
    case .cancelSelf: withUnsafeCurrentTask { $0?.cancel() }
    case .ask: return "\(Task.isCancelled)"
    case .askOther(let other):
      guard let task = task(number + other) else { return "-" }
      return "\(task.isCancelled)"
    case .check: return (try? Task.checkCancellation()) == nil ? "c" : "g"
    case .handle:
      let gate = Gate()
      await withTaskCancellationHandler {
        if numbers.change(false, { $0.load(ordering: .relaxed) }) != 0 { gate.open() }
        await Task.yield()
        if !Task.isCancelled { gate.open() }
        await gate.wait()
      } onCancel: {
        append(number + 7, to: 0)
        gate.open()
      }
    case .sleep(let time):
      let isWhole = (try? await Task.sleep(for: .milliseconds(time))) != nil
      return isWhole ? "s" : "c"
    case .time: return "\((ContinuousClock.now - begin) / .milliseconds(1))"
    default: fatalError("\(deed)")
    }
    return ""
  }

  private func together(_ deed: DrawnProgram.Deed, _ number: Int) async -> String {
    switch deed {
    case .group: return await results()
    case .groupThatIsCancelled:
      return await withTaskGroup(of: String.self) { group in
        for child in 1...2 {
          group.addTask {
            await Task.yield()
            return Task.isCancelled ? "c" : "\(child)"
          }
        }
        let first = await group.next() ?? ""
        group.cancelAll()
        let isAdded = group.addTaskUnlessCancelled { "a" }
        var text = "\(first)\(isAdded)"
        for await result in group { text += result }
        return text
      }
    case .groupThatThrows:
      do {
        return try await withThrowingTaskGroup(of: Int.self) { group in
          group.addTask { [numbers] in
            let found = numbers.change(false) { $0.load(ordering: .relaxed) }
            if found != 0 { throw CancellationError() }
            return found
          }
          group.addTask { Task.isCancelled ? 3 : 4 }
          var text = ""
          for try await result in group { text += "\(result)" }
          return text
        }
      } catch { return "t" }
    case .groupThatDiscards:
      await withDiscardingTaskGroup { group in
        group.addTask { self.append(number + 5, to: 0) }
        group.addTask { await self.notes[0].add(number + 5) }
      }
    case .groupOfWriters:
      await withTaskGroup { group in
        for child in 1...2 {
          group.addTask { [numbers] in
            numbers.change(false) { $0.store(number + child, ordering: .relaxed) }
          }
        }
      }
    case .groupInTime:
      return await withTaskGroup(of: String.self) { group in
        group.addTask {
          (try? await Task.sleep(for: .milliseconds(1))) == nil ? "c" : "late"
        }
        group.addTask {
          await self.notes[1].add(number)
          return "done"
        }
        let first = await group.next() ?? ""
        group.cancelAll()
        return first
      }
    default: fatalError("\(deed)")
    }
    return ""
  }

  private func results() async -> String {
    await withTaskGroup(of: Int.self) { group in
      for number in 1...2 {
        group.addTask { [numbers] in
          numbers.change(number == 2) { $0.load(ordering: .relaxed) } + number * 10
        }
      }
      var text = ""
      for await number in group { text += "\(number) " }
      return text
    }
  }

  /// Plays the program; returns what it came to.
  func play(_ program: DrawnProgram) async -> String {
    let tasks = program.tasks.enumerated().map { number, deeds in
      Task {
        await TaskName.$current.withValue(number + 1) {
          var seen = ""
          for deed in deeds { seen += await self.act(deed, number, seen) }
          return seen
        }
      }
    }
    self.tasks.withLock { $0 = tasks }
    var texts: [String] = []
    for task in tasks { texts.append(await task.value) }
    texts += [one.withLock { $0 }, other.withLock { $0 }, numbers.text]
    texts += await [notes[0].text, notes[1].text]
    if program.has(.give) {
      given.continuation.finish()
      var text = ""
      for await number in given.stream { text += "\(number)" }
      texts.append(text)
    }
    if program.has(.giveNewest) {
      newest.continuation.finish()
      for await number in newest.stream { texts.append("\(number)") }
    }
    if program.usesQueues {
      settle()
      texts.append(sent.withLock { $0 } + worked.text)
    }
    if program.usesThreads {
      threads.settle()
      texts.append(threads.text)
    }
    if program.has(.visitByQueue) { texts.append(await queueActor.text) }
    if program.has(.waitInside) { texts.append(await room.text) }
    return (texts + [things.text, holds.text, locks.text, waits.text]).joined(separator: "/")
  }
}

extension DrawnScene {
  /// Waits for what was given to the queues.
  private func settle() {
    queue.sync {}
    anywhere.sync(flags: .barrier) {}
    operations.waitUntilAllOperationsAreFinished()
  }
}

extension DrawnProgram {
  fileprivate var usesThreads: Bool {
    [
      .thread, .threadThatCounts, .threadOfFoundation, .threadThatSignals, .enterBySemaphore,
    ].contains(where: has)
  }

  fileprivate var usesQueues: Bool {
    [
      .send, .sync, .sendAnywhere, .sendAlone, .mainQueue, .join, .joinNow, .workInGroup,
      .notify, .work, .operate, .elsewhere,
    ].contains(where: has)
  }
}

/// An executor that gives its jobs to a queue.
private final class QueueOfTasks: TaskExecutor {
  private let queue = DispatchQueue(label: "tasks")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

extension Notes {
  /// Adds a word here and there; returns how many came here meanwhile.
  fileprivate func add(_ word: Int, to other: Notes) async -> String {
    let before = count()
    await other.add(word)
    add(word)
    return "\(count() - before)"
  }

  fileprivate func stay(_ body: () -> Void) { body() }
}

/// By what the code knows in whose task it runs.
private enum TaskName {
  @TaskLocal static var current = 0
}

/// An object that each task has, and that all can look at.
private final class Things: @unchecked Sendable {
  // Safe: each task lets go of its own, the weak reference is only read, and who let go last is written in the one
  // `deinit` of the object and read when all tasks have ended.
  private let own: [Own]
  private weak var any: Thing?
  private let last = Last()

  private final class Last {
    var task = 0
  }

  private final class Own {
    var thing: Thing?
    init(_ thing: Thing) { self.thing = thing }
  }

  private final class Thing {
    private let last: Last
    init(_ last: Last) { self.last = last }
    deinit { last.task = TaskName.current }
  }

  init(_ count: Int) {
    let thing = Thing(last)
    any = thing
    own = (0..<count).map { _ in Own(thing) }
  }

  func drop(_ number: Int) { own[number].thing = nil }

  var isThere: Bool { any != nil }

  func isAlone(_ number: Int) -> Bool { isKnownUniquelyReferenced(&own[number].thing) }

  var text: String { "\(last.task)" }
}

extension SmallProgram {
  init(_ program: DrawnProgram) {
    self.init(name: program.name) {
      await DrawnScene(tasks: program.tasks.count).play(program)
    }
  }
}

/// What else has a last owner: an actor, and an object in a type that hides it.
private final class DrawnHolds: @unchecked Sendable {
  // Safe: each task lets go of its own, and who let go last is written in the one `deinit` of each and read when all
  // tasks have ended.
  private var hidden: [Hold]
  private var actors: [Hold]
  private var residents: [Hold]
  private let last = Words()
  private let lastOfHidden = Last()
  private let lastOfActor = Last()

  private final class Last {
    var task = 0
  }

  private final class Hold {
    var it: Any?
    init(_ it: Any) { self.it = it }
  }

  private final class Thing {
    private let last: Last
    init(_ last: Last) { self.last = last }
    deinit { last.task = TaskName.current }
  }

  private actor Lodger {
    // Safe: used in its `deinit` only.
    nonisolated(unsafe) private let last: Last
    init(_ last: Last) { self.last = last }
    deinit { last.task = TaskName.current }
  }

  @MainActor private final class Resident {
    private let last: Words
    nonisolated init(_ last: Words) { self.last = last }
    isolated deinit { last.add("r") }
  }

  init(_ count: Int) {
    let thing = Thing(lastOfHidden)
    let resident = Resident(last)
    residents = (0..<count).map { _ in Hold(resident) }
    let actor = Lodger(lastOfActor)
    hidden = (0..<count).map { _ in Hold(thing) }
    actors = (0..<count).map { _ in Hold(actor) }
  }

  func dropHidden(_ number: Int) { hidden[number].it = nil }

  func dropActor(_ number: Int) { actors[number].it = nil }

  func dropResident(_ number: Int) { residents[number].it = nil }

  var text: String { "\(lastOfHidden.task),\(lastOfActor.task)\(last.text)" }
}

/// Locks of the system and of libraries.
private final class DrawnLocks: @unchecked Sendable {
  // Safe: what is not a lock is used under one.
  private let lock = NSLock()
  private let recursive = NSRecursiveLock()
  private let readers = ReadersLock()
  private let tried = TriedLock()
  private let spinning = SpinningText()
  private let cache = NSCache<NSString, NSNumber>()
  private var guarded = 0
  private var written = ""

  func act(_ deed: DrawnProgram.Deed, _ number: Int) -> String {
    switch deed {
    case .takeInTime:
      guard lock.lock(before: Date(timeIntervalSinceNow: 0.001)) else { return "l" }
      guarded += 1
      defer { lock.unlock() }
      return "\(guarded)"
    case .tryRecursively:
      guard recursive.try() else { return "f" }
      recursive.withLock { lock.withLock { guarded += 2 } }
      recursive.unlock()
    case .guardedStore: lock.withLock { guarded = number + 1 }
    case .guardedLoad: return lock.withLock { "\(guarded)" }
    case .read: return readers.reading { written }
    case .write: readers.writing { written += "\(number)" }
    case .tryToRead: return "\(tried.tries(writing: false))"
    case .tryToWrite: return "\(tried.tries(writing: true))"
    case .spinLock: spinning.add(number)
    default: fatalError("\(deed)")
    }
    return ""
  }

  func keep(_ number: Int) { cache.setObject(NSNumber(value: number), forKey: "key") }

  var recalled: String { "\(cache.object(forKey: "key") ?? 9)" }

  var text: String { "\(guarded)\(written)\(spinning.text)\(recalled)" }
}

/// What blocks a thread until another one lets it go on.
private final class DrawnWaits: @unchecked Sendable {
  // Safe: what is not a lock is used under one.
  private let alone = DispatchSemaphore(value: 0)
  private let permits = DispatchSemaphore(value: 0)
  private let condition = NSCondition()
  private var words = 0
  private var order = ""

  // One that is let go of with less than it began with ends the program.
  init() { alone.signal() }

  func act(_ deed: DrawnProgram.Deed, _ number: Int) -> String {
    switch deed {
    case .enterAlone:
      alone.wait()
      order += "\(number)"
      alone.signal()
    case .signal: permits.signal()
    case .await: permits.wait()
    case .awaitNow: return permits.wait(timeout: .now()) == .success ? "p" : "n"
    case .awaitInTime:
      return permits.wait(timeout: .now() + .milliseconds(1)) == .success ? "p" : "l"
    case .awaitWord:
      condition.withLock {
        while words == 0 { condition.wait() }
        words -= 1
      }
    case .awaitWordInTime:
      return condition.withLock {
        condition.wait(until: Date(timeIntervalSinceNow: 0.001)) ? "w" : "l"
      }
    case .tellOne:
      condition.withLock {
        words += 1
        condition.signal()
      }
    case .tellAll:
      condition.withLock {
        words += 2
        condition.broadcast()
      }
    default: fatalError("\(deed)")
    }
    return ""
  }

  var text: String { order }
}
