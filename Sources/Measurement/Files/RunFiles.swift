internal import Histogram

/// The tables of a run, from its records.
package struct RunFiles {
  package let runID: String
  package let plan: Plan
  package let records: [BlockRecord]
  package let summary: Summary

  package init(runID: String, plan: Plan, records: [BlockRecord], summary: Summary) {
    self.runID = runID
    self.plan = plan
    self.records = records
    self.summary = summary
  }

  /// The files' names, for people.
  package static let names = ["results.csv", "summary.csv", "env.json"]

  /// Everything that goes into the run folder.
  package func all(_ environment: EnvironmentRecord) throws -> [(name: String, text: String)] {
    [
      ("results.csv", results()),
      ("summary.csv", summaryTable()),
      ("env.json", try environment.json()),
    ]
  }

  /// `results.csv`: every measured value, those that do not count included and marked.
  package func results() -> String {
    let counted = Set(ForkFigures.counted(records).map(\.number))
    let rows = records.flatMap { record in
      record.trials.enumerated().flatMap { order, trial in
        let entry = plan.entries[record.entry]
        let reason = reasonNotToCount(
          record,
          trial.report,
          isCounted: counted.contains(record.number)
        )
        // A trial that broke down has nothing but the reason to tell; it tells that in a row.
        let measures: [Measure?] = trial.report.measures.isEmpty ? [nil] : trial.report.measures
        return measures.map { measure in
          ResultRow(
            runID: runID,
            cell: entry.cell,
            mechanism: entry.contestants[trial.contestant].label,
            serviceKind: trial.report.serviceKind,
            achievedUtilisation: trial.report.achievedUtilisation,
            seed: plan.seed,
            block: record.number,
            orderInBlock: order + 1,
            fork: record.fork,
            measure: measure,
            foreignPercent: record.disturbance?.foreignPercent,
            invalidReason: reason
          ).cells
        }
      }
    }
    return CSV.text(header: ResultRow.columns, rows)
  }

  private func reasonNotToCount(
    _ record: BlockRecord,
    _ report: TrialReport,
    isCounted: Bool
  ) -> String? {
    if !report.violations.isEmpty { return report.violations.joined(separator: "; ") }
    if let reason = record.dropReason { return "disturbed: \(reason)" }
    return isCounted ? nil : "measured again later"
  }
}
