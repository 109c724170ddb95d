/// Tells whether memory grows by the same thing done over and over.
///
/// An array or a dictionary takes room for twice as many at a time, so one look at either end says more than a look
/// at each batch: whatever is kept, if only a number, takes eight bytes of each at least, and half of the room may
/// have been there before.
struct HeapTrial {
  /// What a body throws that is to fail.
  struct Failure: Error {}

  /// How often it is done.
  static let count = 4_000

  /// How many bytes of each are called growth.
  private static let leastKept: Int64 = 4

  /// How many bytes are in use.
  let heap: @Sendable () -> Int64

  /// Where memory seems to grow, the thing is done once more, so many times as often.
  ///
  /// A thread of Dispatch keeps a thousand blocks to use again, of 130 kB in all, and each try may meet another thread.
  /// In the longer try three threads would have to begin with that at once.
  private static let timesMore = 16

  /// How many bytes of each are called growth in the longer try.
  ///
  /// An array that held a sixteenth of them before had room for twice that at the most, so nearly all eight bytes of
  /// each are new.
  private static let leastKeptOfMore: Int64 = 6

  /// How often it must have grown, of so many tries at most.
  private static let (enough, most) = (4, 10)

  /// Whether memory grows.
  ///
  /// On a busy machine it may grow now and then by something else, as a thread that the system adds; and it shrinks
  /// where the allocator puts together what others gave back before. So a try in which it stays as it is says that
  /// nothing is kept, and one in which it shrinks says nothing.
  ///
  /// - Parameter make: makes the thing anew; what it returns does it once.
  /// - Returns: whether something is kept each time.
  func grows(_ make: () async -> @Sendable () async -> Void) async -> Bool {
    let least = Int64(Self.count) * Self.leastKept
    var grown = 0
    for _ in 1...Self.most {
      let act = await make()
      for _ in 0..<Self.count / 20 { await act() }
      let growth = await growth(of: act, times: Self.count)
      if abs(growth) < least { return false }
      if growth > 0 { grown += 1 }
      if grown < Self.enough { continue }
      let times = Self.count * Self.timesMore
      return await self.growth(of: act, times: times) >= Int64(times) * Self.leastKeptOfMore
    }
    return false
  }

  private func growth(of act: @Sendable () async -> Void, times: Int) async -> Int64 {
    let before = heap()
    for _ in 0..<times { await act() }
    return heap() - before
  }

  /// What the learner is told.
  static func told(grows: Bool) -> String {
    grows
      ? "memory grows with each, so something is kept of them. Look what is put into an array or a dictionary and not "
        + "taken out again"
      : "nothing is kept of them"
  }
}
