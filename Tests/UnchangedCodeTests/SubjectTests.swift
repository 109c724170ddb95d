import Exploration
import TestSupport
import Testing

/// Whom a step is about is said with its name: which actor is entered, which task is cancelled.
@Suite(.inTurn, .watched) struct `Whom steps are about` {
  actor Account {
    private var balance = 0

    func put(_ amount: Int) { balance += amount }

    /// Begins a task that has its first turn on this actor.
    func putLater(_ amount: Int) -> Task<Void, Never> { Task { put(amount) } }
  }

  actor Journal { func note() {} }

  @MainActor final class Screen {
    nonisolated init() {}

    func draw() {}
  }

  final class OwnExecutor: SerialExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      Task { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  actor Guest {
    private let executor = OwnExecutor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func visit() {}
  }

  /// The steps of a body that fails at its end.
  private func steps(_ name: String, _ body: @escaping @Sendable () async -> Void) throws -> String
  {
    let failure = try failure(name, races: false) {
      await body()
      try require(false, "the end")
    }
    return "\(failure)"
  }

  @Test func `the actor that a task enters is named, and numbered where there are two of a type`()
    throws
  {
    let told = try steps("enters") {
      let accounts = [Account(), Account()]
      let journal = Journal()
      for account in accounts { await account.put(1) }
      await journal.note()
      await accounts[0].put(1)
    }
    let entered = told.matches(of: /enters ([A-Za-z]+ [A-Za-z]+(?: \d)?)/).map { String($0.1) }
    #expect(
      entered == ["actor Account 1", "actor Account 2", "actor Journal", "actor Account 1"],
      "\(told)"
    )
  }

  @Test func `the main actor is called so, and somebody's own executor is no actor`() throws {
    let told = try steps("main") {
      await Screen().draw()
      await Guest().visit()
    }
    #expect(told.contains("enters the main actor"), "\(told)")
    #expect(told.contains("enters executor OwnExecutor"), "\(told)")
  }

  @Test func `the actor whose turn begins is named`() throws {
    let told = try steps("turn") {
      let other = Account()
      let account = Account()
      await other.put(1)
      await account.putLater(1).value
    }
    #expect(told.contains("takes its turn on actor Account 2"), "\(told)")
  }

  @Test func `the task that is cancelled is named`() throws {
    let told = try steps("cancels") {
      let one = Task { await Task.yield() }
      let two = Task { await Task.yield() }
      two.cancel()
      withUnsafeCurrentTask { $0?.cancel() }
      await one.value
      await two.value
    }
    let cancelled = told.matches(of: /cancels (task \d)/).map { String($0.1) }
    #expect(cancelled == ["task 3", "task 1"], "\(told)")
  }

  @Test func `a group is cancelled as a whole`() throws {
    let told = try steps("group") {
      await withTaskGroup { group in
        group.addTask { await Task.yield() }
        group.cancelAll()
        _ = group.isCancelled
      }
    }
    #expect(told.contains("cancels all tasks of a group"), "\(told)")
    #expect(told.contains("looks whether its group is cancelled"), "\(told)")
  }

  @Test func `whose cancellation is looked for is said`() throws {
    let told = try steps("looks") {
      let other = Task { await Task.yield() }
      _ = other.isCancelled
      _ = Task.isCancelled
      await other.value
    }
    let looked = told.matches(of: /looks whether (it|task \d) is cancelled/).map { String($0.1) }
    #expect(looked == ["task 2", "it"], "\(told)")
  }
}
