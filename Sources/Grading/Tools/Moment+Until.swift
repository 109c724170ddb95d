internal import Basics

extension Moment {
  /// Lets moments pass until as many have come as are due, or until nobody has come for as many moments as there is patience.
  ///
  /// Each moment takes a turn of the pool, so who only waits for such a turn has had it.
  ///
  /// - Parameters:
  ///   - due: how many should come.
  ///   - patience: for how many moments nobody comes at the end.
  ///   - come: how many have come.
  /// - Returns: how many came.
  @discardableResult
  static func pass(until due: Int, patience: Int = 3_000, _ come: () -> Int) async -> Int {
    var (seen, quiet) = (come(), 0)
    while seen < due, quiet < patience {
      await pass()
      let now = come()
      quiet = now == seen ? quiet + 1 : 0
      seen = now
    }
    return seen
  }
}
