internal import DequeModule

/// Which job gets a thread when: a platform's pool of threads as a value.
///
/// A thread runs, is blocked, or is idle. Jobs wait in the order in which they came.
struct ThreadPoolModel: Sendable {
  /// A job begins, on a thread.
  struct Start: Hashable {
    var job: Int
    /// From 1.
    var thread: Int
  }

  let platform: Platform
  let processors: Int
  private(set) var threads = 0
  private(set) var blocked = 0
  /// The one that came last is taken first, as its caches are warm.
  private var idle: [Int] = []
  private var jobs = Deque<Int>()
  /// How many threads Linux's pool may have now.
  private var allowed: Int

  init(_ platform: Platform, processors: Int) {
    self.platform = platform
    self.processors = processors
    allowed = processors
  }

  private var running: Int { threads - idle.count - blocked }

  /// Whether somebody must look once a second, as jobs wait and the pool may grow.
  var needsTick: Bool { platform == .linux && !jobs.isEmpty && threads < Self.most(.linux) }

  mutating func submit(_ job: Int) -> [Start] {
    jobs.append(job)
    return starts()
  }

  /// A thread is blocked until `unblock`.
  mutating func block() -> [Start] {
    blocked += 1
    return starts()
  }

  mutating func unblock() { blocked -= 1 }

  /// The job of a thread has ended.
  mutating func end(_ thread: Int) -> [Start] {
    idle.append(thread)
    return starts()
  }

  /// A second has gone by.
  ///
  /// Where nobody runs, the program seems to stand still, and the pool may grow to its most; where some
  /// do, to twice the processors only.
  mutating func tick() -> [Start] {
    let most = running == 0 ? Self.most(.linux) : 2 * processors
    if needsTick, running < processors, threads < most { allowed = max(allowed, threads + 1) }
    return starts()
  }

  private static func most(_ platform: Platform) -> Int {
    switch platform {
    case .apple: 64
    case .linux: 255
    }
  }

  private mutating func starts() -> [Start] {
    var starts: [Start] = []
    while let job = jobs.first, let thread = nextThread() {
      jobs.removeFirst()
      starts.append(Start(job: job, thread: thread))
    }
    return starts
  }

  private mutating func nextThread() -> Int? {
    switch platform {
    case .apple:
      // The kernel lets as many run as there are processors.
      guard running < processors else { return nil }
      if let thread = idle.popLast() { return thread }
      guard threads < Self.most(.apple) else { return nil }
    case .linux:
      if let thread = idle.popLast() { return thread }
      guard threads < allowed else { return nil }
    }
    threads += 1
    return threads
  }
}
