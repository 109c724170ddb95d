internal import Specimens

/// Two sound limits, taken in either order.
package final class NestedDeadlockMechanism: Mechanism {
  package static let id = "specimen-nested-deadlock"

  package static let profile = MechanismProfile(
    order: .none,
    lendsPermitsOnly: false,
    summary: "two limits, on connections and on files, each of them sound",
    explanation: """
      Tasks with odd numbers are downloads: they take a connection first and then a file. Tasks \
      with even numbers are uploads: they take a file first and then a connection. Each limiter is \
      right; what is wrong is that they are taken in different orders, and no limiter can know.

      The code is Sources/Specimens/NestedLimits.swift; what to do instead is said in \
      Sources/Limiters/ConcurrencyLimiter.swift.
      """,
    defect: "tasks that take two limits in opposite order can wait for each other for ever",
    exposure: .init(.order, tasks: 2, limit: 1, violation: "deadlock")
  )

  private let limits: NestedLimits

  package init(_ setup: MechanismSetup) { limits = NestedLimits(limit: setup.limit) }

  package func carry(_ visit: Visit) async {
    let direction: NestedLimits.Direction =
      visit.task.number.isMultiple(of: 2) ? .upload : .download
    await visit.carry(through: { body in
      let first: TraceEvent.Permit = direction == .download ? .connection : .file
      try await limits.run(direction, willTakeSecond: { visit.hold(first) }, body)
    })
  }

  package func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    for _ in 0..<times { try? await limits.run(.download) { await body.onTask() } }
  }

  package var permitsInUse: Int? { limits.permitsInUse }
}
