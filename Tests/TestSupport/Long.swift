internal import Foundation
package import Testing

// What takes long for what it says about a change: a plain `swift test` leaves it out, `LONG_TESTS=1 swift test`
// and two steps of `.ci/long`, `tests` and `gradings`, do not.

/// Whether the tests that take long run too.
package let longTestsRun = ProcessInfo.processInfo.environment["LONG_TESTS"] != nil

/// Whether long searches run too, of schedules and of typed lines; and storms in full.
///
/// `.ci/run searches` takes them once for each landing, and not again on one processor: they do not depend on how many
/// there are.
package let searchesRun = longTestsRun || ProcessInfo.processInfo.environment["SEARCHES"] != nil

extension Trait where Self == ConditionTrait {
  /// A test, or a suite, that a plain `swift test` leaves out.
  package static var long: Self {
    .enabled(if: longTestsRun, "takes long; LONG_TESTS=1 swift test runs it")
  }

  /// A long search of schedules, or a storm.
  ///
  /// A plain `swift test` leaves it out, `.ci/run searches` does not.
  package static var search: Self {
    .enabled(if: searchesRun, "searches long; SEARCHES=1 swift test runs it")
  }
}

extension Collection {
  /// The arguments of a search that takes long with all of them: a plain `swift test` has only the quick ones.
  package func fewUnlessSearching(_ isQuick: (Element) -> Bool) -> [Element] {
    searchesRun ? Array(self) : filter(isQuick)
  }

  /// The arguments of a test that takes long with all of them: a plain `swift test` has the first ones.
  package func fewUnlessLong(_ count: Int) -> [Element] {
    longTestsRun ? Array(self) : Array(prefix(count))
  }
}
