internal import Basics
internal import Foundation
internal import Mechanisms
internal import RealWork
internal import Synchronization

/// What became of requests that came all at once: a screen of images, a list of files.
struct RequestBurst: Sendable {
  /// Nanoseconds until the last was answered.
  var elapsed: Int64
  /// Nanoseconds that each took.
  var responses: [Int64]
  /// What went wrong.
  var violations: [String]
  /// When each was let in by the mechanism and left it.
  var log: StampLog

  /// Sends so many requests, numbered from 1, and waits for all.
  init(_ count: Int, log: StampLog, _ request: @escaping @Sendable (Int) async throws -> Void) async
  {
    let failures = Mutex<[String]>([])
    let timed: @Sendable (Int) async -> Int64 = { number in
      await elapsedNanoseconds {
        do {
          try await request(number)
        } catch {
          failures.withLock { $0.append("request \(number) failed: \(error)") }
        }
      }
    }
    let start = MachineClock.monotonic()
    responses = await withTaskGroup(of: Int64.self) { group in
      for number in 1...count { group.addTask { await timed(number) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    elapsed = MachineClock.monotonic() - start
    violations = failures.withLock { $0 }
    self.log = log
  }

  /// None could be sent.
  init(failed why: String, log: StampLog) {
    (elapsed, responses, violations) = (0, [], [why])
    self.log = log
  }
}

extension Runner {
  /// One whose figure is the time of a request, of bursts of so many; `end` tells what was seen over all of them.
  static func bursts(
    of requests: Int,
    _ trial: Trial,
    _ burst: @escaping @Sendable () async -> RequestBurst,
    end: @escaping @Sendable (inout TrialReport) async -> Void
  ) -> Runner {
    Runner(grain: requests) { times in
      let count = max(1, times / requests)
      var (report, elapsed) = (TrialReport(), Int64(0))
      for _ in 0..<count {
        let burst = await burst()
        elapsed += burst.elapsed
        report.violations += burst.violations
      }
      let sent = count * requests
      report.add(.timePerOperation, "mean", Double(elapsed) / Double(sent), count: sent)
      report.serviceKind = trial.kind.rawValue
      return report
    } conclude: { _, report in
      if trial.request.isFirst {
        let before = ProcessMetrics.now()
        let burst = await burst()
        report.addUsage(since: before, operations: requests)
        let statistics = VisitStatistics(burst.log.visits())
        report.add(.response, of: burst.responses)
        report.add(.waiting, of: statistics.waits, inFull: false)
        report.add(.service, of: statistics.services, inFull: false)
        report.add(.peakRunning, "max", Double(burst.log.peakRunning))
        report.violations += burst.violations
      }
      report.serviceKind = trial.kind.rawValue
      await end(&report)
    }
  }
}

extension MechanismProfile {
  /// Whether requests may wait in it: `URLSession` and a database's connections answer on GCD's threads, and where
  /// each request that waits holds one, none comes free but one new thread a second, up to GCD's most.
  func mayCarryRequests(_ cell: Cell) -> Bool {
    waiting != .blocksThread && mayCarrySuspended(cell)
  }

  /// Whether it limits bodies that suspend, as the cell asks: actor queues let these overlap.
  func mayCarrySuspended(_ cell: Cell) -> Bool {
    order != .fifoToFirstSuspension && (limit != .one || cell.limit == 1)
  }
}

extension TrialReport {
  /// Adds what the server saw, and what it must not have seen: `limit` is what was promised.
  mutating func check(_ counts: ImageServer.Counts, limit: Int?) {
    add(.peakRequests, "max", Double(counts.peakServing))
    add(.peakConnections, "max", Double(counts.peakConnections))
    if let limit, counts.peakServing > limit {
      violations.append(
        "the server was serving \(counts.peakServing) requests at once, the limit is \(limit)"
      )
    }
  }
}
