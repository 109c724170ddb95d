import Basics
import Synchronization
import TestSupport
import Testing

@testable import Mechanisms

/// A world whose clock moves only when a task takes its time, and that tells how it was taken.
private final class NotedWorld: World {
  enum Use: Equatable {
    case suspend(Int64)
    case block(Int64)
    case spin(Int64)
    case leaveStartingThread
  }

  private let state = Mutex((now: Int64(0), uses: [Use]()))
  /// How much longer than asked a sleep takes.
  private let overrun: Int64

  init(overrun: Int64 = 0) { self.overrun = overrun }

  var now: Int64 { state.withLock { $0.now } }
  var uses: [Use] { state.withLock { $0.uses } }

  private func note(_ use: Use, taking nanoseconds: Int64) {
    state.withLock {
      $0.uses.append(use)
      $0.now += nanoseconds
    }
  }

  func suspend(for nanoseconds: Int64) async throws {
    try Task.checkCancellation()
    note(.suspend(nanoseconds), taking: nanoseconds)
  }

  func leaveStartingThread() async { note(.leaveStartingThread, taking: 0) }
  func block(for nanoseconds: Int64) {
    note(.block(nanoseconds), taking: nanoseconds + overrun)
  }
  func spin(for nanoseconds: Int64) { note(.spin(nanoseconds), taking: nanoseconds) }
}

@Suite(.watched) struct `A simulated task` {
  private static let download = SimulatedTask(
    number: 3,
    service: 60,
    kind: .download,
    parts: [5, 15, 20, 8, 7, 5]
  )

  // MARK: - On a task

  @Test func `that suspends suspends once, for its service time`() async throws {
    let world = NotedWorld()
    try await SimulatedTask(number: 1, service: 25_000_000, kind: .suspend)
      .perform(in: world) { _ in Issue.record("only a download reports") }
    #expect(world.uses == [.suspend(25_000_000)])
  }

  @Test func `that blocks holds its thread in slices of at most 10 ms`() async throws {
    let world = NotedWorld()
    try await SimulatedTask(number: 1, service: 25_000_000, kind: .block)
      .perform(in: world) { _ in Issue.record("only a download reports") }
    #expect(world.uses == [.block(10_000_000), .block(10_000_000), .block(5_000_000)])
  }

  @Test func `that spins computes in slices of at most 10 ms`() async throws {
    let world = NotedWorld()
    try await SimulatedTask(number: 1, service: 12_000_000, kind: .spin)
      .perform(in: world) { _ in Issue.record("only a download reports") }
    #expect(world.uses == [.spin(10_000_000), .spin(2_000_000)])
  }

  @Test func `that downloads suspends for each part and reports the share behind it`() async throws
  {
    let world = NotedWorld()
    var reports: [UInt8] = []
    try await Self.download.perform(in: world) { reports.append($0) }
    #expect(reports == [5, 20, 40, 60, 80, 100])
    #expect(
      world.uses == [
        .suspend(5), .suspend(15), .suspend(20), .suspend(8), .suspend(7), .suspend(5),
      ]
    )
  }

  @Test func `of no length takes no time but still looks at its cancellation`() async {
    let world = NotedWorld()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await SimulatedTask(number: 1, service: 0, kind: .block)
        .perform(in: world) { _ in }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(world.uses.isEmpty)
  }

  @Test(arguments: ServiceKind.allCases)
  func `drawn to fail throws after it has served`(kind: ServiceKind) async {
    let world = NotedWorld()
    var task = Self.download
    task.kind = kind
    task.fails = true
    await #expect(throws: SimulatedFailure(task: 3)) {
      try await task.perform(in: world) { _ in }
    }
    #expect(world.now == 60)
  }

  @Test(arguments: ServiceKind.allCases)
  func `cancelled before it serves takes no time`(kind: ServiceKind) async {
    let world = NotedWorld()
    let serving = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      var task = Self.download
      task.kind = kind
      try await task.perform(in: world) { _ in }
    }
    await #expect(throws: CancellationError.self) { try await serving.value }
    #expect(world.now == 0)
  }

  @Test func `cancelled between two parts ends there`() async {
    let world = NotedWorld()
    let serving = Task {
      try await Self.download.perform(in: world) { share in
        if share == 40 { withUnsafeCurrentTask { $0?.cancel() } }
      }
    }
    await #expect(throws: CancellationError.self) { try await serving.value }
    #expect(world.uses == [.suspend(5), .suspend(15), .suspend(20)])
  }

  // MARK: - On a thread

  @Test func `blocks where it cannot suspend`() throws {
    let world = NotedWorld()
    try SimulatedTask(number: 1, service: 4, kind: .suspend)
      .performOnThread(in: world, isCancelled: { false }, report: { _ in })
    #expect(world.uses == [.block(4)])
  }

  @Test func `blocks for each part of a download where it cannot suspend`() throws {
    let world = NotedWorld()
    var reports: [UInt8] = []
    try Self.download.performOnThread(
      in: world,
      isCancelled: { false },
      report: { reports.append($0) }
    )
    #expect(reports == [5, 20, 40, 60, 80, 100])
    #expect(world.uses == [.block(5), .block(15), .block(20), .block(8), .block(7), .block(5)])
  }

  @Test func `cancelled between two slices of a thread's work ends there`() {
    let world = NotedWorld()
    let task = SimulatedTask(number: 1, service: 50_000_000, kind: .spin)
    #expect(throws: CancellationError.self) {
      try task.performOnThread(
        in: world,
        isCancelled: { world.now >= 20_000_000 },
        report: { _ in }
      )
    }
    #expect(world.uses == [.spin(10_000_000), .spin(10_000_000)])
  }

  @Test func `cancelled during its last slice is cancelled, not finished`() {
    let world = NotedWorld()
    let task = SimulatedTask(number: 1, service: 10_000_000, kind: .block)
    #expect(throws: CancellationError.self) {
      try task.performOnThread(in: world, isCancelled: { world.now > 0 }, report: { _ in })
    }
  }

  @Test func `does not sleep again what a sleep overran`() throws {
    let world = NotedWorld(overrun: 5_000_000)
    try SimulatedTask(number: 1, service: 30_000_000, kind: .block)
      .performOnThread(in: world, isCancelled: { false }, report: { _ in })
    #expect(world.uses == [.block(10_000_000), .block(10_000_000)])
  }
}

@Suite(.watched) struct `The wall clock's world` {
  @Test func `starts at the reading it was given and does not go back`() {
    let world = WallWorld(start: MachineClock.monotonic() - 1_000_000)
    let first = world.now
    let second = world.now
    #expect(first >= 1_000_000)
    #expect(second >= first)
  }

  @Test func `blocks and spins for at least the time asked for`() {
    let world = WallWorld()
    world.block(for: 1_000_000)
    #expect(world.now >= 1_000_000)
    let before = world.now
    world.spin(for: 1_000_000)
    #expect(world.now - before >= 1_000_000)
    world.block(for: 0)
    world.block(for: -1)
  }

  @Test func `ends a suspension as soon as its task is cancelled`() async {
    let sleeper = Task { try await WallWorld().suspend(for: 3_600_000_000_000) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }
}
