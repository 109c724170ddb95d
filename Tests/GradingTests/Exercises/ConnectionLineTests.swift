import Basics
import ExplorableSynchronization
import Grading
import TestSupport
import Testing

/// What is wrong with a pool when others stand in line.
private protocol LineFlaw: SendableMetatype {
  /// How many in line are told of the place of a connection that could not be opened.
  static func told(of waiting: Int) -> Int
  /// Whether a connection is kept whose question failed.
  static func keeps(_ waiting: Int, isCancelled: Bool) -> Bool
}

extension LineFlaw {
  static func told(of waiting: Int) -> Int { 1 }
  static func keeps(_ waiting: Int, isCancelled: Bool) -> Bool { true }
}

/// Pools that are wrong only while others stand in line.
@Suite(.watched, .serialized) struct `Connections that others wait for` {
  private enum NoFlaw: LineFlaw {}

  private enum TellsTwo: LineFlaw {
    static func told(of waiting: Int) -> Int { waiting == 2 ? 2 : 1 }
  }

  private enum TellsAll: LineFlaw {
    static func told(of waiting: Int) -> Int { waiting > 8 ? waiting : 1 }
  }

  private enum GivesUpTheFailed: LineFlaw {
    static func keeps(_ waiting: Int, isCancelled: Bool) -> Bool { isCancelled || waiting != 1 }
  }

  private enum GivesUpTheCancelled: LineFlaw {
    static func keeps(_ waiting: Int, isCancelled: Bool) -> Bool { !isCancelled || waiting < 7 }
  }

  private final class Line<F: LineFlaw>: LearnerConnections {
    private typealias Waiter = CheckedContinuation<(any LearnerConnection)?, Never>

    private struct State {
      var idle: [any LearnerConnection] = []
      var places: Int
      var line: [Waiter] = []
    }

    private let state: Mutex<State>
    private let open: @Sendable () async throws -> any LearnerConnection

    init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
      state = Mutex(State(places: limit))
      self.open = open
    }

    func answer(to question: Int) async throws -> Int {
      while true {
        let connection = try await take()
        do {
          let answer = try await connection.answer(to: question)
          giveBack(connection)
          return answer
        } catch is ConnectionBroken {
          freePlaces { _ in 1 }
        } catch {
          let waiting = state.withLock { $0.line.count }
          if F.keeps(waiting, isCancelled: Task.isCancelled) {
            giveBack(connection)
          } else {
            freePlaces { _ in 1 }
          }
          throw error
        }
      }
    }

    private func take() async throws -> any LearnerConnection {
      // Resumed once: here, or by who takes it out of the line.
      let lent: (any LearnerConnection)? = await withCheckedContinuation { waiter in
        let (mustWait, connection) = state.withLock { state -> (Bool, (any LearnerConnection)?) in
          if let connection = state.idle.popLast() { return (false, connection) }
          if state.places > 0 {
            state.places -= 1
            return (false, nil)
          }
          state.line.append(waiter)
          return (true, nil)
        }
        if !mustWait { waiter.resume(returning: connection) }
      }
      if let lent { return lent }
      do { return try await open() } catch {
        freePlaces(F.told)
        throw error
      }
    }

    private func giveBack(_ connection: any LearnerConnection) {
      let next: Waiter? = state.withLock { state in
        if !state.line.isEmpty { return state.line.removeFirst() }
        state.idle.append(connection)
        return nil
      }
      next?.resume(returning: connection)
    }

    private func freePlaces(_ told: (Int) -> Int) {
      let next = state.withLock { state in
        if state.line.isEmpty { state.places += 1 }
        let count = min(told(state.line.count), state.line.count)
        defer { state.line.removeFirst(count) }
        return state.line.prefix(count)
      }
      for waiter in next { waiter.resume(returning: nil) }
    }
  }

  @Test func `are opened one at a time, and kept when a question fails`() async {
    func pool<F: LineFlaw>(_ flaw: F.Type) -> GradeBook { Grader.connections(Line<F>.self) }
    let two = "2 connections were opened at once, with a limit of 1"
    await expect(pool(TellsTwo.self), "others_in_line", refusedSaying: two)
    await expect(
      pool(TellsAll.self),
      "others_in_line",
      refusedSaying: "connections were opened at once, with a limit of 1"
    )
    let good = "2 connections were opened, where 1 is enough: a good one was given up"
    await expect(pool(GivesUpTheFailed.self), "others_in_line", refusedSaying: good)
    await expect(
      pool(GivesUpTheCancelled.self),
      "others_in_line",
      refusedSaying: "told CancellationError: 6 connections were opened, where 1 is enough"
    )
    await expect(pool(NoFlaw.self), "others_in_line")
  }
}
