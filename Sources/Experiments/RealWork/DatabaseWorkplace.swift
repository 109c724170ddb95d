internal import Foundation
internal import Limiters
internal import Mechanisms
internal import RealWork

/// A database, whose readers and one writer are lent to the tasks that the mechanism lets in.
final class DatabaseWorkplace: Workplace {
  /// Counted from any task.
  private final class Counts: Sendable {
    private let figures = Lock<[WorkFigure: Int]>([.reads: 0, .writes: 0])

    var all: [WorkFigure: Int] { figures.withLock { $0 } }

    func add(_ figure: WorkFigure) { figures.withLock { $0[figure, default: 0] += 1 } }
  }

  private let setup: WorkplaceSetup
  private let pool: DatabasePool
  private let counts: Counts

  init(_ setup: WorkplaceSetup) async throws {
    let counts = Counts()
    self.setup = setup
    self.counts = counts
    let path = setup.folder.appendingPathComponent("rows.sqlite").path
    pool = DatabasePool(readers: setup.limit) { access in
      // Cancelled meanwhile, it is not opened, and the next task that needs one opens another.
      let database = try await Database.open(path, for: access)
      counts.add(.connectionsOpened)
      return database
    }
    try await pool.write { _ = try $0.rows("CREATE TABLE task (number INTEGER PRIMARY KEY)") }
  }

  func carry(_ task: SimulatedTask) async {
    let visit = Visit(task, tracer: setup.tracer, world: setup.world) { [pool, counts] _ in
      // Counting takes SQLite about a tenth of a microsecond for each number: some of the time asked for.
      let count = Database.Value.integer(max(1, task.service / 200))
      // One in ten writes.
      try await WorkFailure.telling {
        if task.item.isMultiple(of: 10) {
          try await pool.write { database in
            try database.rows(Self.counting, count)
            try database.rows("INSERT INTO task VALUES (?)", .integer(Int64(task.number)))
          }
          counts.add(.writes)
        } else {
          try await pool.read { _ = try $0.rows(Self.counting, count) }
          counts.add(.reads)
        }
      }
      if task.fails { throw SimulatedFailure(task: task.number) }
    }
    await setup.mechanism.carry(visit)
  }

  func close() async -> [WorkFigure: Int] {
    var figures = counts.all
    if let kept = try? await pool.read({ try $0.rows("SELECT count(*) FROM task") }).first?.first,
      case .integer(let rows) = kept
    {
      // One that was cancelled while it committed may be there and not counted.
      figures[.writesLost] = max(0, (figures[.writes] ?? 0) - Int(rows))
    }
    await pool.shutdown()
    return figures
  }

  private static let counting = """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT count(*) FROM n
    """
}
