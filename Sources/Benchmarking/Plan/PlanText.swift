/// What a plan would measure, in words.
package struct PlanText {
  private let plan: Plan

  package init(_ plan: Plan) { self.plan = plan }

  /// One line, when the measuring begins.
  package var headline: String {
    let mechanisms = Set(
      plan.entries.flatMap { $0.contestants.filter { !$0.isAgain }.compactMap(\.mechanism) }
    ).count
    return "\(count(plan.entries.count, "cell")), \(count(mechanisms, "mechanism")), "
      + "\(blocks) each, seed \(plan.seed) · "
      + "about \(Progress.duration(plan.expectedSeconds))"
  }

  /// For people: `16 blocks`, `8 to 16 blocks`.
  var blocks: String {
    let forks = plan.forks
    return forks.lowerBound == forks.upperBound
      ? count(forks.upperBound, "block") : "\(forks.lowerBound) to \(forks.upperBound) blocks"
  }

  /// What `--filter` and `--skip` are matched against, one line each, under each workload's question.
  package var list: String {
    grouped { entry in
      entry.compared.map { "  " + Plan.name(entry.cell, entry.contestants[$0]) }
    }
  }

  /// How long each cell would take.
  package var dryRun: String {
    grouped { entry in
      let seconds = entry.expectedSeconds * Double(entry.forks)
      return [
        "  \(entry.cell.name): \(entry.contestants.count) × \(count(entry.forks, "block")), "
          + "about \(Progress.duration(seconds))"
      ]
    } + "\n" + headline + ". Nothing was measured."
  }

  private func grouped(_ lines: (Plan.Entry) -> [String]) -> String {
    var text: [String] = []
    var workload: String?
    for entry in plan.entries {
      if entry.cell.workload != workload {
        workload = entry.cell.workload
        let question = BenchWorkloads.named(entry.cell.workload)?.question ?? ""
        text.append("\(entry.cell.workload): \(question)")
      }
      text += lines(entry)
    }
    return text.joined(separator: "\n")
  }

  private func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }
}
