internal import Limiters

/// What stood when nothing moved any more: told of a question to which no answer comes.
final class LastSight: Sendable {
  private let look = Lock<(@Sendable () -> String?)?>(nil)

  /// From here on `look` says what stands; nil where that tells nothing.
  func tell(_ look: @escaping @Sendable () -> String?) { self.look.withLock { $0 = look } }

  /// What stands now; nil where there is nothing to tell.
  var text: String? { look.withLock { $0 }?() }
}
