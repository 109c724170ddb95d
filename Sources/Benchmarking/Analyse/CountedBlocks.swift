/// Which blocks a run's comparisons are made of, where its processors were moved meanwhile.
///
/// A ratio is another one where the processors are far apart, so a mean of both is a figure of neither, and two runs
/// of which one had more of the one kind disagree. What counts is the kind that most blocks have: near, where both
/// readings of a block are within three times the run's least (its twentieth part, so that one reading decides nothing), or
/// far, where neither is. A cell that has too few of these keeps all of its blocks. Of a block that is left out, only
/// the figure that is compared does not count: promises are kept or broken at any distance.
package struct CountedBlocks: Sendable {
  package enum Kind: String, Hashable, Codable, Sendable {
    case near, far
    /// The processors were moved during the block.
    case moved
  }

  /// How many times the least counts as near.
  package static let reach = 3.0
  /// A cell keeps all its blocks if it had fewer than these of the kind that counts.
  package static let fewest = 6

  private let least: Double?
  /// The kind that counts; nil where no distance could be measured.
  package let counted: Kind?
  /// By the numbers of the records.
  private var leftOut: Set<Int> = []
  /// How many blocks there were of each kind.
  package private(set) var blocks: [Kind: Int] = [:]
  /// The middle of what was read of each kind, in nanoseconds.
  package private(set) var middles: [Kind: Double] = [:]

  package init(_ records: [BlockRecord]) {
    let readings = records.compactMap(\.distance).flatMap { [$0.before, $0.after] }.sorted()
    let least = readings.isEmpty ? nil : readings[readings.count / 20]
    self.least = least
    let kinds = records.map { Self.kind($0, least) }
    for kind in kinds.compactMap(\.self) { blocks[kind, default: 0] += 1 }
    counted = least == nil ? nil : blocks[.far] ?? 0 > blocks[.near] ?? 0 ? .far : .near
    for kind in blocks.keys {
      let read = zip(records, kinds).filter { $1 == kind }.compactMap(\.0.distance)
      middles[kind] = median(read.map { ($0.before + $0.after) / 2 })
    }
    for entry in Set(records.map(\.entry)) {
      let own = zip(records, kinds).filter { $0.0.entry == entry }
      let elsewhere = own.filter { $0.1 != nil && $0.1 != counted }.map(\.0.number)
      if own.count - elsewhere.count >= Self.fewest { leftOut.formUnion(elsewhere) }
    }
  }

  /// How many blocks are left out.
  package var leftOutBlocks: Int { leftOut.count }

  /// Whether the processors were at another distance than in the blocks that count.
  func isElsewhere(_ record: BlockRecord) -> Bool {
    Self.kind(record, least).map { $0 != counted } ?? false
  }

  /// Whether what the block found is compared with nothing.
  package func leavesOut(_ record: BlockRecord) -> Bool { leftOut.contains(record.number) }

  /// How far apart the processors were, in a sentence without a full stop; nil where that could not be measured.
  package var words: String? {
    guard let counted, let middle = middles[counted] else { return nil }
    let kind = counted == .near ? "" : "far apart: "
    let way =
      "\(kind)a word of memory went from one processor to the other and back in \(Quantity.digits(middle)) ns"
    let others = [Kind.near, .far, .moved].filter { $0 != counted && blocks[$0] != nil }
    if others.isEmpty { return way }
    let elsewhere = others.map { kind in
      let place =
        switch kind {
        case .near: "near each other"
        case .far: "far apart"
        case .moved: "moved meanwhile"
        }
      return "\(Quantity.count(blocks[kind] ?? 0, "block")) they were \(place)"
        + (kind == .moved ? "" : " (\(Quantity.digits(middles[kind] ?? 0)) ns)")
    }
    return way + "; in " + elsewhere.joined(separator: ", in ")
      + ", and what \(leftOutBlocks) of these found is not compared"
  }

  /// Why a block's compared figure does not count, as `results.csv` says it; nil where it does.
  package func reason(_ record: BlockRecord) -> String? {
    guard leavesOut(record) else { return nil }
    let other =
      switch Self.kind(record, least) {
      case .near: "near each other"
      case .far: "far apart"
      case .moved, nil: "moved"
      }
    return Self.prefixOfReason + other
  }

  static let prefixOfReason = "the processors were "

  private static func kind(_ record: BlockRecord, _ least: Double?) -> Kind? {
    guard let least, let distance = record.distance else { return nil }
    let near = [distance.before, distance.after].map { $0 <= reach * least }
    return near[0] != near[1] ? .moved : near[0] ? .near : .far
  }
}
