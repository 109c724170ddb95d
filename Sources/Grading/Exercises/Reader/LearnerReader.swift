internal import Dispatch
internal import Synchronization

/// What a learner mends in the exercise on blocking calls: tasks that read without holding a thread of their
/// pool.
package protocol LearnerReader: Sendable {
  /// Makes a reader of `disk`.
  init(disk: Disk)

  /// What stands in a block of the disk.
  func read(_ block: Int) async throws -> Int
}

/// A disk with one call, which blocks its thread until the block has been read.
package final class Disk: Sendable {
  /// There is no such block.
  package struct NoSuchBlock: Error, Hashable {}

  private let isReady: DispatchSemaphore
  private let late = Mutex(0)
  /// Whether each read that comes back lets the next one come back.
  private let isOpen = Mutex(false)
  /// How often each block was read.
  private let counts = Mutex<[Int: Int]>([:])
  private let readers = Mutex((now: 0, most: 0))
  /// What stands for Swift's pool where the disk is asked; nil where nothing does.
  private let pool = withUnsafeCurrentTask { $0?.unownedTaskExecutor }
  private let heldPool = Mutex<Set<Int>>([])
  private let base: Int

  /// - Parameters:
  ///   - ready: whether blocks are read at once; otherwise `makeReady` must come first.
  ///   - base: what is added to each block.
  init(ready: Bool = true, base: Int = 0) {
    self.base = base
    isReady = DispatchSemaphore(value: 0)
    if ready { makeReady() }
  }

  /// Reads that were given up because the disk did not become ready.
  var givenUp: Int { late.withLock { $0 } }

  /// How many threads were in `read` at once, at most.
  var mostAtOnce: Int { readers.withLock { $0.most } }

  /// A block for which a thread of the pool was held; nil if there is none.
  var readOnPool: Int? { heldPool.withLock { $0.min() } }

  func count(_ block: Int) -> Int { counts.withLock { $0[block, default: 0] } }

  func makeReady() {
    isOpen.withLock { $0 = true }
    isReady.signal()
  }

  /// Lets one read come back; the others wait.
  func letOneRead() { isReady.signal() }

  /// What stands in a block: ten times its number.
  ///
  /// Blocks the calling thread.
  ///
  /// - Throws: `NoSuchBlock` if the number is negative.
  package func read(_ block: Int) throws -> Int {
    counts.withLock { $0[block, default: 0] += 1 }
    if ThisThread.isOfPool(or: pool) { heldPool.withLock { _ = $0.insert(block) } }
    readers.withLock {
      $0.now += 1
      $0.most = max($0.most, $0.now)
    }
    defer { readers.withLock { $0.now -= 1 } }
    // A pool whose threads all wait here would wait for ever. Looks, not a clock: a machine that stood still
    // has run nobody meanwhile.
    var looks = 0
    while isReady.wait(timeout: .now() + .seconds(1)) == .timedOut {
      looks += 1
      guard looks == 5 else { continue }
      late.withLock { $0 += 1 }
      // The others need not wait as long: the answer is known.
      isOpen.withLock { $0 = true }
      break
    }
    if isOpen.withLock({ $0 }) { isReady.signal() }
    guard block >= 0 else { throw NoSuchBlock() }
    return 10 * block + base
  }
}
