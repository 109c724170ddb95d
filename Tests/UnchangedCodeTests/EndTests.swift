import Dispatch
import Exploration
import Glibc
import Synchronization
import TestSupport
import Testing

/// Code that would end the program in some of its schedules: what is told of it, and that the program goes on.
///
/// Each in a process of its own, so that what the runtime prints as it ends code is not taken for the tests'.
@Suite(.inTurn, .watched) struct `Code that ends the program` {
  /// What ends it, and what the failure says.
  struct End: Sendable {
    var says: String
    var body: @Sendable (_ value: Int) -> Void
  }

  static let ends = [
    End(says: "Fatal error: an update is lost") { if $0 != 2 { fatalError("an update is lost") } },
    End(
      says:
        "a trap in dispatch_group_leave of libdispatch.so: a group is left more often than it is entered"
    ) { if $0 != 2 { DispatchGroup().leave() } },
    End(says: "exit(0) is called") { if $0 != 2 { exit(0) } },
    End(says: "the stack is used up: calls go too deep") { if $0 != 2 { _ = depth(below: $0) } },
    End(says: "Precondition failed: lost") { precondition($0 == 2, "lost") },
    End(says: "Fatal error: Index out of range") { _ = [0, 0, 0][$0 == 2 ? 2 : 3 - $0 + 1] },
    End(says: "Fatal error: Not enough bits") { _ = UInt8($0 == 2 ? 2 : 300) },
    End(says: "a trap") { _ = UInt($0) - 2 },
    End(says: "exit(3) is called") { if $0 != 2 { exit(3) } },
    End(says: "_exit(0) is called") { if $0 != 2 { _exit(0) } },
    End(says: "quick_exit(0) is called") { if $0 != 2 { quick_exit(0) } },
    End(says: "abort() is called") { if $0 != 2 { abort() } },
    End(says: "memory is used that is not there") {
      if $0 != 2 { UnsafeMutablePointer<Int>(bitPattern: 64)?.pointee = 1 }
    },
  ]

  static func depth(below level: Int) -> Int {
    level == 0 ? 0 : depth(below: level + 1) + 1
  }

  final class Value: Sendable {
    private let value = Mutex(0)

    var now: Int { value.withLock { $0 } }

    func set(_ new: Int) { value.withLock { $0 = new } }
  }

  /// 2, unless one pre-emption has an update be lost.
  static func countTwo() async -> Int {
    let value = Value()
    await withTaskGroup { group in
      for _ in 1...2 { group.addTask { value.set(value.now + 1) } }
    }
    return value.now
  }

  @Test(arguments: ends.indices.fewUnlessLong(4))
  func `fails as other code does: told with what it says, made small, and replayed`(kind: Int) async
  {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      [kind] in
      let end = Self.ends[kind]
      let explored: @Sendable () async throws -> Void = {
        end.body(await Self.countTwo())
      }
      // At random, so that what is found is not the smallest.
      let found: ExplorationFailure
      do throws(ExplorationFailure) {
        try explore("end", strategy: .random(schedules: 1_000, seed: 5), explored)
        fatalError("it passes")
      } catch { found = error }
      guard case .trap(let message) = found.kind, message.contains(": \(end.says)"),
        message.hasPrefix("task 1 stops the program at EndTests.swift:"),
        found.description.contains("; the smallest that fails: 1 pre-emption: task 1 stops"),
        found.description.contains("stops at EndTests.swift:"),
        found.description.contains("what matters: step ")
      else { fatalError("\(found)") }
      // The same process goes on, with this schedule and with others.
      let again = try failure("end", replaying: found.schedule, explored)
      guard again.schedule == found.schedule, case .trap(message) = again.kind else {
        fatalError("\(again)")
      }
      try explore("well") { await Task.yield() }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(result?.exitStatus == .exitCode(0), "\(text)")
    // What is printed of each schedule that ends so would hide the rest.
    #expect(text.ranges(of: "Fatal error").count <= 3, "\(text)")
  }

  /// Opens for those who wait, and is wrong: it resumes the first only, and does not take it off the list.
  private final class Turnstile: Sendable {
    private let state = Mutex((isOpen: false, line: [Int: CheckedContinuation<Void, Never>]()))

    func pass(as number: Int) async {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let isOpen = state.withLock { state in
            if !state.isOpen { state.line[number] = continuation }
            return state.isOpen
          }
          if isOpen { continuation.resume() }
        }
      } onCancel: {
        state.withLock { $0.line.removeValue(forKey: number) }?.resume()
      }
    }

    func open() {
      let first = state.withLock { state in
        state.isOpen = true
        return state.line.min { $0.key < $1.key }?.value
      }
      first?.resume()
    }
  }

  @Test func `a handler that traps as what is left is cleared away hides no failure`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let failure = try failure("turnstile") {
        let turnstile = Turnstile()
        async let one: Void = turnstile.pass(as: 1)
        async let two: Void = turnstile.pass(as: 2)
        turnstile.open()
        _ = await (one, two)
      }
      guard case .deadlock = failure.kind else { fatalError("\(failure)") }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(result?.exitStatus == .exitCode(0), "\(text)")
    #expect(!text.contains("Fatal error"), "\(text)")
  }

  @Test func `a handler that waits for ever as what is left is cleared away hides no failure`()
    throws
  {
    let failure = try failure("waits in a handler") {
      let never = DispatchSemaphore(value: 0)
      let task = Task {
        await withTaskCancellationHandler {
          await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        } onCancel: {
          never.wait()
        }
      }
      await task.value
    }
    guard case .deadlock = failure.kind else { throw failure }
  }

  @Test func `a lock that outlives the closure and is held at its end is said to be so`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let lock = Mutex(0)
      let failure = try failure("held") {
        lock.withLock { _ -> Void in fatalError("with the lock") }
      }
      guard case .trap = failure.kind,
        failure.description.contains("its steps cannot be told: a lock outlives the closure")
      else { fatalError("\(failure)") }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(result?.exitStatus == .exitCode(0), "\(text)")
  }

  @Test func `a program that ends by itself, with an exploration behind it, ends as it wants to`()
    async
  {
    await #expect(processExitsWith: .exitCode(7)) {
      try explore("well") { await Task.yield() }
      exit(7)
    }
  }
}
