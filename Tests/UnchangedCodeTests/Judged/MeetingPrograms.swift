// swift-format-ignore-file: NeverForceUnwrap
// As published code does.

import Dispatch
import Exploration
import Foundation
import Synchronization

// Actors, time, streams, dispatch queues, and memory: where tasks meet.

extension Judged {
  // MARK: A cache with a download under way

  /// Removes the failed download of another.
  actor ImageCache {
    private var underWay: [String: (id: Int, task: Task<Int, any Error>)] = [:]
    private var ids = 0
    private(set) var running = 0
    private(set) var most = 0
    private let asksWhose: Bool

    init(asksWhose: Bool) { self.asksWhose = asksWhose }

    func image(_ name: String) async throws -> Int {
      if let known = underWay[name] { return try await value(of: known.task, known.id, name) }
      ids += 1
      let id = ids
      let task = Task { try await self.download(fails: id == 1) }
      underWay[name] = (id, task)
      return try await value(of: task, id, name)
    }

    private func value(of task: Task<Int, any Error>, _ id: Int, _ name: String) async throws -> Int
    {
      do {
        return try await task.value
      } catch {
        // Make room for a new attempt; by now another one may be under way.
        if !asksWhose || underWay[name]?.id == id { underWay[name] = nil }
        throw error
      }
    }

    private func download(fails: Bool) async throws -> Int {
      running += 1
      most = max(most, running)
      defer { running -= 1 }
      await Task.yield()
      if fails { throw Failed() }
      return 1
    }
  }

  static func useImageCache(asksWhose: Bool) async throws {
    let cache = ImageCache(asksWhose: asksWhose)
    await withTaskGroup { group in
      for _ in 1...2 {
        group.addTask {
          if (try? await cache.image("logo")) == nil { _ = try? await cache.image("logo") }
        }
      }
    }
    try require(await cache.most == 1, "two downloads at once")
  }

  // MARK: A rate limiter

  actor RateLimiter {
    private var next: ContinuousClock.Instant
    private let interval = Duration.seconds(1)
    private let reservesFirst: Bool

    init(reservesFirst: Bool) {
      self.reservesFirst = reservesFirst
      next = ContinuousClock.now
    }

    /// The instant that is granted.
    func turn() async throws -> ContinuousClock.Instant {
      if reservesFirst {
        let slot = max(next, ContinuousClock.now)
        next = slot + interval
        try await Task.sleep(until: slot, clock: .continuous)
        return slot
      }
      let slot = max(next, ContinuousClock.now)
      try await Task.sleep(until: slot, clock: .continuous)
      next = slot + interval
      return slot
    }
  }

  static func useRateLimiter(reservesFirst: Bool) async throws {
    let limiter = RateLimiter(reservesFirst: reservesFirst)
    let first = try await limiter.turn()
    async let one = limiter.turn()
    async let two = limiter.turn()
    let granted = try await [first, one, two].sorted()
    try require(
      granted[1] - granted[0] >= .seconds(1) && granted[2] - granted[1] >= .seconds(1),
      "two in one second"
    )
  }

  // MARK: A debouncer

  /// Cancels the action that waits; one that has slept enough cannot be cancelled any more.
  actor Debouncer {
    private var task: Task<Void, Never>?
    private var generation = 0
    private(set) var performed: [Int] = []
    private let asksGeneration: Bool

    init(asksGeneration: Bool) { self.asksGeneration = asksGeneration }

    func submit(_ value: Int) -> Task<Void, Never> {
      task?.cancel()
      generation += 1
      let mine = generation
      let next = Task {
        do { try await Task.sleep(for: .milliseconds(300)) } catch { return }
        self.perform(value, mine)
      }
      task = next
      return next
    }

    private func perform(_ value: Int, _ generation: Int) {
      if asksGeneration, generation != self.generation { return }
      performed.append(value)
    }
  }

  static func useDebouncer(asksGeneration: Bool) async throws {
    let debouncer = Debouncer(asksGeneration: asksGeneration)
    let one = await debouncer.submit(1)
    try await Task.sleep(for: .milliseconds(300))
    let two = await debouncer.submit(2)
    await one.value
    await two.value
    let performed = await debouncer.performed
    try require(performed.last == 2, "the older one came last: \(performed)")
  }

  // MARK: A lease that runs out

  /// A store that knows of the lease, or trusts whoever writes.
  actor Store {
    private var token = 0
    private(set) var value = 0
    private(set) var staleWrite = false
    private let asksToken: Bool

    init(asksToken: Bool) { self.asksToken = asksToken }

    func lease() -> Int {
      token += 1
      return token
    }

    func write(_ value: Int, token: Int) {
      if asksToken, token != self.token { return }
      if token != self.token { staleWrite = true }
      self.value = value
    }
  }

  static func useLease(asksToken: Bool) async throws {
    let store = Store(asksToken: asksToken)
    let token = await store.lease()
    // After ten seconds the lease is over, and another takes it.
    async let other: Void = {
      try await Task.sleep(for: .seconds(10))
      let token = await store.lease()
      await store.write(2, token: token)
    }()
    try await Task.sleep(for: .seconds(5))
    await store.write(1, token: token)
    try await other
    try require(await !store.staleWrite, "written behind the end of the lease")
  }

  // MARK: An order that tasks do not keep

  actor Journal {
    private(set) var lines: [Int] = []
    func add(_ line: Int) { lines.append(line) }
  }

  // MARK: Streams

  /// Two producers and one stream: whoever is ready first ends it, or the last.
  static func mergeTwo(countsProducers: Bool) async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let left = Left(2)
    for number in 1...2 {
      Task {
        continuation.yield(number)
        if !countsProducers || left.leave() { continuation.finish() }
      }
    }
    var heard: [Int] = []
    for await number in stream { heard.append(number) }
    try require(heard.sorted() == [1, 2], "heard only \(heard)")
  }

  final class Left: Sendable {
    private let count: Atomic<Int>
    init(_ count: Int) { self.count = Atomic(count) }
    var isOver: Bool { count.load(ordering: .acquiring) == 0 }
    /// Whether it is the last.
    func leave() -> Bool { count.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
  }

  /// A consumer that is slower than its producer, with room for one element or for all.
  static func hearProgress(_ policy: AsyncStream<Int>.Continuation.BufferingPolicy) async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: policy)
    let producer = Task {
      for number in 1...2 { continuation.yield(number) }
      continuation.finish()
    }
    var sum = 0
    for await number in stream { sum += number }
    await producer.value
    try require(sum == 3, "an element is lost")
  }

  // MARK: Work that makes work

  /// Says that all is done when no piece is left; each piece makes another one.
  final class Crew: Sendable {
    enum Order { case leavesFirst, countsOneByOne, countsAllFirst }
    private let pending = Atomic(0)
    private let done = Atomic(0)
    private let ends = Atomic(0)
    private let order: Order

    init(_ order: Order) { self.order = order }

    func work(pieces: Int) async {
      if order == .countsAllFirst { pending.add(pieces, ordering: .sequentiallyConsistent) }
      await withTaskGroup { group in
        for _ in 0..<pieces {
          if order != .countsAllFirst { pending.add(1, ordering: .sequentiallyConsistent) }
          group.addTask { self.doOne(more: true) }
        }
      }
    }

    private func doOne(more: Bool) {
      done.add(1, ordering: .sequentiallyConsistent)
      if more, order != .leavesFirst { pending.add(1, ordering: .sequentiallyConsistent) }
      if pending.subtract(1, ordering: .sequentiallyConsistent).newValue == 0 {
        ends.add(1, ordering: .sequentiallyConsistent)
      }
      if more, order == .leavesFirst { pending.add(1, ordering: .sequentiallyConsistent) }
      if more { doOne(more: false) }
    }

    func checkEnd() throws {
      let count = ends.load(ordering: .sequentiallyConsistent)
      try require(count == 1, "ended \(count) times")
    }
  }

  // MARK: Dispatch

  final class DispatchCounter: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private let queue = DispatchQueue(label: "counter")
    private var count = 0

    func addHastily() {
      let now = queue.sync { count }
      queue.sync { count = now + 1 }
    }

    func add() { queue.sync { count += 1 } }

    var now: Int { queue.sync { count } }
  }

  final class DispatchRates: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private let queue = DispatchQueue(label: "rates", attributes: .concurrent)
    private var rates = [1: 1]

    func set(_ rate: Int, asBarrier: Bool) {
      queue.async(flags: asBarrier ? .barrier : []) { self.rates[1] = rate }
    }

    var now: Int { queue.sync { rates[1]! } }
  }

  /// Waits for two pieces of work; who enters only when it begins may come too late.
  static func gather(entersBefore: Bool) async throws {
    let group = DispatchGroup()
    let done = Left(2)
    let finished = Flag()
    for _ in 1...2 {
      if entersBefore { group.enter() }
      Task {
        if !entersBefore { group.enter() }
        _ = done.leave()
        group.leave()
      }
    }
    await withCheckedContinuation { continuation in
      group.notify(queue: DispatchQueue(label: "gathered")) {
        finished.set(done.isOver)
        continuation.resume()
      }
    }
    try require(finished.now, "told before all was done")
  }

  final class Flag: Sendable {
    private let value = Atomic(false)
    func set(_ new: Bool) { value.store(new, ordering: .releasing) }
    var now: Bool { value.load(ordering: .acquiring) }
  }

  // MARK: States

  /// Connects; two callers may connect at once.
  actor Connection {
    private enum State { case idle, connecting, connected }
    private var state = State.idle
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private let waits: Bool

    init(waits: Bool) { self.waits = waits }

    func connect() async {
      if state == .connected { return }
      if waits, state == .connecting {
        await withCheckedContinuation { waiters.append($0) }
        return
      }
      precondition(state == .idle, "connects twice")
      state = .connecting
      await Task.yield()
      state = .connected
      for waiter in waiters { waiter.resume() }
      waiters = []
    }
  }

  /// Remembers an index over an await.
  actor Playlist {
    private var songs = ["a", "b"]
    private let looksAgain: Bool

    init(looksAgain: Bool) { self.looksAgain = looksAgain }

    func removeLast() async {
      let last = songs.count - 1
      let song = songs[last]
      await Task.yield()
      if looksAgain {
        if let index = songs.firstIndex(of: song) { songs.remove(at: index) }
      } else {
        songs.remove(at: last)
      }
    }
  }

  // MARK: An observer that is gone

  final class Listener: Sendable {
    let heard = Atomic(0)
    func hear() { heard.add(1, ordering: .relaxed) }
  }

  final class Speaker: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private weak var listener: Listener?
    private let said = Atomic(0)

    init(_ listener: Listener) { self.listener = listener }

    func speakHastily() {
      guard listener != nil else { return }
      said.add(1, ordering: .relaxed)
      listener!.hear()
    }

    func speak() {
      guard let listener else { return }
      said.add(1, ordering: .relaxed)
      listener.hear()
    }
  }

  static func useSpeaker(_ speak: @escaping @Sendable (Speaker) -> Void) async throws {
    let owner = Owner()
    let speaker = owner.makeSpeaker()
    try await both {
      speak(speaker)
    } _: {
      owner.letGo()
    }
  }

  final class Owner: Sendable {
    private let listener = Mutex<Listener?>(nil)
    func makeSpeaker() -> Speaker {
      let new = Listener()
      listener.withLock { $0 = new }
      return Speaker(new)
    }
    func letGo() { listener.withLock { $0 = nil } }
  }

  // MARK: Publication

  final class Config: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private var text = ""
    private let isReady = Atomic(false)

    func publish(_ ordering: AtomicStoreOrdering) {
      text = "configured"
      switch ordering {
      case .relaxed: isReady.store(true, ordering: .relaxed)
      default: isReady.store(true, ordering: .releasing)
      }
    }

    func readRelaxed() -> String? { isReady.load(ordering: .relaxed) ? text : nil }
    func readAcquiring() -> String? { isReady.load(ordering: .acquiring) ? text : nil }
  }

  /// A ring of one producer and one consumer.
  final class PointerRing: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private let slots = UnsafeMutablePointer<Int>.allocate(capacity: 2)
    private let head = Atomic(0)
    private let tail = Atomic(0)
    private let writesFirst: Bool

    init(writesFirst: Bool) {
      self.writesFirst = writesFirst
      slots.initialize(repeating: 0, count: 2)
    }
    deinit { slots.deallocate() }

    func push(_ value: Int) -> Bool {
      let at = tail.load(ordering: .relaxed)
      guard at - head.load(ordering: .acquiring) < 2 else { return false }
      if writesFirst { slots[at % 2] = value }
      tail.store(at + 1, ordering: .releasing)
      if !writesFirst { slots[at % 2] = value }
      return true
    }

    func pop() -> Int? {
      let at = head.load(ordering: .relaxed)
      guard at < tail.load(ordering: .acquiring) else { return nil }
      let value = slots[at % 2]
      head.store(at + 1, ordering: .releasing)
      return value
    }
  }

  static func usePointerRing(writesFirst: Bool) async throws {
    let ring = PointerRing(writesFirst: writesFirst)
    let producer = Task { _ = ring.push(7) }
    let value = ring.pop()
    await producer.value
    try require(value == nil || value == 7, "popped another value")
  }

  final class Totals: @unchecked Sendable {
    // Safe or not: that is what is asked.
    var sum = 0
  }

  // Safe or not: that is what is asked.
  nonisolated(unsafe) private static var lastUser = ""

  // MARK: An asynchronous barrier

  actor Rendezvous {
    private let parties: Int
    private var count = 0
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private(set) var phase = 0
    private let startsAnew: Bool

    init(parties: Int, startsAnew: Bool) {
      self.parties = parties
      self.startsAnew = startsAnew
    }

    func arrive() async {
      count += 1
      if count == parties {
        phase += 1
        let all = waiters
        waiters = []
        if startsAnew { count = 0 }
        for waiter in all { waiter.resume() }
      } else {
        await withCheckedContinuation { waiters.append($0) }
      }
    }
  }

  static func useRendezvous(startsAnew: Bool) async throws {
    let rendezvous = Rendezvous(parties: 2, startsAnew: startsAnew)
    try await both {
      await rendezvous.arrive()
      await rendezvous.arrive()
    } _: {
      await rendezvous.arrive()
      await rendezvous.arrive()
    }
    try require(await rendezvous.phase == 2, "the phases are mixed")
  }

  /// Releases whoever arrives last; counts and enters the line apart.
  final class LockedRendezvous: Sendable {
    private let count = Mutex(0)
    private let waiter = Mutex<CheckedContinuation<Void, Never>?>(nil)
    private let state = Mutex<(count: Int, waiter: CheckedContinuation<Void, Never>?)>((0, nil))
    private let isWhole: Bool

    init(isWhole: Bool) { self.isWhole = isWhole }

    func arrive() async {
      await withCheckedContinuation { continuation in
        if isWhole {
          let (isLast, waiter) = state.withLock { state in
            state.count += 1
            if state.count == 2 { return (true, state.waiter) }
            state.waiter = continuation
            return (false, nil)
          }
          waiter?.resume()
          if isLast { continuation.resume() }
        } else {
          let isLast = count.withLock { count in
            count += 1
            return count == 2
          }
          if isLast {
            waiter.withLock { $0.take() }?.resume()
            continuation.resume()
          } else {
            waiter.withLock { $0 = continuation }
          }
        }
      }
    }
  }

  static let others: [JudgedProgram] = [
    JudgedProgram(
      "who hears of a failed download removes the next one, and a third begins beside it",
      fails: .requirement
    ) { try await useImageCache(asksWhose: false) },
    JudgedProgram(
      "who hears of a failed download removes that one only",
      isLong: true
    ) { try await useImageCache(asksWhose: true) },
    JudgedProgram(
      "two who sleep before they reserve their turn have the same one",
      fails: .requirement
    ) { try await useRateLimiter(reservesFirst: false) },
    JudgedProgram(
      "two who reserve their turn before they sleep have two",
      isLong: true
    ) { try await useRateLimiter(reservesFirst: true) },
    JudgedProgram(
      "an action that has slept enough when it is cancelled comes behind the newer one",
      fails: .requirement,
      isLong: true
    ) { try await useDebouncer(asksGeneration: false) },
    JudgedProgram(
      "an action that has slept enough when it is cancelled asks whether it is the newest",
      isLong: true
    ) { try await useDebouncer(asksGeneration: true) },
    JudgedProgram(
      "a holder that is slow writes behind the end of its lease",
      fails: .requirement
    ) { try await useLease(asksToken: false) },
    JudgedProgram(
      "a holder that is slow is refused behind the end of its lease"
    ) { try await useLease(asksToken: true) },
    JudgedProgram(
      "two tasks add their lines in the order in which they happen to run",
      fails: .requirement
    ) {
      let journal = Journal()
      let tasks = [Task { await journal.add(1) }, Task { await journal.add(2) }]
      for task in tasks { await task.value }
      try require(await journal.lines == [1, 2], "the wrong way round")
    },
    JudgedProgram(
      "one task adds its lines in their order"
    ) {
      let journal = Journal()
      let task = Task {
        await journal.add(1)
        await journal.add(2)
      }
      let reader = Task { await journal.lines }
      await task.value
      let seen = await reader.value
      try require([1, 2].starts(with: seen), "saw \(seen)")
    },
    JudgedProgram(
      "the first of two producers ends the stream of both",
      fails: .requirement
    ) { try await mergeTwo(countsProducers: false) },
    JudgedProgram(
      "the last of two producers ends the stream of both",
      isLong: true
    ) { try await mergeTwo(countsProducers: true) },
    JudgedProgram(
      "a stream with room for one element loses the one before",
      fails: .requirement
    ) { try await hearProgress(.bufferingNewest(1)) },
    JudgedProgram(
      "a stream with room for all loses none"
    ) { try await hearProgress(.unbounded) },
    JudgedProgram(
      "a piece of work that counts itself out before it counts the next one in ends all twice",
      fails: .requirement,
      isLong: true
    ) {
      let crew = Crew(.leavesFirst)
      await crew.work(pieces: 1)
      try crew.checkEnd()
    },
    JudgedProgram(
      "the first piece of work is over before the second is counted in, and all ends twice",
      fails: .requirement,
      isLong: true
    ) {
      let crew = Crew(.countsOneByOne)
      await crew.work(pieces: 2)
      try crew.checkEnd()
    },
    JudgedProgram(
      "work that is counted in before any begins ends once",
      isLong: true
    ) {
      let crew = Crew(.countsAllFirst)
      await crew.work(pieces: 2)
      try crew.checkEnd()
    },
    JudgedProgram(
      "a number that is read in one turn of a serial queue, and written in the next, loses an update",
      fails: .requirement
    ) {
      let counter = DispatchCounter()
      try await both {
        counter.addHastily()
      } _: {
        counter.addHastily()
      }
      try require(counter.now == 2, "an update is lost")
    },
    JudgedProgram(
      "a number that is read and written in one turn of a serial queue loses none"
    ) {
      let counter = DispatchCounter()
      try await both {
        counter.add()
      } _: {
        counter.add()
      }
      try require(counter.now == 2, "an update is lost")
    },
    JudgedProgram(
      "a block that writes on a concurrent queue, and is no barrier, meets a reader",
      fails: .race
    ) {
      let rates = DispatchRates()
      rates.set(2, asBarrier: false)
      try require([1, 2].contains(rates.now), "another rate")
    },
    JudgedProgram(
      "a block that writes on a concurrent queue, as a barrier, meets nobody"
    ) {
      let rates = DispatchRates()
      rates.set(2, asBarrier: true)
      try require(rates.now == 2, "the barrier was given first")
    },
    JudgedProgram(
      "work that enters its group when it begins is not waited for",
      fails: .requirement
    ) { try await gather(entersBefore: false) },
    JudgedProgram(
      "work that enters its group before it begins is waited for",
      isLong: true
    ) { try await gather(entersBefore: true) },
    JudgedProgram(
      "an actor that suspends while it connects is asked to connect twice",
      fails: .trap,
      isLong: true
    ) {
      let connection = Connection(waits: false)
      try await both {
        await connection.connect()
      } _: {
        await connection.connect()
      }
    },
    JudgedProgram(
      "an actor that suspends while it connects lets the second wait for the first"
    ) {
      let connection = Connection(waits: true)
      try await both {
        await connection.connect()
      } _: {
        await connection.connect()
      }
    },
    JudgedProgram(
      "an index from before a suspension is out of range behind it",
      fails: .trap,
      isLong: true
    ) {
      let playlist = Playlist(looksAgain: false)
      try await both {
        await playlist.removeLast()
      } _: {
        await playlist.removeLast()
      }
    },
    JudgedProgram(
      "what was at an index before a suspension is looked for anew behind it",
      isLong: true
    ) {
      let playlist = Playlist(looksAgain: true)
      try await both {
        await playlist.removeLast()
      } _: {
        await playlist.removeLast()
      }
    },
    JudgedProgram(
      "a weak reference that was there is gone at the second look",
      fails: .trap,
      isLong: true
    ) { try await useSpeaker { $0.speakHastily() } },
    JudgedProgram(
      "a weak reference is looked at once, and held"
    ) { try await useSpeaker { $0.speak() } },
    JudgedProgram(
      "a text is published by a relaxed store",
      fails: .race
    ) {
      let config = Config()
      let publisher = Task { config.publish(.relaxed) }
      try require([nil, "configured"].contains(config.readRelaxed()), "half a text")
      await publisher.value
    },
    JudgedProgram(
      "a text that is released is read behind a relaxed load",
      fails: .race
    ) {
      let config = Config()
      let publisher = Task { config.publish(.releasing) }
      try require([nil, "configured"].contains(config.readRelaxed()), "half a text")
      await publisher.value
    },
    JudgedProgram(
      "a text that is released is read behind an acquiring load"
    ) {
      let config = Config()
      let publisher = Task { config.publish(.releasing) }
      try require([nil, "configured"].contains(config.readAcquiring()), "half a text")
      await publisher.value
    },
    JudgedProgram(
      "a ring moves its end before it writes the slot",
      fails: .race
    ) { try await usePointerRing(writesFirst: false) },
    JudgedProgram(
      "a ring writes the slot before it moves its end"
    ) { try await usePointerRing(writesFirst: true) },
    JudgedProgram(
      "two tasks add to one field",
      fails: .race
    ) {
      let totals = Totals()
      try await both {
        totals.sum += 1
      } _: {
        totals.sum += 1
      }
      try require(totals.sum == 2, "lost")
    },
    JudgedProgram(
      "two tasks add to one field, the second behind the end of the first"
    ) {
      let totals = Totals()
      let one = Task { totals.sum += 1 }
      let two = Task {
        await one.value
        totals.sum += 1
      }
      await two.value
      try require(totals.sum == 2, "lost")
    },
    JudgedProgram(
      "two tasks write one global variable",
      fails: .race
    ) {
      try await both {
        lastUser = "a"
      } _: {
        lastUser = "b"
      }
    },
    JudgedProgram(
      "a rendezvous that does not begin anew keeps all in the second phase",
      fails: .deadlock
    ) { try await useRendezvous(startsAnew: false) },
    JudgedProgram(
      "a rendezvous begins anew in the turn in which it ends"
    ) { try await useRendezvous(startsAnew: true) },
    JudgedProgram(
      "who is counted and not yet in line is forgotten by the last to come",
      fails: .deadlock
    ) {
      let rendezvous = LockedRendezvous(isWhole: false)
      try await both {
        await rendezvous.arrive()
      } _: {
        await rendezvous.arrive()
      }
    },
    JudgedProgram(
      "who is counted and in line under one lock is resumed by the last to come"
    ) {
      let rendezvous = LockedRendezvous(isWhole: true)
      try await both {
        await rendezvous.arrive()
      } _: {
        await rendezvous.arrive()
      }
    },
  ]
}
