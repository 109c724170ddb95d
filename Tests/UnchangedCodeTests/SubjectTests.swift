import Exploration
import Glibc
import Synchronization
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

  /// Has the newest value acted on, once all is quiet.
  actor Debouncer {
    private(set) var heard: [Int] = []
    private var pending: Task<Void, Never>?

    func submit(_ value: Int) {
      pending?.cancel()
      pending = Task {
        try? await Task.sleep(for: .seconds(1))
        heard.append(value)
      }
    }

    func settle() async { await pending?.value }
  }

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

  /// A lock of one's own: who takes it is in the middle of its lines.
  final class TicketLock: Sendable {
    private let next = Atomic(0)
    private let serving = Atomic(0)

    func withLock(_ body: () -> Void) {
      let ticket = next.wrappingAdd(1, ordering: .relaxed).oldValue
      while serving.load(ordering: .acquiring) != ticket { sched_yield() }
      body()
      serving.store(ticket + 1, ordering: .releasing)
    }
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

  @Test func `a task that begins in its actor's turn is started by who makes it`() throws {
    let told = try steps("debounce") {
      let debouncer = Debouncer()
      await debouncer.submit(1)
      await debouncer.submit(2)
      await debouncer.settle()
    }
    let lines = told.split(separator: "\n").map(String.init)
    func first(_ words: String) -> Int { lines.firstIndex { $0.contains(words) } ?? .max }
    let (started, cancelled) = (first("starts task 2"), first("cancels task 2"))
    #expect(started < cancelled && cancelled < lines.count, "\(told)")
    let again = first("starts task 3")
    #expect(cancelled <= again && again < first("  task 3  "), "\(told)")
    // Both have begun in the actor's turn, and have slept since.
    #expect(!told.contains(/task [23] .* begins/), "\(told)")
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

  @Test func `the atomics of a lock of one's own are named, with the lock's lines`() throws {
    let told = try steps("lock") {
      let lock = TicketLock()
      let task = Task { lock.withLock {} }
      lock.withLock {}
      await task.value
    }
    for (name, does) in [("next", "changes"), ("serving", "reads"), ("serving", "writes")] {
      #expect(told.contains(try Regex("\(does) atomic \\d \\(\(name) = ")), "\(name): \(told)")
    }
    let lines = told.matches(of: /SubjectTests.swift:(\d+) +(?:changes|reads|writes) atomic/)
    #expect(Set(lines.map { String($0.1) }).count == 3, "\(told)")
  }

  @Test func `each that wakes, or goes on behind a yield, has a line`() throws {
    let told = try steps("sleeps") {
      async let sleeper: Void? = try? Task.sleep(for: .seconds(1))
      async let yielder: Void = Task.yield()
      await withTaskGroup { group in
        group.addTask { try? await Task.sleep(for: .seconds(1)) }
        group.addTask { await Task.yield() }
      }
      _ = await (sleeper, yielder)
    }
    let rows = told.split(separator: "\n").filter { $0.contains(/^ +\d+ +task \d/) }.dropFirst()
    #expect(rows.contains { $0.contains("wakes from its sleep") }, "\(told)")
    #expect(rows.contains { $0.contains("ends its yield") }, "\(told)")
    for row in rows { #expect(row.contains("SubjectTests.swift:"), "\(row) of\n\(told)") }
  }
}
