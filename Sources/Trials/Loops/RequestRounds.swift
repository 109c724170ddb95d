internal import Basics
internal import Foundation
internal import Mechanisms
internal import RealWork
internal import Synchronization

/// Requests that come all at once, round after round: a screen of images, a list of files.
struct RequestRounds {
  /// Requests of one round.
  let requests: Int
  /// The most rounds, the first left out: it opens the connections and is not measured.
  static let most = 5

  /// The most requests there may be; they are numbered from 1, round after round.
  var capacity: Int { requests * (Self.most + 1) }

  /// Sends rounds of requests for the budget, at least one, and reports how long each took.
  ///
  /// - Returns: How many requests were sent in all.
  func measure(
    budget: Int64,
    into report: inout TrialReport,
    _ request: @escaping @Sendable (_ number: Int) async throws -> Void
  ) async -> Int {
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
    @Sendable func round(_ round: Int) async -> [Int64] {
      await withTaskGroup(of: Int64.self) { group in
        for number in requests * round + 1...requests * (round + 1) {
          group.addTask { await timed(number) }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
    }
    _ = await round(0)
    let before = ProcessMetrics.now()
    var (responses, elapsed, rounds): ([Int64], Int64, Int) = ([], 0, 0)
    while rounds == 0 || rounds < Self.most && elapsed < budget {
      rounds += 1
      let start = MachineClock.monotonic()
      responses += await round(rounds)
      let took = MachineClock.monotonic() - start
      elapsed += took
      report.add(
        .timePerOperation,
        "mean",
        Double(took) / Double(requests),
        count: requests,
        repetition: rounds
      )
    }
    report.add(.response, of: responses)
    report.addUsage(since: before, operations: responses.count)
    report.violations += failures.withLock { $0 }
    return requests * (rounds + 1)
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

/// A folder of the trial's own, removed with it.
func withTrialFolder(
  _ report: inout TrialReport,
  _ body: (URL, inout TrialReport) async throws -> Void
) async {
  do {
    let folder = try ScratchFolder("bench")
    try await body(URL(fileURLWithPath: folder.path, isDirectory: true), &report)
    withExtendedLifetime(folder) {}
  } catch {
    report.violations.append("the work could not be done: \(error)")
  }
}
