/// How much of a search in order fits into the limits that it was given, and when it is plain that the rest does not.
///
/// Whether the rest fits is asked when a twentieth of what the limits allow is used, and at each further twentieth up
/// to the half. An estimate made so early can be too high, and what would have come to its end must not be cut. So the
/// doubt is the greater, the less is used: the rest is called too large where it is estimated at more than `doubt` /
/// used times what still fits. A search 120 times too large is told after a twentieth, one seven times too large after
/// half of it; one that is less than that too large goes on in order to its limit. Within a bound on pre-emptions
/// estimates are better from the beginning, and one 20 times too large is told after a twentieth.
struct SearchRoom {
  /// How many schedules have to be behind an estimate.
  static let fewest = 100
  /// At which part of the limits the question comes, and again.
  private static let twentieth = 0.05
  /// Behind which part it is not asked any more: too little would be left for anything else.
  private static let half = 0.5
  /// No estimate of a tree of known size was more than 6 / used times too high (`SizeEstimateTests`).
  private static let doubt = 6.0
  /// The largest estimate within a bound on pre-emptions was 9 times too high (`TooLarge.md`).
  private static let mostWithinBound = 20.0

  /// How many schedules, steps and how much time there is for all of it.
  let schedules: Int
  let steps: Int
  let time: Duration?
  private var next = SearchRoom.twentieth

  init(schedules: Int, steps: Int = .max, time: Duration? = nil) {
    self.schedules = schedules
    self.steps = steps
    self.time = time
  }

  /// What was used of it.
  struct Use {
    var schedules: Int
    var steps: Int
    var time: Duration
  }

  /// Which part of what the limits allow is used, if it is time to ask.
  mutating func partToAskAt(_ use: Use) -> Double? {
    guard use.schedules >= Self.fewest else { return nil }
    let part = part(use)
    guard part >= next, part <= Self.half else { return nil }
    next = part + Self.twentieth
    return part
  }

  /// Whether so many more schedules, by estimate, are too many.
  ///
  /// - Parameters:
  ///   - left: how many there still are, by estimate.
  ///   - schedules: how many are behind.
  ///   - part: which part of what the limits allow is used.
  ///   - isBounded: whether the schedules have a bound on pre-emptions, and all of them are run.
  /// - Returns: whether it is plain that they do not fit.
  static func isTooSmall(
    for left: Double,
    after schedules: Int,
    part: Double,
    isBounded: Bool
  ) -> Bool {
    let doubt = isBounded ? min(mostWithinBound, doubt / part) : doubt / part
    return left > doubt * fitting(after: schedules, part: part)
  }

  /// How many schedules fit in all.
  func all(_ use: Use) -> Int {
    let byPart = Double(use.schedules) / max(part(use), .leastNonzeroMagnitude)
    return byPart < Double(schedules) ? Int(byPart) : schedules
  }

  /// How many schedules still fit.
  func left(_ use: Use) -> Int { max(1, all(use) - use.schedules) }

  private static func fitting(after schedules: Int, part: Double) -> Double {
    Double(schedules) * max(0, 1 - part) / part
  }

  private func part(_ use: Use) -> Double {
    max(
      Double(use.schedules) / Double(schedules),
      Double(use.steps) / Double(steps),
      time.map { use.time / $0 } ?? 0
    )
  }
}
