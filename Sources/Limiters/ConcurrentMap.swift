// A limit on the children of one task, without a limiter: what people ask of every limiter.
//
// A loop waits, when as many children run as the limit allows, until one has ended; then it takes the next
// element and starts a child for it. So no more than that many tasks exist, however long the sequence.
// Structured concurrency does the rest: an error or a cancellation cancels all children, and nothing outlives
// the call.

extension Sequence where Element: Sendable {
  /// Transforms the elements, at most `limit` of them at once.
  ///
  /// The results are in the order of the elements, or, if not `ordered`, in the order in which they were
  /// ready. `transform` runs on child tasks.
  ///
  /// - Complexity: One child task for each element; no more than `limit` exist at once.
  /// - Precondition: `limit` is at least 1.
  /// - Throws: The first error that `transform` throws; then the other children are cancelled and waited
  ///   for. `transform` decides what the cancellation of the task does.
  public func concurrentMap<Value: Sendable>(
    limit: Int,
    ordered: Bool = true,
    file: StaticString = #file,
    line: UInt = #line,
    _ transform: @escaping @Sendable (Element) async throws -> Value
  ) async throws -> [Value] {
    check(limit, file: file, line: line)
    var iterator = makeIterator()
    return try await runChildren(limit, ordered, { iterator.next() }, transform)
  }

  /// Calls `body` with each element, at most `limit` at once, and returns when all calls have ended.
  ///
  /// - Complexity: As `concurrentMap`, whose precondition and errors it has too.
  public func concurrentForEach(
    limit: Int,
    file: StaticString = #file,
    line: UInt = #line,
    _ body: @escaping @Sendable (Element) async throws -> Void
  ) async throws {
    check(limit, file: file, line: line)
    var iterator = makeIterator()
    _ = try await runChildren(limit, false, { iterator.next() }, body)
  }
}

extension AsyncSequence where Element: Sendable {
  /// Transforms the elements, at most `limit` of them at once, as `concurrentMap` of a sequence does.
  ///
  /// While `limit` children run, it does not ask for the next element. While it waits for an element, it
  /// sees no child end: the error of one is thrown only when `limit` elements have come that no result was
  /// taken for, or the sequence ends. In a sequence that may pause for long, have `transform` catch its
  /// errors and end the sequence.
  ///
  /// - Complexity: As that of a sequence.
  /// - Throws: What the sequence throws too.
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
      limit,
      ordered,
      { try await iterator.next(isolation: #isolation) },
      transform
    )
  }

  /// Calls `body` with each element, at most `limit` at once, and returns when all calls have ended.
  ///
  /// It asks for elements as `concurrentMap` does, and sees errors as late.
  ///
  /// - Complexity: As `concurrentMap`, whose precondition and errors it has too.
  public func concurrentForEach(
    limit: Int,
    file: StaticString = #file,
    line: UInt = #line,
    _ body: @escaping @Sendable (Element) async throws -> Void
  ) async throws {
    check(limit, file: file, line: line)
    var iterator = makeAsyncIterator()
    _ = try await runChildren(
      limit,
      false,
      { try await iterator.next(isolation: #isolation) },
      body
    )
  }
}

/// A task group of which at most `limit` children run at once; see ``withLimitedTaskGroup(of:limit:file:line:_:)``.
public struct LimitedTaskGroup<ChildResult: Sendable> {
  fileprivate var group: ThrowingTaskGroup<ChildResult, any Error>
  fileprivate let limiter: ConcurrencyLimiter

  /// Adds a child, which starts `operation` as soon as fewer than the limit run.
  ///
  /// If the group is cancelled before that, `operation` does not run, and the child's result is
  /// `CancellationError`.
  public mutating func addTask(
    priority: TaskPriority? = nil,
    _ operation: @escaping @Sendable () async throws -> ChildResult
  ) {
    group.addTask(priority: priority) { [limiter] in try await limiter.run { try await operation() }
    }
  }

  /// The result of the child that ends next; nil if there is none.
  ///
  /// - Throws: What that child threw.
  public mutating func next() async throws -> ChildResult? { try await group.next() }

  /// Waits until all children have ended.
  ///
  /// - Throws: The first error that one of them threw.
  public mutating func waitForAll() async throws { try await group.waitForAll() }

  /// Cancels all children.
  public func cancelAll() { group.cancelAll() }

  /// Whether there is no child whose result was not taken yet.
  public var isEmpty: Bool { group.isEmpty }

  /// Whether the group was cancelled.
  public var isCancelled: Bool { group.isCancelled }
}

/// Runs `body` with a task group of which at most `limit` children run at once.
///
/// Each child is a task from the start, and waits for its turn by itself. So children need not start in the
/// order in which they were added. For a long or endless sequence, use `concurrentForEach`, which makes no
/// more than `limit` tasks.
///
/// - Returns: What `body` returns, once all children have ended.
/// - Complexity: As a task group and a ``ConcurrencyLimiter``.
/// - Throws: What `body` throws; then the children are cancelled and waited for.
/// - Precondition: `limit` is at least 1.
public func withLimitedTaskGroup<ChildResult: Sendable, Value>(
  of type: ChildResult.Type,
  limit: Int,
  file: StaticString = #file,
  line: UInt = #line,
  _ body: (inout LimitedTaskGroup<ChildResult>) async throws -> Value
) async throws -> Value {
  check(limit, file: file, line: line)
  let limiter = ConcurrencyLimiter(concurrency: limit)
  return try await withThrowingTaskGroup(of: type) { group in
    var limited = LimitedTaskGroup(group: group, limiter: limiter)
    return try await body(&limited)
  }
}

private func runChildren<Element: Sendable, Value: Sendable>(
  _ limit: Int,
  _ ordered: Bool,
  _ next: () async throws -> Element?,
  _ transform: @escaping @Sendable (Element) async throws -> Value
) async throws -> [Value] {
  try await withThrowingTaskGroup(of: (Int, Value).self) { group in
    var inOrder: [Value?] = []
    var ready: [Value] = []
    var running = 0
    func take(_ result: (index: Int, value: Value)) {
      running -= 1
      if ordered { inOrder[result.index] = result.value } else { ready.append(result.value) }
    }
    while true {
      // First the place for the element, then the element: it may be large, or another may want it.
      if running == limit, let result = try await group.next() { take(result) }
      guard let element = try await next() else { break }
      let index = inOrder.count
      if ordered { inOrder.append(nil) }
      group.addTask { (index, try await transform(element)) }
      running += 1
    }
    while let result = try await group.next() { take(result) }
    return ordered ? inOrder.compactMap(\.self) : ready
  }
}

private func check(_ limit: Int, file: StaticString, line: UInt) {
  guard limit >= 1 else {
    stop(
      "limit is \(limit), but must be at least 1; with a lower one nothing could ever run",
      file: file,
      line: line
    )
  }
}
