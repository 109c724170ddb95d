import ExplorableSynchronization
import Foundation
import LessonBook
import TestSupport
import Testing

@testable import Grading

/// The exercises on who waits and with what: what they take, and by which question they refuse.
@Suite(.watched, .serialized) struct `First exercises` {
  // MARK: Lesson 4

  private final class Client: LearnerClient {
    private let server: CallingServer

    init(server: CallingServer) { self.server = server }

    func answer(to question: Int) async throws -> Int {
      try await withCheckedThrowingContinuation { continuation in
        server.ask(question) { continuation.resume(with: $0) }
      }
    }
  }

  /// Takes an error for an answer.
  private final class Careless: LearnerClient {
    private let server: CallingServer

    init(server: CallingServer) { self.server = server }

    func answer(to question: Int) async throws -> Int {
      await withCheckedContinuation { continuation in
        server.ask(question) { continuation.resume(returning: (try? $0.get()) ?? 0) }
      }
    }
  }

  /// Asks when the question before has been answered.
  private actor Queueing: LearnerClient {
    private let client: Client
    private var last: Task<Int, any Error>?

    init(server: CallingServer) { client = Client(server: server) }

    func answer(to question: Int) async throws -> Int {
      let task = Task { [last, client] in
        _ = await last?.result
        return try await client.answer(to: question)
      }
      last = task
      return try await task.value
    }
  }

  @Test(.long) func `a client is graded by who waits at the same time, and by its errors`() async {
    let failed = await refusal(Grader.client(Client.self))
    #expect(failed == nil, "\(failed as Any)")
    let careless = await refusal(Grader.client(Careless.self))
    #expect(careless?.sentence.contains("had no answer to -1, and you returned 0") == true)
    let queueing = await refusal(Grader.client(Queueing.self))
    #expect(queueing?.name == "together")
    #expect(queueing?.sentence.contains("had asked") == true)
  }

  // MARK: Lesson 6

  private final class Door: LearnerDoor {
    private let state = Mutex((isOpen: false, line: [CheckedContinuation<Void, Never>]()))

    init() {}

    func wait() async {
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          if !state.isOpen { state.line.append(continuation) }
          return state.isOpen
        }
        if isOpen { continuation.resume() }
      }
    }

    func open() {
      let woken = state.withLock { state in
        state.isOpen = true
        defer { state.line = [] }
        return state.line
      }
      for continuation in woken { continuation.resume() }
    }
  }

  /// Looks and parks under two locks.
  private final class TwoLocks: LearnerDoor {
    private let isOpen = Mutex(false)
    private let line = Mutex<[CheckedContinuation<Void, Never>]>([])

    init() {}

    func wait() async {
      if isOpen.withLock({ $0 }) { return }
      await withCheckedContinuation { continuation in line.withLock { $0.append(continuation) } }
    }

    func open() {
      isOpen.withLock { $0 = true }
      let woken = line.withLock { line in
        defer { line = [] }
        return line
      }
      for continuation in woken { continuation.resume() }
    }
  }

  /// Nobody waits.
  private struct NoDoor: LearnerDoor {
    func wait() async { await Task.yield() }
    func open() {}
  }

  @Test(.long) func `a door is graded by who is left at it, and by who gets in too early`() async {
    let failed = await refusal(Grader.door(Door.self))
    #expect(failed == nil, "\(failed as Any)")
    #expect(await refusal(Grader.door(TwoLocks.self))?.name == "one_waits")
    let none = await refusal(Grader.door(NoDoor.self))
    #expect(none?.sentence.contains("'wait' returned while the door was shut") == true)
  }
}
