// At most N at once, because there are only N of what it takes.
//
// Connections, buffers, actors to share work among: often the limit is not a number but the things
// themselves. A pool lends its elements, and a task that finds none waits until one comes back.
//
// Structure: a lock around a value that decides (`PoolState`), and a hand-off for each task that has
// to wait. Elements are built when they are first needed, never more than the maximum, and the
// most recently used idle one is lent first.
//
// Order: first come, first served. An element that comes back goes straight to the first waiter and
// is never idle in between, so no newcomer can overtake.
//
// Building: who needs a new element builds it, on its own task, having reserved the place for it under
// the lock. The builder may suspend: the lock is long released. It may throw: the error goes to the
// task that built, the place to the first waiter, who builds in turn. If the place were simply freed,
// waiters that stand in line for the very element that failed would wait for ever.
//
// Cancellation: as in the limiter, whoever removes a waiter from the line under the pool's lock
// wakes it, with an element, with a place to build in, or with the cancellation. A cancelled task to
// which an element was handed first gets that element, and returns it like any other.

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
  private let state: Lock<PoolState<HandOff<PoolDelivery>>>
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
  ///   one, is handed to it: it leaves the line at once. What the builder throws, if it was this
  ///   task's turn to build: then the place goes to the first waiter, and nothing is lost.
  public func get() async throws -> Element {
    try Task.checkCancellation()
    switch state.withLock({ $0.acquire() }) {
    case .element(let element): return typed(element)
    case .build: return try await build()
    case .full: return try await getInLine()
    }
  }

  /// Gives an element back, to the first waiter or to lie ready.
  ///
  /// From any thread or task, not only the one that took it.
  ///
  /// - Complexity: O(1).
  /// - Precondition: `element` was taken from this pool and not given back since.
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
  /// - Precondition: `element` was taken from this pool and not given back since.
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
  /// The element is given back when `body` returns or throws. A body that finds it broken throws, and
  /// whoever wants it replaced uses ``get()`` and ``discard(_:)``.
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

  /// Gives an element its type back.
  ///
  /// Safe because the pool takes in only what `elementBuilder` returned, and that is an `Element`.
  private func typed(_ element: any AnyObject & Sendable) -> Element {
    unsafeDowncast(element, to: Element.self)
  }

  private func getInLine() async throws -> Element {
    let handOff = HandOff<PoolDelivery>()
    let arrival = state.withLock { $0.arrive(handOff) }
    switch arrival {
    case .acquired(.element(let element)): return typed(element)
    case .acquired(.build): return try await build()
    case .acquired(.full): stop("AsyncPool: a task was told neither to go on nor to wait")
    case .wait(let ticket):
      let delivery = await withTaskCancellationHandler {
        await handOff.receive()
      } onCancel: {
        let leaver = state.withLock { $0.leave(ticket) }
        leaver?.deliver(.cancelled)
      }
      switch delivery {
      case .element(let element): return typed(element)
      case .place: return try await build()
      case .cancelled: throw CancellationError()
      }
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

/// What ends a wait in a pool's line.
private enum PoolDelivery: Sendable {
  case element(any AnyObject & Sendable)
  /// A place is reserved for the waiter: build.
  case place
  case cancelled
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
