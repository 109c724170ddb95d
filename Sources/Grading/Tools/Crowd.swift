internal import Basics
internal import Limiters
internal import Mechanisms

/// Bodies that stay until they are told to go on, and who has begun.
final class Crowd: World, Tracer {
  private struct State {
    var begun: [Int] = []
    var left = 0
    var goesOn = false
    var inService: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Lock(State())
  private let heedsCancellation: Bool

  /// - Parameter heedsCancellation: whether a body whose task is cancelled throws `CancellationError` in the end.
  init(heedsCancellation: Bool = false) { self.heedsCancellation = heedsCancellation }

  /// How many have begun.
  var admitted: Int { state.withLock { $0.begun.count } }

  /// Who has begun, in this order.
  var begun: [Int] { state.withLock { $0.begun } }

  /// How many were told that they were cancelled before they had begun.
  var left: Int { state.withLock { $0.left } }

  func goOn() {
    let inService = state.withLock { state in
      state.goesOn = true
      defer { state.inService = [] }
      return state.inService
    }
    for one in inService { one.resume() }
  }

  func record(_ kind: TraceEvent.Kind, of id: TaskID) {
    switch kind {
    case .admitted: state.withLock { $0.begun.append(Int(id.number)) }
    case .cancelled(.waiting): state.withLock { $0.left += 1 }
    default: break
    }
  }

  func noteLostResult(of id: TaskID, toldCancelled: Bool) {}

  var now: Int64 { 0 }

  func suspend(for nanoseconds: Int64) async throws {
    await withCheckedContinuation { continuation in
      let goesOn = state.withLock { state in
        if !state.goesOn { state.inService.append(continuation) }
        return state.goesOn
      }
      if goesOn { continuation.resume() }
    }
    if heedsCancellation { try Task.checkCancellation() }
  }

  func leaveStartingThread() async {}

  func block(for nanoseconds: Int64) {}

  func spin(for nanoseconds: Int64) {}
}
