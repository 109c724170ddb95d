/// How a simulated task spends its service time.
package enum ServiceKind: String, CaseIterable, Sendable {
  /// Awaits a timer, holding no thread: asynchronous input and output.
  case suspend
  /// Sleeps on its thread: synchronous input and output.
  case block
  /// Computes on its thread.
  case spin
  /// Takes its time in six parts with a report after each: 5, 20, 40, 60, 80 and 100 %.
  ///
  /// Suspends between reports where the mechanism can, blocks its thread elsewhere.
  case download
  /// Asks an image cache, whose misses are fetched over HTTP: real work, on the wall clock only.
  case fetch
  /// Asks a pool of databases: real work.
  case query
  /// Downloads a file over HTTP: real work.
  case copy

  /// Whether the work is done and not simulated.
  package var isReal: Bool { [.fetch, .query, .copy].contains(self) }

  /// Whether the work is asynchronous code, which needs a task to run in wherever it is carried.
  package var needsTask: Bool { self == .suspend || isReal }

  /// Whether the work holds its worker on a mechanism that could suspend it.
  package var holdsWorker: Bool { self == .block || self == .spin }
}

/// One task of a workload: when it arrives, how long it serves, how it ends.
///
/// A plain value, drawn from the workload's seed before anything runs, so that every mechanism gets
/// the same tasks.
package struct SimulatedTask: Hashable, Sendable {
  /// From 1, in the order of arrival.
  package var number: Int
  /// Nanoseconds from the start of the run to the intended arrival.
  package var arrival: Int64
  /// Nanoseconds of service.
  package var service: Int64
  package var kind: ServiceKind
  /// Whether the body throws once it has served.
  package var fails: Bool
  /// Nanoseconds from the start of the run to the task's cancellation, if it is to be cancelled.
  package var cancelAt: Int64?
  package var priority: ServicePriority
  /// The number of the task that must end before this one may be admitted, if any.
  package var after: Int?
  /// The nanoseconds of each part of a download.
  ///
  /// They add up to `service`; other kinds have none.
  package var parts: [Int64]
  /// Which image, row or file the task is about; 0 for simulated work.
  package var item: Int
  /// Whether it is to have the queue to itself: after all before it, and before all behind it.
  package var isBarrier = false

  package init(
    number: Int,
    arrival: Int64 = 0,
    service: Int64,
    kind: ServiceKind = .suspend,
    fails: Bool = false,
    cancelAt: Int64? = nil,
    priority: ServicePriority = .medium,
    after: Int? = nil,
    parts: [Int64] = [],
    item: Int = 0
  ) {
    self.number = number
    self.arrival = arrival
    self.service = service
    self.kind = kind
    self.fails = fails
    self.cancelAt = cancelAt
    self.priority = priority
    self.after = after
    self.parts = parts
    self.item = item
  }

  /// The shares, in percent, that a download reports, one after each part.
  package static let progressReports: [UInt8] = [5, 20, 40, 60, 80, 100]
}

/// How urgent a task is; each mechanism maps it to its own scale.
package enum ServicePriority: String, CaseIterable, Sendable {
  case low
  case medium
  case high
}

/// What a simulated task throws when it is drawn to fail.
package struct SimulatedFailure: Error, Hashable, CustomStringConvertible {
  package let task: Int

  package init(task: Int) { self.task = task }

  package var description: String { "simulated failure of task \(task)" }
}
