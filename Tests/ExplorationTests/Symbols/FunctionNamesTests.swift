import Foundation
import Runtime
import TestSupport
import Testing

@testable import Exploration

@Suite(.watched) struct `The names of functions` {
  @Test func `are those that the runtime finds`() async throws {
    let images = try #require(LoadedImages.ofThisProgram)
    var points = SourceLines.here()
    // Behind a suspension: a part of this function that goes on.
    await Task.yield()
    points += SourceLines.here()
    let own = FunctionNames.at(points)
    #expect(points.contains { own[$0]?.contains(/T[QY][0-9]*_$/) ?? false })
    // Also in what lies behind that, in the program and its libraries.
    let all = Set(points).flatMap { start in (0..<8).map { start + 509 * $0 } }
    let names = FunctionNames.at(all)
    var alike = 0
    for frame in SourceLines.frames(at: Set(all), in: images, []) {
      guard let address = UInt(frame.captured.originalProgramCounter) else { continue }
      if let name = names[address], name == frame.symbol?.rawName { alike += 1 }
    }
    // Where functions share their code, either may be named.
    #expect(names.count > 40 && alike * 10 > names.count * 9, "\(alike) of \(names.count)")
  }

  @Test func `are none where no function is, and none of what is no program`() {
    #expect(FunctionNames.at([8, .max]).isEmpty && FunctionNames.at([]).isEmpty)
    #expect(FunctionNames.inFile(CommandLine.arguments[0], at: [0, .max]).isEmpty)
    for path in [#filePath, "/nowhere", "/dev/null", "/proc/self/maps"] {
      #expect(FunctionNames.inFile(path, at: [4_096]).isEmpty)
    }
  }

  @Test(arguments: [4, 40, 64, 100, 1_000, 100_000])
  func `of a file that was cut short are those that are left`(length: Int) throws {
    // Not the whole of it, which is hundreds of megabytes.
    let whole = try FileHandle(forReadingFrom: URL(filePath: CommandLine.arguments[0]))
    let start = try #require(try whole.read(upToCount: length))
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).cut")
    defer { try? FileManager.default.removeItem(at: file) }
    try start.write(to: file)
    #expect(FunctionNames.inFile(file.path, at: [4_096]).isEmpty)
  }
}
