import TestSupport
import Testing

@testable import Exploration

@Suite(.watched) struct `The lines that are told` {
  @Test func `of other code are none, though somebody else has asked for them before`() throws {
    let here = SourceLines.here()
    let place = try #require(SourceLines(of: [here]).place(of: here))
    #expect(place.file == "SourceLinesTests.swift")

    let others = ["$s16ExplorationTests"]
    let told = SourceLines(of: [here], besides: others)
    #expect(told.place(of: here)?.file != "SourceLinesTests.swift")
    #expect(!told.places(of: here).contains(place))
    #expect(!told.stack(of: here, atMost: 9).contains("SourceLinesTests"))

    #expect(SourceLines(of: [here]).place(of: here) == place)
  }
}
