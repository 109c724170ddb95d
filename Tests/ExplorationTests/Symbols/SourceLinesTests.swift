import FoundationEssentials
import Glibc
import Runtime
import Synchronization
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

  @Test(.search) func `the toolchain's symbolizer and the runtime name the same lines`() throws {
    let here = Set(SourceLines.here())
    let images = try #require(LoadedImages.ofThisProgram)
    let frames = try #require(Symbolizer.frames(at: here), "no llvm-symbolizer beside the compiler")
    var both = 0
    for address in here {
      let own = SourceLines.frames(
        at: [address],
        in: images,
        [.showInlineFrames, .showSourceLocations]
      )
      let innermost = own.first?.symbol
      guard let line = innermost?.sourceLocation, line.path.hasSuffix(".swift"), line.line > 0,
        let other = frames[address]?.first, other.path.hasSuffix(".swift")
      else { continue }
      #expect(other.path == line.path && other.line == line.line, "\(other), \(line)")
      if own.count == 1 {
        #expect(other.rawName == innermost?.rawName)
        #expect(Symbolizer.demangled(other.rawName) == innermost?.name)
      }
      both += 1
    }
    #expect(both > 0)
  }

  @Test func `of addresses of no code the symbolizer knows nothing`() throws {
    #expect(try #require(Symbolizer.frames(at: [8, 4_096])).isEmpty)
    #expect(try #require(Symbolizer.frames(at: [])).isEmpty)
  }

  @Test func `are there though the symbolizer was ended, as Ctrl-C does at a terminal`() throws {
    let here = Set(SourceLines.here())
    let before = try #require(Symbolizer.frames(at: here))
    Symbolizer.running.withLock { running in
      if let process = running?.process { kill(process, SIGKILL) }
    }
    #expect(try #require(Symbolizer.frames(at: here)) == before)
  }

  @Test func `are asked for though there is no room for all, and not of who cannot answer`() {
    let questions = (1...5_000).map { "question \($0)" }
    let answers = SymbolizerProgram("/bin/cat", [])?.answers(to: questions)
    let isAnswered = answers == questions.map { Data($0.utf8) }
    #expect(isAnswered)
    #expect(SymbolizerProgram("/bin/true", [])?.answers(to: questions) == nil)
    #expect(SymbolizerProgram("/bin/no such program", [])?.process == nil)
  }

  @Test(arguments: [
    ("$s2mg1LV3runyxxyYaKXEYaKlF", true), ("$s2mg1LV3runyxxyYaKXEYaKlFTQ0_", true),
    ("$s2mg1LV4run2yxxyYaYbKXEYaKs8SendableRzlF", true), ("$s2mg1LV5plainyyYaF", true),
    ("$s2mg1LV5typedyyyyYaxYKXEYaxYKs5ErrorRzlFTY1_", true),
    ("$s2mg1LV5typedyyyyYaxYKXEYaxYKs5ErrorRzlF", true),
    ("$s2mg1LV7syncEscyyyyYaYbcFyyYacfU_", true),
    ("$s2mg1LV8closuresyyYaFyyYaYbcfU0_TY0_", true),
    ("$s2mg1LV8closuresyyYaFyyYaYbcfU0_", true),
    // What takes an asynchronous closure, or stands in an asynchronous function, need not be one.
    ("$s2mg1LV9syncTakesyyyyYaXEF", false), ("$s2mg1LV10syncTakesGyyxyYaXElF", false),
    ("$s2mg1LV7syncEscyyyyYaYbcF", false), ("$s2mg1LV8closuresyyYaFyycfU_", false),
    ("$s2mg1LVACycfC", false), ("main", false),
  ])
  func `are looked for behind asynchronous functions where their callers are kept`(
    name: String,
    isAsynchronous: Bool
  ) {
    #expect(SourceLines.isAsynchronous(name) == isAsynchronous)
  }
}
