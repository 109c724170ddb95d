internal import Synchronization

// A worker's own queue, from which others steal.
//
// One thread, the owner, puts jobs in at the tail. Everybody takes from the head: the owner one job at a
// time, a thief half of what is there, at most 128, so that it has work for a while and does not come
// back at once. Blumofe and Leiserson (Scheduling multithreaded computations by work stealing, JACM 1999)
// show that stealing keeps processors busy with little traffic: a thief comes only when it has nothing.
//
// The classic queue for it is Chase and Lev's (Dynamic circular work-stealing deque, SPAA 2005). There the
// owner takes the job it put in last, and thieves take the oldest: best for a program that divides one
// problem. Tasks of a server must be served in order of arrival, or the oldest waits for ever. So here the
// owner takes the oldest too, and both ends become simpler: the thread that advances `head` owns the jobs
// between its old value and its new one. Go's and tokio's queues work like this. From Chase and Lev comes
// the array that grows: a queue of fixed size has to put what overflows somewhere else, and those jobs are
// served less often than the ones inside.
//
// What could go wrong, and why it does not:
// - Two take the same job. Both read `head`, but one exchange succeeds; the other starts again. `head`
//   never returns to an old value, so an exchange cannot succeed by mistake.
// - A thief reads a place that the owner overwrites. The owner writes to a place of the array again only
//   after `head` has passed it. The thief's exchange then fails, and what it read is forgotten.
// - A thief reads from an array that the owner has outgrown. The owner never writes to that array again,
//   and the jobs it held stay in their places. It is kept until the queue goes. The thief looks for the
//   array after it has read `tail`, so it finds one that holds every job up to there.

/// A queue of jobs with one owner and any number of thieves, first in, first out.
///
/// Jobs are addresses. `push`, `pop` and the receiving side of `steal` belong to the owner's thread.
///
/// Safe to share: `rings` is touched by the owner only, all else is atomic.
final class RunQueue: @unchecked Sendable {
  /// Where the oldest job lies; counts up for ever.
  private let head = Atomic<UInt>(0)
  /// Where the next job goes; counts up for ever, and only the owner changes it.
  private let tail = Atomic<UInt>(0)
  private let ring: Atomic<Unmanaged<Ring>>
  /// The array in use, last, and those outgrown.
  ///
  /// All together are less than twice the one in use.
  private var rings: [Ring]

  /// - Parameter capacity: Places at first, a power of two.
  init(capacity: Int = 256) {
    let first = Ring(capacity: UInt(capacity))
    rings = [first]
    ring = Atomic(.passUnretained(first))
  }

  /// Whether there is nothing to take; anybody may ask.
  ///
  /// One order with the pushes and with who sleeps: see `Resting`.
  var isEmpty: Bool {
    head.load(ordering: .sequentiallyConsistent) == tail.load(ordering: .sequentiallyConsistent)
  }

  /// Puts a job at the back; only the owner may.
  @inline(__always)
  func push(_ job: UInt) {
    let tail = self.tail.load(ordering: .relaxed)
    let head = self.head.load(ordering: .acquiring)
    var ring = rings[rings.count - 1]
    if tail &- head == ring.capacity {
      ring = Ring(copying: ring, from: head, to: tail)
      rings.append(ring)
      self.ring.store(.passUnretained(ring), ordering: .releasing)
    }
    ring[tail] = job
    self.tail.store(tail &+ 1, ordering: .sequentiallyConsistent)
  }

  /// Takes the oldest job; only the owner may.
  @inline(__always)
  func pop() -> UInt? {
    let tail = self.tail.load(ordering: .relaxed)
    var head = self.head.load(ordering: .acquiring)
    while head != tail {
      let job = rings[rings.count - 1][head]
      let (exchanged, original) = self.head.compareExchange(
        expected: head,
        desired: head &+ 1,
        ordering: .acquiringAndReleasing
      )
      if exchanged { return job }
      head = original
    }
    return nil
  }

  /// Takes the older half, at most 128 jobs: returns the oldest and puts the others into `own`, the empty
  /// queue of the caller, which must have room for them: one of the first size has.
  func steal(into own: RunQueue) -> UInt? {
    while true {
      let head = self.head.load(ordering: .acquiring)
      let tail = self.tail.load(ordering: .acquiring)
      // May be more than the queue holds: the head may be out of date.
      let there = Int(bitPattern: tail &- head)
      guard there > 0 else { return nil }
      let count = UInt(min((there + 1) / 2, 128))
      // The owner lets no array go while the queue lives, and the queue lives as long as its crew.
      let ring = self.ring.load(ordering: .acquiring)._withUnsafeGuaranteedRef { $0 }
      let oldest = ring[head]
      let free = own.tail.load(ordering: .relaxed)
      let place = own.rings[own.rings.count - 1]
      for index in 1..<max(count, 1) { place[free &+ index &- 1] = ring[head &+ index] }
      let exchanged = self.head.compareExchange(
        expected: head,
        desired: head &+ count,
        ordering: .acquiringAndReleasing
      ).exchanged
      guard exchanged else { continue }
      own.tail.store(free &+ count &- 1, ordering: .sequentiallyConsistent)
      return oldest
    }
  }

  /// Places for jobs, found by counting round.
  private final class Ring: Sendable {
    let capacity: UInt
    // Safe: set once, and freed when nobody has the ring any more. Each place is atomic, because thieves may
    // read one while it is written; they forget what they read.
    private nonisolated(unsafe) let places: UnsafeMutablePointer<Atomic<UInt>>

    init(capacity: UInt) {
      self.capacity = capacity
      places = .allocate(capacity: Int(capacity))
      for index in 0..<Int(capacity) { (places + index).initialize(to: Atomic(0)) }
    }

    /// Twice as large, with the same jobs.
    convenience init(copying old: Ring, from head: UInt, to tail: UInt) {
      self.init(capacity: old.capacity * 2)
      var index = head
      while index != tail {
        self[index] = old[index]
        index &+= 1
      }
    }

    subscript(index: UInt) -> UInt {
      @inline(__always) get {
        places[Int(bitPattern: index & (capacity &- 1))].load(ordering: .relaxed)
      }
      @inline(__always) set {
        places[Int(bitPattern: index & (capacity &- 1))].store(newValue, ordering: .relaxed)
      }
    }

    deinit {
      places.deinitialize(count: Int(capacity))
      places.deallocate()
    }
  }
}
