package import Experiments
package import Tracing

extension Run {
  /// The figures of the run.
  ///
  /// - Complexity: O(n log n) for n events; ask once and keep the answer.
  package var summary: RunSummary {
    RunSummary(events: events, facts: facts, permitsLeft: permitsLeft)
  }

  /// The name of one of the run's tasks, such as `t07`.
  package func label(of task: TaskID) -> String {
    task.label(amongst: max(plan.count, facts.tasks))
  }
}
