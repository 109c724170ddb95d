package import Specimens

/// A limiter that frees its permits before it wakes a waiter.
typealias BargingMechanism = LimiterAdapter<BargingLimiter>

extension BargingLimiter: NamedLimiter, CountingLimiter {
  package static let id = "specimen-barging"

  package static let profile = MechanismProfile(
    order: .fifo,
    summary: "a limiter that frees a permit and wakes the first in line",
    explanation: """
      A departing task frees its permit and wakes the first in line, who then takes it, unless a \
      newcomer was faster: then it goes to the back of the line. Many locks do this on purpose, \
      for throughput. This one promises the order of arrival, and does not keep it.

      The code is Sources/Specimens/BargingLimiter.swift; done right, it is \
      Sources/Limiters/LimiterState.swift.
      """,
    defect: "a newcomer may overtake a task that was woken for its permit",
    exposure: .init(.order, tasks: 3, limit: 1, violation: "order")
  )
}
