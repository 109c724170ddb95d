internal import Basics
internal import Foundation
internal import Mechanisms

/// What the user chose to measure.
package struct Selection: Sendable {
  package var scale: Scale
  package var seed: UInt64
  /// The blocks of every cell; nil for as many as the scale has.
  package var forks: Int?
  package var limits: [Int]?
  /// The mechanisms by name; nil for all of the catalogue but its specimens.
  package var mechanisms: [String]?
  /// Only what this matches, if given.
  package var filter: String?
  /// Nothing that this matches, if given.
  package var skip: String?

  package init(
    scale: Scale = .standard,
    seed: UInt64 = 1,
    forks: Int? = nil,
    limits: [Int]? = nil,
    mechanisms: [String]? = nil,
    filter: String? = nil,
    skip: String? = nil
  ) {
    self.scale = scale
    self.seed = seed
    self.forks = forks
    self.limits = limits
    self.mechanisms = mechanisms
    self.filter = filter
    self.skip = skip
  }
}

/// Why a selection cannot be measured.
package enum SelectionError: Error, CustomStringConvertible {
  case unknownMechanism(String)
  case badPattern(option: String, String)
  case empty
  case tooFewForks(Int)
  case badLimit(Int)

  package var description: String {
    switch self {
    case .unknownMechanism(let name):
      "no mechanism '\(name)'. There are: \(Self.names(Contestants.mechanisms.map(\.id))); to hold "
        + "them against: \(Self.names(Contestants.others)); and wrong on purpose: "
        + Self.names(Contestants.specimens)
    case .badPattern(let option, let pattern):
      "\(option) '\(pattern)' is not a regular expression. A plain word such as 'uncontended' will do"
    case .empty:
      "nothing is left to measure. 'bench --list' shows what --filter and --skip are matched against"
    case .tooFewForks(let forks):
      "--forks must be at least 1, not \(forks)"
    case .badLimit(let limit):
      "--limit must be at least 1, not \(limit)"
    }
  }

  private static func names(_ names: [String]) -> String { names.joined(separator: ", ") }
}

/// What will be measured, and in which order; made before anything runs.
package struct Plan: Hashable, Codable, Sendable {
  /// One cell and its contestants; where mechanisms are compared, the reference is there twice.
  package struct Entry: Hashable, Codable, Sendable {
    package var cell: Cell
    package var contestants: [Contestant]
    /// How many blocks measure it.
    package var forks: Int
    /// Seconds that one block of it should take.
    package var expectedSeconds: Double
    /// Mechanisms that do not limit what the cell asks of them.
    package var notLimiting: [String]

    /// The contestants without the second half of the A/A pair, which only measures the noise.
    package var compared: [Int] { contestants.indices.filter { !contestants[$0].isAgain } }

    /// Whether the contestants share a process.
    package var isPaired: Bool { BenchWorkloads.named(cell.workload)?.isPaired == true }

    /// The figure that its contestants are compared by; nil where there is nothing to win.
    package var headline: Headline? { BenchWorkloads.named(cell.workload)?.headline }

    /// The mechanism that ratios refer to; nil where there is nothing to compare.
    package var reference: String? {
      contestants.first(where: \.isAgain).map { $0.mechanism ?? "" }
    }

    /// The contestant that another is compared with; nil for the reference itself.
    ///
    /// It is the reference, or on lanes the same mechanism on the global pool.
    package func reference(of contestant: Int) -> Int? {
      let who = contestants[contestant]
      guard let again = contestants.first(where: \.isAgain) else { return nil }
      let isMoved = who.executor == .lanes && again.executor != .lanes
      let found = contestants.firstIndex {
        !$0.isAgain && $0.mechanism == (isMoved ? who.mechanism : again.mechanism)
          && (isMoved ? $0.executor != .lanes : $0.executor == again.executor)
      }
      return found == contestant ? nil : found
    }
  }

  /// All contestants of one cell, measured beside each other: in one process, or one directly after the other.
  package struct Block: Hashable, Codable, Sendable {
    package var fork: Int
    package var entry: Int
    /// Indices of the contestants, in the order they begin.
    package var order: [Int]
  }

  package var scale: Scale
  package var seed: UInt64
  package var entries: [Entry]

  /// Derives the plan; the same selection of the same program gives the same plan.
  package init(_ selection: Selection) throws(SelectionError) {
    if let forks = selection.forks, forks < 1 { throw .tooFewForks(forks) }
    if let limit = selection.limits?.first(where: { $0 < 1 }) { throw .badLimit(limit) }
    scale = selection.scale
    seed = selection.seed
    let mechanisms = try Self.mechanisms(selection.mechanisms)
    let filter = try Self.pattern(selection.filter, option: "--filter")
    let skip = try Self.pattern(selection.skip, option: "--skip")
    func isWanted(_ name: String) -> Bool {
      (filter?.matches(name) ?? true) && !(skip?.matches(name) ?? false)
    }

    entries = []
    for workload in BenchWorkloads.all {
      for cell in workload.cells(selection.scale, limits: selection.limits) {
        var contestants: [Contestant] = []
        if workload.measuresMechanisms {
          contestants = (mechanisms + Self.guests(of: workload, selection))
            .filter { workload.admits($0.profile, to: cell) }
            .map { Contestant(mechanism: $0.id, executor: $0.profile.runsOnPool ? .global : nil) }
          if workload.comparesExecutors {
            contestants += contestants.filter { $0.executor == .global }
              .map { Contestant(mechanism: $0.mechanism, executor: .lanes) }
          }
        } else if selection.mechanisms == nil {
          contestants = [Contestant(mechanism: nil)]
        }
        contestants = contestants.filter { isWanted(Self.name(cell, $0)) }
        guard !contestants.isEmpty else { continue }
        // Two halves of one mechanism tell how far apart equal things measure.
        if let reference = Self.reference(among: contestants) {
          contestants.append(reference)
        }
        let each = workload.expectedSeconds(cell, scale: selection.scale)
        let overlaps = mechanisms.filter {
          workload.measuresMechanisms && cell.limit == 1
            && $0.profile.order == .fifoToFirstSuspension
            && !workload.admits($0.profile, to: cell)
        }
        entries.append(
          Entry(
            cell: cell,
            contestants: contestants,
            forks: selection.forks ?? workload.forks(scale),
            expectedSeconds: each * Double(contestants.count) + (workload.isPaired ? 0.05 : 0),
            notLimiting: overlaps.map(\.id).filter { isWanted("\(cell.name) \($0)") }
          )
        )
      }
    }
    if entries.isEmpty { throw .empty }
  }

  /// What `--filter` and `--skip` see: `fan-out limit=8 tasks=1000 limiter`.
  package static func name(_ cell: Cell, _ contestant: Contestant) -> String {
    let executor = contestant.executor == .lanes ? " on lanes" : ""
    return cell.name + (contestant.label.map { " " + $0 + executor } ?? "")
  }

  private static func mechanisms(_ names: [String]?) throws(SelectionError) -> [CatalogueEntry] {
    guard let names else { return Contestants.mechanisms }
    var found: [CatalogueEntry] = []
    for name in names where !found.contains(where: { $0.id == name }) {
      guard let entry = Contestants.entry(name) else {
        throw .unknownMechanism(name)
      }
      found.append(entry)
    }
    return found
  }

  /// What a workload adds by itself to the mechanisms, such as the published design or the floor.
  private static func guests(
    of workload: any BenchWorkload,
    _ selection: Selection
  ) -> [CatalogueEntry] {
    selection.mechanisms == nil ? workload.guests.compactMap(Contestants.entry) : []
  }

  private static func reference(among contestants: [Contestant]) -> Contestant? {
    var reference =
      contestants.first { $0.mechanism == "limiter" }
      ?? contestants.first { $0.mechanism != "none" } ?? contestants.first
    reference?.isAgain = true
    return reference
  }

  private static func pattern(
    _ text: String?,
    option: String
  ) throws(SelectionError) -> Pattern? {
    guard let text else { return nil }
    guard let pattern = Pattern(text) else { throw .badPattern(option: option, text) }
    return pattern
  }

  package var trials: Int { entries.map { $0.contestants.count * $0.forks }.reduce(0, +) }
  package var expectedSeconds: Double {
    entries.map { $0.expectedSeconds * Double($0.forks) }.reduce(0, +)
  }
  /// How many blocks its cells have, the fewest and the most.
  package var forks: ClosedRange<Int> {
    let forks = entries.map(\.forks)
    return (forks.min() ?? 1)...(forks.max() ?? 1)
  }

  /// The cells that come first: a pass, a hand-off, many that compete.
  package var front: Set<Int> {
    Set(
      entries.indices.filter { index in
        let cell = entries[index].cell
        return cell.workload == Uncontended().id || cell.workload == HandOff().id
          || cell.workload == Contended(body: .yield).id && cell.limit != 1
      }
    )
  }

  /// Every fork runs every cell that has as many once, cells and contestants in an order of its own; all forks of the
  /// front page's cells come first.
  package func blocks() -> [Block] {
    let front = front
    return [true, false].flatMap { isFront in
      (1...forks.upperBound).flatMap { fork -> [Block] in
        var generator = SplitMix64(seed: seed, purpose: .arrival, number: -fork)
        return entries.indices.filter { front.contains($0) == isFront && fork <= entries[$0].forks }
          .shuffled(using: &generator).map { block(fork: fork, entry: $0) }
      }
    }
  }

  /// The contestants of one cell, in an order of the fork's own.
  package func block(fork: Int, entry: Int) -> Block {
    var generator = SplitMix64(seed: seed, purpose: .item, number: -1 - entry - 1_000 * fork)
    let order = entries[entry].contestants.indices.shuffled(using: &generator)
    return Block(fork: fork, entry: entry, order: order)
  }

  /// The seed of a block's tasks: the same for every mechanism and every cell of one workload, so that
  /// what differs between them is not the luck of the draw, and another in every fork, so that this luck
  /// is in the intervals.
  package func seed(of entry: Int, fork: Int) -> UInt64 {
    let position = BenchWorkloads.all.firstIndex { $0.id == entries[entry].cell.workload } ?? 0
    var generator = SplitMix64(seed: seed, purpose: .service, number: -1 - position - 1_000 * fork)
    return generator.next()
  }

  /// The cell whose stamps are published: the open loop at the highest utilisation up to .9.
  package var stampedEntry: Int? {
    let open = entries.indices.filter {
      entries[$0].cell.workload == OpenLoop().id && (entries[$0].cell.utilisation ?? 1) <= 0.9
    }
    return open.max {
      (entries[$0].cell.utilisation ?? 0, $1) < (entries[$1].cell.utilisation ?? 0, $0)
    }
  }

  /// Changes when anything that is measured changes; resuming asks for it.
  package func fingerprint(executable: String?) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let bytes = try encoder.encode(self) + Data((executable ?? "").utf8)
    return EnvironmentRecord.fingerprint(of: bytes)
  }
}

/// A regular expression given at run time.
private struct Pattern {
  private let expression: Regex<AnyRegexOutput>

  init?(_ text: String) {
    guard let expression = try? Regex(text) else { return nil }
    self.expression = expression
  }

  func matches(_ text: String) -> Bool { text.contains(expression) }
}

extension MechanismProfile {
  /// Whether its tasks run where Swift tasks run, so that the executor makes a difference.
  var runsOnPool: Bool { clock == .any }
}
