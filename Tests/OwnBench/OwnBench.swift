import Benchmarking
import Limiters
import Synchronization

// A program of another package, as far as it can be told: it has nothing but the library's public face.

/// The smallest limiter there is that waits without holding a thread.
struct Mine: MeasuredLimiter {
  static let name = "mine"

  private struct State {
    var free: Int
    var line: [CheckedContinuation<Void, Never>] = []
  }

  private final class Line: Sendable {
    let state: Mutex<State>
    init(_ limit: Int) { state = Mutex(State(free: limit)) }
  }

  static let keepsOrder = true
  static let leavesWhenCancelled = false

  private let line: Line

  init(limit: Int) { line = Line(limit) }

  func run<Value>(
    _ body: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    await withCheckedContinuation { continuation in
      let isFree = line.state.withLock { state in
        guard state.free > 0 else {
          state.line.append(continuation)
          return false
        }
        state.free -= 1
        return true
      }
      if isFree { continuation.resume() }
    }
    defer {
      let next = line.state.withLock { state in
        if state.line.isEmpty { state.free += 1 }
        return state.line.isEmpty ? nil : state.line.removeFirst()
      }
      next?.resume()
    }
    // It does not leave the line when it is cancelled, and does not run its body then either.
    try Task.checkCancellation()
    return try await body()
  }
}

/// The limiter of the other package, called as its users call it: what the bench measures of it must be what
/// these loops take.
struct Outside: MeasuredLimiter {
  static let name = "outside"
  static let keepsOrder = true

  private let limiter: ConcurrencyLimiter

  init(limit: Int) { limiter = ConcurrencyLimiter(concurrency: limit) }

  func run<Value>(
    _ body: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    try await limiter.run(body)
  }

  func pass(times: Int) async {
    for _ in 0..<times { try? await limiter.run {} }
  }

  func passYielding(times: Int) async {
    for _ in 0..<times { try? await limiter.run { await Task.yield() } }
  }
}

/// The same, and every twentieth visit is made twice: a twentieth slower, and nothing else.
struct Slowed: MeasuredLimiter {
  static let name = "slowed"
  static let keepsOrder = true

  /// Its loops: other loops of the same calls can differ by a twentieth in how they are compiled.
  private let outside: Outside

  init(limit: Int) { outside = Outside(limit: limit) }

  func run<Value>(
    _ body: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    try await outside.run(body)
  }

  func pass(times: Int) async {
    await outside.pass(times: times + times / 20)
  }

  func passYielding(times: Int) async {
    await outside.passYielding(times: times + times / 20)
  }
}

/// Lets everybody in, and says that it keeps an order.
struct Broken: MeasuredLimiter {
  static let name = "broken"

  init(limit: Int) {}

  func run<Value>(
    _ body: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    try await body()
  }
}

@main struct Program {
  static func main() async {
    await Bench.main(measuring: [Mine.self, Outside.self, Slowed.self, Broken.self])
  }
}
