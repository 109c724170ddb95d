package import Basics

/// Streams of random numbers that do not disturb each other.
///
/// A generator made from (seed, purpose, number) depends on nothing else, so the tenth task of a
/// workload is the same whether ten or a thousand tasks are drawn, and drawing failures does not move
/// the service times.
extension SplitMix64 {
  /// A stream of its own for one purpose and one number.
  package init(seed: UInt64, purpose: RandomPurpose, number: Int) {
    var mixer = SplitMix64(seed: seed)
    var key = mixer.next() ^ purpose.rawValue &* 0xD1B5_4A32_D192_ED03
    mixer = SplitMix64(seed: key)
    key = mixer.next() ^ UInt64(bitPattern: Int64(number)) &* 0x9E37_79B9_7F4A_7C15
    mixer = SplitMix64(seed: key)
    self.init(seed: mixer.next())
  }
}

/// What a stream is drawn for; each has draws of its own.
package enum RandomPurpose: UInt64, CaseIterable, Sendable {
  case service = 1
  case arrival
  case failure
  case cancellation
  case priority
  case parts
  case item
}
