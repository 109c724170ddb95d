import Exploration
import Foundation
import Synchronization
import TestSupport
import Testing

/// What `.explored` makes of a test, asked with the import that other packages have.
@Suite(.watched) struct `A test that is explored` {
  actor Account {
    private(set) var balance = 100

    func has(_ amount: Int) -> Bool { balance >= amount }

    func take(_ amount: Int) { balance -= amount }

    func withdraw(_ amount: Int) { if balance >= amount { balance -= amount } }
  }

  /// Who looks may find that it is gone when it takes.
  static func twoWithdrawals(isCareful: Bool) async -> Account {
    let account = Account()
    await withTaskGroup { group in
      for _ in 1...2 {
        group.addTask {
          if isCareful { return await account.withdraw(80) }
          if await account.has(80) {
            await Task.yield()
            await account.take(80)
          }
        }
      }
    }
    return account
  }

  // MARK: What passes

  static let runs = Mutex<[Int: Int]>([:])

  @Test(.explored(preemptions: 1), arguments: [1, 2])
  func `runs its body once for each schedule of each case`(number: Int) async {
    let account = await Self.twoWithdrawals(isCareful: true)
    #expect(await account.balance == 20)
    Self.runs.withLock { $0[number, default: 0] += 1 }
    #expect(Test.current != nil, "a task of it does not know its test")
  }

  @Test func `and more than once`() async throws {
    try await issues(of: .explored()) { _ in
      _ = await Self.twoWithdrawals(isCareful: true)
      Self.runs.withLock { $0[0, default: 0] += 1 }
    }
    #expect(Self.runs.withLock { $0[0, default: 0] } > 1)
  }

  @Test func `without parentheses it takes what is chosen where nothing is said`() async throws {
    let found = try await issues(of: .explored) { _ in
      let account = await Self.twoWithdrawals(isCareful: false)
      #expect(await account.balance >= 0)
    }
    #expect(found.count == 1)
  }

  @Test(.explored) func `and cancels itself in a schedule is cancelled, and does not fail`()
    async throws
  {
    _ = await Self.twoWithdrawals(isCareful: true)
    try Test.cancel("nothing more to look at")
  }

  @MainActor @Test(.explored()) func `runs on the main actor where it is to`() async {
    MainActor.assertIsolated()
    await Task.yield()
    MainActor.assertIsolated()
  }

  // MARK: What fails

  /// The issues that a test with this body and trait would have.
  @discardableResult
  private func issues(
    of trait: ExploredTrait,
    _ body: @escaping @Sendable (Int) async throws -> Void
  ) async throws -> [Issue] {
    let found = Mutex<[Issue]>([])
    let runs = Mutex(0)
    let test = try #require(Test.current)
    let held: IssueHandlingTrait = .compactMapIssues { issue in
      found.withLock { $0.append(issue) }
      return nil
    }
    try await held.provideScope(for: test, testCase: Test.Case.current) {
      try await trait.provideScope(for: test, testCase: Test.Case.current) {
        try await body(
          runs.withLock {
            $0 += 1
            return $0
          }
        )
      }
    }
    return found.withLock { $0 }
  }

  private struct Mine: Error {}

  /// Bodies that fail in some of their schedules, and what the issue says.
  private static let failing: [(says: String, body: @Sendable () async throws -> Void)] = [
    (
      "Expectation failed:",
      { #expect(await twoWithdrawals(isCareful: false).balance >= 0, "overdrawn") }
    ),
    (
      "Expectation failed:",
      { try #require(await twoWithdrawals(isCareful: false).balance >= 0, "overdrawn") }
    ),
    (
      "Expectation failed:",
      {
        // In a task that does not tell.
        let account = await twoWithdrawals(isCareful: false)
        await Task { try? #require(await account.balance >= 0, "overdrawn") }.value
      }
    ),
    (
      "the closure threw Mine()",
      { if await twoWithdrawals(isCareful: false).balance < 0 { throw Mine() } }
    ),
    (
      "nothing can run any more",
      {
        if await twoWithdrawals(isCareful: false).balance >= 0 { return }
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
      }
    ),
    (
      // Which would end the process, and says nothing on the log.
      "stops the program at ExploredTraitTests.swift:",
      {
        if await twoWithdrawals(isCareful: false).balance >= 0 { return }
        UnsafeMutablePointer<Int>(bitPattern: 64)?.pointee = 1
      }
    ),
  ]

  @Test(arguments: failing.indices.fewUnlessSearching { $0 == 0 || $0 == 5 })
  func `has one issue, with the smallest schedule, for what any schedule shows`(number: Int)
    async throws
  {
    let (says, body) = Self.failing[number]
    let found = try await issues(of: .explored()) { _ in try await body() }
    #expect(found.count == 1, "\(found)")
    let text = found.first?.comments.map(\.rawValue).joined() ?? ""
    #expect(text.contains(says), "\(text)")
    #expect(text.contains("the smallest that fails: "), "\(text)")
    #expect(text.contains("to run it again: @Test(.explored(replaying: \"v3:"), "\(text)")
    #expect(text.contains("replaying: \"v3:"), "\(text)")
    #expect(found.first?.sourceLocation?.fileName == "ExploredTraitTests.swift")
    // And that schedule is what `replaying:` runs.
    let schedule = try #require(text.firstMatch(of: /replaying: "(v3:[^"]*)"/)).output.1
    let again = try await issues(of: .explored(replaying: String(schedule))) { _ in
      try await body()
    }
    #expect(again.count == 1)
    let told = again.first?.comments.map(\.rawValue).joined() ?? ""
    #expect(told.contains("in the schedule that was replayed"), "\(told)")
  }

  @Test func `writes the page that it is asked for`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "schedule.html").path
    let found = try await issues(of: .explored(report: file)) { _ in
      #expect(await Self.twoWithdrawals(isCareful: false).balance >= 0, "overdrawn")
    }
    #expect(found.first?.comments.map(\.rawValue).joined().contains("its page: \(file)") == true)
    let html = try String(contentsOfFile: file, encoding: .utf8)
    #expect(
      html.contains("<title>'writes the page that it is asked for' fails: Expectation failed")
    )
    #expect(html.contains("\"name\":\"ExploredTraitTests.swift\""))
  }

  @Test func `does not fail for what was known, and says it once`() async throws {
    let found = try await issues(of: .explored()) { _ in
      _ = await Self.twoWithdrawals(isCareful: true)
      withKnownIssue { #expect(Bool(false)) }
    }
    #expect(found.count == 1 && found.allSatisfy { !$0.isFailure }, "\(found)")
  }

  @Test func `ends when its test is cancelled`() async throws {
    let task = Task {
      try await issues(of: .explored(schedules: .max)) { _ in
        await withTaskGroup { group in
          for _ in 0..<12 { group.addTask { for _ in 0..<4 { await Task.yield() } } }
        }
      }
    }
    task.cancel()
    #expect(try await task.value.isEmpty)
  }

  // MARK: Beside others

  @Test func `keeps no thread of the pool while it waits for its turn`() async throws {
    // More at once than there are threads; each waits for the one before.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<16 {
        group.addTask {
          try await issues(of: .explored()) { _ in _ = await Self.twoWithdrawals(isCareful: true) }
        }
      }
      // It would not run if they had the threads.
      group.addTask { await Task.yield() }
      try await group.waitForAll()
    }
  }
}
