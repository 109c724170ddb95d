import Dispatch
import Exploration
import Foundation
import Synchronization
import TestSupport
import Testing

/// More programs of somebody who knew the documentation only: what was accused though it is right, and what was not
/// though it is wrong.
@Suite(.inTurn, .watched) struct `Later findings of strangers` {
  private final class Count: @unchecked Sendable {
    // Safe only where a test says so: that is what is tested.
    var value = 0
  }

  /// Runs both on threads of Dispatch, and waits for them.
  private func threads(
    _ one: @escaping @Sendable () -> Void,
    _ other: @escaping @Sendable () -> Void
  ) async {
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      let group = DispatchGroup()
      for body in [one, other] { DispatchQueue.global().async(group: group, execute: body) }
      group.notify(queue: .global()) { done.resume() }
    }
  }

  // MARK: Right, and accused

  @Test func `many items that are waited for are each its own`() throws {
    // Of so many, some have the same place in a table.
    let verdict = try explore("items", preemptions: 0, schedules: 3, instead: nil) {
      let queue = DispatchQueue(label: "items")
      let count = Count()
      let items = (1...200).map { _ in DispatchWorkItem { count.value += 1 } }
      for item in items { queue.async(execute: item) }
      for item in items { item.wait() }
      try require(count.value == items.count, "\(count.value) of \(items.count) ran")
    }
    #expect(verdict.schedules > 0)
  }

  @Test func `a local that a helper writes is not that of the thread before`() throws {
    let verdict = try explore("helpers") {
      let run: @Sendable () -> Void = {
        var answer = 0
        let done = DispatchSemaphore(value: 0)
        withUnsafeMutablePointer(to: &answer) { pointer in
          // It is written before the wait for it is over.
          nonisolated(unsafe) let pointer = pointer
          DispatchQueue.global().async {
            pointer.pointee = 42
            done.signal()
          }
          done.wait()
        }
        precondition(answer == 42)
      }
      await threads(run, run)
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @Test func `pages that are mapped anew are not those of before`() throws {
    try explore("pages") {
      let use: @Sendable () -> Void = {
        let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
        page.assumingMemoryBound(to: Int.self).pointee = 1
        munmap(page, 4096)
      }
      await threads(use, use)
    }
  }

  /// Plays for whoever still has it.
  private final class Player: Sendable {
    let played = Mutex(0)
    func play() { played.withLock { $0 += 1 } }
  }

  private final class Listener: Sendable {
    private let player: Mutex<Player?>
    init(_ player: Player) { self.player = Mutex(player) }
    func letGo() { player.withLock { $0 = nil } }
  }

  @Test func `who looks for an object twice may find it gone the second time`() async throws {
    let body: @Sendable (_ looksOnce: Bool) async throws -> Void = { looksOnce in
      let listener: Listener
      weak let player: Player?
      do {
        let made = Player()
        listener = Listener(made)
        player = made
      }
      let owner = Task { listener.letGo() }
      if looksOnce {
        player?.play()
      } else if player != nil {
        try require(player != nil, "it is gone")
      }
      await owner.value
    }
    let verdict = try explore("looks once") { try await body(true) }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
    let failure = try failure("looks twice") { try await body(false) }
    guard case .requirement(let text) = failure.kind, text.hasPrefix("it is gone") else {
      throw failure
    }
    #expect(failure.description.contains("looks for the object of a weak reference"), "\(failure)")
  }

  @Test func `what ends a sleep is none of the program's tasks`() throws {
    let failure = try failure("sleeps") {
      try await Task.sleep(for: .seconds(1))
      let task = Task { try await Task.sleep(for: .seconds(1)) }
      try await task.value
      try require(false, "this is told")
    }
    #expect(failure.description.contains("starts task 2"), "\(failure)")
    #expect(!failure.description.contains("task 3"), "\(failure)")
  }

  @Test func `a queue that is inactive begins no work before it is activated`() throws {
    let verdict = try explore("inactive") {
      let queue = DispatchQueue(label: "inactive", attributes: [.initiallyInactive])
      let count = Count()
      queue.async { count.value += 1 }
      count.value = 3
      queue.activate()
      queue.activate()
      queue.sync {}
      try require(count.value == 4, "\(count.value)")
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
    try explore("a target") {
      let queue = DispatchQueue(
        label: "inactive",
        attributes: [.concurrent, .initiallyInactive],
        target: DispatchQueue(label: "target")
      )
      let count = Count()
      for _ in 1...2 { queue.async { count.value += 1 } }
      queue.activate()
      queue.sync(flags: .barrier) {}
    }
    let failure = try failure("never active") {
      let queue = DispatchQueue(label: "inactive", attributes: [.initiallyInactive])
      await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        queue.async { done.resume() }
      }
      queue.activate()
    }
    guard case .deadlock = failure.kind else { throw failure }
  }

  @Test func `who has a lock to write is told so when it wants to read`() throws {
    let verdict = try explore("written here") {
      // Given to nobody but the two.
      nonisolated(unsafe) let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
      pthread_rwlock_init(lock, nil)
      let read: @Sendable () -> Int32 = {
        let status = pthread_rwlock_rdlock(lock)
        if status == 0 { pthread_rwlock_unlock(lock) }
        return status
      }
      await threads(
        {
          pthread_rwlock_wrlock(lock)
          precondition(read() == EDEADLK)
          precondition(pthread_rwlock_wrlock(lock) == EDEADLK)
          pthread_rwlock_unlock(lock)
        },
        { precondition(read() == 0) }
      )
      pthread_rwlock_destroy(lock)
      lock.deallocate()
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @Test func `a sleep for ever ends when it is cancelled, and at no other time`() throws {
    let verdict = try explore("for ever") {
      let sleeps: [@Sendable () async throws -> Void] = [
        { try await Task.sleep(nanoseconds: .max) },
        { try await Task.sleep(for: .seconds(Int64.max)) },
        { try await Task.sleep(until: .now + .seconds(Int64.max), clock: .continuous) },
      ]
      for sleep in sleeps {
        let task = Task { try await sleep() }
        try await Task.sleep(for: .milliseconds(1))
        task.cancel()
        guard case .failure(is CancellationError) = await task.result else {
          preconditionFailure("it woke by itself")
        }
      }
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
    let failure = try failure("nobody cancels") {
      try await Task.sleep(for: .seconds(Int64.max))
    }
    guard case .deadlock = failure.kind else { throw failure }
  }

  @Test func `a wait of a hundred years is over only when it is signalled`() throws {
    try explore("a hundred years") {
      let condition = NSCondition()
      let ready = Count()
      await threads(
        {
          condition.lock()
          while ready.value == 0 {
            precondition(condition.wait(until: Date(timeIntervalSinceNow: 100 * 365 * 86_400)))
          }
          condition.unlock()
        },
        {
          condition.lock()
          ready.value = 1
          condition.signal()
          condition.unlock()
        }
      )
    }
  }

  @Test func `each way for a thread to sleep takes the schedule's time`() throws {
    try explore("sleeps") {
      var short: [String] = []
      func check(_ name: String, _ sleep: () -> Void) {
        let before = Date()
        sleep()
        if Date().timeIntervalSince(before) < 0.019 { short.append(name) }
      }
      var span = timespec(tv_sec: 0, tv_nsec: 20_000_000)
      check("clock_nanosleep") { clock_nanosleep(CLOCK_MONOTONIC, 0, &span, nil) }
      check("clock_nanosleep until") {
        var until = timespec()
        clock_gettime(CLOCK_MONOTONIC, &until)
        until.tv_sec += 1
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nil)
      }
      check("poll") { poll(nil, 0, 20) }
      check("select") {
        var time = timeval(tv_sec: 0, tv_usec: 20_000)
        select(0, nil, nil, nil, &time)
      }
      var (one, other) = (timespec(), timespec())
      timespec_get(&one, TIME_UTC)
      try await Task.sleep(for: .seconds(2))
      timespec_get(&other, TIME_UTC)
      if other.tv_sec - one.tv_sec != 2 { short.append("timespec_get") }
      try require(short.isEmpty, "\(short)")
    }
  }

  private final class Parsed: @unchecked Sendable {
    // Written before it is shared.
    var words = 0
    init() { words = 8 }
  }

  private struct Document: Sendable, ~Copyable {
    let parsed = AtomicLazyReference<Parsed>()
    let isKept: Bool

    func parse() -> Parsed {
      if let found = parsed.load() { return found }
      let mine = Parsed()
      let kept = parsed.storeIfNil(mine)
      return isKept ? kept : mine
    }
  }

  private func parse(isKept: Bool) async throws {
    let document = Document(isKept: isKept)
    let parse: @Sendable () -> Parsed = { document.parse() }
    async let one = parse()
    async let other = parse()
    let (first, second) = await (one, other)
    try require(first.words == 8 && second.words == 8, "not parsed")
    try require(first === second, "two documents")
  }

  @Test func `a lazy reference orders what is in it, and one who keeps his own is found`() throws {
    let verdict = try explore("kept") { try await parse(isKept: true) }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
    let failure = try failure("his own") { try await parse(isKept: false) }
    #expect(failure.description.contains("two documents"), "\(failure)")
  }

  @Test func `an observer reads what was written before it was added`() throws {
    let verdict = try explore("observer") {
      let centre = NotificationCenter()
      let count = Count()
      await threads(
        {
          count.value = 1
          let token = centre.addObserver(forName: .init("a"), object: nil, queue: nil) { _ in
            precondition(count.value == 1)
          }
          withExtendedLifetime(token) {}
        },
        { centre.post(name: .init("a"), object: nil) }
      )
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @Test func `who is resumed before it waits is behind who has resumed it`() throws {
    for isChecked in [false, true] {
      let verdict = try explore("resumed early, \(isChecked)") {
        let count = Count()
        if isChecked {
          await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            Task.detached {
              Task.detached {
                count.value = 1
                done.resume()
              }
            }
          }
        } else {
          await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
            Task.detached {
              count.value = 1
              done.resume()
            }
          }
        }
        count.value += 1
        try require(count.value == 2, "\(count.value)")
      }
      #expect(verdict.coverage == .exhaustive, "\(verdict)")
    }
  }

  @Test func `the blocks of a queue that goes on are behind who had it go on`() throws {
    let verdict = try explore("goes on") {
      let queue = DispatchQueue(label: "held")
      let count = Count()
      queue.suspend()
      queue.async { count.value += 1 }
      count.value = 4
      queue.resume()
      queue.sync {}
      try require(count.value == 5, "\(count.value)")
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  // MARK: Wrong, and not accused

  @Test func `who listens for a moment only hears what is posted then`() throws {
    let failure = try failure("a moment") {
      let centre = NotificationCenter()
      let heard = Atomic(0)
      await threads(
        { centre.post(name: .init("a"), object: nil) },
        {
          let token = centre.addObserver(forName: .init("a"), object: nil, queue: nil) { _ in
            heard.add(1, ordering: .relaxed)
          }
          centre.removeObserver(token)
        }
      )
      try require(heard.load(ordering: .relaxed) == 0, "it was heard")
    }
    #expect(failure.description.contains("it was heard"), "\(failure)")
  }

  @Test func `a lock that is released twice is told`() throws {
    let failure = try failure("twice") {
      let lock = NSLock()
      let twice: @Sendable () -> Void = {
        lock.lock()
        lock.unlock()
        lock.unlock()
      }
      await threads(twice, { lock.withLock {} })
    }
    guard case .trap(let words) = failure.kind else { throw failure }
    #expect(words.contains("a lock is released that nobody has"))
    #expect(failure.description.contains("LaterFindingsTests.swift"), "\(failure)")
  }

  @Test func `a lock of readers and writers that is released twice is told`() throws {
    let failure = try failure("refused, and released") {
      // Given to nobody but the two.
      nonisolated(unsafe) let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
      pthread_rwlock_init(lock, nil)
      let add: @Sendable () -> Void = {
        pthread_rwlock_wrlock(lock)
        // It is refused, and nobody looks.
        pthread_rwlock_rdlock(lock)
        pthread_rwlock_unlock(lock)
        pthread_rwlock_unlock(lock)
      }
      await threads(add, add)
    }
    guard case .trap(let words) = failure.kind else { throw failure }
    #expect(words.contains("a lock is released that nobody has"))
  }

  @Test func `a program that sends itself a signal that ends it fails, and goes on`() throws {
    for number in [SIGTERM, SIGINT, SIGHUP] {
      let failure = try failure("signal \(number)") {
        let isSet = Atomic(false)
        let set: @Sendable () -> Void = { isSet.store(true, ordering: .relaxed) }
        let look: @Sendable () -> Void = { if isSet.load(ordering: .relaxed) { raise(number) } }
        async let one: Void = set()
        async let other: Void = look()
        _ = await (one, other)
      }
      guard case .trap(let words) = failure.kind else { throw failure }
      #expect(words.contains("sends itself signal \(number)"))
    }
  }

  private static func waitInExpectation() async {
    let isStopped = Flag()
    let task = Task {
      await withCheckedContinuation { continuation in
        if !isStopped.value.load(ordering: .relaxed) { continuation.resume() }
      }
      return 5
    }
    isStopped.value.store(true, ordering: .relaxed)

    #expect(await task.value == 5)

    let one = 1
    #expect(one == 1)
  }

  private static let lineOfExpectation: Int = #line - 6

  private final class Flag: Sendable {
    let value = Atomic(false)
  }

  @Test func `a wait inside of an expectation is told with the expectation's line`() throws {
    let failure = try failure("in an expectation") { await Self.waitInExpectation() }
    guard case .deadlock = failure.kind else { throw failure }
    #expect(
      failure.description.contains(
        "task 1 waits for ever at LaterFindingsTests.swift:\(Self.lineOfExpectation)"
      ),
      "\(failure)"
    )
  }
}
