public import Synchronization

// What the calls of a pool do: the word, the lock, the line, the timer.
//
// The word and the lock are to each other as those of a limiter (see LimiterCore.swift): who holds the lock takes
// out of the word what it says and leaves it locked, decides, and offers the element used last, where the state has
// it to offer. So a visit that finds it there takes no lock, unless somebody comes to the lock meanwhile, if only to
// read how many are idle: then its end comes there too.
//
// `spare` is what a task borrows that has changed the word: it is written under the lock, while the word is locked,
// and read by the borrower alone. The state offers no other element before that borrower has ended its loan, and
// until then keeps this one alive. So `spare` names a living object to everyone who may read it.

/// A pool's effects, whatever the type of its elements.
@usableFromInline
final class PoolCore: Sendable {
  @usableFromInline let word = Atomic(SpareWord.locked.bits)
  @usableFromInline let spare = Atomic<Unmanaged<any AnyObject & Sendable>?>(nil)
  private let state: Lock<PoolState<HandOff<PoolGrant>>>
  private let expires: Bool
  private let now: @Sendable () -> Duration
  private let sleep: @Sendable (Duration) async throws -> Void
  private let executor: (any TaskExecutor)?

  init<C: Clock>(
    maxElements: Int,
    minElements: Int,
    idleTimeout: Duration?,
    validates: Bool,
    clock: C,
    executor: (any TaskExecutor)?
  ) where C.Duration == Duration {
    let state = PoolState<HandOff<PoolGrant>>(
      maxElements: maxElements,
      minElements: minElements,
      idleTimeout: idleTimeout,
      validates: validates
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
    decide { value($0) }
  }

  /// Decides under the lock, which owns the word meanwhile.
  private func decide<Decision: Sendable>(
    _ decision: (inout PoolState<HandOff<PoolGrant>>) -> Decision
  ) -> Decision {
    state.withLock { state in
      if state.isOffering {
        let bits = word.exchange(SpareWord.locked.bits, ordering: .acquiringAndReleasing)
        state.absorb(SpareWord(bits: bits))
      }
      defer {
        if let (offer, element) = state.offer() {
          spare.store(.passUnretained(element.box), ordering: .relaxed)
          word.store(offer.bits, ordering: .releasing)
        }
      }
      return decision(&state)
    }
  }

  /// Borrows the element on offer by one atomic operation, if there is one.
  ///
  /// It lives until the caller ends the loan, by `giveBack` or `end`, whoever else does so before.
  @inlinable @inline(__always)
  func takeSpare() -> (Unmanaged<any AnyObject & Sendable>, PoolLoan)? {
    var seen = word.load(ordering: .relaxed)
    while let lent = SpareWord(bits: seen).lending {
      let (done, now) = word.compareExchange(
        expected: seen,
        desired: lent.bits,
        ordering: .acquiring
      )
      if done { return spare.load(ordering: .relaxed).map { ($0, lent.loan) } }
      seen = now
    }
    return nil
  }

  /// Gives an element back, by one atomic operation if it was on offer and nobody has come to the lock since.
  @inlinable @inline(__always)
  func giveBack(_ loan: PoolLoan) {
    let isGivenBack =
      loan.isByWord
      && word.compareExchange(
        expected: SpareWord(of: loan, isLent: true).bits,
        desired: SpareWord(of: loan, isLent: false).bits,
        ordering: .releasing
      ).exchanged
    if !isGivenBack { end(loan) }
  }

  @usableFromInline
  func takeIdle() -> (PoolElement, PoolLoan)? { decide { $0.takeIdle() } }

  /// Takes an element or a place for one, waiting in line for it.
  @usableFromInline
  func take() async throws -> PoolGrant {
    let handOff = HandOff<PoolGrant>()
    switch decide({ $0.arrive(handOff) }) {
    case .granted(let grant): return grant
    case .refused: throw PoolClosed()
    case .wait(let ticket):
      let outcome = await handOff.condition.wait(leavingWith: {
        decide { $0.leave(ticket) }?.signal
      })
      if let grant = handOff.take() { return grant }
      if outcome == .cancelled { throw CancellationError() }
      throw PoolClosed()
    }
  }

  /// Reserves a place that the smallest size of the pool leaves room for.
  func reserveForMinimum() -> PoolLoan? {
    decide { $0.reserve(upTo: min($0.minElements, $0.maxElements)) }
  }

  func built(_ element: PoolElement, for loan: PoolLoan) -> Bool {
    decide { $0.built(element, for: loan) }
  }

  /// Lets go of an element that is not good any more, and keeps its place; false if the loan is over.
  ///
  /// The element is released outside of the lock.
  func remove(_ loan: PoolLoan) -> Bool { decide { $0.remove(loan) } != nil }

  /// Ends the loan of its borrower, who has the element already; false if it was over.
  @usableFromInline @discardableResult
  func end(_ loan: PoolLoan, discarding: Bool = false) -> Bool {
    let now = returnTime
    // What was kept is released after the lock: at the end of this function.
    let (ending, kept) = decide { state in
      let ending = discarding ? state.giveUp(loan) : state.giveBack(loan, at: now)
      return (ending, state.endOffer(loan))
    }
    defer { withExtendedLifetime(kept) {} }
    return carryOut(ending)
  }

  /// Ends the present loan of an element, for somebody who knows its identity only.
  ///
  /// False if it is not lent, nil if it is not the pool's.
  func end(_ identity: ObjectIdentifier, discarding: Bool) -> Bool? {
    let now = returnTime
    let ending = decide { state in
      state.loan(of: identity).map { loan in
        discarding ? state.giveUp(loan) : state.giveBack(loan, at: now)
      }
    }
    return ending.map(carryOut)
  }

  /// When an element comes back; zero, without a look at the clock, where none expires.
  private var returnTime: Duration { expires ? now() : .zero }

  /// Does what the state has decided; false if the loan was over.
  ///
  /// What is vacated is released when it returns.
  private func carryOut(_ ending: consuming PoolState<HandOff<PoolGrant>>.Ending) -> Bool {
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
    let (granted, idle) = decide { $0.resize(to: count) }
    for (loan, waiter) in granted { waiter.hand(.place(loan)) }
    withExtendedLifetime(idle) {}
  }

  func shutDown() async {
    close()
    let handOff = HandOff<PoolGrant>()
    if decide({ $0.awaitEnd(handOff) }) { await handOff.condition.outcome() }
  }

  /// The idle elements are released when this returns: outside of the lock, and before anybody waits.
  private func close() {
    let (refused, _) = decide { $0.shutDown() }
    for waiter in refused { waiter.signal.settle(.closed) }
  }

  private func startTimer() {
    Task.detached(on: executor) { [weak self, sleep] in
      while let next = self?.expire() {
        // A clock that throws at once would keep a thread busy: it is asked again when an element comes back.
        do { try await sleep(next) } catch {
          self?.decide { $0.endTimer() }
          return
        }
      }
    }
  }

  /// Lets go of what has lain idle too long; returns when to look again.
  private func expire() -> Duration? {
    let now = now()
    let (expired, next) = decide { $0.expire(at: now) }
    withExtendedLifetime(expired) {}
    return next
  }
}
