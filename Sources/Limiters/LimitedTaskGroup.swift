// A limit on the children of one task that are added here and there.
//
// The limit of `concurrentMap` needs no limiter: a loop that has as many children waits for one
// before it starts the next. Here the
// caller adds children when it likes, so each waits by itself, in the line of a limiter.
//
// A group cancels its children one after the other. The first to end could hand its permit to one that is not
// cancelled yet, which would begin in a cancelled group. So the limiter is closed before the group is cancelled.

/// A task group of which at most `limit` children run at once; see ``withLimitedTaskGroup(of:limit:file:line:_:)``.
public struct LimitedTaskGroup<ChildResult: Sendable> {
  fileprivate var group: ThrowingTaskGroup<ChildResult, any Error>
  fileprivate let limiter: ConcurrencyLimiter

  /// Adds a child, which starts `operation` as soon as fewer than the limit run.
  ///
  /// ```swift
  /// group.addTask { try await download(url) }
  /// ```
  ///
  /// If the group is cancelled before that, `operation` does not run, and the child's result is
  /// `CancellationError`.
  public mutating func addTask(
    priority: TaskPriority? = nil,
    _ operation: @escaping @Sendable () async throws -> ChildResult
  ) {
    group.addTask(priority: priority) { [limiter] in
      var isAdmitted = false
      do {
        return try await limiter.run {
          isAdmitted = true
          return try await operation()
        }
      } catch is LimiterClosed where !isAdmitted { throw CancellationError() }
    }
  }

  /// The result of the child that ends next; nil if there is none.
  ///
  /// ```swift
  /// while let page = try await group.next() { show(page) }
  /// ```
  ///
  /// - Throws: What that child threw.
  public mutating func next() async throws -> ChildResult? { try await group.next() }

  /// Waits until all children have ended.
  ///
  /// ```swift
  /// try await group.waitForAll()
  /// ```
  ///
  /// - Throws: The first error that one of them threw.
  public mutating func waitForAll() async throws { try await group.waitForAll() }

  /// Cancels all children.
  ///
  /// ```swift
  /// group.cancelAll()
  /// ```
  public func cancelAll() {
    limiter.close()
    group.cancelAll()
  }

  /// Whether there is no child whose result was not taken yet.
  public var isEmpty: Bool { group.isEmpty }

  /// Whether the group was cancelled.
  public var isCancelled: Bool { group.isCancelled }
}

/// Runs `body` with a task group of which at most `limit` children run at once.
///
/// ```swift
/// let total = try await withLimitedTaskGroup(of: String.self, limit: 4) { group in
///   for url in urls { group.addTask { try await download(url) } }
///   var total = 0
///   while let page = try await group.next() { total += page.count }
///   return total
/// }
/// ```
///
/// Each child is a task from the start, and waits for its turn by itself. So children need not start in the
/// order in which they were added. For a long or endless sequence, use `concurrentForEach`, of whose tasks
/// no more than `limit` exist at once.
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
    do {
      // Inside of the group, so that a cancellation of the task comes here before it comes to the children.
      return try await withTaskCancellationHandler {
        try await body(&limited)
      } onCancel: {
        limiter.close()
      }
    } catch {
      limiter.close()
      throw error
    }
  }
}
