// The element used last, in one atomic word: lent and given back without the lock while nobody waits.
//
// As with the permits of a limiter (see PermitWord.swift), the sign says who may change the word: while it is clear,
// everybody, by compare-and-swap; while it is set, only who holds the pool's lock (see PoolCore.swift). The word
// names a place of the pool, counts its lendings, and says whether the element in it is lent. So one
// compare-and-swap borrows that element, and one gives it back, whose loan it must be still.
//
// From the lowest bit: whether it is lent, 46 bits for the number of the lending, a guard, 15 for the place, the
// sign. Where one more lending would set the guard, the lock counts, which begins again at zero.

/// Where an element is that can be borrowed without the lock, or has been.
@frozen @usableFromInline
struct SpareWord: Hashable, Sendable {
  @usableFromInline var bits: Int64

  @inlinable
  init(bits: Int64) { self.bits = bits }

  /// The word of a place up to `lastPlace`.
  @inlinable
  init(of loan: PoolLoan, isLent: Bool) {
    bits = Int64(loan.place) << 48 | loan.lending << 1 | (isLent ? 1 : 0)
  }

  /// The word while the pool's lock has all elements.
  @inlinable
  static var locked: Self { Self(bits: .min) }

  @inlinable
  static var lastPlace: Int { 1 << 15 - 1 }

  /// The number of a lending is less.
  static var lendings: Int64 { 1 << 46 }

  @inlinable var isLent: Bool { bits & 1 != 0 }
  @inlinable var loan: PoolLoan {
    PoolLoan(place: Int(bits >> 48), lending: bits >> 1 & (1 << 46 - 1), isByWord: true)
  }

  /// The word with the element lent once more; nil if the lock must decide.
  ///
  /// It must if the element is lent (or the word locked), or when the lendings have filled their bits.
  @inlinable
  var lending: Self? {
    let lent = Self(bits: bits &+ 3)
    return bits & (.min | 1) == 0 && lent.bits & 1 << 47 == 0 ? lent : nil
  }
}
