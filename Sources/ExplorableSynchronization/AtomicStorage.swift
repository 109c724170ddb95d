public import Synchronization

// `Synchronization` has each operation once for each width of memory, with no name for all of them. This
// gives them one, so that the operations of `Atomic` are written once.

/// Memory that an ``Atomic`` can be made of: 8, 16, 32 or 64 bits.
public protocol AtomicStorage: BitwiseCopyable {
  /// Reads.
  static func load<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ ordering: AtomicLoadOrdering
  ) -> Value where Value.AtomicRepresentation == Self

  /// Writes.
  static func store<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ desired: consuming Value,
    _ ordering: AtomicStoreOrdering
  ) where Value.AtomicRepresentation == Self

  /// Writes, and returns what was there.
  static func exchange<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ desired: consuming Value,
    _ ordering: AtomicUpdateOrdering
  ) -> Value where Value.AtomicRepresentation == Self

  /// Writes if the value is the expected one.
  static func compareExchange<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ expected: consuming Value,
    _ desired: consuming Value,
    _ ordering: AtomicUpdateOrdering
  ) -> (exchanged: Bool, original: Value) where Value.AtomicRepresentation == Self

  /// Writes if the value is the expected one, and sometimes not.
  static func weakCompareExchange<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ expected: consuming Value,
    _ desired: consuming Value,
    _ ordering: AtomicUpdateOrdering
  ) -> (exchanged: Bool, original: Value) where Value.AtomicRepresentation == Self
}

extension Synchronization._Atomic8BitStorage: AtomicStorage {
  /// Reads.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func load<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ ordering: AtomicLoadOrdering
  ) -> Value where Value.AtomicRepresentation == Self { atomic.load(ordering: ordering) }

  /// Writes.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func store<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ desired: consuming Value,
    _ ordering: AtomicStoreOrdering
  ) where Value.AtomicRepresentation == Self { atomic.store(desired, ordering: ordering) }

  /// Writes, and returns what was there.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func exchange<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ desired: consuming Value,
    _ ordering: AtomicUpdateOrdering
  ) -> Value where Value.AtomicRepresentation == Self {
    atomic.exchange(desired, ordering: ordering)
  }

  /// Writes if the value is the expected one.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func compareExchange<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ expected: consuming Value,
    _ desired: consuming Value,
    _ ordering: AtomicUpdateOrdering
  ) -> (exchanged: Bool, original: Value) where Value.AtomicRepresentation == Self {
    atomic.compareExchange(expected: expected, desired: desired, ordering: ordering)
  }

  /// Writes if the value is the expected one, and sometimes not.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func weakCompareExchange<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ expected: consuming Value,
    _ desired: consuming Value,
    _ ordering: AtomicUpdateOrdering
  ) -> (exchanged: Bool, original: Value) where Value.AtomicRepresentation == Self {
    atomic.weakCompareExchange(expected: expected, desired: desired, ordering: ordering)
  }
}

extension Synchronization._Atomic16BitStorage: AtomicStorage {
  /// Reads.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func load<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ ordering: AtomicLoadOrdering
  ) -> Value where Value.AtomicRepresentation == Self { atomic.load(ordering: ordering) }

  /// Writes.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func store<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ desired: consuming Value,
    _ ordering: AtomicStoreOrdering
  ) where Value.AtomicRepresentation == Self { atomic.store(desired, ordering: ordering) }

  /// Writes, and returns what was there.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func exchange<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ desired: consuming Value,
    _ ordering: AtomicUpdateOrdering
  ) -> Value where Value.AtomicRepresentation == Self {
    atomic.exchange(desired, ordering: ordering)
  }

  /// Writes if the value is the expected one.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func compareExchange<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ expected: consuming Value,
    _ desired: consuming Value,
    _ ordering: AtomicUpdateOrdering
  ) -> (exchanged: Bool, original: Value) where Value.AtomicRepresentation == Self {
    atomic.compareExchange(expected: expected, desired: desired, ordering: ordering)
  }

  /// Writes if the value is the expected one, and sometimes not.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func weakCompareExchange<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ expected: consuming Value,
    _ desired: consuming Value,
    _ ordering: AtomicUpdateOrdering
  ) -> (exchanged: Bool, original: Value) where Value.AtomicRepresentation == Self {
    atomic.weakCompareExchange(expected: expected, desired: desired, ordering: ordering)
  }
}

extension Synchronization._Atomic32BitStorage: AtomicStorage {
  /// Reads.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func load<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ ordering: AtomicLoadOrdering
  ) -> Value where Value.AtomicRepresentation == Self { atomic.load(ordering: ordering) }

  /// Writes.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func store<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ desired: consuming Value,
    _ ordering: AtomicStoreOrdering
  ) where Value.AtomicRepresentation == Self { atomic.store(desired, ordering: ordering) }

  /// Writes, and returns what was there.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func exchange<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ desired: consuming Value,
    _ ordering: AtomicUpdateOrdering
  ) -> Value where Value.AtomicRepresentation == Self {
    atomic.exchange(desired, ordering: ordering)
  }

  /// Writes if the value is the expected one.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func compareExchange<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ expected: consuming Value,
    _ desired: consuming Value,
    _ ordering: AtomicUpdateOrdering
  ) -> (exchanged: Bool, original: Value) where Value.AtomicRepresentation == Self {
    atomic.compareExchange(expected: expected, desired: desired, ordering: ordering)
  }

  /// Writes if the value is the expected one, and sometimes not.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func weakCompareExchange<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ expected: consuming Value,
    _ desired: consuming Value,
    _ ordering: AtomicUpdateOrdering
  ) -> (exchanged: Bool, original: Value) where Value.AtomicRepresentation == Self {
    atomic.weakCompareExchange(expected: expected, desired: desired, ordering: ordering)
  }
}

extension Synchronization._Atomic64BitStorage: AtomicStorage {
  /// Reads.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func load<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ ordering: AtomicLoadOrdering
  ) -> Value where Value.AtomicRepresentation == Self { atomic.load(ordering: ordering) }

  /// Writes.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func store<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ desired: consuming Value,
    _ ordering: AtomicStoreOrdering
  ) where Value.AtomicRepresentation == Self { atomic.store(desired, ordering: ordering) }

  /// Writes, and returns what was there.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func exchange<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ desired: consuming Value,
    _ ordering: AtomicUpdateOrdering
  ) -> Value where Value.AtomicRepresentation == Self {
    atomic.exchange(desired, ordering: ordering)
  }

  /// Writes if the value is the expected one.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func compareExchange<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ expected: consuming Value,
    _ desired: consuming Value,
    _ ordering: AtomicUpdateOrdering
  ) -> (exchanged: Bool, original: Value) where Value.AtomicRepresentation == Self {
    atomic.compareExchange(expected: expected, desired: desired, ordering: ordering)
  }

  /// Writes if the value is the expected one, and sometimes not.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public static func weakCompareExchange<Value>(
    _ atomic: borrowing Synchronization.Atomic<Value>,
    _ expected: consuming Value,
    _ desired: consuming Value,
    _ ordering: AtomicUpdateOrdering
  ) -> (exchanged: Bool, original: Value) where Value.AtomicRepresentation == Self {
    atomic.weakCompareExchange(expected: expected, desired: desired, ordering: ordering)
  }
}
