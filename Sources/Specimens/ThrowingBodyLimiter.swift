internal import ExplorableLimiters

// The body throws: its permit is lost.
//
// Permits are the elements of a sound pool. A call takes one, runs the body, and gives it back.
//
// DEFECT: the permit is given back on the line after the body, which a throwing body does not reach. Each
// failure makes the limit smaller by one, until nothing runs any more. The mistake is easily made when
// taking and giving back are two calls, and shows only after many failures: a service becomes slow and
// then stands still.
//
// The interleaving that shows it, with limit 1: t1 runs and throws; t2 waits for ever.
//
// The fix: give back in a `defer`, or offer only a scope that does. See `withElement` in
// Sources/Limiters/AsyncPool.swift.

/// DEFECT: a body that throws keeps its permit for ever.
package final class ThrowingBodyLimiter: Sendable {
  private final class Permit: Sendable {}

  private let permits: AsyncPool<Permit>

  package init(limit: Int) { permits = AsyncPool(maxElements: limit) { Permit() } }

  package var permitsInUse: Int { permits.lent }

  package func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    let permit = try await permits.get()
    let value = try await body()
    // Here is the defect: only a body that returns comes here.
    permits.return(permit)
    return value
  }
}
