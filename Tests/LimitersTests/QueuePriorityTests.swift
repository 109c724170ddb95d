import Limiters
import TestSupport
import Testing

private actor Place {}

// A queue that promises the order in which closures were enqueued promises it whatever the priorities of those who
// enqueue. The pool and actors prefer higher priorities, so a queue that leaves the order to them breaks it, and most
// often on threads.

@Suite(.watched) struct `On threads, whatever the priorities, bodies start as they were enqueued` {
  private static let priorities: [TaskPriority] = [.low, .high, .background, .medium, .high, .low]

  /// Enqueues bodies by tasks of all priorities, one after the other, and waits for the last.
  ///
  /// The first holds the queue up until all but the last are enqueued.
  private func order(
    enqueue: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Void,
    wait: @escaping @Sendable (@escaping @Sendable () async -> Void) async throws -> Void
  ) async throws -> [String] {
    let journal = Journal()
    let (gate, signal) = Condition.makeCondition()
    enqueue {
      journal.note("0")
      try? await gate.wait()
    }
    for number in 1...24 {
      let priority = Self.priorities[number % Self.priorities.count]
      await Task(priority: priority) {
        enqueue { journal.note("\(number)") }
        if number == 12 { signal.signal() }
      }
      .value
    }
    try await Task(priority: .background) { try await wait { journal.note("25") } }.value
    return journal.entries
  }

  private let expected = (0...25).map { "\($0)" }

  @Test func `on a FIFO queue`() async throws {
    for round in 1...40 {
      let queue = FIFOQueue()
      let order = try await order { body in
        queue.enqueue(body)
      } wait: { body in
        try await queue.enqueueAndWait(body)
      }
      #expect(order == expected, "round \(round)")
    }
  }

  @Test func `on an actor queue`() async throws {
    for round in 1...40 {
      let (place, queue) = (Place(), ActorQueue<Place>())
      queue.adoptExecutionContext(of: place)
      let order = try await order { body in
        queue.enqueue { _ in await body() }
      } wait: { body in
        try await queue.enqueueAndWait { _ in await body() }
      }
      #expect(order == expected, "round \(round)")
      withExtendedLifetime(place) {}
    }
  }

  @Test func `on a queue of the main actor`() async throws {
    for round in 1...40 {
      let queue = MainActorQueue()
      let order = try await order { body in
        queue.enqueue { await body() }
      } wait: { body in
        try await queue.enqueueAndWait { await body() }
      }
      #expect(order == expected, "round \(round)")
    }
  }
}
