import Dispatch
import Mechanisms
import Synchronization
import TestSupport
import Testing

/// Every claim of every profile, for every mechanism of the catalogue.
///
/// Work waits at gates that the test opens, so nothing here depends on how long anything takes. One
/// after the other, because blocked threads are dear: GCD adds about one a second.
@Suite(.watched, .serialized)
struct `Every mechanism` {
  // MARK: - The limit

  @Test(arguments: Conformance.all, [1, 2])
  func `lets in exactly its limit, and one more for each that leaves`(
    conformance: Conformance,
    limit: Int
  ) async throws {
    let stage = try Stage(conformance, limit: limit)
    let count = limit + 2
    let capacity = stage.capacity(for: count)
    let tasks = (1...count).map { stage.send($0) }
    try await stage.until("\(capacity) run") { $0.running.count == capacity }
    for departures in 1...count {
      let first = try #require(stage.log.history.running.first)
      stage.world.open(first)
      try await stage.until("\(departures) left, as many followed") {
        $0.ended.count == departures
          && $0.admitted.count == min(count, capacity + departures)
      }
    }
    try await stage.finish(tasks)
    #expect(stage.log.history.peak == capacity)
    #expect(stage.log.history.finished.count == count)
    try await stage.expectSoundness()
  }

  @Test(arguments: Conformance.all)
  func `counts the permits of those who run, and none for those who wait`(
    conformance: Conformance
  ) async throws {
    let stage = try Stage(conformance, limit: 2)
    let capacity = stage.capacity(for: 5)
    let tasks = (1...5).map { stage.send($0) }
    try await stage.until("\(capacity) run") { $0.running.count == capacity }
    if let inUse = stage.mechanism.permitsInUse {
      // A queue onto an actor counts bodies on their way there; one that has started counts no more.
      if conformance.profile.order != .fifoToFirstSuspension { #expect(inUse == capacity) }
      #expect(inUse <= capacity)
    }
    try await stage.finish(tasks)
    try await stage.expectSoundness()
  }

  @Test(arguments: Conformance.all)
  func `has its task's body finish, whatever kind of work it is given`(
    conformance: Conformance
  ) async throws {
    let stage = try Stage(conformance, limit: 2)
    stage.world.openAll()
    var tasks: [Task<Void, Never>] = []
    for (index, kind) in ServiceKind.allCases.enumerated() {
      tasks.append(stage.send(index + 1, kind: kind))
    }
    try await stage.finish(tasks)
    #expect(stage.log.history.finished.count == ServiceKind.allCases.count)
    let reports = stage.log.history.entries.compactMap { entry -> UInt8? in
      guard case .progress(let share) = entry.kind else { return nil }
      return share
    }
    #expect(reports == SimulatedTask.progressReports)
  }

  // MARK: - The order

  @Test(
    arguments: Conformance.all { $0.order != .none }
  )
  func `that claims an order admits in the order of arrival`(
    conformance: Conformance
  ) async throws {
    let stage = try Stage(conformance, limit: 1)
    let tasks = (1...6).map { stage.send($0) }
    for number in 1...6 {
      try await stage.until("task \(number) is admitted") { $0.admitted.contains(number) }
      stage.world.open(number)
    }
    try await stage.finish(tasks)
    #expect(stage.log.history.admitted == Array(1...6))
  }

  @Test(
    arguments: Conformance.all { $0.order == .fifo }.filter { $0.jobs == .byHand }
  )
  func `that claims FIFO keeps it at limit 3 when those inside leave in another order`(
    conformance: Conformance
  ) async throws {
    let stage = try Stage(conformance, limit: 3)
    let tasks = (1...9).map { stage.send($0) }
    try await stage.until("the first are in") { !$0.admitted.isEmpty }
    while let last = stage.log.history.running.last {
      stage.world.open(last)
      try await stage.until("task \(last) has left") { $0.ended.contains(last) }
    }
    try await stage.finish(tasks)
    #expect(stage.log.history.admitted == Array(1...9))
  }

  // MARK: - What waiting holds

  @Test(
    arguments: Conformance.all { $0.waiting != .blocksThread && $0.waiting != .none }
  )
  func `whose waiting tasks hold no thread leaves the threads to others`(
    conformance: Conformance
  ) async throws {
    let stage = try Stage(conformance, limit: 1)
    let tasks = (1...300).map { stage.send($0) }
    try await stage.until("one is in") { $0.running.count == 1 }
    // If each of 300 held a thread, no pool would have one left for these.
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume() }
    }
    await Task.detached {}.value
    await stage.runElsewhere()
    #expect(stage.log.history.admitted.count == 1)
    try await stage.finish(tasks)
    var atTheGate = 0
    var mostAtTheGate = 0
    for entry in stage.log.history.entries {
      if entry.kind == .blocked { atTheGate += 1 }
      if entry.kind == .admitted, stage.log.history.blocked.contains(entry.task) { atTheGate -= 1 }
      mostAtTheGate = max(mostAtTheGate, atTheGate)
    }
    // A submitting side may wait on behalf of all, beside the one whose permit it took last; a
    // suspended task waits on no thread.
    #expect(mostAtTheGate <= (stage.profile.waiting == .queued ? 2 : 0))
    try await stage.expectSoundness()
  }

  @Test(
    arguments: Conformance.all { $0.waiting == .blocksThread }
  )
  func `whose waiting tasks block threads holds one for each`(
    conformance: Conformance
  ) async throws {
    let stage = try Stage(conformance, limit: 1)
    let tasks = (1...3).map { stage.send($0) }
    try await stage.until("one is in, the others wait") {
      $0.blocked.count == 3 && $0.running.count == 1
    }
    let history = stage.log.history
    let waiting = Set(1...3).subtracting(history.running)
    let threads = Set(waiting.compactMap { history.thread(of: .blocked, of: $0) })
    #expect(threads.count == 2)
    try await stage.finish(tasks)
    let end = stage.log.history
    for task in 1...3 where conformance.kind.holdsWorker {
      // The thread that waited is the thread that is let in: it did nothing else meanwhile.
      #expect(end.thread(of: .blocked, of: task) == end.thread(of: .admitted, of: task))
    }
    try await stage.expectSoundness()
  }

  // MARK: - Cancellation

  @Test(
    arguments: Conformance.all { $0.cancellation != .neverWaits }
  )
  func `turns a task away that is cancelled while it waits, when its profile says`(
    conformance: Conformance
  ) async throws {
    let stage = try Stage(conformance, limit: 1)
    let tasks = (1...4).map { stage.send($0) }
    try await stage.until("one is in") { $0.running.count == 1 }
    let inside = try #require(stage.log.history.running.first)
    let other = inside == 3 ? 4 : 3
    tasks[other - 1].cancel()
    switch stage.profile.cancellation {
    case .leavesAtOnce:
      try await stage.until("it leaves while another runs") {
        $0.end(of: other) == .cancelled(.waiting) && $0.running == [inside]
      }
    case .skippedAtItsTurn:
      if conformance.jobs == .byHand {
        try await stage.until("it stays") { $0.end(of: other) == nil && $0.running == [inside] }
      }
    case .neverWaits:
      Issue.record("a mechanism in which nobody waits has no waiting task to cancel")
    }
    try await stage.finish(tasks)
    let history = stage.log.history
    #expect(history.end(of: other) == .cancelled(.waiting))
    #expect(!history.admitted.contains(other))
    #expect(Set(history.finished) == Set(1...4).subtracting([other]))
    if stage.profile.cancellation == .skippedAtItsTurn {
      let departure = try #require(history.index(of: .finished, of: inside))
      let skipped = try #require(history.index(of: .cancelled(.waiting), of: other))
      #expect(skipped > departure)
    }
    try await stage.expectSoundness()
  }

  @Test(arguments: Conformance.all)
  func `never runs a task cancelled before it arrives, even when nobody is inside`(
    conformance: Conformance
  ) async throws {
    let stage = try Stage(conformance, limit: 1)
    let task = stage.send(1, cancelled: true)
    try await stage.finish([task])
    let expected: TraceEvent.Kind =
      stage.profile.cancellation == .neverWaits ? .cancelled(.running) : .cancelled(.waiting)
    #expect(stage.log.history.end(of: 1) == expected)
    try await stage.expectSoundness()
  }

  @Test(arguments: Conformance.all)
  func `gives the permit of a task cancelled while it runs to the next`(
    conformance: Conformance
  ) async throws {
    let stage = try Stage(conformance, limit: 1)
    let tasks = (1...2).map { stage.send($0) }
    let capacity = stage.capacity(for: 2)
    try await stage.until("it is full") { $0.running.count == capacity }
    let first = try #require(stage.log.history.running.first)
    tasks[first - 1].cancel()
    // Work that holds its thread sees the cancellation when it next looks.
    if conformance.kind != .suspend { stage.world.open(first) }
    try await stage.until("it is cancelled, and the other runs") {
      $0.end(of: first) == .cancelled(.running) && $0.running == [3 - first]
    }
    try await stage.finish(tasks)
    #expect(stage.log.history.end(of: 3 - first) == .finished)
    try await stage.expectSoundness()
  }

  // MARK: - Errors

  @Test(arguments: Conformance.all)
  func `gives back the permits of bodies that throw`(conformance: Conformance) async throws {
    let stage = try Stage(conformance, limit: 2)
    let tasks = (1...6).map { stage.send($0, fails: $0 % 2 == 1) }
    try await stage.finish(tasks)
    let history = stage.log.history
    for number in 1...6 {
      #expect(history.end(of: number) == (number % 2 == 1 ? .failed : .finished))
    }
    try await stage.expectSoundness()
  }

  @Test(arguments: Conformance.all)
  func `keeps its permits through errors and cancellations at once`(
    conformance: Conformance
  ) async throws {
    let stage = try Stage(conformance, limit: 2)
    let tasks = (1...4).map { stage.send($0, fails: $0 == 2) }
    let capacity = stage.capacity(for: 4)
    try await stage.until("it is full") { $0.running.count == capacity }
    tasks[0].cancel()
    tasks[3].cancel()
    try await stage.finish(tasks)
    try await stage.expectSoundness()
  }

  // MARK: - Controls

  @Test(
    arguments: Conformance.all { $0.controls.contains(.limit) }
  )
  func `whose limit can be changed keeps each while tasks run`(
    conformance: Conformance
  ) async throws {
    let stage = try Stage(conformance, limit: 1)
    let tasks = (1...6).map { stage.send($0) }
    try await stage.until("one runs") { $0.running.count == 1 }
    stage.mechanism.changeLimit(to: 3)
    try await stage.until("two more are let in, though nobody left") {
      $0.running.count == 3 && $0.ended.isEmpty
    }
    stage.mechanism.changeLimit(to: 1)
    for number in [1, 2] {
      stage.world.open(number)
      try await stage.until("\(number) left and nobody followed") { $0.ended.contains(number) }
      #expect(stage.log.history.admitted.count == 3)
    }
    stage.world.open(3)
    try await stage.until("the next follows") { $0.running == [4] }
    try await stage.finish(tasks)
    #expect(stage.log.history.faults(limit: 3) == [])
    // Those admitted together on several threads may report in any order.
    if conformance.jobs == .byHand { #expect(stage.log.history.admitted == Array(1...6)) }
    #expect(stage.mechanism.permitsInUse ?? 0 == 0)
  }

  @Test(
    arguments: Conformance.all { $0.controls.contains(.suspension) }
  )
  func `that can be suspended admits nobody meanwhile`(conformance: Conformance) async throws {
    let stage = try Stage(conformance, limit: 1)
    stage.mechanism.setSuspended(true)
    let first = stage.send(1)
    let second = stage.send(2)
    #expect(stage.log.history.admitted.isEmpty)
    #expect(stage.mechanism.permitsInUse ?? 0 == 0)
    // Let in by a queue that was not suspended, the first would overtake the more urgent third.
    let third = stage.send(3, priority: .high)
    stage.mechanism.setSuspended(false)
    try await stage.until("one is in") { $0.running.count == 1 }
    if stage.profile.controls.contains(.priorities) {
      #expect(stage.log.history.admitted == [3])
    }
    try await stage.finish([first, second, third])
    try await stage.expectSoundness()
  }

  @Test(
    arguments: Conformance.all { $0.controls.contains(.dependencies) }
  )
  func `that knows dependencies waits for the end of the one before`(
    conformance: Conformance
  ) async throws {
    let stage = try Stage(conformance, limit: 2)
    let tasks = [stage.send(1), stage.send(2, after: 1), stage.send(3)]
    try await stage.until("the independent ones run") { $0.running.count == 2 }
    #expect(Set(stage.log.history.running) == [1, 3])
    stage.world.open(3)
    try await stage.until("the third leaves") { $0.ended == [3] }
    #expect(stage.log.history.admitted.count == 2)
    stage.world.open(1)
    try await stage.until("the dependent one follows") { $0.running == [2] }
    try await stage.finish(tasks)
    try await stage.expectSoundness()
  }

  @Test(
    arguments: Conformance.all { $0.controls.contains(.priorities) }
  )
  func `that knows priorities admits the most urgent first, and equals in order`(
    conformance: Conformance
  ) async throws {
    let stage = try Stage(conformance, limit: 1)
    let first = stage.send(1)
    try await stage.until("one is in") { $0.running == [1] }
    let levels: [ServicePriority] = [.low, .medium, .high, .low, .medium, .high]
    let others = levels.enumerated().map { stage.send($0 + 2, priority: $1) }
    for number in [1, 4, 7, 3, 6, 2, 5] {
      try await stage.until("\(number) is in") { $0.admitted.contains(number) }
      stage.world.open(number)
    }
    try await stage.finish([first] + others)
    #expect(stage.log.history.admitted == [1, 4, 7, 3, 6, 2, 5])
  }

  // MARK: - Completion

  @Test(
    arguments: Conformance.all { $0.completionSignal != nil }
  )
  func `that signals completion does so after the last end`(
    conformance: Conformance
  ) async throws {
    // Often, because a task that ends after the signal ends only a little after it.
    for _ in 1...20 {
      let stage = try Stage(conformance, limit: 1)
      let tasks = (1...4).map { stage.send($0, fails: $0 == 2) }
      try await stage.until("one is in") { $0.running.count == 1 }
      tasks[3].cancel()
      let endsAtCompletion = Task.immediate { [log = stage.log, mechanism = stage.mechanism] in
        await mechanism.completed()
        return log.history.ended.count
      }
      stage.world.openAll()
      #expect(await endsAtCompletion.value == 4)
      try await stage.finish(tasks)
      try await stage.expectSoundness()
    }
  }

  @Test(
    arguments: Conformance.all { $0.completionSignal == nil }
  )
  func `that signals no completion does not keep its users waiting for one`(
    conformance: Conformance
  ) async throws {
    let stage = try Stage(conformance, limit: 1)
    let task = stage.send(1)
    try await stage.until("one is in") { $0.running == [1] }
    await stage.mechanism.completed()
    #expect(stage.log.history.running == [1])
    try await stage.finish([task])
  }

  // MARK: - Passing

  @Test(arguments: Catalogue.mechanisms.map(\.id), [0, 1, 25])
  func `runs its body exactly as often as it passes`(id: String, times: Int) async throws {
    let mechanism = try #require(Catalogue.entry(id)).make(MechanismSetup(limit: 2))
    let counter = Counter()
    await mechanism.visits(times, CountingBody(counter: counter))
    #expect(counter.value == times)
    #expect(mechanism.permitsInUse ?? 0 == 0)
  }
}

private struct CountingBody: VisitBody {
  let counter: Counter
  func onThread() { counter.increment() }
}

/// Counts from any thread.
private final class Counter: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .relaxed) }
  func increment() { count.add(1, ordering: .relaxed) }
}
