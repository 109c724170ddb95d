import Synchronization
import Testing

@testable import Exploration

/// A program as one finds them in published code, of which it is known whether it is right.
///
/// It was judged before it was explored. One that is wrong is so within two pre-emptions.
struct JudgedProgram: Sendable, CustomTestStringConvertible {
  var sentence: String
  /// How it fails; nil if it is right.
  var fails: Violation.Kind?
  /// Whether a task of it tries again and again, so that not every schedule can be run.
  var spins: Bool
  /// Whether its search takes long for what it says about a change.
  var isLong: Bool
  var body: @Sendable () async throws -> Void

  init(
    _ sentence: String,
    fails: Violation.Kind? = nil,
    spins: Bool = false,
    isLong: Bool = false,
    body: @escaping @Sendable () async throws -> Void
  ) {
    self.sentence = sentence
    self.fails = fails
    self.spins = spins
    self.isLong = isLong
    self.body = body
  }

  var testDescription: String { sentence }
}

/// The programs, by themes, and what they share.
enum Judged {
  static let all =
    locks + cancellation + others + harder + waits + races + operations + later + queues

  /// Runs both at once.
  static func both(
    _ one: @escaping @Sendable () async throws -> Void,
    _ other: @escaping @Sendable () async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { try await one() }
      group.addTask { try await other() }
      try await group.waitForAll()
    }
  }

  final class Number: Sendable { let value = Atomic(0) }
}

extension Result where Failure == any Error {
  /// What came of it.
  init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
