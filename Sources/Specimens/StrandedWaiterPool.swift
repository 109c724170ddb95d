internal import ExplorableLimiters

// The builder fails: a waiter is stranded.
//
// A pool that builds its elements when they are first needed. A task that finds no element and no place to
// build one waits in line; an element that comes back wakes the first, which tries again.
//
// DEFECT: when the builder throws, the place is free again, but no task in the line is woken. They wait
// for an element to come back, and no element is lent. It happens with a builder that suspends, so that
// others join the line meanwhile, and then throws: a connection that is refused.
//
// The interleaving that shows it, with one place: t1 arrives and builds; t2 arrives and waits; t1's
// builder throws; t2 waits for ever, though nothing is lent and nothing is being built.
//
// The fix: a build that fails passes its place to the first waiter. See `giveUp` in
// Sources/Limiters/PoolState.swift.

/// DEFECT: a waiter is not told that a failed build has left its place free.
package final class StrandedWaiterPool<Element: AnyObject & Sendable>: Sendable {
  private struct State {
    var idle: [Element] = []
    /// Idle, lent and under construction.
    var count = 0
    var line: [Signal] = []

    /// Removes the first waiter, to be told that something has changed.
    mutating func next() -> Signal? { line.isEmpty ? nil : line.removeFirst() }
  }

  private enum Attempt: Sendable {
    case element(Element)
    case build
    case wait(Condition, Signal)
  }

  private let maxElements: Int
  private let builder: @Sendable () async throws -> Element
  private let state = Lock(State())

  package init(maxElements: Int, builder: @escaping @Sendable () async throws -> Element) {
    self.maxElements = maxElements
    self.builder = builder
  }

  package var lent: Int { state.withLock { $0.count - $0.idle.count } }

  package func withElement<Value>(
    _ body: (Element) async throws -> Value
  ) async throws -> Value {
    let element = try await get()
    defer { giveBack(element) }
    return try await body(element)
  }

  private func get() async throws -> Element {
    try Task.checkCancellation()
    while true {
      switch attempt() {
      case .element(let element): return element
      case .build: return try await build()
      case .wait(let condition, let signal):
        do {
          try await condition.wait()
        } catch {
          leave(signal)
          throw error
        }
      }
    }
  }

  private func attempt() -> Attempt {
    state.withLock { state in
      if let element = state.idle.popLast() { return .element(element) }
      if state.count < maxElements {
        state.count += 1
        return .build
      }
      let (condition, signal) = Condition.makeCondition()
      state.line.append(signal)
      return .wait(condition, signal)
    }
  }

  private func build() async throws -> Element {
    do {
      return try await builder()
    } catch {
      // Here is the defect: the place is free, and the tasks that wait for it are not woken.
      state.withLock { $0.count -= 1 }
      throw error
    }
  }

  private func giveBack(_ element: Element) {
    let next = state.withLock { state in
      state.idle.append(element)
      return state.next()
    }
    next?.signal()
  }

  /// Takes a cancelled waiter out; one that was woken already wakes the next instead.
  private func leave(_ signal: Signal) {
    let next: Signal? = state.withLock { state in
      guard let place = state.line.firstIndex(where: { $0 === signal }) else {
        return state.next()
      }
      state.line.remove(at: place)
      return nil
    }
    next?.signal()
  }
}
