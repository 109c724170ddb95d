/// Calls `body` with every sequence of `length` of the given operations.
///
/// Small cases are where limiters break, and there are few enough of them to try them all. Sequences
/// shorter than `length` are beginnings of longer ones, so checking after each operation covers them.
func forEverySequence<Operation>(
  of operations: [Operation],
  length: Int,
  _ body: ([Operation]) throws -> Void
) rethrows {
  var sequence: [Operation] = []
  func extend() throws {
    if sequence.count == length { return try body(sequence) }
    for operation in operations {
      sequence.append(operation)
      try extend()
      sequence.removeLast()
    }
  }
  try extend()
}

/// A small generator with a seed, so that a failing test can be run again.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// SplitMix64, after Steele, Lea and Flood (2014).
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
