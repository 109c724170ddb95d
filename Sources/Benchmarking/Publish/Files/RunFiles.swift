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
  ///
  /// Those that end in `.gz` are packed.
  package static let names = [
    "results.csv", "summary.csv", "rounds.csv.gz", "histograms.csv.gz", "series.csv.gz",
    "stamps.csv.gz", "env.json", "benchmarks.txt.gz", "report.html",
  ]

  /// Everything that goes into the run folder, before it is packed.
  package func all(_ environment: EnvironmentRecord) throws -> [(name: String, text: String)] {
    [
      ("results.csv", results()),
      ("rounds.csv.gz", roundsTable()),
      ("histograms.csv.gz", histogramTable()),
      ("series.csv.gz", seriesTable()),
      ("stamps.csv.gz", stampTable()),
      ("env.json", try environment.json()),
      ("benchmarks.txt.gz", benchstatText(environment)),
    ] + derived(environment)
  }

  /// The page alone.
  package func report(_ environment: EnvironmentRecord) -> String {
    HTMLReport(self, environment, plots: RunPlots(self).all(spectrum: nil)).text
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
      ("report.html", HTMLReport(self, environment, plots: plots).text),
    ] + plots.map { ($0.file, $0.svg) }
  }

  /// `results.csv`: each figure of each process, those that do not count included and marked; of a figure that has
  /// rounds, their median, or the largest of a maximum.
  package func results() -> String {
    let rows = records.flatMap { record in
      record.trials.enumerated().flatMap { order, trial in
        let entry = plan.entries[record.entry]
        let violations = trial.report.violations
        // A trial that broke down has nothing but the reason to tell; it tells that in a row.
        let measures: [Measure?] = trial.report.measures.isEmpty ? [nil] : trial.report.middles
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
            distance: record.distance,
            invalidReason: violations.isEmpty
              ? measure.flatMap {
                summary.distances.reason($0, of: trial.contestant, in: record)
              }
              : violations.joined(separator: "; ")
          ).cells
        }
      }
    }
    return CSV.text(header: ResultRow.columns, rows)
  }
}

extension TrialReport {
  /// The figures, of those with rounds or repetitions the median, or the largest of a maximum.
  fileprivate var middles: [Measure] {
    struct Name: Hashable { var metric, stat: String }
    var order: [Name] = []
    var found: [Name: [Measure]] = [:]
    for measure in measures {
      let name = Name(metric: measure.metric, stat: measure.stat)
      if found[name] == nil { order.append(name) }
      found[name, default: []].append(measure)
    }
    return order.compactMap { name in
      guard let all = found[name],
        let middle = ForkFigures.ofFork(all.map(\.value), stat: name.stat)
      else { return nil }
      return Measure(
        metric: name.metric,
        stat: name.stat,
        value: middle,
        count: all.map(\.count).reduce(0, +),
        repetition: nil
      )
    }
  }
}
