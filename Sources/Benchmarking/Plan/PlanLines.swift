internal import Foundation

/// What a plan would measure, as JSON, an object a line.
package struct PlanLines {
  private let plan: Plan

  package init(_ plan: Plan) { self.plan = plan }

  private struct Listed: Encodable {
    var schema = "bench-list/1"
    /// What `--filter` and `--skip` are matched against.
    var name: String
    var workload: String
    var mechanism: String?
    var executor: String?
    var limit: Int?
    var tasks: Int?
  }

  private struct Cells: Encodable {
    var schema = "bench-plan/1"
    /// Nil in the line that sums up the others.
    var cell: String?
    var workload: String?
    var contestants: Int?
    /// Only in the line that sums up the others, as the seed.
    var cells: Int?
    var forks: Int
    var trials: Int
    var seed: UInt64?
    var expectedSeconds: Double

    enum CodingKeys: String, CodingKey {
      case schema, cell, workload, contestants, cells, forks, trials, seed
      case expectedSeconds = "expected_s"
    }
  }

  /// A line for each contestant of each cell.
  package var list: String {
    lines(
      plan.entries.flatMap { entry in
        entry.compared.map { index in
          let contestant = entry.contestants[index]
          return Listed(
            name: Plan.name(entry.cell, contestant),
            workload: entry.cell.workload,
            mechanism: contestant.mechanism,
            executor: contestant.executor?.rawValue,
            limit: entry.cell.limit,
            tasks: entry.cell.tasks
          )
        }
      }
    )
  }

  /// A line for each cell, and one that sums them up.
  package var dryRun: String {
    let cells = plan.entries.map { entry in
      Cells(
        cell: entry.cell.name,
        workload: entry.cell.workload,
        contestants: entry.contestants.count,
        forks: entry.forks,
        trials: entry.contestants.count * entry.forks,
        expectedSeconds: (entry.expectedSeconds * Double(entry.forks)).rounded()
      )
    }
    let sum = Cells(
      cells: plan.entries.count,
      forks: plan.forks.upperBound,
      trials: plan.trials,
      seed: plan.seed,
      expectedSeconds: plan.expectedSeconds.rounded()
    )
    return lines(cells + [sum])
  }

  private func lines(_ objects: [some Encodable]) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return objects.compactMap { try? encoder.encode($0) }
      .map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
  }
}
