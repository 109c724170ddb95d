internal import Basics
internal import Experiments
internal import Foundation
internal import Mechanisms
internal import Rendering

extension Command {
  static let puzzle = Command(
    "puzzle",
    [Parameter("today", .choice(["today"]), optional: true)],
    keys: [Keys.seed],
    summary: "a limiter a day, wrong in some way: break it in as few steps as the explorer",
    details: """
      A game as 'step' has it: choose who takes the next step. The limiter's name is hidden until it is \
      broken or you say 'done'. The date, in UTC, is the seed, so everybody has the same limiter on the \
      same day. Who needs as few steps as the explorer has 100 points. What is told at the end can be \
      sent to others: it does not say how.
      """,
    examples: ["puzzle today", "puzzle seed=7; 1; auto; done"]
  ) { session, arguments in
    _ = try arguments.place(0, as: "the day", form: "today, or nothing; seed= has other days") {
      $0 == "today" ? true : nil
    }
    let seed = try arguments.value(Keys.seed, Keys.parseSeed) ?? Puzzle.seed(of: .now)
    let puzzle = Puzzle(seed: seed)
    return try await session.beginGame(
      ExplorationScenario(puzzle.mechanism),
      in: session.explorations,
      puzzle
    )
  }
}

/// A specimen to be broken, its name hidden.
struct Puzzle {
  let seed: UInt64
  let mechanism: CatalogueEntry
  /// How many steps were taken back.
  var takenBack = 0

  init(seed: UInt64) {
    self.seed = seed
    let specimens = Catalogue.specimens.filter {
      $0.profile.exposure != nil && $0.profile.clock != .real
    }
    var random = SplitMix64(seed: seed)
    mechanism = specimens[Int(random.next() % UInt64(specimens.count))]
  }

  /// The date as a number: 20261122.
  static func seed(of date: Date) -> UInt64 {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let day = calendar.dateComponents([.year, .month, .day], from: date)
    return UInt64((day.year ?? 0) * 10_000 + (day.month ?? 0) * 100 + (day.day ?? 0))
  }

  /// The text without what names the limiter: its identifier, and its files, which its types are called after.
  func hidden(_ text: String) -> String {
    let files = mechanism.profile.explanation.matches(of: /Specimens\/(\w+)\.swift|(\w+)\.swift/)
      .compactMap { ($0.output.1 ?? $0.output.2).map(String.init) }
    return files.reduce(text.replacing(mechanism.id, with: "puzzle")) {
      $0.replacing($1, with: "ThisLimiter")
    }
  }

  /// What to say of a limiter broken in so many steps, to oneself and to others.
  func result(steps: Int, best: Int) -> String {
    let points = 100 * best / max(steps, 1)
    let back = takenBack == 0 ? "" : ", \(NumberText.count(takenBack, "step")) taken back"
    return """
      It was \(mechanism.id): \(mechanism.profile.defect ?? mechanism.profile.summary). \
      'explain \(mechanism.id)' tells more.

      to share:
        Concurrency lab, puzzle \(seed): \(min(points, 100)) of 100 points
        broken in \(NumberText.count(steps, "step"))\(back); the explorer needs \(best)
        swift run lab -i -c 'puzzle seed=\(seed)'

      """
  }
}
