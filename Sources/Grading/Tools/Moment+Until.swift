internal import Basics

extension Moment {
  /// Lets moments pass until as many have come as are due, or until nobody has come for 3,000 moments.
  ///
  /// Each moment takes a turn of the pool, so who only waits for such a turn has had it.
  ///
  /// - Parameters:
  ///   - due: how many should come.
  ///   - come: how many have come.
  /// - Returns: how many came.
  @discardableResult
  static func pass(until due: Int, _ come: () -> Int) async -> Int {
    var (seen, quiet) = (come(), 0)
    while seen < due, quiet < 3_000 {
      await pass()
      let now = come()
      quiet = now == seen ? quiet + 1 : 0
      seen = now
    }
    return seen
  }
}
