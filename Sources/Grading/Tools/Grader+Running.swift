internal import Basics
internal import Experiments
internal import LessonBook
internal import Mechanisms
internal import Rendering

/// Workloads that are run in virtual time.
extension Grader {
  static func run(
    _ entry: CatalogueEntry,
    limit: Int,
    _ workload: Workload
  ) async -> Run {
    let run = VirtualRun(Experiment(mechanism: entry, limit: limit, workload: workload))
    run.submit(workload)
    return await run.finish()
  }

  static func picture(_ run: Run) -> String {
    let format = TextFormat(height: 24)
    return Gantt.tasks(run, format) + "\n" + SummaryText.line(run, run.summary, format)
  }

  /// Runs workloads drawn from the seed; the first that shows a fault fails.
  static func hidden(
    _ entry: CatalogueEntry,
    _ name: String,
    overtakings: Int = 0,
    title: String? = nil,
    _ draw: @escaping @Sendable (UInt64) -> [HiddenWorkload]
  ) -> GradeBook.Question {
    .task(name, "workloads drawn from a seed") { seed in
      let drawn = draw(seed)
      for var hidden in drawn {
        hidden.overtakings = overtakings
        let run = await hidden.run(on: entry)
        guard let fault = hidden.faults(in: run).first else { continue }
        return GradeItem(
          name,
          passed: false,
          "\(hidden.title), \(hidden.workload.count) tasks, limit \(hidden.limit), seed \(seed): \(fault)",
          story: SummaryText.line(run, run.summary, TextFormat())
        )
      }
      let limits = Set(drawn.map(\.limit)).sorted().map(String.init)
      return GradeItem(
        name,
        passed: true,
        "\(drawn[0].title), up to \(drawn.map(\.workload.count).max() ?? 0) tasks, limits "
          + "\(ListText.all(limits)), seed \(seed): every task that was not cancelled was served, and "
          + (overtakings == 0 ? "nobody was overtaken" : "overtaken at most once")
      )
    }
  }
}
