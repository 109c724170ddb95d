import Foundation
import TestSupport
import Testing

/// The pictures that the repository holds.
@Suite(.watched) struct PicturesTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// `.ci/pictures` draws them with such a program.
  @Test
  func `each colour of each picture is a literal too, for programs that are no browsers`() throws {
    var pictures = 0
    for folder in ["Lessons", "Results"] {
      let files = try #require(
        FileManager.default.enumerator(
          at: Self.root.appending(path: folder),
          includingPropertiesForKeys: nil
        )
      )
      for case let file as URL in files where file.pathExtension == "svg" {
        pictures += 1
        let (all, without) = StandaloneStyles.variables(
          in: try String(contentsOf: file, encoding: .utf8)
        )
        #expect(all > 10, "\(file.lastPathComponent)")
        #expect(without.isEmpty, "\(file.lastPathComponent): \(without)")
      }
    }
    #expect(pictures > 20)
  }
}
