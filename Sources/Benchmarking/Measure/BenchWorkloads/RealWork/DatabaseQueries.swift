internal import Basics
internal import Foundation
package import Mechanisms
internal import RealWork
internal import Synchronization

/// Tasks that ask a database again and again, let in by the mechanism to as many connections as the limit.
package struct DatabaseQueries: PairedWorkload {
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
  package let roundLength = 2.5

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
    mechanism.mayCarryRequests(cell)
  }

  package func runner(_ trial: Trial) async throws -> Runner {
    let folder = try ScratchFolder("bench")
    let pool = DatabasePool("\(folder.path)/rows.sqlite", readers: trial.limit)
    try await pool.write { try Self.fill($0) }
    let mechanism = trial.makeMechanism()
    let (written, failures) = (Counter(), Failures())
    let loop = ClosedLoop(
      workers: trial.cell.tasks ?? 16,
      visitsEach: 1,
      kind: trial.kind,
      world: EmptyWorld(),
      work: { number in
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
            failures.note("\(error)")
          }
        }
      }
    )
    return Runner(grain: loop.workers) { times in
      var timed = loop
      timed.visitsEach = max(1, times / loop.workers)
      let outcome = await timed.run(on: mechanism)
      var report = TrialReport()
      report.add(
        .timePerOperation,
        "mean",
        Double(outcome.elapsed) / Double(outcome.total),
        count: outcome.total
      )
      return report
    } conclude: { _, report in
      var stamping = loop
      stamping.visitsEach = 25
      await stamping.stamp(mechanism, trial, into: &report)
      report.serviceKind = trial.kind.rawValue
      do {
        let kept = try await pool.read { try $0.rows("SELECT count(*) FROM written") }
        if kept != [[.integer(Int64(written.value))]] {
          report.violations.append("\(written.value) writes were acknowledged, kept are \(kept)")
        }
      } catch {
        failures.note("\(error)")
      }
      report.violations += failures.first
      await pool.shutdown()
      withExtendedLifetime(folder) {}
    }
  }

  /// What the queries said that went wrong.
  private final class Failures: Sendable {
    private let said = Mutex<[String]>([])
    var first: [String] { Array(said.withLock { $0.prefix(3) }) }
    func note(_ failure: String) { said.withLock { $0.append(failure) } }
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
