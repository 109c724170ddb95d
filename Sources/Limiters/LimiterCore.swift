public import Synchronization

// What the calls of a limiter do: the atomic word, the lock, the line, the timer.
//
// The word and the lock: who holds the lock takes the counts out of the word and leaves it locked (by one
// exchange), decides, and puts them back only if nobody waits. So the word is locked while anybody is in
// line, and a compare-and-swap fails on a locked word: then every release and every newcomer comes to the
// lock. Limiters whose fast path is a fetch-and-add have a trap here. Their releases, and their newcomers,
// count in the word that somebody waits, before they get to the lock. A waiter that is cancelled between a
// release's count and its lock may then be given the permit by the one, while it gives it back by the
// other: one permit becomes two, or none. Here nobody is counted outside of the lock, so there is nothing
// to undo: a release either adds to the free permits of an unlocked word, while nobody waits, or finds
// the line, under the same lock from which a cancelled waiter leaves it.
//
// Two calls come with a Condition to the lock though a permit is free, and find there that they need not wait:
// every 256th, because the word has no room for its admission, and one that meets somebody who reads `running`
// or the statistics, because the word is locked then.
//
// Lifetime: a `Permit` may outlive its limiter. If it held a reference, counting that would cost two atomic
// operations, as many as taking a permit and giving it back do. So the count of those who hold permits stands for
// their references: where the limiter goes before them, the core keeps itself alive, with the word locked, and
// whoever gives the last permit back, under the lock, lets it go.

/// A limiter's effects: what it shares with its permits.
@usableFromInline
final class LimiterCore: Sendable {
  @usableFromInline let word: Atomic<Int64>
  @usableFromInline let detectsNesting: Bool
  private let state: Lock<LimiterState<Signal>>
  private let usesPriority: Bool
  /// What a clock shows, as the time since the limiter was made; nil if nobody asked for times.
  private let clock: (@Sendable () -> Duration)?

  /// With `agingAfter`, the order is by priority.
  init(
    _ limit: Int,
    _ agingAfter: Duration?,
    _ detectsNesting: Bool,
    timedBy clock: (@Sendable () -> Duration)?
  ) {
    self.clock = clock
    self.detectsNesting = detectsNesting
    usesPriority = agingAfter != nil
    word = Atomic(PermitWord(free: limit, holders: 0).bits)
    state = Lock(LimiterState(limit: limit, agingAfter: agingAfter))
  }

  /// Stays for as long as anybody holds a permit: to be called as the limiter goes.
  ///
  /// Nobody takes a permit any more: whoever could has a reference to the limiter.
  func outliveLimiter() {
    let word = PermitWord(bits: word.load(ordering: .acquiring))
    if !word.isLocked, word.holders == 0 { return }
    let own = Unmanaged.passRetained(self)
    if !decide({ $0.abandon() }) { own.release() }
  }

  /// Zero, without a look at a clock, if nobody asked for times.
  private func now() -> Duration { clock?() ?? .zero }

  var statistics: ConcurrencyLimiter.Statistics {
    let now = now()
    return decide { state in
      ConcurrencyLimiter.Statistics(
        running: state.running,
        borrowers: state.holders,
        waiting: state.waiting,
        admitted: state.admitted,
        cancelled: state.cancelled,
        timedOut: state.timedOut,
        longestWait: state.longestWait(at: now)
      )
    }
  }

  func setLimit(_ limit: Int) {
    let now = now()
    signal(decide { $0.setLimit(limit, at: now) })
  }

  func close() {
    let now = now()
    let (refused, turns) = decide { $0.close(at: now) }
    for waiter in refused { waiter.settle(.closed) }
    signal(turns)
  }

  func closed() async {
    let (condition, signal) = Condition.makeForOneWaiter()
    if decide({ $0.awaitEnd(signal) }) { await condition.outcome() }
  }

  // MARK: - The word

  /// Takes permits by one atomic operation if they are free and nobody waits.
  @inlinable @inline(__always)
  func takeIfFree(_ weight: Int, file: StaticString, line: UInt) -> Bool {
    if weight < 1 { Self.stopForWeight(weight, file: file, line: line) }
    var seen = word.load(ordering: .relaxed)
    while let taken = PermitWord(bits: seen).taking(weight) {
      let (done, now) = word.compareExchange(
        expected: seen,
        desired: taken.bits,
        ordering: .acquiring
      )
      if done { return true }
      seen = now
    }
    return false
  }

  /// Gives permits back by one atomic operation if nobody waits.
  @inlinable @inline(__always)
  func giveBack(_ weight: Int) { if !giveBackToWord(weight) { depart(weight) } }

  /// Gives permits back for somebody who has no reference to the core, and does not touch it afterwards.
  @inlinable @inline(__always)
  func giveBackWithoutReference(_ weight: Int) {
    if !giveBackToWord(weight) { departWithoutReference(weight) }
  }

  @inlinable @inline(__always)
  func giveBackToWord(_ weight: Int) -> Bool {
    var seen = word.load(ordering: .relaxed)
    while let givenBack = PermitWord(bits: seen).givingBack(weight) {
      let (done, now) = word.compareExchange(
        expected: seen,
        desired: givenBack.bits,
        ordering: .releasing
      )
      if done { return true }
      seen = now
    }
    return false
  }

  @inlinable @inline(__always)
  func hold<Value, Failure: Error>(
    _ weight: Int,
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    defer { giveBack(weight) }
    return detectsNesting ? try await marked(body) : try await body()
  }

  // MARK: - Under the lock

  /// Decides under the lock, which owns the word meanwhile.
  func decide<Decision: Sendable>(
    _ decision: (inout LimiterState<Signal>) -> Decision
  ) -> Decision {
    state.withLock { state in
      if word.load(ordering: .relaxed) >= 0 {
        state.absorb(
          PermitWord(
            bits: word.exchange(PermitWord.locked.bits, ordering: .acquiringAndReleasing)
          )
        )
      }
      defer { if let offer = state.offer() { word.store(offer.bits, ordering: .releasing) } }
      return decision(&state)
    }
  }

  @usableFromInline
  func takeUnderLock(_ weight: Int) -> Bool { decide { $0.admitAtOnce(weight) } }

  @usableFromInline
  func waitForPermit(_ weight: Int) async throws {
    let (condition, signal) = Condition.makeForOneWaiter()
    guard let ticket = try join(signal, weight) else { return }
    try await condition.wait(leavingWith: { leave(ticket, .cancelled) }).get()
  }

  @usableFromInline
  func waitForPermitUncancellably(_ weight: Int) async {
    let (condition, signal) = Condition.makeForOneWaiter()
    if joinForGood(signal, weight) { await condition.outcome() }
  }

  func waitForPermit<C: Clock>(
    _ weight: Int,
    until deadline: C.Instant,
    _ clock: C
  ) async throws {
    let (condition, signal) = Condition.makeForOneWaiter()
    guard let ticket = try join(signal, weight) else { return }
    // Cancelled, and waited for, when this function ends.
    async let _: Void = expire(ticket, at: deadline, clock)
    try await condition.wait(leavingWith: { leave(ticket, .cancelled) }).get()
  }

  private func expire<C: Clock>(
    _ ticket: LimiterState<Signal>.Ticket,
    at deadline: C.Instant,
    _ clock: C
  ) async {
    try? await clock.sleep(until: deadline, tolerance: nil)
    // A sleep that is cancelled may throw, or return as if its time were over. The timer is cancelled when
    // the wait is over, or with its task, whose wait then ends as cancelled.
    if Task.isCancelled { return }
    leave(ticket, .timedOut)?.settle(.timedOut)
  }

  /// Reads the clock, which is the user's: not under the lock.
  private func place(_ waiter: Signal, _ weight: Int) -> LimiterState<Signal>.Place {
    var place = LimiterState.Place(waiter: waiter, weight: weight, arrived: now())
    if usesPriority { place.priority = Task.currentPriority.rawValue }
    return place
  }

  /// Nil if the task was admitted.
  ///
  /// A task that is first in line by its priority, and fits, finds its event settled already.
  ///
  /// Not inlined: what is in an asynchronous function stays in its frame while the task waits.
  @inline(never)
  private func join(
    _ waiter: Signal,
    _ weight: Int
  ) throws -> LimiterState<Signal>.Ticket? {
    if detectsNesting, RunMark.isOnTask(inside: self) {
      let (isAdmitted, isClosed) = decide { ($0.admitAtOnce(weight), $0.isClosed) }
      if isAdmitted { return nil }
      if isClosed { throw LimiterClosed() }
      throw NestedRun()
    }
    let place = place(waiter, weight)
    switch decide({ $0.arrive(place) }) {
    case .admitted: return nil
    case .wait(let ticket, let turns):
      signal(turns)
      return ticket
    case .refused: throw LimiterClosed()
    }
  }

  /// Joins the line to stay in it until the turn comes; false if the task was admitted.
  ///
  /// Not inlined, as `join` is not.
  @inline(never)
  private func joinForGood(_ waiter: Signal, _ weight: Int) -> Bool {
    var place = place(waiter, weight)
    place.outlastsClosing = true
    guard case .wait(_, let turns) = decide({ $0.arrive(place) }) else { return false }
    signal(turns)
    return true
  }

  /// Takes the waiter out of the line; nil if it is not there any more.
  ///
  /// Those behind it may fit now, and are woken.
  private func leave(
    _ ticket: LimiterState<Signal>.Ticket,
    _ why: LimiterState<Signal>.Departure
  ) -> Signal? {
    let now = now()
    guard let (leaver, turns) = decide({ $0.leave(ticket, why, at: now) }) else { return nil }
    signal(turns)
    return leaver
  }

  @usableFromInline
  func depart(_ weight: Int) {
    let now = now()
    let (turns, isOver) = decide { ($0.depart(weight, at: now), $0.isOver) }
    signal(turns)
    // What `outliveLimiter` retained.
    if isOver { Unmanaged.passUnretained(self).release() }
  }

  /// The permits that it gives back are what keeps the core alive: as soon as the lock is free, another thread may
  /// let the core go, and this one has not left the lock yet.
  @usableFromInline
  func departWithoutReference(_ weight: Int) {
    let own = Unmanaged.passRetained(self)
    defer { own.release() }
    depart(weight)
  }

  @inline(__always)
  private func signal(_ turns: consuming LimiterState<Signal>.Turns) {
    turns.first.take()?.settle(.signalled)
    for next in turns.others.take() ?? [] { next.settle(.signalled) }
  }

  @usableFromInline
  func marked<Value, Failure: Error>(
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await RunMark.mark(self, body)
  }

  @usableFromInline
  static func stopForWeight(_ weight: Int, file: StaticString, line: UInt) -> Never {
    stop(
      "ConcurrencyLimiter: weight is \(weight), but must be at least 1; a body without a permit "
        + "needs no limiter",
      file: file,
      line: line
    )
  }
}
