internal import Basics
internal import Foundation
internal import Mechanisms

/// One visit that holds the only permit until it is released, and the visits that wait behind it.
///
/// The costs of cancelling and of waiting can only be measured while no other task is served. It blocks
/// the thread it is used from, so give it a thread of its own.
struct WaitingRoom: Sendable {
  let log: StampLog
  private let mechanism: any Mechanism
  private let kind: ServiceKind
  private let executor: (any TaskExecutor)?
  private let gate = GateWorld()
  private let ended = Counter()
  private let waiters: Int

  /// Room for this many waiters behind the one that holds the permit.
  init(
    _ mechanism: any Mechanism,
    kind: ServiceKind,
    executor: (any TaskExecutor)?,
    waiters: Int
  ) {
    self.mechanism = mechanism
    self.executor = executor
    self.kind = kind
    self.waiters = waiters
    log = StampLog(capacity: waiters + 1)
  }

  /// Has the permit taken; returns once it is.
  func occupy() {
    start(1, in: gate)
    blockUntil { log.peakRunning == 1 }
  }

  /// Starts waiter `index`, from 0, which waits when this returns.
  @discardableResult func admit(_ index: Int) -> Task<Void, Never> {
    start(index + 2, in: EmptyWorld())
  }

  /// How many visits have ended so far.
  var endedCount: Int { ended.value }

  /// Lets the holder go; returns once everybody has ended.
  func release() {
    gate.open()
    blockUntil { endedCount == waiters + 1 }
  }

  @discardableResult
  private func start(_ number: Int, in world: any World) -> Task<Void, Never> {
    let task = SimulatedTask(number: number, service: 1, kind: kind)
    return startVisit(
      Visit(task, tracer: log, world: world),
      on: mechanism,
      executor: executor,
      ended: ended
    )
  }
}

/// Returns once this process does no more work than looking.
func settle() {
  // One quiet millisecond is no sign: on a busy machine all threads may wait for a processor in it.
  var quiet = 0
  for _ in 0..<5_000 where quiet < 20 {
    let before = MachineClock.processTime()
    usleep(1_000)
    quiet = MachineClock.processTime() - before < 300_000 ? quiet + 1 : 0
  }
}
