internal import Foundation
package import Testing

// What takes long for what it says about a change: a plain `swift test` leaves it out, `LONG_TESTS=1 swift test`
// and `bash .ci/long tests` do not.

/// Whether the tests that take long run too.
package let longTestsRun = ProcessInfo.processInfo.environment["LONG_TESTS"] != nil

extension Trait where Self == ConditionTrait {
  /// A test, or a suite, that a plain `swift test` leaves out.
  package static var long: Self {
    .enabled(if: longTestsRun, "takes long; LONG_TESTS=1 swift test runs it")
  }
}

extension Collection {
  /// The arguments of a test that takes long with all of them: a plain `swift test` has the first ones.
  package func fewUnlessLong(_ count: Int) -> [Element] {
    longTestsRun ? Array(self) : Array(prefix(count))
  }
}
