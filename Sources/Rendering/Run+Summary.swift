package import Experiments
package import Tracing

extension Run {
  /// The figures of the run.
  ///
  /// - Complexity: O(n log n) for n events; ask once and keep the answer.
  package var summary: RunSummary {
    RunSummary(
      events: events,
      facts: facts,
      permitsLeft: permitsLeft,
      wasStopped: stoppedBecause != nil
    )
  }

  /// The limit over time; without steps where there is none.
  package var limits: StepFunction { StepFunction(limit: limit, in: events) }

  /// "3", or "1, then 3 from 100 ms".
  var limitValues: String {
    let steps = limits.steps
    let changes = steps.dropFirst().prefix(4).map { step in
      "\(NumberText.grouped(step.value)) from \(DurationText.text(step.time))"
    }
    return NumberText.grouped(steps.first?.value ?? 0)
      + (changes.isEmpty ? "" : ", then " + changes.joined(separator: ", "))
      + (steps.count > 5 ? " and so on" : "")
  }

  /// "limit 3", "limit 1, then 3 from 100 ms" or "no limit".
  package var limitText: String { limit == nil ? "no limit" : "limit \(limitValues)" }

  /// The name of one of the run's tasks, such as `t07`.
  package func label(of task: TaskID) -> String {
    task.label(amongst: max(plan.count, facts.tasks))
  }
}
