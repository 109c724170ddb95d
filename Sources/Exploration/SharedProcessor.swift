internal import CExplorable
internal import Synchronization

/// The one processor that the threads of an exploration share.
///
/// One of them has the baton at any moment, and the others sleep, so that a second processor has nothing to do. To
/// wake a thread there takes many times as long as to go over to it on the same processor. Where something else keeps
/// that processor busy, all of them move to another one.
struct SharedProcessor {
  /// What the home might use before.
  private var allowed: processors
  private var shared: processors
  private(set) var number: Int
  private let home = thread_number()
  /// What the threads had had of a processor by the last look, and when that was.
  private var seen: (time: Duration, at: ContinuousClock.Instant)?

  /// How many explorations of this process are on each processor.
  private static let underWay = Synchronization.Mutex<[Int: Int]>([:])

  private static let timeBetweenLooks = Duration.milliseconds(50)
  /// Of that time, the least that the threads have of a processor that nobody else keeps busy.
  private static let leastShare = 2.0 / 3

  /// Lets the calling thread, and with it those that it makes, use one processor; nil if it may use only one anyway.
  init?() {
    allowed = processors_of_thread()
    number = Int(processor_of_thread())
    guard allowed.numbers.count > 1, allowed.numbers.contains(number) else { return nil }
    shared = processors(only: number)
    // First, so that no other one that ends meanwhile takes this for what it has to give back.
    enter()
    guard processors_allow(home, &shared) else {
      _ = leave()
      return nil
    }
  }

  private func enter() { Self.underWay.withLock { $0[number, default: 0] += 1 } }

  /// Whether no other exploration is on the processor that this one leaves.
  private func leave() -> Bool {
    Self.underWay.withLock { counts in
      counts[number, default: 0] -= 1
      return counts[number] == 0
    }
  }

  /// Whether it is time to look at the threads.
  func isToLook(at now: ContinuousClock.Instant = .now) -> Bool {
    seen.map { now - $0.at >= Self.timeBetweenLooks } ?? true
  }

  /// Moves the home and these threads where the processor had other work.
  mutating func look(at workers: some Sequence<Int32>) {
    let threads = [home] + workers
    let now = ContinuousClock.now
    let time = Duration.nanoseconds(threads.reduce(0) { $0 + time_of_thread($1) })
    defer { seen = (time, now) }
    if let seen, Self.isTooLittle(time - seen.time, of: now - seen.at) { move(threads) }
  }

  /// Whether threads of which one could always run, and that had so much of a processor, had to share it with others.
  static func isTooLittle(_ time: Duration, of passed: Duration) -> Bool {
    time < passed * leastShare
  }

  /// Lets these threads use another processor instead.
  mutating func move(_ threads: [Int32]) {
    let all = allowed.numbers
    let isLast = leave()
    var before = shared
    number = all.first { $0 > number } ?? all[0]
    enter()
    shared = processors(only: number)
    for thread in threads { _ = processors_allow(thread, &shared) }
    if isLast { processors_allow_from(&before, &shared) }
  }

  /// Gives the home what it might use before, and whatever the code under study has begun.
  mutating func end() {
    // Threads of another exploration look like those. It gives all of them back at its own end.
    if leave() { giveBackToAll() }
    _ = processors_allow(home, &allowed)
  }

  /// Gives all threads of the process that may use this processor alone what the home might use before.
  mutating func giveBackToAll() { processors_allow_from(&shared, &allowed) }
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
