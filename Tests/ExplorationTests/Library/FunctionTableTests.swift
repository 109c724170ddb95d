import Foundation
import Runtime
import TestSupport
import Testing

@testable import Exploration

@Suite(.watched) struct `The functions of a program` {
  @Test func `have the names that the runtime finds`() async throws {
    let images = try #require(LoadedImages.ofThisProgram)
    var points = SourceLines.here()
    // Behind a suspension: a part of this function that goes on.
    await Task.yield()
    points += SourceLines.here()
    #expect(points.contains { FunctionTable.name(at: $0)?.contains(/T[QY][0-9]*_$/) ?? false })
    // Also between what is called here, and in the libraries.
    var (found, named) = (0, 0)
    for point in Set(points).flatMap({ start in (0..<8).map { start + 509 * $0 } }) {
      let expected = SourceLines.frames(at: [point], in: images, []).first?.symbol?.rawName
      guard let name = FunctionTable.name(at: point) else { continue }
      named += 1
      if name == expected { found += 1 }
    }
    // Where functions share their code, either may be named.
    #expect(named > 40 && found * 10 > named * 9, "\(found) of \(named) alike")
  }

  @Test func `are none before the first and behind the last, and none of what is no program`() {
    #expect(FunctionTable.name(at: 8) == nil)
    let own = FunctionTable(of: CommandLine.arguments[0])
    #expect(own.name(at: 0) == nil && own.name(at: .max) == nil)
    for path in [#filePath, "/nowhere", "/dev/null"] {
      #expect(FunctionTable(of: path).name(at: 4_096) == nil)
    }
  }

  @Test(arguments: [4, 40, 64, 100, 1_000, 100_000])
  func `of a file that was cut short are those that are left`(length: Int) throws {
    let whole = try Data(
      contentsOf: URL(filePath: CommandLine.arguments[0]),
      options: .mappedIfSafe
    )
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).cut")
    defer { try? FileManager.default.removeItem(at: file) }
    try whole.prefix(length).write(to: file)
    #expect(FunctionTable(of: file.path).name(at: 4_096) == nil)
  }
}
