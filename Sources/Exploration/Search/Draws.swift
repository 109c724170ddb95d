internal import Basics
internal import Glibc

/// The schedules that are drawn where all there are would be too many to be searched in order.
package struct Draws: Hashable, Sendable, Codable {
  /// The depth of PCT; nil where each choice is drawn at random.
  package var depth: Int?
  package var seed: UInt64
  /// How many are to be drawn.
  package var wanted: Int
  /// How many were searched in order before.
  package var inOrder: Int
  /// About how many there are in all, within the bounds of the search in order.
  package var estimate: Double
  /// How many of those fit into the limits.
  package var room: Int
  /// How many were drawn.
  package internal(set) var drawn = 0
  /// How many agents there were in one of them, and how many steps, at most.
  package internal(set) var agents = 0
  package internal(set) var steps = 0

  package init(
    depth: Int?,
    seed: UInt64,
    wanted: Int,
    inOrder: Int,
    estimate: Double,
    room: Int
  ) {
    self.depth = depth
    self.seed = seed
    self.wanted = wanted
    self.inOrder = inOrder
    self.estimate = estimate
    self.room = room
  }

  /// Notes that one was drawn.
  mutating func note(_ choices: [Choice]) {
    drawn += 1
    steps = max(steps, choices.count)
    for choice in choices where !choice.isInterference { agents = max(agents, Int(choice.agent)) }
  }

  /// The chance with which each of them shows a defect of that depth, at least; nil where nothing says so.
  ///
  /// The bound of PCT: 1 / (n · k^(depth − 1)), for n agents and k steps.
  package var chance: Double? {
    guard let depth, agents > 0, steps > 0 else { return nil }
    var ways = Double(agents)
    for _ in 1..<depth { ways *= Double(steps) }
    return 1 / ways
  }

  // MARK: In words

  /// How they are drawn: `PCT (depth 3, seed 1)`.
  package var way: String {
    depth.map { "PCT (depth \($0), seed \(seed))" } ?? "chance (seed \(seed))"
  }

  /// What is told when it goes over to them.
  package var announcement: String {
    "about \(Self.about(estimate)) schedules, of which \(grouped(room)) fit in the limit; after "
      + "\(grouped(inOrder)) in order it goes "
      + "over to \(grouped(wanted)) drawn by \(way)"
  }

  private func grouped(_ number: Int) -> String { FigureText.grouped(number) }

  /// What they leave open, one noun phrase each.
  var notCovered: [String] {
    let left = drawn < wanted ? ", of \(grouped(wanted)) that were to be" : ""
    let rest =
      "the rest of about \(Self.about(estimate)) schedules (an estimate), of which \(grouped(room)) fit in the limit: "
      + "\(grouped(inOrder)) were searched in order, then \(grouped(drawn)) drawn by \(way)\(left)"
    guard let depth, let chance, drawn > 0 else { return [rest] }
    let all = 1 - exp(Double(drawn) * log1p(-chance))
    let orders = depth == 1 ? "one order of two steps" : "\(depth) orders of two steps"
    return [
      rest,
      "a defect that none of these show: one that needs \(orders) is shown by each that PCT draws with a chance "
        + "of \(Self.chance(chance)) or more, with \(agents) tasks and \(steps) steps, and by \(grouped(drawn)) with one of "
        + "\(Self.chance(all)) or more",
    ]
  }

  /// A number that is an estimate: two digits of it.
  package static func about(_ number: Double) -> String {
    digits(of: number, .toNearestOrAwayFromZero)
  }

  private static func digits(of number: Double, _ rule: FloatingPointRoundingRule) -> String {
    guard number.isFinite else { return "more than 10^308" }
    let units: [(least: Double, name: String)] = [
      (1e12, " trillion"), (1e9, " billion"), (1e6, " million"), (1, ""),
    ]
    guard number < 1e15 else { return "10^\(Int(log10(number)))" }
    let unit = units.first { number >= $0.least } ?? (1, "")
    var value = number / unit.least
    var scale = 1.0
    while value >= 100 {
      value /= 10
      scale *= 10
    }
    let isWhole = value >= 10 || unit.least == 1
    guard isWhole else {
      let tenths = Int((value * 10).rounded(rule))
      return tenths.isMultiple(of: 10)
        ? "\(tenths / 10)\(unit.name)" : "\(tenths / 10).\(tenths % 10)\(unit.name)"
    }
    return FigureText.grouped(Int(value.rounded(rule) * scale)) + unit.name
  }

  /// A chance, told no higher than it is: `1 in 40000`, `22 %`.
  static func chance(_ chance: Double) -> String {
    guard chance < 0.01 else { return "\(min(99, Int(chance * 100))) %" }
    // 1 / 0.0001 is a little more than 10,000.
    return "1 in \(digits(of: (1 / chance * (1 - 1e-12)).rounded(.up), .up))"
  }
}
