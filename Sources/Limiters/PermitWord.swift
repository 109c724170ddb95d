// The permits in one atomic word, while nobody waits.
//
// Three counts that change together: free permits, those who hold any, and admissions since the lock was
// last taken. So one compare-and-swap takes a permit or gives it back, and the statistics cost nothing.
// The sign says who may change the word: while it is clear, everybody, by compare-and-swap; while it is
// set, only who holds the limiter's lock (see ConcurrencyLimiter.swift).

/// The counts of a limiter for whose permits nobody waits.
@frozen @usableFromInline
struct PermitWord: Hashable, Sendable {
  /// Of 64 bits where an `Int` has 32, too. Where there is no atomic word of that size, nothing compiles.
  @usableFromInline var bits: Int64

  @inlinable
  init(bits: Int64) { self.bits = bits }

  /// Packs the counts.
  ///
  /// `free` is at most `mostPermits`. Each holder is a suspended task or a value in memory: fewer than the
  /// 16 million that fit.
  init(free: Int, holders: Int) { bits = Int64(free) | Int64(holders) << 31 }

  /// The word while its counts are the lock's.
  @inlinable
  static var locked: Self { Self(bits: .min) }

  static var mostPermits: Int { Int(Int32.max) }

  @inlinable var isLocked: Bool { bits < 0 }
  @inlinable var free: Int { Int(truncatingIfNeeded: bits & 0x7FFF_FFFF) }
  var holders: Int { Int(truncatingIfNeeded: bits >> 31 & 0xFF_FFFF) }
  var admissions: Int { Int(truncatingIfNeeded: bits >> 55 & 0xFF) }

  /// One holder and one admission.
  @inlinable
  static var admission: Int64 { 1 << 31 | 1 << 55 }

  /// The word with `weight` permits taken; nil if the lock must decide.
  ///
  /// It must if too few are free (none are in the locked word), or when the admissions have filled their
  /// eight bits.
  @inlinable
  func taking(_ weight: Int) -> Self? {
    let taken = Self(bits: bits &+ Self.admission &- Int64(weight))
    return free >= weight && !taken.isLocked ? taken : nil
  }

  /// The word with `weight` permits given back; nil if the lock must decide.
  @inlinable
  func givingBack(_ weight: Int) -> Self? {
    isLocked ? nil : Self(bits: bits &+ Int64(weight) &- 1 << 31)
  }
}
