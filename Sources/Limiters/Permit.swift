/// A right to run, of a ``ConcurrencyLimiter``: given back when it goes out of scope.
///
/// ```swift
/// let permit = try await limiter.acquire()
/// let page = try await download(url)
/// permit.release()
/// ```
///
/// It cannot be copied, so it cannot be given back twice, and it cannot be forgotten. To hand it to other
/// tasks by way of code that copies, ``detach()`` it.
@frozen
public struct Permit: ~Copyable, Sendable {
  @usableFromInline var limiter: ConcurrencyLimiter?
  @usableFromInline let weight: Int

  @inlinable
  init(_ limiter: ConcurrencyLimiter, weight: Int) {
    self.limiter = limiter
    self.weight = weight
  }

  @inlinable
  deinit { limiter?.giveBack(weight) }

  /// Gives the permit back, as going out of scope does.
  ///
  /// - Complexity: O(1), and O(n) for n waiters that it admits.
  @inlinable
  public consuming func release() {}

  /// Exchanges the permit for a token that can be copied and stored anywhere.
  ///
  /// - Complexity: O(1), one allocation.
  public consuming func detach() -> PermitToken {
    var permit = self
    guard let limiter = permit.limiter.take() else {
      fatalError("a permit has its limiter to its end")
    }
    return PermitToken(limiter, weight: permit.weight)
  }
}

/// A permit that many can refer to, and one of them gives back.
///
/// Call ``release(file:line:)`` exactly once, from any task or thread. If every reference goes away first,
/// the permit is given back then.
public final class PermitToken: Sendable {
  private let limiter: ConcurrencyLimiter
  private let weight: Int
  private let isReleased = Lock(false)

  fileprivate init(_ limiter: ConcurrencyLimiter, weight: Int) {
    self.limiter = limiter
    self.weight = weight
  }

  deinit { if !isReleased.withLock({ $0 }) { limiter.giveBack(weight) } }

  /// Gives the permit back.
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
    limiter.giveBack(weight)
  }
}
