// Results one by one: a limit on the work for a sequence, as a sequence itself.
//
// A task takes elements and starts a child for each; the one who iterates takes the results. Two lines lead from
// one to the other (`ResultState`): the task waits while there are as many elements whose results were not taken
// as the limit allows; the iterator waits while the result that comes next is not ready. So who takes results
// slowly slows the work down, and no more than `limit` elements and results exist at once, however long the
// sequence.
//
// Why a task of its own: the results of children must be seen while the sequence waits for its next element. The
// loop that takes the results is the caller's: between two of its turns no function of ours is running that could
// own the children. So a task owns them, and the iterator owns the task. When the iterator goes away, the task is
// cancelled and stops; when the caller's task is cancelled while it waits, so is the task. Only what runs then may
// outlive the loop.
//
// An error cancels the task too, sequence and children, so that a sequence that pauses does not hold it up.

/// The results of work on the elements of a sequence, one by one; see `concurrentResults(limit:)`.
///
/// The work begins when the first result is asked for, anew for each iteration. If the loop ends early, what runs is
/// cancelled; the loop does not wait for it. If the task of the loop is cancelled while it waits for a result, so is
/// the work, and the loop goes on with what comes of that.
public struct ConcurrentResults<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
  fileprivate let ordered: Bool
  fileprivate let executor: (any TaskExecutor)?
  fileprivate let work: @Sendable (ResultLine<Element, Failure>) async -> Void

  /// Begins an iteration; the work begins when it is asked for the first result.
  public func makeAsyncIterator() -> Iterator { Iterator(results: self) }

  /// Takes one result after the other.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let results: ConcurrentResults
    private var work: Work<Element, Failure>?

    fileprivate init(results: ConcurrentResults) { self.results = results }

    /// Waits for the next result; nil after the last, and after an error.
    ///
    /// ```swift
    /// var pages = urls.concurrentResults(limit: 4) { try await download($0) }.makeAsyncIterator()
    /// let first = try await pages.next()
    /// ```
    ///
    /// - Complexity: O(1) amortised.
    /// - Throws: The first error of the work or of the sequence, after the results that were ready before it and whose
    ///   turn had come.
    public mutating func next() async throws(Failure) -> Element? {
      try await next(isolation: #isolation)
    }

    /// Waits for the next result, in the caller's isolation; nil after the last, and after an error.
    ///
    /// - Complexity: O(1) amortised.
    /// - Throws: The first error of the work or of the sequence, after the results that were ready before it and whose
    ///   turn had come.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure)
      -> Element?
    {
      let work = self.work ?? Work(results)
      self.work = work
      return try await work.next()
    }
  }
}

/// The task behind one iteration, which ends with it.
private final class Work<Element: Sendable, Failure: Error>: Sendable {
  private let line: ResultLine<Element, Failure>

  init(_ results: ConcurrentResults<Element, Failure>) {
    let line = ResultLine<Element, Failure>(ordered: results.ordered)
    self.line = line
    line.adopt(Task.started(on: results.executor) { [work = results.work] in await work(line) })
  }

  deinit { line.abandon() }

  func next() async throws(Failure) -> Element? {
    // A result, because the handler's function forgets of which type errors are.
    let next: Result<Element?, Failure> = await withTaskCancellationHandler {
      do throws(Failure) { return .success(try await line.next()) } catch { return .failure(error) }
    } onCancel: {
      line.cancel()
    }
    return try next.get()
  }
}

/// Leads results from the task that works to the one that takes them.
private final class ResultLine<Value: Sendable, Failure: Error>: Sendable {
  private let state: Lock<ResultState<Value, Failure, Signal>>
  private let task = Lock<(task: Task<Void, Never>?, isCancelled: Bool)>((nil, false))

  init(ordered: Bool) { state = Lock(ResultState(ordered: ordered)) }

  /// Knows the task that works from now on; it may have failed already.
  func adopt(_ new: Task<Void, Never>) {
    let isCancelled = task.withLock { task in
      task.task = new
      return task.isCancelled
    }
    if isCancelled { new.cancel() }
  }

  func cancel() {
    let task = task.withLock { task in
      task.isCancelled = true
      return task.task
    }
    task?.cancel()
  }

  /// The task that works ends its taking of elements, and nobody takes a result any more.
  func abandon() {
    state.withLock { $0.abandon() }?.settle(.signalled)
    cancel()
  }

  // MARK: - For the one who takes

  func next() async throws(Failure) -> Value? {
    while true {
      let (condition, signal) = Condition.makeForOneWaiter()
      switch state.withLock({ $0.take(signal) }) {
      case .value(let value, let worker):
        worker?.settle(.signalled)
        return value
      case .failed(let error): throw error
      case .ended: return nil
      case .wait: await condition.outcome()
      }
    }
  }

  // MARK: - For the one who works

  /// Waits for a place for another element; nil if none is wanted any more.
  func place(_ limit: () -> Int) async -> Int? {
    while true {
      let (condition, signal) = Condition.makeForOneWaiter()
      let limit = limit()
      switch state.withLock({ $0.reserve(upTo: limit, signal) }) {
      case .place(let index): return index
      case .stop: return nil
      case .wait: await condition.outcome()
      }
    }
  }

  func put(_ value: Value, at index: Int) {
    state.withLock { $0.put(value, at: index) }?.settle(.signalled)
  }

  func fail(_ error: Failure) {
    // What runs is cancelled before its error is seen, so that it is not waited for in vain.
    state.withLock { $0.fail(error) }?.settle(.signalled)
    cancel()
  }

  func end() { state.withLock { $0.end() }?.settle(.signalled) }

  /// Takes elements and starts a child for each, until there is none or none is wanted.
  func work<Element: Sendable>(
    _ limit: @Sendable () -> Int,
    _ next: () async throws(Failure) -> Element?,
    _ transform: @escaping @Sendable (Element) async throws(Failure) -> Value
  ) async {
    await withDiscardingTaskGroup { group in
      do throws(Failure) {
        while let index = await place(limit), let element = try await next() {
          group.addTask {
            do throws(Failure) { self.put(try await transform(element), at: index) } catch {
              self.fail(error)
            }
          }
        }
      } catch { fail(error) }
    }
    end()
  }
}

extension Sequence where Self: Sendable, Element: Sendable {
  /// The results of `transform` for the elements, one by one; at most `limit` are in work at once.
  ///
  /// ```swift
  /// let pages = urls.concurrentResults(limit: 4) { try await download($0) }
  /// for try await page in pages { show(page) }
  /// ```
  ///
  /// They come in the order of the elements, unless `ordered` is false: then as they are ready. At most `limit`
  /// elements are in work or wait for the loop with their results: a slow loop slows the work down.
  ///
  /// `transform` runs on child tasks of a task that the iteration starts, on `executor`, or the global pool. It has
  /// the priority and the task-local values of the code that asks for the first result.
  ///
  /// - Complexity: One child task for each element; no more than `limit` exist at once.
  /// - Precondition: `limit` is at least 1.
  public func concurrentResults<Value: Sendable, Failure: Error>(
    limit: Int,
    ordered: Bool = true,
    executor: (any TaskExecutor)? = nil,
    file: StaticString = #file,
    line: UInt = #line,
    _ transform: @escaping @Sendable (Element) async throws(Failure) -> Value
  ) -> ConcurrentResults<Value, Failure> {
    check(limit, file: file, line: line)
    return ConcurrentResults(ordered: ordered, executor: executor) { line in
      var iterator = makeIterator()
      await line.work({ limit }, { () throws(Failure) in iterator.next() }, transform)
    }
  }

  /// The results of `transform` for the elements, one by one, each with a permit of `limiter`.
  ///
  /// ```swift
  /// let pages = urls.concurrentResults(limiter: limiter) { try await download($0) }
  /// for try await page in pages { show(page) }
  /// ```
  ///
  /// They come in the order of the elements, unless `ordered` is false. The rest is as with a limit, which is here
  /// the limiter's. The permit is back before the result comes: the loop may use the limiter too.
  ///
  /// - Complexity: As with a limit.
  public func concurrentResults<Value: Sendable>(
    limiter: ConcurrencyLimiter,
    ordered: Bool = true,
    executor: (any TaskExecutor)? = nil,
    _ transform: @escaping @Sendable (Element) async throws -> Value
  ) -> ConcurrentResults<Value, any Error> {
    ConcurrentResults(ordered: ordered, executor: executor) { line in
      var iterator = makeIterator()
      await line.work({ limiter.concurrency }, { iterator.next() }, limiter.around(transform))
    }
  }
}

extension AsyncSequence where Self: Sendable, Element: Sendable, Failure == Never {
  /// The results of `transform` for the elements, one by one; at most `limit` are in work at once.
  ///
  /// ```swift
  /// let lengths = lines.concurrentResults(limit: 4) { await measure($0) }
  /// for await length in lengths { show(length) }
  /// ```
  ///
  /// As those of a sequence. Where neither the sequence nor `transform` throws, the loop does not.
  ///
  /// - Complexity: As that of a sequence.
  /// - Precondition: `limit` is at least 1.
  public func concurrentResults<Value: Sendable, BodyFailure: Error>(
    limit: Int,
    ordered: Bool = true,
    executor: (any TaskExecutor)? = nil,
    file: StaticString = #file,
    line: UInt = #line,
    _ transform: @escaping @Sendable (Element) async throws(BodyFailure) -> Value
  ) -> ConcurrentResults<Value, BodyFailure> {
    check(limit, file: file, line: line)
    return ConcurrentResults(ordered: ordered, executor: executor) { line in
      var iterator = makeAsyncIterator()
      await line.work(
        { limit },
        { () async throws(BodyFailure) in await iterator.next(isolation: #isolation) },
        transform
      )
    }
  }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
  /// The results of `transform` for the elements, one by one; at most `limit` are in work at once.
  ///
  /// ```swift
  /// let pages = feed.concurrentResults(limit: 4) { try await download($0) }
  /// for try await page in pages { show(page) }
  /// ```
  ///
  /// As those of a sequence. A result comes, and an error is seen, while the next element is waited for.
  ///
  /// - Complexity: As that of a sequence.
  /// - Precondition: `limit` is at least 1.
  @_disfavoredOverload
  public func concurrentResults<Value: Sendable>(
    limit: Int,
    ordered: Bool = true,
    executor: (any TaskExecutor)? = nil,
    file: StaticString = #file,
    line: UInt = #line,
    _ transform: @escaping @Sendable (Element) async throws -> Value
  ) -> ConcurrentResults<Value, any Error> {
    check(limit, file: file, line: line)
    return ConcurrentResults(ordered: ordered, executor: executor) { line in
      var iterator = makeAsyncIterator()
      await line.work({ limit }, { try await iterator.next(isolation: #isolation) }, transform)
    }
  }

  /// The results of `transform` for the elements, one by one, each with a permit of `limiter`.
  ///
  /// ```swift
  /// let pages = feed.concurrentResults(limiter: limiter) { try await download($0) }
  /// for try await page in pages { show(page) }
  /// ```
  ///
  /// As those of a sequence.
  ///
  /// - Complexity: As that of a sequence.
  public func concurrentResults<Value: Sendable>(
    limiter: ConcurrencyLimiter,
    ordered: Bool = true,
    executor: (any TaskExecutor)? = nil,
    _ transform: @escaping @Sendable (Element) async throws -> Value
  ) -> ConcurrentResults<Value, any Error> {
    ConcurrentResults(ordered: ordered, executor: executor) { line in
      var iterator = makeAsyncIterator()
      await line.work(
        { limiter.concurrency },
        { try await iterator.next(isolation: #isolation) },
        limiter.around(transform)
      )
    }
  }
}
