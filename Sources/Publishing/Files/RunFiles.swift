package import Trials

/// The tables of a run, from its records.
package struct RunFiles {
  package let runID: String
  package let plan: Plan
  package let records: [BlockRecord]
  package let summary: Summary
  package let histograms: MergedHistograms

  package init(runID: String, plan: Plan, records: [BlockRecord], summary: Summary) {
    self.runID = runID
    self.plan = plan
    self.records = records
    self.summary = summary
    histograms = MergedHistograms(records)
  }

  /// The files that every run has; the plots come with what was measured.
  package static let names = [
    "results.csv", "summary.csv", "histograms.csv", "series.csv", "stamps.csv", "env.json",
    "benchmarks.txt", "report.html",
  ]

  /// Everything that goes into the run folder.
  package func all(_ environment: EnvironmentRecord) throws -> [(name: String, text: String)] {
    [
      ("results.csv", results()),
      ("histograms.csv", histogramTable()),
      ("series.csv", seriesTable()),
      ("stamps.csv", stampTable()),
      ("env.json", try environment.json()),
      ("benchmarks.txt", benchstatText(environment)),
    ] + derived(environment)
  }

  /// What is derived from the figures: the summary, the report and the plots.
  ///
  /// The distributions in full are only in the records of a run under way; of one that was read back,
  /// `spectrum` is the picture of them.
  func derived(
    _ environment: EnvironmentRecord,
    spectrum: String? = nil
  ) -> [(name: String, text: String)] {
    let drawing = RunPlots(self)
    let plots = drawing.all(spectrum: spectrum)
    return [
      ("summary.csv", summaryTable()),
      ("report.html", HTMLReport(self, environment, drawing, plots: plots).text),
    ] + plots.map { ($0.file, $0.svg) }
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
            executor: entry.contestants[trial.contestant].executor,
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
    if let reason = record.dropReason { return Self.disturbed + reason }
    return isCounted ? nil : Self.measuredAgain
  }

  /// What reasons not to count are in `results.csv`, besides broken promises.
  static let disturbed = "disturbed: "
  static let measuredAgain = "measured again later"
}
