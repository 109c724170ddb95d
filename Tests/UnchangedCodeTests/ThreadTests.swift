import Dispatch
import Exploration
import Foundation
import Synchronization
import TestSupport
import Testing

/// Threads that the code under study starts itself.
@Suite(.inTurn, .watched) struct `Threads in unchanged code` {
  /// Does work on a thread of its own, one after the other.
  private final class Hand: @unchecked Sendable {
    enum Fault { case none, looksBeforeLocking, tellsNobody }

    private let condition = NSCondition()
    private var work: [@Sendable () -> Void] = []
    private var isClosed = false
    private var hasEnded = false
    private let fault: Fault

    init(_ fault: Fault = .none) {
      self.fault = fault
      Thread.detachNewThread { [self] in serve() }
    }

    func give(_ job: @escaping @Sendable () -> Void) {
      condition.lock()
      work.append(job)
      condition.unlock()
      if fault != .tellsNobody { condition.signal() }
    }

    private func serve() {
      while let job = next() { job() }
      condition.lock()
      hasEnded = true
      condition.unlock()
      condition.broadcast()
    }

    private func next() -> (@Sendable () -> Void)? {
      condition.lock()
      if fault == .looksBeforeLocking, work.isEmpty, !isClosed {
        condition.unlock()
        condition.lock()
        condition.wait()
      }
      while work.isEmpty, !isClosed { condition.wait() }
      defer { condition.unlock() }
      return work.isEmpty ? nil : work.removeFirst()
    }

    func close() {
      condition.lock()
      isClosed = true
      condition.broadcast()
      while !hasEnded { condition.wait() }
      condition.unlock()
    }
  }

  private static func useHand(_ fault: Hand.Fault) async {
    let hand = Hand(fault)
    await withCheckedContinuation { done in hand.give { done.resume() } }
    hand.close()
  }

  @Test func `a thread that does work for others is explored, to its end`() throws {
    let verdict = try explore("hand") { await Self.useHand(.none) }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
    #expect(verdict.schedules > 10, "\(verdict)")
  }

  @Test func `a wake-up that the thread loses is found`() throws {
    let failure = try failure("lost") { await Self.useHand(.looksBeforeLocking) }
    guard case .deadlock = failure.kind else { throw failure }
    #expect(failure.description.contains("begins as thread 1"), "\(failure)")
  }

  @Test func `one that nobody wakes is found`() throws {
    let failure = try failure("told nobody") { await Self.useHand(.tellsNobody) }
    guard case .deadlock = failure.kind else { throw failure }
  }

  // MARK: Threads of the system

  private final class Count: Sendable {
    let value = Atomic(0)

    func add(atOnce: Bool) {
      if atOnce {
        value.add(1, ordering: .relaxed)
      } else {
        value.store(value.load(ordering: .relaxed) + 1, ordering: .relaxed)
      }
    }
  }

  private static func countTo2(atOnce: Bool) throws {
    let count = Count()
    let threads = (0..<2).map { _ in startThread { count.add(atOnce: atOnce) } }
    for thread in threads { pthread_join(thread, nil) }
    try require(count.value.load(ordering: .relaxed) == 2, "an update was lost")
  }

  @Test func `an update of an atomic that two threads lose is found`() throws {
    let verdict = try explore("at once") { try Self.countTo2(atOnce: true) }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
    let failure = try failure("one by one") { try Self.countTo2(atOnce: false) }
    #expect(failure.description.contains("an update was lost"), "\(failure)")
    #expect(failure.description.contains("sees the end of thread"), "\(failure)")
  }

  private final class Text: @unchecked Sendable {
    var text = ""
    let lock = NSLock()
  }

  @Test func `what is written before the end of a thread is read behind it, and no earlier`()
    throws
  {
    let verdict = try explore("joined") {
      let shared = Text()
      let thread = startThread { shared.text = "written" }
      pthread_join(thread, nil)
      try require(shared.text == "written", shared.text)
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
    let failure = try failure("too early") {
      let shared = Text()
      let thread = startThread { shared.text = "written" }
      shared.text = "read"
      pthread_join(thread, nil)
    }
    guard case .race = failure.kind else { throw failure }
  }

  @Test func `two that take two locks in two orders are found, and who holds what is said`() throws
  {
    let failure = try failure("two orders") {
      let one = NSLock()
      let other = NSLock()
      let threads = [
        startThread { one.withLock { other.withLock {} } },
        startThread { other.withLock { one.withLock {} } },
      ]
      for thread in threads { pthread_join(thread, nil) }
    }
    guard case .deadlock = failure.kind else { throw failure }
    #expect(failure.description.contains("waits for lock"), "\(failure)")
    #expect(failure.description.contains("which task 3 holds"), "\(failure)")
    #expect(failure.description.contains("task 2 waits for ever at"), "\(failure)")
    #expect(failure.description.contains("to end, which is task 2"), "\(failure)")
  }

  @Test func `two that nobody waits for are found deadlocked too`() throws {
    let failure = try failure("detached") {
      let one = NSLock()
      let other = NSLock()
      Thread.detachNewThread { one.withLock { other.withLock {} } }
      Thread.detachNewThread { other.withLock { one.withLock {} } }
    }
    guard case .deadlock = failure.kind else { throw failure }
  }

  @Test func `one that resumes a continuation twice is found`() throws {
    let failure = try failure("twice") {
      await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
        Thread.detachNewThread { done.resume() }
        Thread.detachNewThread { done.resume() }
      }
    }
    #expect(failure.description.contains("was resumed twice"), "\(failure)")
  }

  @Test func `one may run before who has started it does the next thing, and after it`() throws {
    let outcomes = Mutex<Set<String>>([])
    _ = try exploreAll("cancelled", preemptions: 2, reduction: .merging, races: false) {
      let seen = Names()
      let done = DispatchSemaphore(value: 0)
      let thread = Thread {
        seen.add("\(Thread.current.isCancelled)")
        done.signal()
      }
      thread.start()
      thread.cancel()
      done.wait()
      return seen.all.joined()
    } outcome: { text in
      outcomes.withLock { _ = $0.insert(text) }
    }
    #expect(outcomes.withLock { $0 } == ["false", "true"])
  }

  @Test func `memory that is given back while a thread uses it is a race`() throws {
    let failure = try failure("given back") {
      let memory = UnsafeMutablePointer<Int>.allocate(capacity: 1)
      memory.initialize(to: 1)
      let address = UInt(bitPattern: memory)
      let thread = startThread {
        let count = Count()
        let found = UnsafeMutablePointer<Int>(bitPattern: address)?.pointee
        count.value.store(found ?? 0, ordering: .relaxed)
      }
      memory.deallocate()
      pthread_join(thread, nil)
    }
    guard case .race = failure.kind else { throw failure }
  }

  @Test func `one that cannot be waited for is not, and who tries is told so by the system`() throws
  {
    let verdict = try explore("no join") {
      let semaphore = DispatchSemaphore(value: 0)
      let detached = startThread { semaphore.wait() }
      pthread_detach(detached)
      try require(pthread_join(detached, nil) == EINVAL, "a detached thread was waited for")
      semaphore.signal()
      let own = Count()
      let thread = startThread {
        own.value.store(Int(pthread_join(pthread_self(), nil)), ordering: .relaxed)
      }
      pthread_join(thread, nil)
      try require(own.value.load(ordering: .relaxed) == EDEADLK, "it waited for itself")
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @Test func `a small stack has room for what the exploration needs`() throws {
    let verdict = try explore("small") {
      let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
      defer { attributes.deallocate() }
      pthread_attr_init(attributes)
      pthread_attr_setstacksize(attributes, 16_384)
      var thread = pthread_t()
      let result = pthread_create(
        &thread,
        attributes,
        { _ in
          NSLock().withLock {}
          return nil
        },
        nil
      )
      try require(result == 0, "no thread: \(result)")
      pthread_join(thread, nil)
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @Test func `a task that a cancellation handler holds up ends at one time in each run`() throws {
    let verdict = try explore("held up") {
      let hand = Hand()
      let lock = NSLock()
      let task = Task {
        await withTaskCancellationHandler {
          await withCheckedContinuation { done in hand.give { done.resume() } }
        } onCancel: {
          lock.withLock {}
          lock.withLock {}
        }
      }
      task.cancel()
      await task.value
      hand.close()
    }
    #expect(verdict.coverage == .exhaustive || verdict.estimate != nil, "\(verdict)")
  }

  // MARK: Semaphores of the system

  private final class Permits: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init(_ count: UInt32) { sem_init(semaphore, 0, count) }

    deinit {
      sem_destroy(semaphore)
      semaphore.deallocate()
    }

    func take() { while sem_wait(semaphore) != 0 {} }
    func takeIfThere() -> Bool { sem_trywait(semaphore) == 0 }
    func giveBack() { sem_post(semaphore) }

    func take(withinSeconds seconds: Int) -> Bool {
      var time = timespec()
      clock_gettime(CLOCK_REALTIME, &time)
      time.tv_sec += seconds
      return sem_timedwait(semaphore, &time) == 0
    }
  }

  @Test func `a semaphore of the system keeps two apart, and orders them`() throws {
    let verdict = try explore("sem_t") {
      let permits = Permits(1)
      let shared = Text()
      let threads = ["a", "b"].map { name in
        startThread {
          permits.take()
          shared.text += name
          permits.giveBack()
        }
      }
      for thread in threads { pthread_join(thread, nil) }
      try require(["ab", "ba"].contains(shared.text), shared.text)
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @Test func `a permit of a semaphore of the system that nobody gives back is found`() throws {
    let failure = try failure("kept") {
      let permits = Permits(1)
      let threads = (0..<2).map { _ in startThread { permits.take() } }
      for thread in threads { pthread_join(thread, nil) }
    }
    guard case .deadlock = failure.kind else { throw failure }
    #expect(failure.description.contains("waits for semaphore"), "\(failure)")
  }

  @Test func `a wait for a permit until some time ends both ways`() throws {
    let outcomes = Mutex<Set<String>>([])
    _ = try exploreAll("in time", preemptions: 2, reduction: .merging, races: false) {
      let permits = Permits(0)
      let thread = startThread { permits.giveBack() }
      let isEarly = permits.takeIfThere()
      let isInTime = permits.take(withinSeconds: 1)
      pthread_join(thread, nil)
      return "\(isEarly) \(isInTime)"
    } outcome: { text in
      outcomes.withLock { _ = $0.insert(text) }
    }
    #expect(outcomes.withLock { $0 } == ["true false", "false true", "false false"])
  }

  // MARK: What a thread has for itself

  @Test func `each has its own dictionary, and none is the main one`() throws {
    let verdict = try explore("own") {
      let names = Names()
      let semaphore = DispatchSemaphore(value: 0)
      for name in ["a", "b"] {
        let thread = Thread {
          let own = Thread.current.threadDictionary
          names.add("\(name) \(own["name"] ?? "has none") \(Thread.isMainThread)")
          own["name"] = name
          semaphore.signal()
        }
        thread.start()
      }
      semaphore.wait()
      semaphore.wait()
      try require(names.all.sorted() == ["a has none false", "b has none false"], "\(names.all)")
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  private final class Names: Sendable {
    private let names = Mutex<[String]>([])
    func add(_ name: String) { names.withLock { $0.append(name) } }
    var all: [String] { names.withLock { $0 } }
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { ThreadBody.run($0) }
    return key
  }()

  @Test func `what it does when its own values are destroyed comes before its end`() throws {
    let verdict = try explore("destroyed") {
      let shared = Text()
      let key = Self.key
      let thread = startThread {
        let end = ThreadBody { shared.lock.withLock { shared.text += " and ended" } }
        pthread_setspecific(key, end.address)
        shared.lock.withLock { shared.text += "begun" }
      }
      pthread_join(thread, nil)
      try require(shared.text == "begun and ended", shared.text)
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @Test func `one that leaves by pthread_exit has ended`() throws {
    let verdict = try explore("exit") {
      let thread = startThread { pthread_exit(nil) }
      pthread_join(thread, nil)
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  // MARK: Ends of the program

  private typealias Ends = `Code that ends the program`

  @Test(arguments: Ends.ends.indices.fewUnlessLong(1))
  func `one that would end the program is told, and the program goes on`(kind: Int) async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      [kind] in
      let end = Ends.ends[kind]
      let explored: @Sendable () throws -> Void = {
        let count = Count()
        let others = (0..<2).map { _ in startThread { count.add(atOnce: false) } }
        let last = startThread {
          for thread in others { pthread_join(thread, nil) }
          end.body(count.value.load(ordering: .relaxed))
        }
        pthread_join(last, nil)
      }
      let found = try failure("end", explored)
      guard case .trap(let message) = found.kind, message.contains(": \(end.says)"),
        message.hasPrefix("task 4 stops the program at EndTests.swift:")
      else { fatalError("\(found)") }
      let again = try failure("end", replaying: found.schedule, explored)
      guard case .trap(message) = again.kind else { fatalError("\(again)") }
      // Other threads are explored as before.
      let verdict = try explore("thread") { pthread_join(startThread {}, nil) }
      guard case .exhaustive = verdict.coverage else { fatalError("\(verdict)") }
      // At the thread's end, too.
      let late = try failure("late") {
        let key = Self.key
        let thread = startThread {
          let body = ThreadBody { end.body(1) }
          pthread_setspecific(key, body.address)
        }
        pthread_join(thread, nil)
      }
      guard case .trap = late.kind else { fatalError("\(late)") }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(result?.exitStatus == .exitCode(0), "\(text)")
  }

  // MARK: Threads that nobody ends

  @Test func `one that waits for ever for something to do is no deadlock, and is told`() throws {
    let line = #line + 4
    let verdict = try explore("left") {
      let condition = NSCondition()
      Thread.detachNewThread {
        condition.withLock { while true { condition.wait() } }
      }
    }
    #expect(verdict.coverage == .bounded, "\(verdict)")
    #expect(
      verdict.notCovered.contains {
        $0.hasPrefix("what a thread does later that still waits at ThreadTests.swift:\(line) when")
      },
      "\(verdict)"
    )
  }

  @Test func `one that looks now and then keeps no schedule from its end`() throws {
    let verdict = try explore("now and then") {
      let isOver = Count()
      Thread.detachNewThread {
        while isOver.value.load(ordering: .acquiring) == 0 { usleep(1_000) }
      }
    }
    #expect(verdict.coverage == .bounded, "\(verdict)")
    #expect(verdict.givenUp == 0, "\(verdict)")
  }

  /// Signals a condition again and again.
  private final class Beacon: Sendable {
    let condition = Mutex<NSCondition?>(nil)
    let isOver = Count()

    init() {
      Thread.detachNewThread { [self] in
        while isOver.value.load(ordering: .acquiring) == 0 {
          usleep(1_000)
          condition.withLock { $0 }?.signal()
        }
      }
    }
  }

  @Test func `one that was there before is not explored, and who waits for it has left`() throws {
    let beacon = Beacon()
    defer { beacon.isOver.value.store(1, ordering: .releasing) }
    let failure = try failure("before") {
      let condition = NSCondition()
      beacon.condition.withLock { $0 = condition }
      condition.withLock { condition.wait() }
    }
    guard case .escaped = failure.kind else { throw failure }
    #expect(failure.description.contains("for a thread that was there before"), "\(failure)")
  }

  // MARK: Reduction

  @Test(arguments: [true, false])
  func `the reduced search comes to the same as the one of all orders`(isRight: Bool) throws {
    var found: [Reduction: (Set<String>, Int)] = [:]
    for reduction in [Reduction.full, .merging] {
      let outcomes = Mutex<Set<String>>([])
      let verdict = try exploreAll("all", preemptions: 2, reduction: reduction, races: false) {
        let count = Count()
        let threads = (0..<2).map { _ in
          startThread {
            count.add(atOnce: isRight)
            count.add(atOnce: isRight)
          }
        }
        let early = count.value.load(ordering: .relaxed)
        for thread in threads { pthread_join(thread, nil) }
        return "\(early) \(count.value.load(ordering: .relaxed))"
      } outcome: { text in
        outcomes.withLock { _ = $0.insert(text) }
      }
      found[reduction] = (outcomes.withLock { $0 }, verdict.schedules)
    }
    let all = try #require(found[.full])
    let reduced = try #require(found[.merging])
    #expect(all.0 == reduced.0)
    #expect(reduced.1 < all.1)
  }
}
