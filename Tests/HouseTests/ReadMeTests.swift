import Foundation
import TestSupport
import Testing

/// The page that one sees first.
@Suite(.watched) struct ReadMeTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  @Test
  func `the README is short, begins with pictures, and what it leads to is there`() throws {
    let text = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
    #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 155)
    let targets = text.matches(of: /\]\(([^)]*)\)/).map { String($0.output.1) }
    #expect(targets.count { $0.hasSuffix(".svg") } == 2)
    for target in targets where !target.hasPrefix("https://") {
      let path = Self.root.appending(path: target).path
      #expect(FileManager.default.fileExists(atPath: path), "\(target)")
    }
  }
}
