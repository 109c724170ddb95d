import ExplorableSynchronization
import Grading
import Limiters
import TestSupport
import Testing

/// Answers that give back what they never had, or twice, where something fails; and one that does not keep what it
/// began for a task that was cancelled.
@Suite(.watched, .serialized) struct `Answers that give back what they never had` {
  /// Permits that come back as often as somebody says so.
  private final class Permits: Sendable {
    private let state: Mutex<(free: Int, line: [CheckedContinuation<Void, Never>])>

    init(_ limit: Int) { state = Mutex((limit, [])) }

    func take() async {
      await withCheckedContinuation { continuation in
        let isMine = state.withLock { state in
          if state.free > 0 {
            state.free -= 1
            return true
          }
          state.line.append(continuation)
          return false
        }
        if isMine { continuation.resume() }
      }
    }

    func giveBack() {
      let next: CheckedContinuation<Void, Never>? = state.withLock { state in
        if !state.line.isEmpty { return state.line.removeFirst() }
        state.free += 1
        return nil
      }
      next?.resume()
    }
  }

  /// Gives a file back when a copy throws, and when it ends.
  private final class TwiceWhenItThrows: LearnerCopier {
    private let connections: Permits
    private let files: Permits

    init(connections: Int, files: Int) {
      self.connections = Permits(connections)
      self.files = Permits(files)
    }

    func download(_ copy: () async throws -> Void) async throws {
      await connections.take()
      defer { connections.giveBack() }
      await files.take()
      defer { files.giveBack() }
      do { try await copy() } catch {
        files.giveBack()
        throw error
      }
    }

    func upload(_ copy: () async throws -> Void) async throws { try await download(copy) }
  }

  @Test func `a copier whose limit grows with each copy that throws is refused`() async {
    await expect(
      Grader.copier(TwiceWhenItThrows.self),
      "limits_after",
      refusedSaying: "ran at once, expected "
    )
  }

  /// Passes the turn on when a file cannot be read, before it has had it.
  private final class PassesOnUnread: LearnerRecorder {
    private let turn = Permits(1)

    init() {}

    func record(_ file: RecordFile, in ledger: Ledger) async throws {
      defer { turn.giveBack() }
      let record = try await file.read()
      await turn.take()
      await ledger.add(record)
    }
  }

  @Test func `a recorder that passes on a turn for a file that cannot be read is refused`() async {
    await expect(
      Grader.recorder(PassesOnUnread.self),
      "unread_beside",
      refusedSaying: "2 add at once"
    )
  }

  /// Passes the turn on when there is too little, before it has had it.
  private actor PassesOnRefused: LearnerAccount {
    private var balance: Int
    private let bank: Bank
    private let turn = Permits(1)

    init(balance: Int, bank: Bank) {
      self.balance = balance
      self.bank = bank
    }

    func withdraw(_ amount: Int) async -> Bool {
      defer { turn.giveBack() }
      guard balance >= amount else { return false }
      await turn.take()
      guard balance >= amount else { return false }
      await bank.approve()
      balance -= amount
      return true
    }
  }

  @Test func `an account that passes on a turn of who is refused is refused`() async {
    await expect(
      Grader.account(PassesOnRefused.self),
      "refused_beside",
      refusedSaying: "60 and 50 were paid from 100"
    )
  }

  /// Has a connection twice after a question that cannot be answered.
  private final class HasItTwice: LearnerConnections {
    private let places: Permits
    private let idle = Mutex<[any LearnerConnection]>([])
    private let open: @Sendable () async throws -> any LearnerConnection

    init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
      places = Permits(limit)
      self.open = open
    }

    func answer(to question: Int) async throws -> Int {
      await places.take()
      defer { places.giveBack() }
      let kept = idle.withLock { $0.popLast() }
      let connection: any LearnerConnection
      if let kept { connection = kept } else { connection = try await open() }
      defer { idle.withLock { $0.append(connection) } }
      do { return try await connection.answer(to: question) } catch {
        idle.withLock { $0.append(connection) }
        throw error
      }
    }
  }

  @Test func `connections of which one is kept twice after an error are refused`() async {
    await expect(
      Grader.connections(HasItTwice.self),
      "errors_then_two",
      refusedSaying: "one connection was asked two things at once"
    )
  }

  /// Keeps a fetch only if who asks is not cancelled.
  private actor ForgetsCancelled: LearnerImageCache {
    private let fetch: @Sendable (String) async throws -> [UInt8]
    private var fetches: [String: Task<[UInt8], any Error>] = [:]

    init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

    func image(_ name: String) async throws -> [UInt8] {
      let task = fetches[name] ?? Task { [fetch] in try await fetch(name) }
      if !Task.isCancelled { fetches[name] = task }
      return try await task.value
    }
  }

  @Test func `a cache that forgets the fetch of a cancelled task is refused`() async {
    await expect(
      Grader.imageCache(ForgetsCancelled.self),
      "joins_cancelled",
      refusedSaying: "it was fetched 2 times at once"
    )
  }
}
