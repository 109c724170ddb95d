import Experiments
import Foundation
import Mechanisms
import Rendering
import TestSupport
import Testing

/// What a person must be able to see in the smallest schedule that breaks a promise.
@Suite(.watched) struct CounterexampleTests {
  private static let overAdmitting = Catalogue.specimens.filter {
    $0.profile.exposure?.violation == "over-admission"
  }.map(\.id)

  private static func story(
    _ id: String
  ) async throws -> (ExplorationReport.ScheduleDescription, ExplorationScenario) {
    let scenario = ExplorationScenario(try #require(Catalogue.entry(id)))
    var plan = ExplorationPlan()
    plan.preemptions = scenario.inside ? ExplorationPlan.defaultPreemptions : nil
    plan.withPlaces = true
    let report = try await ExplorationPlace.here.explore(scenario, plan, ExplorationControl())
    return (try #require(report.found?.minimum), scenario)
  }

  private struct Page: Decodable {
    struct Step: Decodable {
      var number: Int
      var running: Int
      var states: [String]
      var broke: String?
    }
    var steps: [Step]
  }

  @Test(arguments: overAdmitting)
  func `every view shows the moment at which too many are in service`(id: String) async throws {
    let (story, scenario) = try await Self.story(id)
    let message = try #require(story.violation?.message)
    let count = try #require(message.firstMatch(of: /^(\d+) running, limit \d+$/)).output.1
    let most = try #require(Int(count))
    for width in [80, 120] {
      let text = ExplorationText.story(story, TextFormat(width: width))
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      let broken = try #require(lines.firstIndex { $0.contains("✗ \(message)") })
      // The figure stands in the last row above it, which may go on over some lines.
      let row = lines[max(0, broken - 4)..<broken]
      #expect(
        row.contains {
          width == 80
            ? $0.hasSuffix("running \(count)") || $0.contains("running \(count)  waiting")
            : $0.split(separator: " ").contains(Substring(count))
        },
        "\(text)"
      )
      // The strips: as many bars above each other.
      let first = try #require(lines.firstIndex { $0.hasPrefix("  step   ") })
      let bars = lines[(first + 1)...(first + story.tasks)].map { Array($0) }
      let columns = (9..<(bars.map(\.count).max() ?? 9)).map { column in
        bars.count { $0.indices.contains(column) && $0[column] == "█" }
      }
      #expect(columns.max() == most, "\(text)")
    }
    // The picture: bodies in service are bars, those of one moment at the same place.
    let picture = ScheduleSVG.text(story, of: scenario)
    let bars = picture.matches(of: /class="running" x="([0-9.]+)"/).map { String($0.output.1) }
    #expect(Dictionary(grouping: bars) { $0 }.values.map(\.count).max() == most, "\(picture)")
    let html = SchedulePage.html(story, of: scenario)
    let data = try #require(html.firstMatch(of: /id="data">(.*)\n?<\/script>/)).output.1
    let page = try JSONDecoder().decode(Page.self, from: Data(data.utf8))
    let moment = try #require(page.steps.first { $0.broke == message })
    #expect(moment.running == most)
    #expect(moment.states.count { $0 == "running" } == most)
  }

  @Test func `the steps of a lost wake-up tell who has looked and who parks`() async throws {
    let (story, _) = try await Self.story("specimen-lost-wake-up")
    let text = ExplorationText.story(story, TextFormat(width: 280))
    let looked = try #require(text.range(of: "t02 comes to 'await journal.note()', having looked"))
    let departed = try #require(text.range(of: "departs"))
    let parked = try #require(
      text.range(of: "parks at 'try await permits.departure.condition.wait()'")
    )
    #expect(looked.lowerBound < departed.lowerBound && departed.lowerBound < parked.lowerBound)
    // The line behind the words is the one that the task comes to, in the file where it is.
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    let file = root.appending(path: "Sources/Specimens/LostWakeUpLimiter.swift").standardized
    let lines = try String(contentsOf: file, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
    // What the code says of them stands behind it.
    for (code, label) in [
      ("await journal.note()", "having looked: no permit"),
      ("try await permits.departure.condition.wait()", "to park"),
    ] {
      let number = try #require(lines.firstIndex { $0.contains(code) }) + 1
      #expect(
        text.contains("comes to '\(code)', \(label) (LostWakeUpLimiter.swift:\(number))"),
        "\(text)"
      )
    }
  }
}
