/// A pool's effects, whatever the type of its elements: the lock, the line, the timer.
@usableFromInline
final class PoolCore: Sendable {
  private let state: Lock<PoolState<HandOff<PoolGrant>>>
  private let expires: Bool
  private let now: @Sendable () -> Duration
  private let sleep: @Sendable (Duration) async throws -> Void
  private let executor: (any TaskExecutor)?

  init<C: Clock>(
    maxElements: Int,
    minElements: Int,
    idleTimeout: Duration?,
    clock: C,
    executor: (any TaskExecutor)?
  ) where C.Duration == Duration {
    let state = PoolState<HandOff<PoolGrant>>(
      maxElements: maxElements,
      minElements: minElements,
      idleTimeout: idleTimeout
    )
    self.state = Lock(state)
    self.executor = executor
    let start = clock.now
    expires = idleTimeout != nil
    now = { start.duration(to: clock.now) }
    sleep = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
  }

  /// What `value` says of the state.
  func read<Value: Sendable>(_ value: (PoolState<HandOff<PoolGrant>>) -> Value) -> Value {
    state.withLock { value($0) }
  }

  @usableFromInline
  func takeIdle() -> (PoolElement, PoolLoan)? { state.withLock { $0.takeIdle() } }

  /// Takes an element or a place for one, waiting in line for it.
  @usableFromInline
  func take() async throws -> PoolGrant {
    let handOff = HandOff<PoolGrant>()
    switch state.withLock({ $0.arrive(handOff) }) {
    case .granted(let grant): return grant
    case .refused: throw PoolClosed()
    case .wait(let ticket):
      let outcome = await handOff.condition.wait(leavingWith: {
        state.withLock { $0.leave(ticket) }?.signal
      })
      if let grant = handOff.take() { return grant }
      if outcome == .cancelled { throw CancellationError() }
      throw PoolClosed()
    }
  }

  /// Reserves a place that the smallest size of the pool leaves room for.
  func reserveForMinimum() -> PoolLoan? {
    state.withLock { $0.reserve(upTo: min($0.minElements, $0.maxElements)) }
  }

  func built(_ element: PoolElement, for loan: PoolLoan) -> Bool {
    state.withLock { $0.built(element, for: loan) }
  }

  /// Lets go of an element that is not good any more, and keeps its place; false if the loan is over.
  ///
  /// The element is released outside of the lock.
  func remove(_ loan: PoolLoan) -> Bool { state.withLock { $0.remove(loan) } != nil }

  /// Ends a loan; false if it was over already.
  @usableFromInline @discardableResult
  func end(_ loan: PoolLoan, discarding: Bool = false) -> Bool {
    let now = expires ? now() : .zero
    // What is vacated is released after the lock: at the end of this function.
    let ending = state.withLock { discarding ? $0.giveUp(loan) : $0.giveBack(loan, at: now) }
    switch ending {
    case .keep(let startsTimer): if startsTimer { startTimer() }
    case .hand(let grant, let waiter): waiter.hand(grant)
    case .vacate(_, let ended): for waiter in ended { waiter.signal.settle(.signalled) }
    case .over: return false
    }
    return true
  }

  /// Changes how many elements there may be; what is let go is released after the lock.
  func resize(to count: Int) {
    let (granted, idle) = state.withLock { $0.resize(to: count) }
    for (loan, waiter) in granted { waiter.hand(.place(loan)) }
    withExtendedLifetime(idle) {}
  }

  func shutDown() async {
    close()
    let handOff = HandOff<PoolGrant>()
    if state.withLock({ $0.awaitEnd(handOff) }) { await handOff.condition.outcome() }
  }

  /// The idle elements are released when this returns: outside of the lock, and before anybody waits.
  private func close() {
    let (refused, _) = state.withLock { $0.shutDown() }
    for waiter in refused { waiter.signal.settle(.closed) }
  }

  private func startTimer() {
    Task.detached(on: executor) { [weak self, sleep] in
      while let next = self?.expire() {
        // A clock that throws at once would keep a thread busy: it is asked again when an element comes back.
        do { try await sleep(next) } catch {
          self?.state.withLock { $0.endTimer() }
          return
        }
      }
    }
  }

  /// Lets go of what has lain idle too long; returns when to look again.
  private func expire() -> Duration? {
    let now = now()
    let (expired, next) = state.withLock { $0.expire(at: now) }
    withExtendedLifetime(expired) {}
    return next
  }
}
