import TestSupport
import Testing

@Suite(.watched) struct `Every test` {
  /// All but the means with which tests block, where they stand once.
  private static func files() throws -> [SourceFile] {
    try SourceTree.files(in: "Tests", withExtensions: ["swift"])
      .filter { !["HouseTests", "TestSupport"].contains($0.room) }
  }

  @Test func `is watched`() throws {
    let files = try SourceTree.files(in: "Tests", withExtensions: ["swift"])
    try #require(files.count > 100)
    // This file speaks of tests that are not.
    for file in files where file.path != "Tests/HouseTests/SuiteTests.swift" {
      for finding in SuiteChecks.unwatched(in: file) { Issue.record("\(finding)") }
    }
  }

  @Test func `that explores takes its turn before a place`() throws {
    let wrong = SourceFile(path: "A.swift", text: "@Suite(.watched, .inTurn) struct A {")
    #expect(SuiteChecks.turnsTakenLast(in: wrong).map(\.line) == [1])
    let files = try SourceTree.files(in: "Tests", withExtensions: ["swift"])
      .filter { $0.path != "Tests/HouseTests/SuiteTests.swift" }
    #expect(files.contains { $0.lines.contains { $0.contains("@Suite(.inTurn, .watched)") } })
    for file in files {
      for finding in SuiteChecks.turnsTakenLast(in: file) { Issue.record("\(finding)") }
    }
  }

  @Test func `blocks only threads of its own`() throws {
    let ours = [
      // Its semaphores are waited for by what runs on ThreadsExecutor, or on threads of GCD.
      "Tests/MechanismsTests/GatedWorld.swift",
      // Answers with gates, which block threads of GCD.
      "Tests/GradingTests/Wrong/", "Tests/GradingTests/ComeAndGoTests.swift",
      "Tests/GradingTests/Threads/OnThreadsTests.swift",
      "Tests/GradingTests/Threads/OwnCallBackTests.swift",
      // Explored code, which stands on threads of the exploration.
      "Tests/UnchangedCodeTests/",
    ]
    for file in try Self.files() where !ours.contains(where: file.path.hasPrefix) {
      for finding in SuiteChecks.blockingCalls(in: file) { Issue.record("\(finding)") }
    }
  }

  @Test func `waits in no loop of yields, and no grading does`() throws {
    // On an executor that one test or one exploration has to itself, a yield lets all others go on.
    let ours = [
      "Tests/WorkStealingTests/ExecutorTests.swift",
      "Tests/ExplorationTests/Promises/PromiseTests.swift",
      "Tests/ExplorationTests/Search/ExplorerTests.swift",
      "Tests/ExplorationTests/Library/ExploreTests.swift",
      "Tests/ExplorationTests/Library/InsideTests.swift",
      "Tests/GradingTests/Wrong/", "Tests/ExperimentsTests/VirtualTime/StopTests.swift",
      "Tests/UnchangedCodeTests/",
    ]
    let grading = try SourceTree.files(in: "Sources", withExtensions: ["swift"])
      .filter { $0.room == "Grading" }
    try #require(grading.count > 5)
    for file in try Self.files() + grading where !ours.contains(where: file.path.hasPrefix) {
      for finding in SuiteChecks.yieldingWaits(in: file) { Issue.record("\(finding)") }
    }
  }

  // MARK: - The checker, checked

  @Test func `is found out when it waits in a loop of yields`() {
    func lines(_ text: String) -> [Int?] {
      SuiteChecks.yieldingWaits(in: SourceFile(path: "Tests/A/B.swift", text: text)).map(\.line)
    }
    #expect(lines("while !isDone { await Task.yield() }") == [1])
    #expect(lines("while !isDone {\n  look()\n  await Task.yield()\n}") == [3])
    #expect(lines("while a,\n  b\n{ await Task.yield() }") == [3])
    #expect(lines("for _ in 1...3 { await Task.yield() }") == [])
    #expect(lines("while a {\n  for _ in 1...200 { await Task.yield() }\n}") == [])
    #expect(lines("while a { b() }\nawait Task.yield()") == [])
  }

  private static func unwatched(_ text: String) -> [Int?] {
    SuiteChecks.unwatched(in: SourceFile(path: "Tests/A/B.swift", text: text)).map(\.line)
  }

  @Test func `is found out in a suite that is not watched, or in none`() {
    #expect(Self.unwatched("@Suite struct A {\n  @Test func a() {}\n}") == [2])
    #expect(Self.unwatched("struct A {\n  @Test(arguments: [1]) func a(_: Int) {}\n}") == [2])
    #expect(Self.unwatched("@Test func a() {}") == [1])
    #expect(
      Self.unwatched("@Suite(.watched) struct A {\n}\n\nstruct B {\n  @Test func b() {}\n}") == [5]
    )
  }

  @Test func `passes in a suite that is watched`() {
    #expect(Self.unwatched("@Suite(.watched)\nstruct A {\n  @Test\n  func a() {}\n}").isEmpty)
    #expect(
      Self.unwatched("@Suite(.watched, .serialized) struct A {\n  @Test func a() {}\n}").isEmpty
    )
  }

  @Test func `is found out when it blocks, unless off the pool`() {
    let file = SourceFile(
      path: "Tests/A/B.swift",
      text: "Thread.sleep(1)\nawait onOwnThread {\n  Thread.sleep(1)\n}"
    )
    #expect(SuiteChecks.blockingCalls(in: file).map(\.line) == [1])
  }
}
