// At most N at once, because there are only N elements to work with.
//
// Often the limit is not a number but a set of things: connections, buffers, actors to share work among.
// A pool lends such elements, and a task that finds none waits until one comes back.
//
// Structure: a lock around a value that decides (`PoolState`), and for each task that waits a Condition and its
// Signal, with room for what is handed over (see HandOff.swift). The element used last lies beside the lock, in an
// atomic word, so that as a rule a visit that finds it takes no lock (see PoolCore.swift).
// The pool builds an element when a task needs one and none is idle, up to the maximum. Of the idle
// elements it lends the most recently used one first. The state knows elements as objects, whatever their
// type; the generic pool here puts them in and takes them out.
//
// Order: first come, first served. An element that comes back goes straight to the first waiter and is
// not idle in between, so no newcomer can overtake.
//
// Building: a task that needs a new element reserves a place for it under the lock, and builds it on its
// own task after the lock is released. So the builder may suspend. It may also throw: the error goes to
// the task that built, and the place to the first waiter, which builds in turn. If the place were only
// freed, tasks that wait for the element that failed would wait for ever.
//
// Cancellation: as in the limiter, the code that removes a waiter from the line, under the pool's lock,
// wakes it: with an element, with a place to build in, or with the cancellation. A task that got an
// element before it was cancelled keeps it and returns it like any other.
//
// Returning: `withElement` and `lease` end a loan, which has a number: once, and no other. `return` and
// `discard` recognise an element by its identity. So they recognise a second return only while the element
// is idle. Once another task has the element, the pool takes the second return for that task's, and may
// lend the element to a third task: two tasks then use one element.

/// Lends at most a given number of elements, built when first needed, to the tasks that ask for them.
///
/// ```swift
/// let pool = AsyncPool(maxElements: 4) { try await Connection.open() }
/// let rows = try await pool.withElement { try await $0.query(text) }
/// ```
///
/// Tasks are served in order of arrival. A body that asks the same pool for a second element waits while it
/// holds one: with enough such bodies, nobody can go on. Take one element at a time.
public final class AsyncPool<Element: Sendable>: Sendable {
  /// What becomes of an element when the body that uses it throws.
  public enum OnError: Hashable, Sendable {
    /// It is given back.
    case keep
    /// It is given up; the next who needs one builds another.
    case discard
  }

  @usableFromInline let core: PoolCore
  @usableFromInline let validate: (@concurrent @Sendable (Element) async throws -> Bool)?
  private let elementBuilder: @concurrent @Sendable () async throws -> Element
  /// Where the pool was made, with its builder.
  private let origin: (file: StaticString, line: UInt)

  /// Makes a pool of at most `maxElements` elements.
  ///
  /// ```swift
  /// let pool = AsyncPool(
  ///   maxElements: 8,
  ///   idleTimeout: .seconds(60),
  ///   validate: { connection in await connection.isAlive() },
  ///   elementBuilder: { try await Connection.open() }
  /// )
  /// ```
  ///
  /// `elementBuilder` makes a new element each time, and `validate` says whether one that has been used
  /// is still good, before it is lent again; if it is not, or if `validate` throws, another is built in
  /// its place. Both run as part of the task that needs the element, but never in its isolation: on the
  /// global executor, or the task's preferred one.
  ///
  /// Elements that lie idle for `idleTimeout` are given up, but never so that fewer than `minElements`
  /// are left. A task of the pool does that, and lives only while there may be some to give up. It runs on
  /// `executor`, or the global pool, sleeps on `clock` and does not keep the pool alive. The end of that time must
  /// be an instant of the clock: for no expiry, leave `idleTimeout` nil, as `.seconds(Int64.max)` stops the program.
  /// ``prepare()`` builds the first `minElements`.
  ///
  /// - Precondition: `maxElements` is at least 1; `minElements` is neither negative nor larger.
  public init<C: Clock>(
    maxElements: Int,
    minElements: Int = 0,
    idleTimeout: Duration? = nil,
    clock: C = ContinuousClock(),
    executor: (any TaskExecutor)? = nil,
    validate: (@concurrent @Sendable (Element) async throws -> Bool)? = nil,
    file: StaticString = #file,
    line: UInt = #line,
    elementBuilder: @escaping @concurrent @Sendable () async throws -> Element
  ) where C.Duration == Duration {
    guard maxElements >= 1 else {
      stop(
        "AsyncPool: maxElements is \(maxElements), but must be at least 1; "
          + "a pool without elements could never lend one",
        file: file,
        line: line
      )
    }
    guard (0...maxElements).contains(minElements) else {
      stop(
        "AsyncPool: minElements is \(minElements), but must be from 0 to maxElements, \(maxElements)",
        file: file,
        line: line
      )
    }
    core = PoolCore(
      maxElements: maxElements,
      minElements: minElements,
      idleTimeout: idleTimeout,
      validates: validate != nil,
      clock: clock,
      executor: executor
    )
    self.validate = validate
    self.elementBuilder = elementBuilder
    origin = (file, line)
  }

  /// How many elements there may be at once.
  ///
  /// There are more for a while after it was lowered: a lent element goes when it comes back.
  public var maxElements: Int { core.read { $0.maxElements } }

  /// How many elements are lent: a snapshot, out of date as soon as it is taken while tasks run.
  ///
  /// Counts those under construction; exact, and 0, when everything has been returned.
  public var lent: Int { core.read { $0.size - $0.idle } }

  /// How many elements lie ready: a snapshot, as ``lent``.
  public var idle: Int { core.read { $0.idle } }

  /// How many tasks wait for an element: a snapshot, as ``lent``.
  public var waiting: Int { core.read { $0.waiting } }

  /// Runs `body` with an element, on the calling task and in the caller's isolation.
  ///
  /// ```swift
  /// let rows = try await pool.withElement { try await $0.query(text) }
  /// ```
  ///
  /// The element is given back when `body` returns, and when it throws, unless `onError` is `.discard`.
  /// Neither `body` nor what it returns need be `Sendable`: they stay where the caller is. `body` may
  /// give the element up itself with `discard`, if elements are objects.
  ///
  /// - Returns: What `body` returns.
  /// - Complexity: O(1) amortised to arrive, to be served and to be cancelled, plus the builder's
  ///   time if a new element is needed.
  /// - Throws: What `body` throws. `CancellationError` if the task is cancelled before an element, or the
  ///   place to build one, is handed to it: it leaves the line at once. What the builder throws, if this
  ///   task builds: then the place goes to the first waiter, and nothing is lost. ``PoolClosed`` after
  ///   ``shutdown()``. In all cases but the first, `body` does not run.
  #if !DEBUG
  @inline(always)
  #endif
  @inlinable
  public func withElement<Value>(
    onError: OnError = .keep,
    _ body: (Element) async throws -> Value
  ) async throws -> Value {
    let (element, loan) = try await borrow()
    do {
      let value = try await body(element)
      core.giveBack(loan)
      return value
    } catch {
      if onError == .discard { core.end(loan, discarding: true) } else { core.giveBack(loan) }
      throw error
    }
  }

  /// Takes an element as a value that gives it back when it goes out of scope.
  ///
  /// ```swift
  /// let lease = try await pool.lease()
  /// let rows = try await lease.element.query(text)
  /// lease.return()
  /// ```
  ///
  /// - Returns: A lease that cannot be copied, and so neither returned twice nor forgotten.
  /// - Complexity: As ``withElement(onError:_:)``.
  /// - Throws: As ``withElement(onError:_:)``.
  public func lease() async throws -> Lease<Element> {
    let (element, loan) = try await borrow()
    return Lease(element, loan, of: core)
  }

  /// Builds elements until there are as many as `minElements`, idle and lent, and no more than `maxElements`.
  ///
  /// After ``shutdown()`` it builds none and returns. It does not look at cancellation; the builder may.
  ///
  /// ```swift
  /// let pool = AsyncPool(maxElements: 4, minElements: 2) { try await Connection.open() }
  /// try await pool.prepare()
  /// ```
  ///
  /// - Throws: What the builder throws.
  public func prepare() async throws {
    while let loan = core.reserveForMinimum() {
      _ = try await build(for: loan)
      core.end(loan)
    }
  }

  /// Refuses all who wait or come later, and returns when everything has come back, even if the task is
  /// cancelled.
  ///
  /// ```swift
  /// await pool.shutdown()
  /// ```
  ///
  /// They get ``PoolClosed``. Who builds an element already still gets it. Idle elements are given up at once, lent
  /// ones when they are returned.
  ///
  /// - Complexity: O(n) for n waiters and elements.
  public func shutdown() async { await core.shutDown() }

  /// Changes how many elements there may be at most.
  ///
  /// ```swift
  /// pool.setMaxElements(8)
  /// ```
  ///
  /// More: those who wait build the new ones at once. Fewer: nobody loses an element that is lent. Idle elements
  /// are let go, and of the lent ones each that comes back, until there are no more than `maxElements`.
  ///
  /// - Precondition: `maxElements` is at least 1.
  public func setMaxElements(
    _ maxElements: Int,
    file: StaticString = #file,
    line: UInt = #line
  ) {
    guard maxElements >= 1 else {
      stop(
        "AsyncPool: maxElements is \(maxElements), but must be at least 1; "
          + "a pool without elements could never lend one",
        file: file,
        line: line
      )
    }
    core.resize(to: maxElements)
  }

  /// Takes an element that is good, or builds one.
  #if !DEBUG
  @inline(always)
  #endif
  @inlinable
  func borrow() async throws -> (Element, PoolLoan) {
    try Task.checkCancellation()
    // Never where there is a `validate`. The pool keeps it alive until the loan is ended by its number.
    if let (spare, loan) = core.takeSpare() {
      return (spare._withUnsafeGuaranteedRef { open($0) }, loan)
    }
    if validate == nil, let (element, loan) = core.takeIdle() { return (open(element.box), loan) }
    // Two calls: a task that waits in the first keeps no frame of the second.
    return try await accept(try await core.take())
  }

  /// Makes of what the pool granted an element that is good.
  @usableFromInline
  func accept(_ grant: consuming PoolGrant) async throws -> (Element, PoolLoan) {
    let place: PoolLoan?
    switch consume grant {
    case .place(let loan): place = loan
    case .element(let box, let loan):
      let element = open(box.box)
      guard let validate else { return (element, loan) }
      if (try? await validate(element)) == true { return (element, loan) }
      place = core.remove(loan) ? loan : nil
    }
    // Here nothing refers to an element that is not good: it is gone before there is another.
    //
    // If the check discarded the element itself, or the element was returned a second time meanwhile, the place is
    // not this task's any more. To build in it would put two tasks in one place.
    guard let place else { return try await accept(try await core.take()) }
    return (try await build(for: place), place)
  }

  // Safe because the core takes in only the boxes that `build` makes.
  @inlinable @inline(__always)
  func open(_ box: any AnyObject & Sendable) -> Element {
    unsafeDowncast(box, to: ElementBox<Element>.self).element
  }

  /// Builds an element in a place reserved for it.
  private func build(for loan: PoolLoan) async throws -> Element {
    let element: Element
    do {
      element = try await elementBuilder()
    } catch {
      core.end(loan, discarding: true)
      throw error
    }
    let identity = identity(of: element)
    guard core.built(PoolElement(box: ElementBox(element), identity: identity), for: loan) else {
      stop(
        "AsyncPool<\(Element.self)>: elementBuilder returned an object the pool already has; "
          + "it must make a new one each time",
        file: origin.file,
        line: origin.line
      )
    }
    return element
  }

  private func identity(of element: Element) -> ObjectIdentifier? {
    type(of: element) is AnyClass ? ObjectIdentifier(element as AnyObject) : nil
  }
}

/// Where an element stands in a pool, an object or not.
@usableFromInline
final class ElementBox<Element: Sendable>: Sendable {
  @usableFromInline let element: Element

  fileprivate init(_ element: Element) { self.element = element }
}

/// An element of an ``AsyncPool``, borrowed: given back when it goes out of scope.
///
/// It cannot be copied, so it cannot be returned twice, and it cannot be forgotten. Do not use the element
/// after its lease has ended.
public struct Lease<Element: Sendable>: ~Copyable, Sendable {
  /// What is borrowed.
  public let element: Element
  private let loan: PoolLoan
  private let core: PoolCore
  private var isDiscarded = false

  fileprivate init(_ element: Element, _ loan: PoolLoan, of core: PoolCore) {
    self.element = element
    self.loan = loan
    self.core = core
  }

  deinit { if isDiscarded { core.end(loan, discarding: true) } else { core.giveBack(loan) } }

  /// Gives the element back, as going out of scope does.
  ///
  /// ```swift
  /// let lease = try await pool.lease()
  /// let rows = try await lease.element.query(text)
  /// lease.return()
  /// ```
  public consuming func `return`() {}

  /// Gives up an element that must not be used again: a broken connection.
  ///
  /// ```swift
  /// let broken = try await pool.lease()
  /// broken.discard()
  /// ```
  public consuming func discard() { isDiscarded = true }
}

/// The pool was shut down before there was an element.
public struct PoolClosed: Error, Hashable, CustomStringConvertible {
  /// Creates the error, for code that stands in for a pool.
  public init() {}

  /// What happened, and what to do.
  public var description: String {
    "the pool was shut down, so it lends nothing any more; make a new one, or give up the work"
  }
}

extension AsyncPool where Element: AnyObject {
  /// Takes an element; give it back with `return` or `discard`.
  ///
  /// ```swift
  /// let session = try await sessions.get()
  /// defer { sessions.return(session) }
  /// ```
  ///
  /// Prefer ``withElement(onError:_:)`` or ``lease()``, which cannot forget to.
  ///
  /// - Returns: The element.
  /// - Complexity: As ``withElement(onError:_:)``.
  /// - Throws: As ``withElement(onError:_:)``.
  public func get() async throws -> Element {
    // Never by the word, as `borrow`: nobody ends this loan by its number.
    try Task.checkCancellation()
    if validate == nil, let (element, _) = core.takeIdle() { return open(element.box) }
    return try await accept(try await core.take()).0
  }

  /// Gives an element back, to the first waiter or to lie ready.
  ///
  /// ```swift
  /// let used = try await sessions.get()
  /// sessions.return(used)
  /// ```
  ///
  /// From any thread or task, not only the one that took it.
  ///
  /// - Complexity: O(1).
  /// - Precondition: `element` was taken from this pool and not given back since. If it lies idle or was
  ///   discarded, the program stops. If it is lent again, the mistake is not recognised: the pool takes
  ///   the call for the return of the task that has the element now. `withElement` and `lease` make no
  ///   such mistake.
  public func `return`(_ element: Element, file: StaticString = #file, line: UInt = #line) {
    end(element, in: "return", discarding: false, file: file, line: line)
  }

  /// Gives up an element that must not be used again: a broken connection.
  ///
  /// ```swift
  /// let stale = try await sessions.get()
  /// sessions.discard(stale)
  /// ```
  ///
  /// Its place is free again: the first waiter, or the next task that needs it, builds a new element.
  ///
  /// - Complexity: As that of `return`.
  /// - Precondition: As that of `return`.
  public func discard(_ element: Element, file: StaticString = #file, line: UInt = #line) {
    end(element, in: "discard", discarding: true, file: file, line: line)
  }

  private func end(
    _ element: Element,
    in method: String,
    discarding: Bool,
    file: StaticString,
    line: UInt
  ) {
    let hasEnded = core.end(ObjectIdentifier(element), discarding: discarding)
    if hasEnded == true { return }
    stop(
      "AsyncPool<\(Element.self)>: \(method) was called with an element that "
        + (hasEnded == nil
          ? "is not this pool's, or was discarded; give back only what get() of the same pool gave you"
          : "was given back already; call return(_:) or discard(_:) once for each get()"),
      file: file,
      line: line
    )
  }
}

extension AsyncPool where Element: Actor {
  /// Runs `body` on an actor of the pool: work shared out among at most `maxElements` actors.
  ///
  /// ```swift
  /// let workers = AsyncPool(maxElements: 4) { Worker() }
  /// let thumbnail = try await workers.withIsolatedElement { worker in worker.scale(image) }
  /// ```
  ///
  /// The body is isolated to the actor, so it uses it without `await`, and has it to itself: no
  /// other task gets the actor from the pool before the body has ended, unless the body returns it
  /// itself. A body that needs its caller's state more than the actor's is for
  /// ``withElement(onError:_:)``.
  ///
  /// - Returns: What `body` returns.
  /// - Complexity: As ``withElement(onError:_:)``.
  /// - Throws: As ``withElement(onError:_:)``.
  public func withIsolatedElement<Value: Sendable>(
    onError: OnError = .keep,
    _ body: @Sendable (isolated Element) async throws -> Value
  ) async throws -> Value {
    try await withElement(onError: onError) { try await body($0) }
  }
}
