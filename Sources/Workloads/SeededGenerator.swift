/// SplitMix64 (Steele, Lea and Flood, 2014): one 64-bit state, one multiplication chain a draw.
///
/// Chosen for being seekable: a generator made from (seed, purpose, number) depends on nothing else,
/// so the tenth task of a workload is the same whether ten or a thousand tasks are drawn, and
/// drawing failures does not move the service times.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  /// A stream of its own for one purpose and one number.
  package init(seed: UInt64, purpose: Purpose, number: Int) {
    var mixer = SeededGenerator(seed: seed)
    var key = mixer.next() ^ purpose.rawValue &* 0xD1B5_4A32_D192_ED03
    mixer = SeededGenerator(seed: key)
    key = mixer.next() ^ UInt64(bitPattern: Int64(number)) &* 0x9E37_79B9_7F4A_7C15
    mixer = SeededGenerator(seed: key)
    state = mixer.next()
  }

  /// What a stream is drawn for; each has draws of its own.
  package enum Purpose: UInt64, Sendable {
    case service = 1
    case arrival
    case failure
    case cancellation
    case priority
    case parts
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Uniform in the open interval (0, 1), in steps of 2⁻⁵³.
  package mutating func nextUnit() -> Double {
    (Double(next() >> 11) + 0.5) * 0x1p-53
  }
}
