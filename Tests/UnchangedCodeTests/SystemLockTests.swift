import Exploration
import Foundation
import Synchronization
import TestSupport
import Testing

/// The system's own locks, of the kinds that Foundation does not offer.
@Suite(.inTurn, .watched) struct `Locks of the system in unchanged code` {
  private final class SharedLock: @unchecked Sendable {
    /// The system's: a reader that comes lets the writers in first that wait.
    static let prefersWriters: Int32 = 2

    // Freed by nobody: a schedule may end while it is held.
    private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)

    init(kind: Int32) {
      var attributes = pthread_rwlockattr_t()
      pthread_rwlockattr_init(&attributes)
      pthread_rwlockattr_setkind_np(&attributes, kind)
      pthread_rwlock_init(lock, &attributes)
    }

    func read<Value>(_ body: () -> Value) -> Value {
      pthread_rwlock_rdlock(lock)
      defer { pthread_rwlock_unlock(lock) }
      return body()
    }

    func tryRead() -> Bool {
      guard pthread_rwlock_tryrdlock(lock) == 0 else { return false }
      pthread_rwlock_unlock(lock)
      return true
    }

    func write(_ body: () -> Void) {
      pthread_rwlock_wrlock(lock)
      body()
      pthread_rwlock_unlock(lock)
    }
  }

  private static func readsAgain(_ kind: Int32) async {
    let lock = SharedLock(kind: kind)
    async let writer: Void = lock.write {}
    lock.read { lock.read {} }
    await writer
  }

  @Test func `to read again behind a writer that waits is a deadlock where writers go first`()
    throws
  {
    let failure = try failure("reads again") { await Self.readsAgain(SharedLock.prefersWriters) }
    guard case .deadlock = failure.kind else { throw failure }
  }

  @Test(arguments: [0, 1]) func `of other kinds a reader overtakes the writers that wait`(
    kind: Int32
  ) throws {
    let verdict = try explore("overtakes") { await Self.readsAgain(kind) }
    #expect(verdict.coverage == .exhaustive)
  }

  @Test func `a try to read fails behind a writer that waits, and at times there is none`() throws {
    let outcomes = Mutex<Set<Bool>>([])
    let verdict = try explore("tries to read") {
      let lock = SharedLock(kind: SharedLock.prefersWriters)
      async let writer: Void = lock.write {}
      let isRead = lock.read { lock.tryRead() }
      await writer
      outcomes.withLock { _ = $0.insert(isRead) }
    }
    #expect(verdict.coverage == .exhaustive)
    #expect(outcomes.withLock { $0 } == [true, false])
  }

  @Test func `two writers and a reader who lets them in first lose nothing`() throws {
    final class Count: @unchecked Sendable {
      let lock = SharedLock(kind: SharedLock.prefersWriters)
      private var value = 0
      func add() { lock.write { value += 1 } }
      var now: Int { lock.read { value } }
    }
    let verdict = try explore("two writers") {
      let count = Count()
      async let one: Void = count.add()
      async let two: Void = count.add()
      let seen = count.now
      _ = await (one, two)
      try require((0...2).contains(seen) && count.now == 2)
    }
    #expect(verdict.coverage == .exhaustive)
  }

  @Test func `a robust mutex is had by the next one when its owner has ended`() throws {
    let verdict = try explore("robust") {
      // Freed by nobody, as above.
      let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
      var attributes = pthread_mutexattr_t()
      pthread_mutexattr_init(&attributes)
      pthread_mutexattr_setrobust(&attributes, 1)
      pthread_mutex_init(mutex, &attributes)
      let address = UInt(bitPattern: mutex)
      let thread = startThread {
        let mutex = UnsafeMutablePointer<pthread_mutex_t>(bitPattern: address)
        pthread_mutex_lock(mutex!)
      }
      pthread_join(thread, nil)
      try require(pthread_mutex_lock(mutex) == EOWNERDEAD)
      pthread_mutex_consistent(mutex)
      try require(pthread_mutex_unlock(mutex) == 0 && pthread_mutex_trylock(mutex) == 0)
    }
    #expect(verdict.coverage == .exhaustive)
  }

  private final class Once: @unchecked Sendable {
    private let once = UnsafeMutablePointer<pthread_once_t>.allocate(capacity: 1)

    init() { once.initialize(to: pthread_once_t()) }
    deinit { once.deallocate() }

    func callAsFunction(_ first: @convention(c) () -> Void) { pthread_once(once, first) }
  }

  private static let made = Mutex(0)

  @Test func `what is made once is waited for by who comes meanwhile`() throws {
    let before = Self.made.withLock { $0 }
    let verdict = try explore("once") {
      let once = Once()
      let start = Self.made.withLock { $0 }
      let make: @Sendable () -> Int = {
        once { Self.made.withLock { $0 += 1 } }
        return Self.made.withLock { $0 }
      }
      async let one = make()
      let two = make()
      try require(await (one, two) == (start + 1, start + 1))
    }
    #expect(verdict.coverage == .exhaustive)
    #expect(Self.made.withLock { $0 } == before + verdict.schedules)
  }

  private static let inner = Once()

  @Test func `what asks for itself as it is made never ends`() throws {
    let failure = try failure("asks for itself") {
      Self.inner { Self.inner {} }
    }
    guard case .deadlock = failure.kind else { throw failure }
  }
}
