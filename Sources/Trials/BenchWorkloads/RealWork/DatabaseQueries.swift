internal import Foundation
package import Mechanisms
internal import RealWork
internal import Synchronization
internal import Workloads

/// Tasks that ask a database again and again, let in by the mechanism to as many connections as the limit.
package struct DatabaseQueries: BenchWorkload {
  package enum Queries: String, Sendable {
    case read
    /// One in ten writes.
    case mixed
  }

  private let queries: Queries

  package init(_ queries: Queries) { self.queries = queries }

  package var id: String { "sqlite-\(queries.rawValue)" }
  package let needsWaiting = true
  package let headline: Headline? = Headline(.timePerOperation, "mean")
  package let tail: Headline? = Headline(.response, "p99")

  package var question: String {
    switch queries {
    case .read: "What does reading twenty rows cost when many tasks share a few connections?"
    case .mixed: "What does it cost when one task in ten writes, and is every write there?"
    }
  }

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    let own: [Int] =
      switch scale {
      case .ci: queries == .mixed ? [4] : []
      case .quick, .standard: queries == .read ? [1, 4] : [4]
      case .full: [1, 2, 4, 8]
      }
    return (own.isEmpty ? [] : limits ?? own).map {
      Cell(
        id,
        limit: $0,
        tasks: 16,
        loop: .closed,
        serviceKind: ServiceKind.query.rawValue
      )
    }
  }

  package func admits(_ mechanism: MechanismProfile, to cell: Cell) -> Bool {
    mechanism.mayCarrySuspended(cell)
  }

  package func expectedSeconds(_ cell: Cell, budget: Int64) -> Double {
    0.1 + closedLoopSeconds(budget: budget)
  }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    await withTrialFolder(&report) { folder, report in
      let pool = DatabasePool(
        folder.appendingPathComponent("rows.sqlite").path,
        readers: trial.limit
      )
      try await pool.write { try Self.fill($0) }
      let written = Counter()
      let failures = Mutex<[String]>([])
      await measureClosedLoop(
        trial,
        workers: trial.cell.tasks ?? 16,
        world: EmptyWorld(),
        into: &report
      ) { number in
        { _ in
          do {
            if queries == .mixed, number.isMultiple(of: 10) {
              try await pool.write { _ = try $0.rows("INSERT INTO written VALUES (NULL)") }
              written.increment()
            } else {
              let first = Int64(number * 7_919 % (Self.rows - 20))
              _ = try await pool.read {
                try $0.rows(Self.twentyRows, .integer(first), .integer(first + 19))
              }
            }
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
      }
      report.violations += failures.withLock { $0.prefix(3) }
      let kept = try await pool.read { try $0.rows("SELECT count(*) FROM written") }
      if kept != [[.integer(Int64(written.value))]] {
        report.violations.append("\(written.value) writes were acknowledged, kept are \(kept)")
      }
      await pool.shutdown()
    }
  }

  private static let rows = 10_000
  private static let twentyRows = "SELECT id, name, score FROM row WHERE id BETWEEN ? AND ?"

  private static func fill(_ database: isolated Database) throws {
    try database.rows("CREATE TABLE written (number INTEGER PRIMARY KEY)")
    try database.rows("CREATE TABLE row (id INTEGER PRIMARY KEY, name TEXT, score REAL)")
    try database.rows(
      """
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows) - 1)
      INSERT INTO row SELECT i, 'row ' || i, i * 0.5 FROM n
      """
    )
  }
}
