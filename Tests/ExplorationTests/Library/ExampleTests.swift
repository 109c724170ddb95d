import Exploration
import Foundation
import TestSupport
import Testing

/// The examples of the documentation: each fails as its article says, and passes once repaired.
@Suite(.inTurn, .watched) struct ExampleTests {
  struct Example: CustomTestStringConvertible {
    let name: String
    let explore: @Sendable (String?) throws(ExplorationFailure) -> Void
    let exploreRepaired: @Sendable () throws(ExplorationFailure) -> ExplorationVerdict

    var testDescription: String { name }
  }

  static let all = [
    Example(
      name: "Cache",
      explore: { schedule throws(ExplorationFailure) in try exploreCache(replaying: schedule) },
      exploreRepaired: exploreRepairedCache
    ),
    Example(
      name: "Account",
      explore: { schedule throws(ExplorationFailure) in try exploreAccount(replaying: schedule) },
      exploreRepaired: exploreRepairedAccount
    ),
    Example(
      name: "Semaphore",
      explore: { schedule throws(ExplorationFailure) in try exploreSemaphore(replaying: schedule) },
      exploreRepaired: exploreRepairedSemaphore
    ),
    Example(
      name: "Pool",
      explore: { schedule throws(ExplorationFailure) in try explorePool(replaying: schedule) },
      exploreRepaired: exploreRepairedPool
    ),
  ]

  @Test(arguments: all)
  func `fails as its article says, and again when that schedule is replayed`(
    example: Example
  ) throws {
    let failure = try #require(Self.failure(of: example, replaying: nil))
    let article = try Self.text("Sources/Exploration/Exploration.docc/\(example.name).md")
    let source = try Self.text(
      "Tests/ExplorationTests/Library/Examples/\(example.name)Example.swift"
    )
    let code = source.trimmingPrefix("import Exploration\n\n")
    #expect(article.contains("```swift\n\(code)```"), "the article's code is not the example's")
    #expect(
      article.contains("```\n\(failure)\n```"),
      "the article's schedule is not this one:\n\(failure)"
    )
    let again = try #require(Self.failure(of: example, replaying: failure.schedule))
    #expect(again.schedule == failure.schedule)
  }

  @Test(arguments: all)
  func `passes every schedule once it is repaired`(example: Example) throws {
    let verdict = try example.exploreRepaired()
    #expect(verdict.ranEverySchedule, "\(verdict)")
  }

  private static func text(_ path: String) throws -> String {
    let package = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("../../..")
    return try String(contentsOf: package.appendingPathComponent(path), encoding: .utf8)
  }

  private static func failure(of example: Example, replaying schedule: String?)
    -> ExplorationFailure?
  {
    do throws(ExplorationFailure) {
      try example.explore(schedule)
      return nil
    } catch {
      return error
    }
  }
}
