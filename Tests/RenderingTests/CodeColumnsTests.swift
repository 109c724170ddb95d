import Experiments
import Mechanisms
import Rendering
import TestSupport
import Testing

/// Two tasks side by side: what each does, and the line it stands at.
@Suite(.watched) struct CodeColumnsTests {
  private static let twoLocks = "specimen-two-locks"

  private func story(_ id: String) async throws -> ExplorationReport.ScheduleDescription {
    let scenario = ExplorationScenario(try #require(Catalogue.entry(id)))
    var plan = ExplorationPlan(preemptions: scenario.inside ? 2 : nil)
    plan.withPlaces = true
    let report = try await scenario.explore(plan)
    return try #require(report.found?.minimum)
  }

  private func text(
    _ story: ExplorationReport.ScheduleDescription,
    _ width: Int,
    _ glyphs: GlyphSet = .unicode
  ) -> [Substring] {
    ExplorationText.story(story, TextFormat(width: width, glyphs: glyphs)).split(separator: "\n")
  }

  @Test
  func `a failing schedule of two tasks has a column for each, with lines, permits and waiters`()
    async throws
  {
    let story = try await story(Self.twoLocks)
    let race = try #require(story.race)
    // Between them t01 looks at the line, and finds nobody.
    for step in [race.first, race.second] {
      let words = story.steps[step - 1].description
      #expect(words.contains("takes lock 1 (free)"), "two that meet at one lock: \(words)")
    }
    let lines = text(story, 100)
    #expect(lines.count { $0.contains("pre-empts t02") } == story.preemptions)
    let head = try #require(lines.first { $0.contains("running of 1") })
    #expect(head.contains(/t01 +t02 +running of 1  line/))
    let second = try #require(head.firstRange(of: "t02")).lowerBound
    let column = head.distance(from: head.startIndex, to: second)
    for step in story.steps where !step.isUneventful {
      let number = step.number
      let pattern = try Regex("^[ ▸]*(\\d+-)?\(number)  ")
      let row = try #require(lines.first { $0.firstMatch(of: pattern) != nil })
      let words = row.drop { " ▸0123456789-".contains($0) }
      let isMarked = number == race.first || number == race.second
      #expect(row.contains("▸") == isMarked, "\(row)")
      let start = row.distance(from: row.startIndex, to: words.startIndex)
      #expect((start >= column) == (step.task == 2), "\(row)")
      if let from = step.from {
        #expect(lines.contains { $0.contains("\(from)") }, "a line has its file: \(from)")
      }
    }
    #expect(
      lines.contains { $0.contains("takes lock 2 (line)") },
      "the lock by its name in the source"
    )
    #expect(
      lines.contains { $0.hasSuffix(" 0             t02") },
      "who waits, and that nobody runs"
    )
    let lit = try #require(lines.first { $0.hasPrefix("▸ ") })
    #expect(lit.contains("free.withLock"), "\(lit)")
    #expect(lit.count { $0 == "▸" } == 2, "the current line of both: \(lit)")
    #expect(lines.allSatisfy { $0.count <= 100 })
  }

  @Test func `where there is no room, or more than two tasks, the steps stand in one column`()
    async throws
  {
    let two = try await story(Self.twoLocks)
    #expect(!text(two, 89).contains { $0.contains("running of 1") })
    #expect(text(two, 90).contains { $0.contains("running of 1") })
    var scenario = ExplorationScenario(try #require(Catalogue.entry("specimen-check-then-act")))
    scenario.tasks = 3
    let schedule = "v3:\(scenario.name):-:1,2,3"
    let three = try await scenario.replay(schedule, withPlaces: true)
    #expect(!text(three, 120).contains { $0.contains("running of 1") })
    #expect(text(three, 140).contains { $0.contains(/t01 +t02 +t03 +running of 1/) })
    let plain = text(two, 100, .ascii)
    #expect(plain.contains { $0.hasPrefix("> ") && $0.contains("free.withLock") })
    #expect(plain.allSatisfy { $0.allSatisfy(\.isASCII) })
  }

  @Test func `in the game both tasks' code is shown, each at the line it will do next`()
    async throws
  {
    let scenario = ExplorationScenario(try #require(Catalogue.entry("specimen-check-then-act")))
    var game = try await ScheduleGame(scenario, withPlaces: true)
    let format = TextFormat(width: 100)
    #expect(!GameText.position(game, best: nil, format).contains("▸"), "nobody has begun")
    game = try await game.choosing(0)
    let one = GameText.position(game, best: nil, format)
    #expect(one.contains(/t01  enter\(\)  CheckThenActLimiter\.swift +t02  has not begun/))
    while game.steps.last?.lines.contains(nil) != false, !game.isOver {
      let next = game.options.firstIndex { $0.actor == "t02" } ?? 0
      game = try await game.choosing(next)
    }
    let both = GameText.position(game, best: nil, format).split(separator: "\n")
    let marked = both.filter { $0.contains("▸") }
    #expect(marked.joined().count { $0 == "▸" } == 2, "\(both.joined(separator: "\n"))")
    #expect(!GameText.position(game, best: nil, TextFormat(width: 80)).contains("▸"))
  }

  @Test(.search) func `in the game a task that departs is told by the function it is still in`()
    async throws
  {
    var scenario = ExplorationScenario(try #require(Catalogue.entry("specimen-no-last-look")))
    (scenario.tasks, scenario.inside) = (2, true)
    var game = try await ScheduleGame(scenario, withPlaces: true)
    while true {
      let index = try #require(game.options.firstIndex { $0.actor == "t01" })
      game = try await game.choosing(index)
      if case .ended? = game.steps.last?.states[0] { break }
    }
    let text = GameText.position(game, best: nil, TextFormat(width: 100))
    #expect(
      text.contains(/t01  depart\(\)  NoLastLookLimiter\.swift +t02  has not begun/),
      "\(text)"
    )
  }
}
