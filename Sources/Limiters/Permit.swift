public import Synchronization

// Why `release()` does not consume the permit, though the permit cannot be copied: a method that consumes cannot be
// called in a `defer`, and that is where people write it. So the permit remembers that it was given back, by one
// atomic operation, since code that borrows it may run on two tasks at once. Going out of scope costs none: then
// nobody else has it.
//
// It refers to its limiter without a reference that is counted: that it is counted itself, among those who hold
// permits, keeps alive what it needs (see LimiterCore.swift). So a permit that is free is taken and given back by
// three atomic operations in all.
/// A right to run, of a ``ConcurrencyLimiter``: given back at the end of its scope at the latest.
///
/// ```swift
/// let permit = try await limiter.acquire()
/// defer { permit.release() }
/// let page = try await download(url)
/// ```
///
/// It cannot be copied, so it is given back once, however often ``release()`` is called, and it cannot be
/// forgotten. To hand it to other tasks by way of code that copies, ``detach(file:line:)`` it.
///
/// - Warning: Give it a name. `_ = try await limiter.acquire()` has no scope: the permit is given back at once, and
///   what follows runs without one. Nor follow the compiler's advice to replace a permit that is "never used" with
///   `_`: add `defer { permit.release() }`. Where the work is one call or closure,
///   ``ConcurrencyLimiter/run(weight:file:line:_:)`` needs neither.
@frozen
public struct Permit: ~Copyable, Sendable {
  /// Alive until the permit is given back.
  @usableFromInline let core: Unmanaged<LimiterCore>
  @usableFromInline let weight: Int
  @usableFromInline let isReleased = Atomic(false)

  /// Of permits of `limiter` that have been taken.
  @inlinable
  init(_ limiter: ConcurrencyLimiter, weight: Int) {
    core = .passUnretained(limiter.core)
    self.weight = weight
    // Inlined, the last use of the limiter could come before its permits are taken, and then it would go as if
    // nobody had any.
    withExtendedLifetime(limiter) {}
  }

  @inlinable
  deinit { if !isReleased.load(ordering: .relaxed) { giveBack(weight) } }

  @inlinable
  func giveBack(_ weight: Int) {
    core._withUnsafeGuaranteedRef { $0.giveBackWithoutReference(weight) }
  }

  /// Gives the permit back before its scope ends.
  ///
  /// ```swift
  /// let permit = try await limiter.acquire()
  /// defer { permit.release() }
  /// ```
  ///
  /// From any task. Only the first call has an effect.
  ///
  /// - Complexity: O(1), and O(n) for n waiters that it admits.
  @inlinable
  public func release() {
    if !isReleased.exchange(true, ordering: .relaxed) { giveBack(weight) }
  }

  /// Exchanges the permit for a token that can be copied and stored anywhere.
  ///
  /// ```swift
  /// let token = try await limiter.acquire().detach()
  /// Task {
  ///   defer { token.release() }
  ///   try await download(url)
  /// }
  /// ```
  ///
  /// - Complexity: O(1), one allocation.
  /// - Precondition: The permit was not given back; else the program stops.
  public consuming func detach(file: StaticString = #file, line: UInt = #line) -> PermitToken {
    // The token gives it back, and not the end of this scope.
    guard !isReleased.exchange(true, ordering: .relaxed) else {
      stop(
        "Permit: detach was called after release, and the permit may be another's by now; "
          + "call one of the two",
        file: file,
        line: line
      )
    }
    return PermitToken(core.takeUnretainedValue(), weight: weight)
  }
}

/// A permit that many can refer to, and one of them gives back.
///
/// Call ``release(file:line:)`` exactly once, from any task or thread. If every reference goes away first,
/// the permit is given back then.
public final class PermitToken: Sendable {
  private let core: LimiterCore
  private let weight: Int
  private let isReleased = Lock(false)

  fileprivate init(_ core: LimiterCore, weight: Int) {
    self.core = core
    self.weight = weight
  }

  deinit { if !isReleased.withLock({ $0 }) { core.giveBack(weight) } }

  /// Gives the permit back.
  ///
  /// ```swift
  /// let token = try await limiter.acquire().detach()
  /// token.release()
  /// ```
  ///
  /// - Complexity: As ``Permit/release()``.
  /// - Precondition: Nobody has called it before; else the program stops.
  public func release(file: StaticString = #file, line: UInt = #line) {
    let isFirst = isReleased.withLock { isReleased in
      defer { isReleased = true }
      return !isReleased
    }
    guard isFirst else {
      stop(
        "PermitToken: release was called a second time, and the permit may be another's by now; "
          + "call it once for each token",
        file: file,
        line: line
      )
    }
    core.giveBack(weight)
  }
}
