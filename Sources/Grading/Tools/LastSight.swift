internal import Limiters
internal import Synchronization

/// What stood when nothing moved any more: told of a question to which no answer comes.
final class LastSight: Sendable {
  private let look = Lock<(@Sendable () -> String?)?>(nil)
  private let made = Atomic(0)

  /// From here on `look` says what stands; nil where that tells nothing.
  func tell(_ look: @escaping @Sendable () -> String?) { self.look.withLock { $0 = look } }

  /// What stands now; nil where there is nothing to tell.
  var text: String? { look.withLock { $0 }?() }

  /// Notes that something has moved.
  ///
  /// A question that notes so is over when nothing has moved for ten seconds.
  func move() { made.add(1, ordering: .relaxed) }

  /// How often something has moved.
  var moves: Int { made.load(ordering: .relaxed) }
}
