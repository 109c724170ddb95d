// The permits in one atomic word, while nobody waits.
//
// Three counts that change together: free permits, those who hold any, and admissions since the lock was
// last taken. So one compare-and-swap takes a permit or gives it back, and the statistics cost nothing.
// The sign says who may change the word: while it is clear, everybody, by compare-and-swap; while it is
// set, only who holds the limiter's lock (see LimiterCore.swift).
//
// From the lowest bit: 31 for the free permits, 23 for the holders, a guard, 8 for the admissions, the sign.
// Holders that overflow set the guard, and admissions the sign. So one test of both bits sees either, and
// then the lock counts, which has room for more.

/// The counts of a limiter for whose permits nobody waits.
@frozen @usableFromInline
struct PermitWord: Hashable, Sendable {
  /// Of 64 bits where an `Int` has 32, too; where there is no atomic word of that size, nothing compiles.
  @usableFromInline var bits: Int64

  @inlinable
  init(bits: Int64) { self.bits = bits }

  /// Packs the counts.
  ///
  /// `free` is at most `mostPermits`, and `holders` at most `mostHolders`.
  init(free: Int, holders: Int) { bits = Int64(free) | Int64(holders) << 31 }

  /// The word while its counts are the lock's.
  @inlinable
  static var locked: Self { Self(bits: .min) }

  static var mostPermits: Int { Int(Int32.max) }
  static var mostHolders: Int { 1 << 23 - 1 }

  @inlinable var isLocked: Bool { bits < 0 }
  @inlinable var free: Int { Int(truncatingIfNeeded: bits & 0x7FFF_FFFF) }
  var holders: Int { Int(truncatingIfNeeded: bits >> 31 & 0x7F_FFFF) }
  var admissions: Int { Int(truncatingIfNeeded: bits >> 55 & 0xFF) }

  /// One holder and one admission.
  @inlinable
  static var admission: Int64 { 1 << 31 | 1 << 55 }

  /// The bits that are set when a count has overflowed.
  @inlinable
  static var overflow: Int64 { .min | 1 << 54 }

  /// The word with `weight` permits taken; nil if the lock must decide.
  ///
  /// It must if too few are free (none are in the locked word), or when the admissions or the holders have
  /// filled their bits.
  @inlinable
  func taking(_ weight: Int) -> Self? {
    let taken = Self(bits: bits &+ Self.admission &- Int64(weight))
    return free >= weight && taken.bits & Self.overflow == 0 ? taken : nil
  }

  /// The word with `weight` permits given back; nil if the lock must decide.
  @inlinable
  func givingBack(_ weight: Int) -> Self? {
    isLocked ? nil : Self(bits: bits &+ Int64(weight) &- 1 << 31)
  }
}
