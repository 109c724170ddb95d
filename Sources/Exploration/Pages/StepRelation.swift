/// What two steps have to do with each other, of which a failure says that they matter.
package enum StepRelation: Sendable {
  /// With the first moved behind the second nothing fails.
  case comesBefore
  /// Nothing that the code does puts one before the other: a data race.
  case unordered
  /// By each a task takes the lock that the other's task waits for.
  case holdUp
  /// By each a task keeps a thread of the pool that it blocks.
  case blockThreads

  /// What stands between the two: `step 3 comes before step 5`.
  package var between: String { self == .comesBefore ? " comes before " : " and " }

  /// What stands behind them.
  package var behind: String {
    switch self {
    case .comesBefore: ""
    case .unordered: ", which nothing puts in an order"
    case .holdUp: ", by which each has what the other waits for"
    case .blockThreads: ", behind which each blocks a thread"
    }
  }

  /// `step 3 comes before step 5`.
  package func text(_ first: Int, _ second: Int) -> String {
    "step \(first)\(between)step \(second)\(behind)"
  }
}
