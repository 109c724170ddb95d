import Foundation
import TestSupport
import Testing

@testable import Exploration

/// The page that `report:` asks for.
@Suite(.inTurn, .watched) struct `The page of a failing schedule` {
  struct Page: Decodable {
    struct File: Decodable {
      var name: String
      var lines: [String]
    }
    struct Line: Decodable {
      var file: String
      var number: Int
    }
    struct Step: Decodable {
      var number: Int
      var who: String
      var what: String
      var broke: String?
      var states: [String]
      var lines: [Line?]
    }
    var files: [File]
    var race: [Int]
    var tasks: [String]
    var start: Int
    var steps: [Step]
  }

  private static func withFile(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.appending(path: "schedule.html").path)
  }

  private static func failure(
    report: String,
    _ body: @escaping @Sendable () async throws -> Void
  ) throws -> ExplorationFailure {
    try #require(throws: ExplorationFailure.self) {
      try explore("a page </script>", report: report, body)
    }
  }

  @Test func `opens at the failure, with the steps, the code and the two steps that matter`() throws
  {
    try Self.withFile { file in
      let failure = try Self.failure(report: file, ExploreTests.lostUpdate)
      let told = failure.description
      #expect(told.contains("\nits page: \(file)\nto run it again: "), "\(told)")
      let html = try String(contentsOfFile: file, encoding: .utf8)
      // Nothing from elsewhere, and nothing that ends the script or the page's own text.
      #expect(!html.contains("http://") && !html.contains("https://") && !html.contains("src=\""))
      #expect(html.components(separatedBy: "</script>").count == 3)
      let data = try #require(html.firstMatch(of: /id="data">(.*)<\/script>/)).output.1
      let page = try JSONDecoder().decode(Page.self, from: Data(data.utf8))
      // It opens at the last step, which fails.
      #expect(page.start == page.steps.count)
      #expect(page.steps.map(\.number) == Array(1...page.steps.count))
      #expect(page.steps.last?.broke?.hasPrefix("an addition is lost (ExploreTests.swift:") == true)
      #expect(page.steps.dropLast().allSatisfy { $0.broke == nil })
      // The two steps are those that the failure tells.
      let told2 = try #require(
        told.firstMatch(of: /what matters: step (\d+) comes before step (\d+)/)
      ).output
      #expect(page.race.map(String.init) == [String(told2.1), String(told2.2)])
      #expect(
        html.contains("What matters: step \(told2.1) comes before step \(told2.2).")
      )
      #expect(html.ranges(of: " ◀ what matters</li>").count == 2)
      // Each task has its column, and stands at lines that the page has.
      #expect(page.tasks == ["task 1", "task 2", "task 3"])
      #expect(page.files.map(\.name) == ["ExploreTests.swift"])
      let lines = try #require(page.files.first).lines
      for step in page.steps {
        #expect(page.tasks.contains(step.who) && !step.what.isEmpty)
        for line in step.lines.compactMap(\.self) { #expect(lines.indices.contains(line.number)) }
      }
      #expect(page.steps.contains { $0.lines.contains { $0 != nil } })
      #expect(page.steps.last?.states.dropFirst() == ["finished", "finished"], "\(page.steps)")
      #expect(html.contains("replaying: &quot;\(failure.schedule)&quot;"), "\(html.suffix(40_000))")
    }
  }

  @Test func `shows who waits in a deadlock, and where`() throws {
    try Self.withFile { file in
      _ = try Self.failure(report: file) {
        await withTaskGroup { group in
          group.addTask {
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
          }
        }
      }
      let html = try String(contentsOfFile: file, encoding: .utf8)
      let data = try #require(html.firstMatch(of: /id="data">(.*)<\/script>/)).output.1
      let page = try JSONDecoder().decode(Page.self, from: Data(data.utf8))
      #expect(page.steps.last?.states == ["waiting", "waiting"])
      #expect(page.steps.last?.lines.compactMap(\.self).map(\.file).last == "PageTests.swift")
    }
  }

  @Test func `that cannot be written is said to be so, and the failure is told all the same`()
    throws
  {
    try Self.withFile { file in
      let failure = try Self.failure(report: file + "/none.html", ExploreTests.lostUpdate)
      #expect(
        "\(failure)".contains(
          "\nits page could not be written to \(file)/none.html: No such file or directory\nto run it"
        ),
        "\(failure)"
      )
    }
  }

  @Test func `is not written where nothing fails`() throws {
    try Self.withFile { file in
      try explore("well", report: file) { await Task.yield() }
      #expect(!FileManager.default.fileExists(atPath: file))
    }
  }
}
