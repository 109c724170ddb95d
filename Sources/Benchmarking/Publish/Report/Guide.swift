package import Mechanisms

/// *Which should I use?*: needs that people come with, each with a mechanism, its reason, its cost in
/// this run, and its trap.
package struct Guide {
  package struct Need: Sendable {
    package var need: String
    package var mechanism: String
    package var reason: String
    package var trap: String
    /// What it costs: words before a figure, and where the figure is found.
    package var costs: [(words: String, workload: String, headline: Headline)]
  }

  private static let pass = (
    words: "a pass when nobody waits", workload: "uncontended",
    headline: Headline(.timePerOperation, "mean")
  )
  private static let handOff = (
    words: "a visit that hands its permit to a waiting task", workload: "hand-off",
    headline: Headline(.timePerOperation, "mean")
  )
  private static let batch = (
    words: "one task of a batch", workload: "fan-out",
    headline: Headline(.timePerOperation, "mean")
  )
  private static let computing = (
    words: "one of a batch that computes for twenty microseconds", workload: "fan-out-computing",
    headline: Headline(.timePerOperation, "mean")
  )
  private static let waiter = (
    words: "memory of a waiting task", workload: "memory",
    headline: Headline(.heapPerWaiter, "mean")
  )

  package static let needs = [
    Need(
      need: "an API that allows so many calls at once",
      mechanism: "limiter",
      reason:
        "Calls suspend, so waiting ones should too: they hold no thread, come in order, and leave "
        + "the line when they are cancelled.",
      trap:
        "It limits calls under way, not calls a second; and a task that enters it twice at limit 1 "
        + "waits for itself.",
      costs: [pass, handOff, waiter]
    ),
    Need(
      need: "work that computes, on all processors, such as hashing files",
      mechanism: "task-group",
      reason:
        "The tasks are known beforehand: add as many children as there are processors, then one "
        + "for each that ends. No child waits, and cancelling the parent cancels all.",
      trap: "Children that block their thread hold up every other task of the program.",
      costs: [batch, computing]
    ),
    Need(
      need: "calls into C that block their thread",
      mechanism: "operation-queue",
      reason:
        "Its operations run on GCD's threads, so Swift's own pool stays free; those that wait are objects, "
        + "not threads, and its limit can be changed.",
      trap:
        "GCD begins with as many threads as there are processors: of a short batch of blocking calls fewer "
        + "may run at once than the limit allows; an executor with threads of its own has as many as you give it. A "
        + "closure that starts a Task returns at once, and the limit holds no longer.",
      costs: [batch, waiter]
    ),
    Need(
      need: "a list of requests that mostly wait, known beforehand",
      mechanism: "limiter",
      reason:
        "A task for each, all started at once; each waits in the limiter. concurrentForEach(limit:), or a "
        + "task-group that adds the next child as one ends, does it too, and holds no task for what waits.",
      trap: "Starting a task for each of a million takes the memory of a million.",
      costs: [batch, waiter]
    ),
    Need(
      need: "a pool of connections",
      mechanism: "pool",
      reason: "The permit is the thing itself: made when first needed, lent to one task at a time, "
        + "handed to the first that waits.",
      trap: "A task that holds one and asks for a second waits for ever when all do so.",
      costs: [pass, handOff, waiter]
    ),
    Need(
      need: "strict order, one at a time",
      mechanism: "fifo-queue",
      reason: "A body has ended before the next begins, suspensions included.",
      trap: "actor-queue and main-actor-queue keep the order only up to a body's first suspension.",
      costs: [pass, handOff]
    ),
  ]

  private let summary: Summary

  package init(_ summary: Summary) { self.summary = summary }

  /// What this run says of a need's cost; empty where it did not measure it.
  package func costs(_ need: Need) -> [(words: String, figure: String)] {
    need.costs.compactMap { words, workload, headline in
      line(need.mechanism, workload, headline).map { (words, figure(of: $0, headline)) }
    }
  }

  /// What was measured, or why it says nothing: a visit that did not wait is no hand-off.
  private func figure(of line: Summary.Line, _ headline: Headline) -> String {
    if case .hardlyWaited(let percent) = summary.exclusion(line.entry, line.contestant) {
      return "too few waited to say (\(Quantity.digits(percent)) %)"
    }
    return Quantity.text(line.median, unit: headline.metric.unit)
  }

  /// The mechanism's figure in the largest cell of a workload, on the pool.
  private func line(_ mechanism: String, _ workload: String, _ headline: Headline) -> Summary.Line?
  {
    summary.plan.entries.enumerated().reversed().lazy.compactMap { index, entry -> Summary.Line? in
      guard entry.cell.workload == workload,
        let place = entry.contestants.firstIndex(where: {
          $0.mechanism == mechanism && !$0.isAgain && $0.executor != .lanes
        })
      else { return nil }
      return summary.line(index, place, headline)
    }.first
  }

  // MARK: Features

  package static let features = [
    "mechanism", "a waiting task holds", "when cancelled while waiting", "order",
    "limit can change",
    "priorities", "runs in virtual time",
  ]

  /// A row a mechanism, as its profile says, which the conformance suite verifies.
  package static func features(of entry: CatalogueEntry) -> [String] {
    let profile = entry.profile
    let holds =
      switch profile.waiting {
      case .suspendsTask: "a suspended task"
      case .blocksThread: "a thread"
      case .queued: "an entry in a list"
      case .none: "nothing waits"
      }
    let leaves =
      switch profile.cancellation {
      case .leavesAtOnce: "leaves at once"
      case .skippedAtItsTurn: "is skipped at its turn"
      case .neverWaits: "never waits"
      }
    let order =
      switch profile.order {
      case .fifo: "first come, first served"
      case .priority: "by priority"
      case .fifoToFirstSuspension: "to the first suspension"
      case .none: "none"
      }
    func yes(_ claim: Bool) -> String { claim ? "yes" : "no" }
    return [
      entry.id, holds, leaves, order, yes(profile.controls.contains(.limit)),
      yes(profile.controls.contains(.priorities)), yes(profile.clock == .any),
    ]
  }
}
