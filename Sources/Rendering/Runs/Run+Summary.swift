package import Experiments
package import Mechanisms

extension Run {
  /// The figures of the run.
  ///
  /// - Complexity: O(n log n) for n events; ask once and keep the answer.
  package var summary: RunSummary {
    RunSummary(
      events: events,
      facts: facts,
      permitsLeft: permitsLeft,
      ending: now.map { .notYet(now: $0) } ?? (stoppedBecause != nil ? .stopped : .byItself)
    )
  }

  /// Whether too few workers kept the run below its limit: the services held them, and others waited
  /// beside free permits for more than a twentieth of the time.
  ///
  /// Where tasks depend on others they wait for those.
  func lackedWorkers(_ summary: RunSummary) -> Bool {
    facts.serviceHoldsWorker && !summary.reachedLimit
      && summary.waitedBesideRoom > summary.makespan / 20
      && plan.allSatisfy { $0.after == nil }
  }

  /// The limit over time; without steps where there is none.
  package var limits: StepFunction { StepFunction(limit: limit, in: events) }

  /// Whether the limit is, or was, another than at the start; what it became at the very start counts too.
  package var limitChanged: Bool {
    let steps = limits.steps
    return steps.count > 1 || steps.first?.value != limit
  }

  /// "3", or "1, then 3 from 100 ms".
  var limitValues: String {
    let steps = limits.steps
    let first = limit ?? 0
    let later = steps.first?.value == first ? steps.dropFirst() : steps[...]
    let changes = later.prefix(4).map { step in
      "\(NumberText.grouped(step.value)) from \(DurationText.text(step.time))"
    }
    return NumberText.grouped(first)
      + (changes.isEmpty ? "" : ", then " + changes.joined(separator: ", "))
      + (later.count > 4 ? " and so on" : "")
  }

  /// "limit 3", "limit 1, then 3 from 100 ms" or "no limit".
  package var limitText: String { limit == nil ? "no limit" : "limit \(limitValues)" }

  /// The name of one of the run's tasks, such as `t07`.
  package func label(of task: TaskID) -> String {
    task.label(amongst: max(plan.count, facts.tasks))
  }
}
