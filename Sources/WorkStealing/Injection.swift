internal import Synchronization

/// Jobs in three bands: those from outside the crew, and background jobs, which run when there is nothing else.
///
/// A worker that has nothing takes from the highest band first. In every cycle of four looks of workers that have
/// other work, the highest band comes first twice and each other band once, so that none starves.
struct Bands {
  /// A band of priorities.
  enum Band: Int {
    case high
    case ordinary
    case background

    /// By the raw value of `JobPriority`: `high` begins at 25, `background` ends at 9.
    init(priority: UInt8) {
      self = priority >= 25 ? .high : priority <= 9 && priority > 0 ? .background : .ordinary
    }
  }

  /// Looks in a cycle: high, ordinary, high, background.
  static let cycle = 4

  private var high = FIFO()
  private var ordinary = FIFO()
  private var background = FIFO()
  private var looks = 0

  var count: Int { high.count + ordinary.count + background.count }

  /// The number of places in memory, with a job or without.
  var places: Int { high.places + ordinary.places + background.places }

  mutating func append(_ job: UInt, _ band: Band) {
    switch band {
    case .high: high.append(job)
    case .ordinary: ordinary.append(job)
    case .background: background.append(job)
    }
  }

  /// For a worker that has nothing, and finds nothing at the others'.
  mutating func take() -> UInt? { takeForeground() ?? background.take() }

  /// For a worker that has nothing; background jobs come after what it could steal.
  mutating func takeForeground() -> UInt? { high.take() ?? ordinary.take() }

  /// For a worker that has other work and looks all the same.
  mutating func takeOnLook() -> UInt? {
    looks = (looks + 1) % Self.cycle
    return switch looks {
    case 2: ordinary.take() ?? take()
    case 0: background.take() ?? ordinary.take() ?? high.take()
    default: take()
    }
  }

  /// Takes one of `workers` equal shares of the ordinary band, oldest first, at most `limit` jobs; none while
  /// a job of the high band waits, which they would overtake.
  mutating func takeShare(of workers: Int, atMost limit: Int) -> [UInt] {
    guard high.count == 0 else { return [] }
    return (0..<min(ordinary.count / workers, limit)).compactMap { _ in ordinary.take() }
  }
}

/// First in, first out; both in constant time, amortised.
private struct FIFO {
  private var jobs: [UInt] = []
  private var taken = 0

  var count: Int { jobs.count - taken }
  var places: Int { jobs.capacity }

  mutating func append(_ job: UInt) { jobs.append(job) }

  mutating func take() -> UInt? {
    guard taken < jobs.count else { return nil }
    defer {
      taken += 1
      if taken == jobs.count {
        // Not `taken`: that is small at the end of a long queue too, which is shortened as it goes.
        jobs.removeAll(keepingCapacity: jobs.capacity <= 1_024)
        taken = 0
      } else if taken >= 64, taken * 2 >= jobs.count {
        jobs.removeFirst(taken)
        taken = 0
      }
    }
    return jobs[taken]
  }
}

/// The queue that all workers share, for jobs from other threads and for those of `background` priority.
struct Injection: ~Copyable, Sendable {
  /// Not private, since the compiler (6.3.1) fails on a file that needs the layout of this one.
  struct State {
    var bands = Bands()
    var isClosed = false
  }

  private let state = Mutex(State())
  /// How many jobs there are, to be read without the lock.
  ///
  /// It also shows the sanitizer each hand-over of the lock, whose waiting it cannot see.
  private let count = Atomic<Int>(0)

  /// In one order with who sleeps: see `Resting`.
  var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }

  /// Puts a job in; false if the queue is closed.
  func append(_ job: UInt, _ band: Bands.Band) -> Bool {
    change { state in
      if state.isClosed { return false }
      state.bands.append(job, band)
      return true
    }
  }

  /// Takes a job for a worker that has other work too.
  func takeOnLook() -> UInt? { isEmpty ? nil : change { $0.bands.takeOnLook() } }

  /// Takes a job for a worker that has nothing, but none of background, and this worker's share of the rest.
  ///
  /// With a share of many at once, the workers come to this one lock less often.
  func takeShare(of workers: Int) -> (job: UInt, others: [UInt])? {
    guard !isEmpty else { return nil }
    return change { state in
      guard let job = state.bands.takeForeground() else { return nil }
      return (job, state.bands.takeShare(of: workers, atMost: 64))
    }
  }

  /// Takes a job for a worker that has nothing, and finds nothing at the others'.
  func takeLast() -> UInt? { isEmpty ? nil : change { $0.bands.take() } }

  /// Takes no more jobs from now on; false, and nothing happens, while there are some.
  func closeIfEmpty() -> Bool {
    change { state in
      if state.bands.count == 0 { state.isClosed = true }
      return state.isClosed
    }
  }

  private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    state.withLock { state in
      _ = count.load(ordering: .acquiring)
      defer { count.store(state.bands.count, ordering: .sequentiallyConsistent) }
      return body(&state)
    }
  }
}
