import Dispatch
import Exploration
import Foundation
import Synchronization
import TestSupport
import Testing

/// Variables whose copies the compiler makes in functions of its own: the check that accesses to one do not overlap
/// tells of those.
@Suite(.inTurn, .watched) struct `Races on variables that are copied unseen` {
  /// What nobody checks: the compiler takes its word that it is shared well.
  private final class Shared: @unchecked Sendable {
    // Shared on purpose, also where that is wrong: it is what is tested.
    var number: Int?
    var text: String?
    var letter: Character = "a"
    weak var other: Shared?
    var pair = (first: 0, second: 0)
    var mutex = pthread_mutex_t()
    var condition = pthread_cond_t()
    var isReady = false

    init() {
      pthread_mutex_init(&mutex, nil)
      pthread_cond_init(&condition, nil)
    }
  }

  /// A box of any value, as many packages have one.
  private final class Box<Value>: @unchecked Sendable {
    // Shared on purpose: it is what is tested.
    private var value: Value
    init(_ value: Value) { self.value = value }
    func set(_ new: Value) { value = new }
    func get() -> Value { value }
  }

  private func expectRace(
    _ one: @escaping @Sendable (Shared) -> Void,
    _ other: @escaping @Sendable (Shared) -> Void,
    line: Int = #line
  ) throws {
    let failure = try failure("line \(line)") {
      let shared = Shared()
      async let first: Void = one(shared)
      async let second: Void = other(shared)
      _ = await (first, second)
    }
    guard case .race = failure.kind else { throw failure }
    #expect(failure.description.contains("VariableTests.swift"), "\(failure)")
  }

  @Test func `an optional, a text and a letter that one reads and another writes race`() throws {
    try expectRace({ $0.number = 3 }, { _ = $0.number })
    try expectRace({ $0.text = "x" }, { _ = $0.text })
    try expectRace({ $0.letter = "b" }, { _ = $0.letter })
  }

  @Test func `a text that two tasks replace is written by both`() throws {
    let failure = try failure("replaced") {
      let shared = Shared()
      let one: @Sendable () -> Void = { shared.text = "one text that lies in memory of its own" }
      let other: @Sendable () -> Void = { shared.text = "another that lies in memory of its own" }
      async let first: Void = one()
      async let second: Void = other()
      _ = await (first, second)
    }
    #expect(!failure.description.contains(" reads at "), "\(failure)")
  }

  @Test func `a weak reference that one reads and another replaces races`() throws {
    try expectRace({ $0.other = nil }, { _ = $0.other })
  }

  @Test func `what a generic class has races as it would elsewhere`() throws {
    let failure = try failure("box") {
      let box = Box(0)
      async let set: Void = box.set(1)
      async let got = box.get()
      _ = await (set, got)
    }
    guard case .race = failure.kind else { throw failure }
    try explore("box that is read") {
      let box = Box("a")
      async let one = box.get()
      async let other = box.get()
      _ = await (one, other)
    }
  }

  @Test func `a value that a closure has captured races`() throws {
    let failure = try failure("captured") {
      // Shared on purpose: it is what is tested.
      nonisolated(unsafe) var number: Int?
      let set: @Sendable () -> Void = { number = 3 }
      let get: @Sendable () -> Int? = { number }
      async let one: Void = set()
      async let other = get()
      _ = await (one, other)
    }
    guard case .race = failure.kind else { throw failure }
  }

  @Test func `two parts of a variable, and a lock in one, are no race`() throws {
    try explore("parts") {
      let shared = Shared()
      let first: @Sendable () -> Void = { shared.pair.first = 1 }
      let second: @Sendable () -> Int = { shared.pair.second }
      async let one: Void = first()
      async let other = second()
      _ = await (one, other)
    }
    let verdict = try explore("lock and condition") {
      let shared = Shared()
      let wait: @Sendable () -> Void = {
        pthread_mutex_lock(&shared.mutex)
        while !shared.isReady { pthread_cond_wait(&shared.condition, &shared.mutex) }
        pthread_mutex_unlock(&shared.mutex)
      }
      let ring: @Sendable () -> Void = {
        pthread_mutex_lock(&shared.mutex)
        shared.isReady = true
        pthread_mutex_unlock(&shared.mutex)
        pthread_cond_signal(&shared.condition)
      }
      async let one: Void = wait()
      async let other: Void = ring()
      _ = await (one, other)
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @Test func `optionals under one lock are in order`() throws {
    try explore("under a lock") {
      let shared = Shared()
      let lock = NSLock()
      let set: @Sendable () -> Void = { lock.withLock { shared.text = "x" } }
      let get: @Sendable () -> String? = { lock.withLock { shared.text } }
      async let one: Void = set()
      async let other = get()
      _ = await (one, other)
    }
  }
}
