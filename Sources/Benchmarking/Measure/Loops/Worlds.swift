internal import Foundation
internal import Mechanisms
internal import Synchronization

// What a visit's body does in the closed-loop workloads, where the body is not simulated work but the
// thing that makes the limiter hand over.

/// A world in which nothing takes simulated time.
protocol TimelessWorld: World {}

extension TimelessWorld {
  var now: Int64 { 0 }
  func leaveStartingThread() async {}
}

/// The body does nothing.
struct EmptyWorld: TimelessWorld {
  func suspend(for nanoseconds: Int64) async throws {}
  func block(for nanoseconds: Int64) {}
  func spin(for nanoseconds: Int64) {}
}

/// The body gives its worker up once while it holds the permit, so that others queue behind it.
struct YieldingWorld: TimelessWorld {
  func suspend(for nanoseconds: Int64) async throws { await Task.yield() }
  func block(for nanoseconds: Int64) { sched_yield() }
  func spin(for nanoseconds: Int64) { sched_yield() }
}

/// The body works on something that all bodies share: additions to one counter.
final class CriticalSectionWorld: TimelessWorld {
  private let shared = Atomic(0)
  private static let additions = 64

  func suspend(for nanoseconds: Int64) async throws { work() }
  func block(for nanoseconds: Int64) { work() }
  func spin(for nanoseconds: Int64) { work() }

  private func work() {
    for _ in 0..<Self.additions { shared.wrappingAdd(1, ordering: .relaxed) }
  }
}

/// The body holds its permit until the gate is opened.
final class GateWorld: TimelessWorld {
  private enum State {
    case closed([CheckedContinuation<Void, Never>])
    case open
  }

  private let state = Mutex(State.closed([]))
  private let threads = NSCondition()

  func suspend(for nanoseconds: Int64) async throws {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        switch state {
        case .open: return true
        case .closed(let waiting):
          state = .closed(waiting + [continuation])
          return false
        }
      }
      if isOpen { continuation.resume() }
    }
  }

  func block(for nanoseconds: Int64) {
    threads.lock()
    while !isOpen { threads.wait() }
    threads.unlock()
  }

  func spin(for nanoseconds: Int64) { block(for: nanoseconds) }

  func open() {
    let waiting = state.withLock { state in
      defer { state = .open }
      return switch state {
      case .open: [CheckedContinuation<Void, Never>]()
      case .closed(let waiting): waiting
      }
    }
    for continuation in waiting { continuation.resume() }
    // Under the condition's lock: a thread that just saw the gate closed is then already waiting.
    threads.lock()
    threads.broadcast()
    threads.unlock()
  }

  private var isOpen: Bool {
    state.withLock {
      switch $0 {
      case .open: true
      case .closed: false
      }
    }
  }
}
