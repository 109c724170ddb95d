import Foundation
import TestSupport
import Testing

@testable import Exploration

/// The search that leaves schedules out, tried on programs that nobody chose.
@Suite(.inTurn, .watched) struct `Searches of drawn programs, reduced` {
  /// What came of it to search a drawn program in both ways.
  private enum Comparison: String, CaseIterable {
    /// Every schedule within the bound was run, and all came to what the reduced search found.
    case whole = "compared whole"
    /// There were too many: those that were run came to what the reduced search found.
    case part = "compared in part"
    /// There were too many for the reduced search too.
    case left = "left, for there is too much to search"
  }

  /// Compares the outcomes of both searches, failures too.
  private func compare(seed: UInt64, schedules: Int) throws -> Comparison {
    let drawn = DrawnProgram(drawnBy: seed)
    let program = SmallProgram(drawn)
    let reduced = try SearchFindings(
      of: program,
      preemptions: drawn.preemptions,
      schedules: schedules,
      .merging
    )
    guard reduced.verdict.schedules < schedules else { return .left }
    let whole = try SearchFindings(
      of: program,
      preemptions: drawn.preemptions,
      schedules: schedules,
      .none
    )
    let isWhole = whole.verdict.schedules < schedules
    let bound = drawn.preemptions.map { "\($0)" } ?? "any number of"
    print(
      "\(seed): \(program.name) within \(bound): \(reduced.verdict.schedules) schedules and "
        + "\(reduced.verdict.merged) that were left, for "
        + "\(whole.verdict.schedules)\(isWhole ? "" : " and more"); \(reduced.outcomes.count) outcomes"
    )
    let missing = whole.outcomes.subtracting(reduced.outcomes)
    #expect(missing.isEmpty, "seed \(seed), \(program.name), within \(bound)")
    guard isWhole else { return .part }
    #expect(reduced.outcomes == whole.outcomes, "seed \(seed), \(program.name), within \(bound)")
    #expect(reduced.verdict.coverage == whole.verdict.coverage, "seed \(seed), \(program.name)")
    return .whole
  }

  // Those of the first seeds that have few schedules.
  @Test(arguments: [UInt64]([1_007, 1_016]))
  func `what programs come to that are drawn at random is the same in both`(seed: UInt64) throws {
    _ = try compare(seed: seed, schedules: 100)
  }

  private static let environment = ProcessInfo.processInfo.environment
  private static let seconds = environment["DRAWN_SECONDS"].flatMap(Double.init)
  private static let firstSeed = environment["DRAWN_SEED"].flatMap(UInt64.init) ?? 1
  private static let seedsApart = environment["DRAWN_STRIDE"].flatMap(UInt64.init) ?? 1
  private static let mostSchedules = environment["DRAWN_SCHEDULES"].flatMap(Int.init) ?? 500

  @Test(.enabled(if: seconds != nil, "'bash .ci/long drawn' runs it"))
  func `so it is of all programs that can be drawn in the time given`() throws {
    // The processor's time: others may use the machine meanwhile.
    let end = clock() + Int((Self.seconds ?? 0) * Double(CLOCKS_PER_SEC))
    var counts: [Comparison: Int] = [:]
    var seed = Self.firstSeed
    while clock() < end {
      try counts[compare(seed: seed, schedules: Self.mostSchedules), default: 0] += 1
      seed += Self.seedsApart
    }
    let text = Comparison.allCases.map { "\(counts[$0, default: 0]) \($0.rawValue)" }
    print("drawn programs from seed \(Self.firstSeed) on: \(text.joined(separator: ", "))")
    #expect(counts[.whole, default: 0] > 0)
  }
}
