/// Which blocks the figures of a run are made of, where its processors were moved meanwhile.
///
/// A ratio is another one where the processors are far apart, so a mean of both is a figure of neither, and two runs
/// of which one had more of the one kind disagree. A block is near where both of its readings are within three times
/// the run's 5th percentile (of fewer than ten blocks: the least), far where neither is, else moved. Near or far,
/// whichever most blocks are, is the kind of the run. A cell is made of its blocks of that kind if it has six, else of
/// those of the other if it has six of these, else of all.
///
/// What a block found that is left out counts only where no other block has such a figure, and promises count
/// always: they are kept or broken at any distance. Nothing is left out where no second processor has a part in it.
package struct CountedBlocks: Sendable {
  package enum Kind: String, Hashable, Codable, Sendable {
    case near, far
    /// The processors were moved during the block; of a cell: it is made of blocks of several kinds.
    case moved
  }

  /// How many times the least counts as near.
  package static let reach = 3.0
  /// How many times the least is no distance: others had the processors.
  package static let limit = 20.0
  /// A cell is made of blocks of one kind where it has so many.
  package static let fewest = Campaign.fewestForks

  private let least: Double?
  /// The kind of the run; nil where none was near or far.
  package let counted: Kind?
  /// Of each entry that has blocks of known distance, what it is made of.
  package private(set) var cells: [Int: Kind] = [:]
  /// By the numbers of the records.
  private var leftOut: Set<Int> = []
  /// What the blocks found that are not left out.
  private var figures: Set<FigureKey> = []
  /// How many blocks there were of each kind.
  package private(set) var blocks: [Kind: Int] = [:]
  /// The middle of what was read of each kind, in nanoseconds.
  package private(set) var middles: [Kind: Double] = [:]

  package init(_ records: [BlockRecord], _ plan: Plan) {
    let readings = records.compactMap(\.distance).flatMap { [$0.before, $0.after] }.sorted()
    let least = readings.isEmpty ? nil : readings[readings.count / 20]
    self.least = least
    let kinds = records.map { Self.kind($0, least) }
    for kind in kinds.compactMap(\.self) { blocks[kind, default: 0] += 1 }
    let (near, far) = (blocks[.near] ?? 0, blocks[.far] ?? 0)
    counted = near + far == 0 ? nil : far > near ? .far : .near
    for kind in blocks.keys {
      let read = zip(records, kinds).filter { $1 == kind }.compactMap(\.0.distance)
      middles[kind] = median(read.map { ($0.before + $0.after) / 2 })
    }
    let byEntry = Dictionary(grouping: zip(records, kinds), by: \.0.entry)
    for (entry, own) in byEntry where plan.entries[entry].dependsOnDistance {
      func count(_ kind: Kind) -> Int { own.count { $0.1 == kind } }
      let present = [Kind.near, .far, .moved].filter { count($0) > 0 }
      let kind = [counted, counted == .far ? .near : .far].compactMap(\.self)
        .first { count($0) >= Self.fewest }
      if let kind {
        leftOut.formUnion(own.filter { $0.1 != nil && $0.1 != kind }.map(\.0.number))
      }
      cells[entry] = kind ?? (present.count > 1 ? .moved : present.first)
    }
    for (record, trial) in ForkFigures.countedTrials(records) where !leavesOut(record) {
      for measure in trial.report.measures {
        figures.insert(FigureKey(record.entry, trial.contestant, measure))
      }
    }
  }

  /// How many blocks are left out.
  package var leftOutBlocks: Int { leftOut.count }

  /// The entries that are made of other blocks than the run's kind.
  package var otherCells: [(entry: Int, kind: Kind)] {
    cells.filter { $0.value != counted }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Whether the processors were at another distance than is the run's.
  func isElsewhere(_ record: BlockRecord) -> Bool {
    Self.kind(record, least).map { $0 != counted } ?? false
  }

  package func leavesOut(_ record: BlockRecord) -> Bool { leftOut.contains(record.number) }

  /// Whether a figure of a block counts.
  func counts(_ measure: Measure, of contestant: Int, in record: BlockRecord) -> Bool {
    !leavesOut(record) || Metric.named[measure.metric]?.isPromise == true
      || !figures.contains(FigureKey(record.entry, contestant, measure))
  }

  /// Why a figure of a block does not count, as `results.csv` says it; nil where it does.
  func reason(_ measure: Measure, of contestant: Int, in record: BlockRecord) -> String? {
    if counts(measure, of: contestant, in: record) { return nil }
    return Self.kind(record, least).map { Self.prefixOfReason + $0.place }
  }

  static let prefixOfReason = "the processors were "

  /// How far apart the processors were, in a sentence without a full stop; nil where that could not be measured.
  package var words: String? {
    guard !blocks.isEmpty else { return nil }
    guard let counted, let middle = middles[counted] else {
      return "the processors were moved in each of \(Quantity.count(blocks[.moved] ?? 0, "block"))"
    }
    let way =
      "\(counted == .near ? "" : "far apart: ")a word of memory went from one processor to another and back in "
      + "\(Quantity.digits(middle)) ns"
    let others = [Kind.near, .far, .moved].filter { $0 != counted && blocks[$0] != nil }
    if others.isEmpty { return way }
    let elsewhere = others.map { kind in
      "\(kind.place) in \(Quantity.count(blocks[kind] ?? 0, "block"))"
        + (kind == .moved ? "" : " (\(Quantity.digits(middles[kind] ?? 0)) ns)")
    }
    return way + "; the processors were " + elsewhere.joined(separator: ", ")
      + (leftOutBlocks == 0 ? "" : "; \(Quantity.count(leftOutBlocks, "block")) left out")
  }

  private static func kind(_ record: BlockRecord, _ least: Double?) -> Kind? {
    guard let least, let distance = record.distance else { return nil }
    let read = [distance.before, distance.after]
    if read.contains(where: { $0 > limit * least }) { return nil }
    let near = read.map { $0 <= reach * least }
    return near[0] != near[1] ? .moved : near[0] ? .near : .far
  }
}

extension CountedBlocks.Kind {
  /// Where the processors were.
  fileprivate var place: String {
    switch self {
    case .near: "near each other"
    case .far: "far apart"
    case .moved: "moved"
    }
  }

  /// As `summary.csv` says it of a cell.
  var ofCell: String { self == .moved ? "mixed" : rawValue }
}

extension Plan.Entry {
  /// Whether memory goes from one processor to another in it.
  fileprivate var dependsOnDistance: Bool {
    cell.processors != 1 && headline?.metric.unit != "bytes"
  }
}

extension FigureKey {
  init(_ entry: Int, _ contestant: Int, _ measure: Measure) {
    self.init(entry: entry, contestant: contestant, metric: measure.metric, stat: measure.stat)
  }
}
