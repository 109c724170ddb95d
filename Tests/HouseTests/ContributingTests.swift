import Foundation
import TestSupport
import Testing

/// The page for those who change the house.
@Suite(.watched) struct ContributingTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private func page() throws -> String {
    try String(contentsOf: Self.root.appending(path: ".github/CONTRIBUTING.md"), encoding: .utf8)
  }

  @Test func `the picture of the house is that of its imports`() throws {
    let picture = HousePicture(ImportDirections.house).text
    #expect(try page().contains("```mermaid\n\(picture)\n```\n"), "it has to be:\n\(picture)")
  }

  @Test func `the files and folders that the page names are there`() throws {
    let named = try page().matches(of: /`((?:Sources|Tests|Lessons|\.ci)\/[^`<> ]*)`/)
      .map { String($0.output.1) }
    #expect(named.count > 10)
    for path in named {
      let place = Self.root.appending(path: path).path
      #expect(FileManager.default.fileExists(atPath: place), "\(path)")
    }
  }

  @Test func `an arrow that follows from two others is left out`() {
    let picture = HousePicture(["lab": ["Shell", "Basics"], "Shell": ["Basics"], "Basics": []])
    #expect(picture.text == "graph TD\n  Shell --> Basics\n  lab --> Shell")
  }
}
