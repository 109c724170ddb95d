// At most N at once, because there are only N elements to work with.
//
// Often the limit is not a number but a set of things: connections, buffers, actors to share work among.
// A pool lends such elements, and a task that finds none waits until one comes back.
//
// Structure: a lock around a value that decides (`PoolState`), and a hand-off for each task that waits.
// The pool builds an element when a task needs one and none is idle, up to the maximum. Of the idle
// elements it lends the most recently used one first.
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
// Returning: `withElement` returns each element once. `return` recognises an element by its identity. So
// it recognises a second return only while the element is idle. Once another task has the element, the
// pool takes the second return for that task's, and may lend the element to a third task: two tasks then
// use one element.

/// Lends at most a given number of elements, built when first needed, to the tasks that ask for them.
///
/// ```swift
/// let pool = AsyncPool(maxElements: 4) { try await Connection.open() }
/// let rows = try await pool.withElement { try await $0.query(text) }
/// ```
///
/// Tasks are served in order of arrival. A body that asks the same pool for a second element waits while it
/// holds one: with enough such bodies, nobody can go on. Take one element at a time.
public final class AsyncPool<Element: AnyObject & Sendable>: Sendable {
  private let state: Lock<PoolState<HandOff<PoolGrant?>>>
  private let elementBuilder: @Sendable () async throws -> Element

  /// Makes a pool of at most `maxElements` elements.
  ///
  /// - Parameters:
  ///   - maxElements: The largest number of elements there will ever be at once.
  ///   - elementBuilder: Makes a new object each time. Runs on the task that needs the element.
  /// - Precondition: `maxElements` is at least 1.
  public init(
    maxElements: Int,
    elementBuilder: @escaping @Sendable () async throws -> Element
  ) {
    guard maxElements >= 1 else {
      stop(
        "AsyncPool: maxElements is \(maxElements), but must be at least 1; "
          + "a pool without elements could never lend one"
      )
    }
    self.state = Lock(PoolState(maxElements: maxElements))
    self.elementBuilder = elementBuilder
  }

  /// The largest number of elements there will ever be at once.
  public var maxElements: Int { state.withLock { $0.maxElements } }

  /// How many elements are lent: a snapshot, out of date as soon as it is taken while tasks run.
  ///
  /// Counts those under construction; exact, and 0, when everything has been returned.
  public var lent: Int { state.withLock { $0.lent + $0.building } }

  /// How many elements lie ready: a snapshot, as ``lent``.
  public var idle: Int { state.withLock { $0.idle } }

  /// How many tasks wait for an element: a snapshot, as ``lent``.
  public var waiting: Int { state.withLock { $0.waiting } }

  /// Takes an element; give it back with ``return(_:)`` or ``discard(_:)``.
  ///
  /// Prefer `withElement`, which cannot forget to.
  ///
  /// - Complexity: O(1) amortised to arrive, to be served and to be cancelled, plus the builder's
  ///   time if a new element is needed.
  /// - Throws: `CancellationError` if the task is cancelled before an element, or the place to build
  ///   one, is handed to it: it leaves the line at once. What the builder throws, if this
  ///   task builds: then the place goes to the first waiter, and nothing is lost.
  public func get() async throws -> Element {
    try Task.checkCancellation()
    if let grant = state.withLock({ $0.acquire() }) { return try await element(from: grant) }
    return try await getInLine()
  }

  /// Gives an element back, to the first waiter or to lie ready.
  ///
  /// From any thread or task, not only the one that took it.
  ///
  /// - Complexity: O(1).
  /// - Precondition: `element` was taken from this pool and not given back since. If it lies idle or was
  ///   discarded, the program stops. If it is lent again, the mistake is not recognised: the pool takes
  ///   the call for the return of the task that has the element now. `withElement` makes no such mistake.
  public func `return`(_ element: Element) {
    switch state.withLock({ $0.return(element) }) {
    case .keep: return
    case .hand(let waiter): waiter.deliver(.element(element))
    case .foreign: stopForForeign(element, in: "return")
    case .double: stopForDouble(element, in: "return")
    }
  }

  /// Gives up an element that must not be used again: a broken connection.
  ///
  /// Its place is free again: the first waiter, or the next task that needs it, builds a new element.
  ///
  /// - Complexity: O(1).
  /// - Precondition: As that of ``return(_:)``.
  public func discard(_ element: Element) {
    // The pool lets go of the element under its lock, but not of the last reference: the
    // caller holds one. So the element's `deinit` never runs under the lock.
    switch state.withLock({ $0.discard(element) }) {
    case .shrink: return
    case .passPlace(let waiter): waiter.deliver(.place)
    case .foreign: stopForForeign(element, in: "discard")
    case .double: stopForDouble(element, in: "discard")
    }
  }

  /// Runs `body` with an element, on the calling task and in the caller's isolation.
  ///
  /// The element is given back when `body` returns or throws. To replace a broken element, use ``get()``
  /// and ``discard(_:)``.
  ///
  /// - Parameter body: Need not be `Sendable`, nor what it returns: they stay where the caller is.
  /// - Returns: What `body` returns.
  /// - Complexity: As ``get()``.
  /// - Throws: What `body` throws, and what ``get()`` throws; in the latter case `body` does not run.
  public func withElement<Value>(
    _ body: (Element) async throws -> Value
  ) async throws -> Value {
    let element = try await get()
    defer { self.return(element) }
    return try await body(element)
  }

  @inline(__always)
  private func element(from grant: PoolGrant) async throws -> Element {
    switch grant {
    // Safe because the pool takes in only what `elementBuilder` returned, and that is an `Element`.
    case .element(let element): unsafeDowncast(element, to: Element.self)
    case .place: try await build()
    }
  }

  private func getInLine() async throws -> Element {
    let handOff = HandOff<PoolGrant?>()
    let arrival = state.withLock { $0.arrive(handOff) }
    switch arrival {
    case .granted(let grant): return try await element(from: grant)
    case .wait(let ticket):
      let grant = await withTaskCancellationHandler {
        await handOff.receive()
      } onCancel: {
        let leaver = state.withLock { $0.leave(ticket) }
        leaver?.deliver(nil)
      }
      guard let grant else { throw CancellationError() }
      return try await element(from: grant)
    }
  }

  /// Builds an element in a place reserved for it.
  private func build() async throws -> Element {
    let element: Element
    do {
      element = try await elementBuilder()
    } catch {
      let next = state.withLock { $0.buildFailed() }
      next?.deliver(.place)
      throw error
    }
    guard state.withLock({ $0.built(element) }) else {
      stop(
        "AsyncPool<\(Element.self)>: elementBuilder returned an object the pool already has; "
          + "it must make a new one each time"
      )
    }
    return element
  }

  private func stopForForeign(_ element: Element, in method: String) -> Never {
    stop(
      "AsyncPool<\(Element.self)>: \(method) was called with an element that is not this pool's, or "
        + "was discarded; give back only what get() of the same pool gave you"
    )
  }

  private func stopForDouble(_ element: Element, in method: String) -> Never {
    stop(
      "AsyncPool<\(Element.self)>: \(method) was called with an element that was given back already; "
        + "call return(_:) or discard(_:) once for each get()"
    )
  }
}

extension AsyncPool where Element: Actor {
  /// Runs `body` on an actor of the pool: work shared out among at most `maxElements` actors.
  ///
  /// ```swift
  /// let workers = AsyncPool(maxElements: 4) { Worker() }
  /// let thumbnail = try await workers.withElement { worker in worker.scale(image) }
  /// ```
  ///
  /// The body is isolated to the actor, so it uses it without `await`, and has it to itself: no
  /// other task gets the actor from the pool before the body has ended.
  ///
  /// - Complexity: As ``get()``.
  /// - Throws: What `body` throws, and what ``get()`` throws; in the latter case `body` does not run.
  public func withElement<Value: Sendable>(
    _ body: @Sendable (isolated Element) async throws -> Value
  ) async throws -> Value {
    let element = try await get()
    defer { self.return(element) }
    return try await body(element)
  }
}
