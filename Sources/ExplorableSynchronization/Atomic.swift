public import CExplorable
public import Synchronization

/// A value that threads read and write without a lock, as `Synchronization.Atomic`, that an exploration
/// can stop at.
///
/// Explored, each operation is a scheduling point. Not explored it is the real one behind one branch.
/// Values of two words (`WordPair`) are not for it: their operations are another width of memory.
public struct Atomic<Value: AtomicRepresentable>: ~Copyable, @unchecked Sendable
where Value.AtomicRepresentation: AtomicStorage {
  // Safe: as the real one, which is Sendable whatever it holds.
  @usableFromInline let real: Synchronization.Atomic<Value>
  @usableFromInline let identity: AtomicIdentity

  /// Makes an atomic that holds `initialValue`.
  @inlinable
  public init(_ initialValue: consuming Value) {
    real = Synchronization.Atomic(initialValue)
    identity = AtomicIdentity()
  }

  /// Reads the value.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public borrowing func load(ordering: AtomicLoadOrdering) -> Value {
    if exploration_is_under_way() { return loadExplored() }
    return Value.AtomicRepresentation.load(real, ordering)
  }

  /// Writes a value.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public borrowing func store(_ desired: consuming Value, ordering: AtomicStoreOrdering) {
    if exploration_is_under_way() { return storeExplored(desired) }
    Value.AtomicRepresentation.store(real, desired, ordering)
  }

  /// Writes a value and returns the one before.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public borrowing func exchange(
    _ desired: consuming Value,
    ordering: AtomicUpdateOrdering
  ) -> Value {
    if exploration_is_under_way() { return exchangeExplored(desired) }
    return Value.AtomicRepresentation.exchange(real, desired, ordering)
  }

  /// Writes `desired` if the value is `expected`; returns whether, and the value before.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public borrowing func compareExchange(
    expected: consuming Value,
    desired: consuming Value,
    ordering: AtomicUpdateOrdering
  ) -> (exchanged: Bool, original: Value) {
    if exploration_is_under_way() { return compareExchangeExplored(expected, desired) }
    return Value.AtomicRepresentation.compareExchange(real, expected, desired, ordering)
  }

  /// As `compareExchange`, and may fail without cause; explored it does not.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public borrowing func weakCompareExchange(
    expected: consuming Value,
    desired: consuming Value,
    ordering: AtomicUpdateOrdering
  ) -> (exchanged: Bool, original: Value) {
    if exploration_is_under_way() { return compareExchangeExplored(expected, desired) }
    return Value.AtomicRepresentation.weakCompareExchange(real, expected, desired, ordering)
  }

  /// As `compareExchange`, with an ordering of its own where the value is another.
  ///
  /// Ordered as strongly as any pair can ask.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public borrowing func compareExchange(
    expected: consuming Value,
    desired: consuming Value,
    successOrdering: AtomicUpdateOrdering,
    failureOrdering: AtomicLoadOrdering
  ) -> (exchanged: Bool, original: Value) {
    compareExchange(expected: expected, desired: desired, ordering: .sequentiallyConsistent)
  }

  /// As `weakCompareExchange`, with an ordering of its own where the value is another.
  ///
  /// Ordered as strongly as any pair can ask.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  public borrowing func weakCompareExchange(
    expected: consuming Value,
    desired: consuming Value,
    successOrdering: AtomicUpdateOrdering,
    failureOrdering: AtomicLoadOrdering
  ) -> (exchanged: Bool, original: Value) {
    weakCompareExchange(expected: expected, desired: desired, ordering: .sequentiallyConsistent)
  }

  // Explored, an operation may be ordered as strongly as any can be.

  @usableFromInline
  borrowing func loadExplored() -> Value {
    identity.willLoad()
    let value = Value.AtomicRepresentation.load(real, .sequentiallyConsistent)
    identity.note(found: value, left: nil)
    return value
  }

  @usableFromInline
  borrowing func storeExplored(_ desired: Value) {
    identity.willStore()
    identity.note(
      found: Value.AtomicRepresentation.load(real, .sequentiallyConsistent),
      left: desired
    )
    Value.AtomicRepresentation.store(real, desired, .sequentiallyConsistent)
  }

  @usableFromInline
  borrowing func exchangeExplored(_ desired: Value) -> Value {
    identity.willExchange()
    let original = Value.AtomicRepresentation.exchange(real, desired, .sequentiallyConsistent)
    let isSame = withUnsafeBytes(of: original) { original in
      withUnsafeBytes(of: desired) { original.elementsEqual($0) }
    }
    identity.noteOutcome(hasWritten: !isSame)
    identity.note(found: original, left: desired)
    return original
  }

  @usableFromInline
  borrowing func compareExchangeExplored(
    _ expected: Value,
    _ desired: Value
  ) -> (exchanged: Bool, original: Value) {
    identity.willCompare()
    let outcome =
      Value.AtomicRepresentation.compareExchange(real, expected, desired, .sequentiallyConsistent)
    identity.noteOutcome(hasWritten: outcome.exchanged)
    identity.note(found: outcome.original, left: outcome.exchanged ? desired : nil)
    return outcome
  }
}

extension Atomic where Value == Bool {
  /// Writes "value and operand".
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  @discardableResult
  public borrowing func logicalAnd(_ operand: Bool, ordering: AtomicUpdateOrdering)
    -> (oldValue: Bool, newValue: Bool)
  {
    if exploration_is_under_way() {
      identity.willExchange()
      return noted(real.logicalAnd(operand, ordering: .sequentiallyConsistent))
    }
    return real.logicalAnd(operand, ordering: ordering)
  }

  /// Writes "value or operand".
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  @discardableResult
  public borrowing func logicalOr(_ operand: Bool, ordering: AtomicUpdateOrdering)
    -> (oldValue: Bool, newValue: Bool)
  {
    if exploration_is_under_way() {
      identity.willExchange()
      return noted(real.logicalOr(operand, ordering: .sequentiallyConsistent))
    }
    return real.logicalOr(operand, ordering: ordering)
  }

  /// Writes "either, not both".
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  @discardableResult
  public borrowing func logicalXor(_ operand: Bool, ordering: AtomicUpdateOrdering)
    -> (oldValue: Bool, newValue: Bool)
  {
    if exploration_is_under_way() {
      identity.willExchange()
      return noted(real.logicalXor(operand, ordering: .sequentiallyConsistent))
    }
    return real.logicalXor(operand, ordering: ordering)
  }

  /// Says whether an explored operation has written something else than it found.
  @usableFromInline
  borrowing func noted(_ values: (oldValue: Bool, newValue: Bool))
    -> (oldValue: Bool, newValue: Bool)
  {
    identity.noteOutcome(hasWritten: values.oldValue != values.newValue)
    identity.note(found: values.oldValue, left: values.newValue)
    return values
  }
}

// Counting is what atomics are used for most: these are the machine's own instructions.
extension Atomic where Value == Int {
  /// Adds; stops on overflow.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  @discardableResult
  public borrowing func add(_ operand: Int, ordering: AtomicUpdateOrdering)
    -> (oldValue: Int, newValue: Int)
  {
    if exploration_is_under_way() { return updateExplored { $0 + operand } }
    return real.add(operand, ordering: ordering)
  }

  /// Subtracts; stops on overflow.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  @discardableResult
  public borrowing func subtract(_ operand: Int, ordering: AtomicUpdateOrdering)
    -> (oldValue: Int, newValue: Int)
  {
    if exploration_is_under_way() { return updateExplored { $0 - operand } }
    return real.subtract(operand, ordering: ordering)
  }

  /// Adds, wrapping around on overflow.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  @discardableResult
  public borrowing func wrappingAdd(_ operand: Int, ordering: AtomicUpdateOrdering)
    -> (oldValue: Int, newValue: Int)
  {
    if exploration_is_under_way() { return updateExplored { $0 &+ operand } }
    return real.wrappingAdd(operand, ordering: ordering)
  }

  /// Subtracts, wrapping around on overflow.
  @_semantics("atomics.requires_constant_orderings") @_alwaysEmitIntoClient @_transparent
  @discardableResult
  public borrowing func wrappingSubtract(_ operand: Int, ordering: AtomicUpdateOrdering)
    -> (oldValue: Int, newValue: Int)
  {
    if exploration_is_under_way() { return updateExplored { $0 &- operand } }
    return real.wrappingSubtract(operand, ordering: ordering)
  }
}

// All integers, and all operations on them, by comparing and exchanging until nobody came in between.
extension Atomic where Value: FixedWidthInteger {
  /// Adds; stops on overflow.
  @inlinable @inline(__always) @discardableResult
  public borrowing func add(_ operand: Value, ordering: AtomicUpdateOrdering)
    -> (oldValue: Value, newValue: Value)
  { update(ordering) { $0 + operand } }

  /// Subtracts; stops on overflow.
  @inlinable @inline(__always) @discardableResult
  public borrowing func subtract(_ operand: Value, ordering: AtomicUpdateOrdering)
    -> (oldValue: Value, newValue: Value)
  { update(ordering) { $0 - operand } }

  /// Adds, wrapping around on overflow.
  @inlinable @inline(__always) @discardableResult
  public borrowing func wrappingAdd(_ operand: Value, ordering: AtomicUpdateOrdering)
    -> (oldValue: Value, newValue: Value)
  { update(ordering) { $0 &+ operand } }

  /// Subtracts, wrapping around on overflow.
  @inlinable @inline(__always) @discardableResult
  public borrowing func wrappingSubtract(_ operand: Value, ordering: AtomicUpdateOrdering)
    -> (oldValue: Value, newValue: Value)
  { update(ordering) { $0 &- operand } }

  /// Writes the bits that both have.
  @inlinable @inline(__always) @discardableResult
  public borrowing func bitwiseAnd(_ operand: Value, ordering: AtomicUpdateOrdering)
    -> (oldValue: Value, newValue: Value)
  { update(ordering) { $0 & operand } }

  /// Writes the bits that either has.
  @inlinable @inline(__always) @discardableResult
  public borrowing func bitwiseOr(_ operand: Value, ordering: AtomicUpdateOrdering)
    -> (oldValue: Value, newValue: Value)
  { update(ordering) { $0 | operand } }

  /// Writes the bits that only one has.
  @inlinable @inline(__always) @discardableResult
  public borrowing func bitwiseXor(_ operand: Value, ordering: AtomicUpdateOrdering)
    -> (oldValue: Value, newValue: Value)
  { update(ordering) { $0 ^ operand } }

  /// Writes the lesser.
  @inlinable @inline(__always) @discardableResult
  public borrowing func min(_ operand: Value, ordering: AtomicUpdateOrdering)
    -> (oldValue: Value, newValue: Value)
  { update(ordering) { Swift.min($0, operand) } }

  /// Writes the greater.
  @inlinable @inline(__always) @discardableResult
  public borrowing func max(_ operand: Value, ordering: AtomicUpdateOrdering)
    -> (oldValue: Value, newValue: Value)
  { update(ordering) { Swift.max($0, operand) } }

  @inlinable @inline(__always)
  borrowing func update(_ ordering: AtomicUpdateOrdering, _ change: (Value) -> Value)
    -> (oldValue: Value, newValue: Value)
  {
    if exploration_is_under_way() { return updateExplored(change) }
    return updateReal(ordering, change)
  }

  @usableFromInline
  borrowing func updateExplored(_ change: (Value) -> Value) -> (oldValue: Value, newValue: Value) {
    identity.willUpdate()
    let values = updateReal(.sequentiallyConsistent, change)
    identity.note(found: values.oldValue, left: values.newValue)
    return values
  }

  @inlinable @inline(__always)
  borrowing func updateReal(_ ordering: AtomicUpdateOrdering, _ change: (Value) -> Value)
    -> (oldValue: Value, newValue: Value)
  {
    var old = Value.AtomicRepresentation.load(real, .relaxed)
    while true {
      let new = change(old)
      let (exchanged, original) =
        Value.AtomicRepresentation.weakCompareExchange(real, old, new, ordering)
      if exchanged { return (old, new) }
      old = original
    }
  }
}

/// What an atomic is known by in an exploration, and what it asks of one.
@usableFromInline
struct AtomicIdentity: ~Copyable, Sendable {
  private let identity = ObjectIdentity()

  @usableFromInline
  init() {}

  @usableFromInline
  func willLoad() { pause(before: .load) }

  @usableFromInline
  func willStore() { pause(before: .store) }

  @usableFromInline
  func willUpdate() { pause(before: .update) }

  @usableFromInline
  func willExchange() { pause(before: .exchange) }

  @usableFromInline
  func willCompare() { pause(before: .compare) }

  @usableFromInline
  func noteOutcome(hasWritten: Bool) { currentPart?.noteOutcome(hasWritten: hasWritten) }

  /// Tells a run that is told what the operation has found and, if it has written, what.
  @usableFromInline
  func note<Value>(found: Value, left: Value?) {
    guard let part = currentPart, part.wantsValues else { return }
    let values = OperationValues(
      found: Self.text(found),
      left: left.flatMap(Self.text),
      hasWritten: left != nil
    )
    part.note(values)
  }

  /// A number, a truth value or the name of a case; nil for all else, whose text would say little or would
  /// come from code that is explored.
  private static func text<Value>(_ value: Value) -> String? {
    if let number = value as? any FixedWidthInteger { return text(ofNumber: number) }
    if let truth = value as? Bool { return "\(truth)" }
    if value is any CustomStringConvertible || value is any CustomDebugStringConvertible
      || value is any TextOutputStreamable || value is any CustomReflectable
    {
      return nil
    }
    let mirror = Mirror(reflecting: value)
    return mirror.displayStyle == .enum && mirror.children.isEmpty ? "\(value)" : nil
  }

  /// A large one without a sign in hexadecimal: it is several values in a word.
  private static func text<Number: FixedWidthInteger>(ofNumber number: Number) -> String {
    let isPlain = Number.isSigned || number.magnitude < 1_000_000
    return isPlain ? "\(number)" : "0x" + String(number, radix: 16)
  }

  private func pause(before kind: SynchronizationOperation.Kind) {
    _ = currentPart?.pause(before: kind, of: identity)
  }
}
