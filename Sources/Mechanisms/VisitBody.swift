internal import Foundation
package import Synchronization

/// What a measured visit does while it holds its permit.
///
/// It is a type and no closure, so that an adapter's loop over it is compiled for it, as the loops of the
/// mechanism's users are.
package protocol VisitBody: Sendable {
  /// The work on a thread that the mechanism owns, or on an actor.
  func onThread()

  /// The work on a task, which may suspend.
  func onTask() async
}

extension VisitBody {
  @inlinable @inline(__always)
  package func onTask() async { onThread() }
}

/// The body does nothing.
package struct EmptyBody: VisitBody {
  @inlinable package init() {}

  @inlinable @inline(__always)
  package func onThread() {}
}

/// The body gives its worker up once while it holds the permit, so that others queue behind it.
package struct YieldingBody: VisitBody {
  @inlinable package init() {}

  package func onThread() { sched_yield() }

  @inlinable @inline(__always)
  package func onTask() async { await Task.yield() }
}

/// The body works on something that all bodies share: additions to one sum.
package struct AddingBody: VisitBody {
  package final class Sum: Sendable {
    @usableFromInline package let value = Atomic(0)
    package init() {}
  }

  @usableFromInline package let sum: Sum
  @usableFromInline package static var additions: Int { 64 }

  @inlinable package init(_ sum: Sum) { self.sum = sum }

  @inlinable @inline(__always)
  package func onThread() {
    for _ in 0..<Self.additions { sum.value.wrappingAdd(1, ordering: .relaxed) }
  }
}

/// The bodies that the bench measures visits with.
package enum MeasuredBody: Sendable {
  case empty
  case yielding
  case adding(AddingBody.Sum)
}

extension Mechanism {
  /// Chooses the adapter's loop, once for all of its turns.
  @inlinable @inline(__always)
  package func measure(_ times: Int, _ body: MeasuredBody) async {
    switch body {
    case .empty: await visits(times, EmptyBody())
    case .yielding: await visits(times, YieldingBody())
    case .adding(let sum): await visits(times, AddingBody(sum))
    }
  }

  @inlinable @inline(__always)
  @concurrent package func passes(_ times: Int) async { await visits(times, EmptyBody()) }
}

/// Does nothing in a place that the optimiser cannot look into, so that a loop with nothing else in it stays.
@inline(never) @_optimize(none)
func stay() {}
