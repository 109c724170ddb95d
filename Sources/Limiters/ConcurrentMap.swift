// A limit on the children of one task, without a limiter: what people ask of every limiter.
//
// A loop waits, when as many children run as the limit allows, until one has ended; then it takes the next
// element and starts a child for it. So no more than that many tasks exist, however long the sequence.
// Structured concurrency does the rest: an error or a cancellation cancels all children, and nothing outlives
// the call.
//
// With a limiter of the caller's own, which others use too, the loop starts as many children as the limiter has
// permits, and each of them waits in its line. Were the loop to take a permit and then wait for an element, the
// permit would rest meanwhile; and if the elements came from another such call with the same limiter, both would
// wait for ever.
//
// Errors are typed: with a limit, only `transform` and the sequence throw. Waiting for a limiter can be cancelled,
// so with a limiter errors are of any type.

extension Sequence where Element: Sendable {
  /// Transforms the elements, at most `limit` of them at once.
  ///
  /// ```swift
  /// let pages = try await urls.concurrentMap(limit: 4) { try await download($0) }
  /// ```
  ///
  /// The results are in the order of the elements, or, if not `ordered`, in the order in which they were
  /// ready. `transform` runs on child tasks. If it cannot throw, neither can the call.
  ///
  /// - Complexity: One child task for each element; no more than `limit` exist at once.
  /// - Precondition: `limit` is at least 1.
  /// - Throws: The first error that `transform` throws; then the other children are cancelled and waited
  ///   for. `transform` decides what the cancellation of the task does.
  public func concurrentMap<Value: Sendable, Failure: Error>(
    limit: Int,
    ordered: Bool = true,
    file: StaticString = #file,
    line: UInt = #line,
    _ transform: @escaping @Sendable (Element) async throws(Failure) -> Value
  ) async throws(Failure) -> [Value] {
    check(limit, file: file, line: line)
    var iterator = makeIterator()
    return try await runChildren(
      { limit },
      ordered,
      { () throws(Failure) in iterator.next() },
      transform
    )
  }

  /// Transforms the elements, each with a permit of `limiter`, which others may use at the same time.
  ///
  /// ```swift
  /// let limiter = ConcurrencyLimiter(concurrency: 4)
  /// async let covers = books.concurrentMap(limiter: limiter) { try await download($0) }
  /// async let pages = urls.concurrentMap(limiter: limiter) { try await download($0) }
  /// let all = try await covers + pages
  /// ```
  ///
  /// `transform` need not ask `limiter` itself, and must not: see ``ConcurrencyLimiter``.
  ///
  /// - Complexity: One child task for each element; no more than the limiter has permits exist at once.
  /// - Throws: The first error that `transform` throws, or that ``ConcurrencyLimiter/run(weight:file:line:_:)``
  ///   does: `CancellationError` if the task is cancelled before a child has its permit; ``LimiterClosed``;
  ///   ``NestedRun``.
  public func concurrentMap<Value: Sendable>(
    limiter: ConcurrencyLimiter,
    ordered: Bool = true,
    _ transform: @escaping @Sendable (Element) async throws -> Value
  ) async throws -> [Value] {
    var iterator = makeIterator()
    return try await runChildren(
      { limiter.concurrency },
      ordered,
      { iterator.next() },
      limiter.around(transform)
    )
  }

  /// Calls `body` with each element, at most `limit` at once, and returns when all calls have ended.
  ///
  /// ```swift
  /// try await urls.concurrentForEach(limit: 4) { try await save(download($0)) }
  /// ```
  ///
  /// - Complexity: As `concurrentMap`, whose precondition and errors it has too.
  public func concurrentForEach<Failure: Error>(
    limit: Int,
    file: StaticString = #file,
    line: UInt = #line,
    _ body: @escaping @Sendable (Element) async throws(Failure) -> Void
  ) async throws(Failure) {
    check(limit, file: file, line: line)
    var iterator = makeIterator()
    _ = try await runChildren({ limit }, false, { () throws(Failure) in iterator.next() }, body)
  }

  /// Calls `body` with each element and a permit of `limiter`, and returns when all calls have ended.
  ///
  /// ```swift
  /// try await urls.concurrentForEach(limiter: limiter) { try await save(download($0)) }
  /// ```
  ///
  /// - Complexity: As `concurrentMap` with a limiter, whose errors it has too.
  public func concurrentForEach(
    limiter: ConcurrencyLimiter,
    _ body: @escaping @Sendable (Element) async throws -> Void
  ) async throws {
    var iterator = makeIterator()
    _ = try await runChildren(
      { limiter.concurrency },
      false,
      { iterator.next() },
      limiter.around(body)
    )
  }
}

// While as many children run as may, the loop does not ask for the next element. While it waits for an element, it
// sees no child end. `concurrentResults` sees both at once, but needs a task that outlives the call.

extension AsyncSequence where Element: Sendable, Failure == Never {
  /// Transforms the elements, at most `limit` of them at once, as `concurrentMap` of a sequence does.
  ///
  /// ```swift
  /// let lengths = await lines.concurrentMap(limit: 4) { await measure($0) }
  /// ```
  ///
  /// Where neither the sequence nor `transform` throws, the call does not.
  ///
  /// - Complexity: As that of a sequence.
  /// - Throws: What `transform` throws; as late as in a sequence that throws.
  public func concurrentMap<Value: Sendable, BodyFailure: Error>(
    limit: Int,
    ordered: Bool = true,
    file: StaticString = #file,
    line: UInt = #line,
    _ transform: @escaping @Sendable (Element) async throws(BodyFailure) -> Value
  ) async throws(BodyFailure) -> [Value] {
    check(limit, file: file, line: line)
    var iterator = makeAsyncIterator()
    return try await runChildren(
      { limit },
      ordered,
      { () async throws(BodyFailure) in await iterator.next(isolation: #isolation) },
      transform
    )
  }

  /// Calls `body` with each element, at most `limit` at once, and returns when all calls have ended.
  ///
  /// ```swift
  /// await lines.concurrentForEach(limit: 4) { await display($0) }
  /// ```
  ///
  /// - Complexity: As `concurrentMap`, whose precondition and errors it has too.
  public func concurrentForEach<BodyFailure: Error>(
    limit: Int,
    file: StaticString = #file,
    line: UInt = #line,
    _ body: @escaping @Sendable (Element) async throws(BodyFailure) -> Void
  ) async throws(BodyFailure) {
    check(limit, file: file, line: line)
    var iterator = makeAsyncIterator()
    _ = try await runChildren(
      { limit },
      false,
      { () async throws(BodyFailure) in await iterator.next(isolation: #isolation) },
      body
    )
  }
}

// Disfavoured: where a sequence cannot throw, the ones above are meant, which throw only what the body throws.

extension AsyncSequence where Element: Sendable {
  /// Transforms the elements, at most `limit` of them at once, as `concurrentMap` of a sequence does.
  ///
  /// ```swift
  /// let pages = try await feed.concurrentMap(limit: 4) { try await download($0) }
  /// ```
  ///
  /// While `limit` children run, it does not ask for the next element. While it waits for an element, it
  /// sees no child end: the error of one is thrown only when `limit` elements have come that no result was
  /// taken for, or the sequence ends. For a sequence that may pause for long, use `concurrentResults`, which sees
  /// it at once.
  ///
  /// - Complexity: As that of a sequence.
  /// - Throws: What the sequence throws too.
  @_disfavoredOverload
  public func concurrentMap<Value: Sendable>(
    limit: Int,
    ordered: Bool = true,
    file: StaticString = #file,
    line: UInt = #line,
    _ transform: @escaping @Sendable (Element) async throws -> Value
  ) async throws -> [Value] {
    check(limit, file: file, line: line)
    var iterator = makeAsyncIterator()
    return try await runChildren(
      { limit },
      ordered,
      { try await iterator.next(isolation: #isolation) },
      transform
    )
  }

  /// Transforms the elements, each with a permit of `limiter`, which others may use at the same time.
  ///
  /// ```swift
  /// let pages = try await feed.concurrentMap(limiter: limiter) { try await download($0) }
  /// ```
  ///
  /// It asks for elements as `concurrentMap` with a limit does, and sees errors as late.
  ///
  /// - Complexity: As that of a sequence.
  /// - Throws: As that of a sequence, and what the sequence throws.
  public func concurrentMap<Value: Sendable>(
    limiter: ConcurrencyLimiter,
    ordered: Bool = true,
    _ transform: @escaping @Sendable (Element) async throws -> Value
  ) async throws -> [Value] {
    var iterator = makeAsyncIterator()
    return try await runChildren(
      { limiter.concurrency },
      ordered,
      { try await iterator.next(isolation: #isolation) },
      limiter.around(transform)
    )
  }

  /// Calls `body` with each element, at most `limit` at once, and returns when all calls have ended.
  ///
  /// ```swift
  /// try await feed.concurrentForEach(limit: 4) { try await save(download($0)) }
  /// ```
  ///
  /// It asks for elements as `concurrentMap` does, and sees errors as late.
  ///
  /// - Complexity: As `concurrentMap`, whose precondition and errors it has too.
  @_disfavoredOverload
  public func concurrentForEach(
    limit: Int,
    file: StaticString = #file,
    line: UInt = #line,
    _ body: @escaping @Sendable (Element) async throws -> Void
  ) async throws {
    check(limit, file: file, line: line)
    var iterator = makeAsyncIterator()
    _ = try await runChildren(
      { limit },
      false,
      { try await iterator.next(isolation: #isolation) },
      body
    )
  }

  /// Calls `body` with each element and a permit of `limiter`, and returns when all calls have ended.
  ///
  /// ```swift
  /// try await feed.concurrentForEach(limiter: limiter) { try await save(download($0)) }
  /// ```
  ///
  /// - Complexity: As `concurrentMap` with a limiter, whose errors it has too.
  public func concurrentForEach(
    limiter: ConcurrencyLimiter,
    _ body: @escaping @Sendable (Element) async throws -> Void
  ) async throws {
    var iterator = makeAsyncIterator()
    _ = try await runChildren(
      { limiter.concurrency },
      false,
      { try await iterator.next(isolation: #isolation) },
      limiter.around(body)
    )
  }
}

extension ConcurrencyLimiter {
  /// The same, with a permit.
  func around<Element, Value>(
    _ transform: @escaping @Sendable (Element) async throws -> Value
  ) -> @Sendable (Element) async throws -> Value {
    { element in try await self.run { try await transform(element) } }
  }
}

private func runChildren<Element: Sendable, Value: Sendable, Failure: Error>(
  _ limit: () -> Int,
  _ ordered: Bool,
  _ next: () async throws(Failure) -> Element?,
  _ transform: @escaping @Sendable (Element) async throws(Failure) -> Value
) async throws(Failure) -> [Value] {
  // Results, not a throwing group: that one forgets of which type the errors are.
  let results: Result<[Value], Failure> =
    await withTaskGroup(of: Result<(Int, Value), Failure>.self) { group in
      var inOrder: [Value?] = []
      var ready: [Value] = []
      var running = 0
      func take(_ result: Result<(Int, Value), Failure>) throws(Failure) {
        let (index, value) = try result.get()
        running -= 1
        if ordered { inOrder[index] = value } else { ready.append(value) }
      }
      do throws(Failure) {
        while true {
          // First the place for the element, then the element: it may be large, or another may want it.
          while running >= limit(), let result = await group.next() { try take(result) }
          guard let element = try await next() else { break }
          let index = inOrder.count
          if ordered { inOrder.append(nil) }
          group.addTask {
            do throws(Failure) { return .success((index, try await transform(element))) } catch {
              return .failure(error)
            }
          }
          running += 1
        }
        while let result = await group.next() { try take(result) }
      } catch {
        group.cancelAll()
        return .failure(error)
      }
      return .success(ordered ? inOrder.compactMap(\.self) : ready)
    }
  return try results.get()
}

func check(_ limit: Int, file: StaticString, line: UInt) {
  guard limit >= 1 else {
    stop(
      "limit is \(limit), but must be at least 1; with a lower one nothing could ever run",
      file: file,
      line: line
    )
  }
}
