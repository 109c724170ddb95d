/// Tells whether memory grows by the same thing done over and over.
///
/// An array or a dictionary takes room for twice as many at a time, so one look at either end says more than a look
/// at each batch: whatever is kept, if only a number, takes eight bytes of each at least, and half of the room may
/// have been there before.
struct HeapTrial {
  /// How often it is done.
  static let count = 4_000

  /// How many bytes of each are called growth.
  private static let leastKept: Int64 = 4

  /// How many bytes are in use.
  let heap: @Sendable () -> Int64

  /// Whether memory grows.
  ///
  /// - Parameter make: makes the thing anew; what it returns does it once.
  /// - Returns: whether memory grew each time it was tried: on a busy machine it may now and then by something else,
  /// as a
  ///   thread that the system adds.
  func grows(_ make: () async -> @Sendable () async -> Void) async -> Bool {
    for _ in 1...6 {
      let act = await make()
      for _ in 0..<Self.count / 20 { await act() }
      let before = heap()
      for _ in 0..<Self.count { await act() }
      if heap() - before < Int64(Self.count) * Self.leastKept { return false }
    }
    return true
  }

  /// What the learner is told.
  static func told(grows: Bool) -> String {
    grows
      ? "memory grows with each, so something is kept of them. Look what is put into an array or a dictionary and not "
        + "taken out again"
      : "nothing is kept of them"
  }
}
