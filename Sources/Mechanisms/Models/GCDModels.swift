internal import DequeModule
internal import Limiters

/// `gcd-semaphore` on modelled threads: each block waits on the thread it was given.
final class GCDSemaphoreModel: Mechanism {
  static let id = GCDSemaphoreMechanism.id
  static let profile = GCDSemaphoreMechanism.profile

  private let pool: ModelledPool
  private let semaphore: ModelledSemaphore

  init(_ setup: MechanismSetup) {
    pool = ModelledPool(setup)
    semaphore = ModelledSemaphore(setup.limit)
  }

  func carry(_ visit: Visit) async {
    visit.arrive()
    let thread = await pool.thread()
    ModelledThread.$number.withValue(thread) { visit.block() }
    await semaphore.wait(blocking: pool)
    await pool.serve(visit, on: thread)
    semaphore.signal()
  }

  func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    for _ in 0..<times {
      let thread = await pool.thread()
      await semaphore.wait(blocking: pool)
      body.onThread()
      pool.end(thread)
      semaphore.signal()
    }
  }

  var permitsInUse: Int? { semaphore.taken }
}

/// `gcd-gate` on modelled threads: one thread waits for a permit, for the first of those that are not
/// dispatched yet.
final class GCDGateModel: Mechanism {
  static let id = GCDGateMechanism.id
  static let profile = GCDGateMechanism.profile

  /// The thread that waits: a serial queue has one that is not of the pool.
  private static let gateThread = 256

  private let pool: ModelledPool
  private let semaphore: ModelledSemaphore
  private let gate = ModelledSemaphore(1)

  init(_ setup: MechanismSetup) {
    pool = ModelledPool(setup)
    semaphore = ModelledSemaphore(setup.limit)
  }

  func carry(_ visit: Visit) async {
    visit.arrive()
    let thread = await passGate {
      ModelledThread.$number.withValue(Self.gateThread) { visit.block() }
    } hasPassed: {
      ModelledThread.$number.withValue(Self.gateThread) { visit.unblock() }
    }
    await pool.serve(visit, on: thread)
    semaphore.signal()
  }

  func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    for _ in 0..<times {
      let thread = await passGate {
      } hasPassed: {
      }
      body.onThread()
      pool.end(thread)
      semaphore.signal()
    }
  }

  var permitsInUse: Int? { semaphore.taken }

  /// Takes a permit, then a thread.
  private func passGate(_ willWait: () -> Void, hasPassed: () -> Void) async -> Int {
    await gate.wait()
    willWait()
    await semaphore.wait()
    hasPassed()
    gate.signal()
    return await pool.thread()
  }
}

/// A semaphore of virtual time, first come, first served.
private final class ModelledSemaphore: Sendable {
  private struct State {
    var free: Int
    var waiters = Deque<CheckedContinuation<Void, Never>>()
  }

  private let limit: Int
  private let state: Lock<State>

  init(_ limit: Int) {
    self.limit = limit
    state = Lock(State(free: limit))
  }

  /// How many permits are taken.
  var taken: Int { state.withLock { limit - $0.free } }

  /// Takes a permit; who must wait blocks a thread of the pool meanwhile, if one is given.
  func wait(blocking pool: ModelledPool? = nil) async {
    let isFree = state.withLock { state in
      guard state.free > 0 else { return false }
      state.free -= 1
      return true
    }
    if isFree { return }
    pool?.block()
    // Nothing comes between: in virtual time one step runs at a time.
    await withCheckedContinuation { continuation in
      state.withLock { $0.waiters.append(continuation) }
    }
    pool?.unblock()
  }

  func signal() {
    let next = state.withLock { state in
      let next = state.waiters.popFirst()
      if next == nil { state.free += 1 }
      return next
    }
    next?.resume()
  }
}
