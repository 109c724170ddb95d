internal import CExplorable
internal import Glibc
internal import Synchronization

/// The one processor that the threads of an exploration share.
///
/// One of them has the baton at any moment, and the others sleep, so that a second processor has nothing to do. To
/// wake a thread there takes many times as long as to go over to it on the same processor. Where that processor has
/// other work, all of them move to another one between two schedules.
struct SharedProcessor {
  /// What the home might use before.
  private var allowed: processors
  private var shared: processors
  private(set) var number: Int
  private let home = thread_number()
  /// What the threads had had of a processor by the last look, and when that was.
  private var seen: (time: Duration, at: ContinuousClock.Instant)?

  /// How many explorations of this process are on each processor.
  ///
  /// Threads are also bound to a processor, and released from it, under this lock: the threads of another exploration
  /// look the same.
  private static let underWay = Synchronization.Mutex<[Int: Int]>([:])

  private static let timeBetweenLooks = Duration.milliseconds(50)
  /// Of that time, the least that the threads have of a processor that nobody else keeps busy.
  private static let leastShare = 2.0 / 3

  /// Lets the calling thread, and with it those that it makes, use one processor.
  ///
  /// Nil if it may use only one anyway, or if the system does not share a processor among threads by time: the home
  /// must come to look at a thread that goes on for ever.
  init?() {
    allowed = processors_of_thread()
    number = Int(processor_of_thread())
    guard sched_getscheduler(0) == SCHED_OTHER, allowed.numbers.count > 1,
      allowed.numbers.contains(number)
    else { return nil }
    shared = processors(only: number)
    let isBound = Self.underWay.withLock { counts in
      guard processors_allow(home, &shared) else { return false }
      counts[number, default: 0] += 1
      return true
    }
    if !isBound { return nil }
  }

  /// Whether it is time to look at the threads.
  func isToLook(at now: ContinuousClock.Instant = .now) -> Bool {
    seen.map { now - $0.at >= Self.timeBetweenLooks } ?? true
  }

  /// Moves the home and these threads where they had little of the processor.
  mutating func look(at workers: some Sequence<Int32>) {
    let now = ContinuousClock.now
    let time = ([home] + workers).reduce(Duration.zero) { $0 + .nanoseconds(time_of_thread($1)) }
    defer { seen = (time, now) }
    if let seen, Self.isTooLittle(time - seen.time, of: now - seen.at) { move(workers) }
  }

  /// Whether threads of which one can go on had so little of a processor that others may have kept it busy.
  static func isTooLittle(_ time: Duration, of passed: Duration) -> Bool {
    time < passed * leastShare
  }

  /// Lets the home and these threads use another processor instead, if it may.
  ///
  /// Those that the code under study has begun are given back: it may be they who keep this one busy.
  mutating func move(_ workers: some Sequence<Int32>) {
    let all = allowed.numbers
    let next = all.first { $0 > number } ?? all[0]
    Self.underWay.withLock { counts in
      var other = processors(only: next)
      guard processors_allow(home, &other) else { return }
      for worker in workers { _ = processors_allow(worker, &other) }
      giveBack(&counts)
      counts[next, default: 0] += 1
      (number, shared) = (next, other)
    }
  }

  /// Gives the home what it might use before, and with it all threads that may use this processor alone.
  mutating func end() {
    Self.underWay.withLock { counts in
      giveBack(&counts)
      _ = processors_allow(home, &allowed)
    }
  }

  /// Leaves the processor; the last exploration on it gives back what its threads might use before.
  private mutating func giveBack(_ counts: inout [Int: Int]) {
    counts[number, default: 0] -= 1
    if counts[number] == 0 { processors_allow_from(&shared, &allowed) }
  }
}

extension processors {
  fileprivate init(only number: Int) {
    self.init()
    withUnsafeMutableBytes(of: &self) {
      $0.bindMemory(to: UInt64.self)[number / 64] = 1 << UInt64(number % 64)
    }
  }

  /// In order.
  fileprivate var numbers: [Int] {
    withUnsafeBytes(of: self) { bytes in
      let words = bytes.bindMemory(to: UInt64.self)
      return (0..<64 * words.count).filter { words[$0 / 64] >> UInt64($0 % 64) & 1 == 1 }
    }
  }
}
