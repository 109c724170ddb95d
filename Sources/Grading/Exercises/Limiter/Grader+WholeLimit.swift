internal import Basics
internal import Experiments
internal import LessonBook
internal import Limiters
internal import Mechanisms

extension Grader {
  /// All of a limit is used and no more, however large it is.
  ///
  /// Bodies stay until all that can begin have begun, so it takes tasks and no time: many more of them than the
  /// workloads have, whose every step is recorded.
  ///
  /// - Parameters:
  ///   - entry: what is asked.
  ///   - most: the largest limit that is asked, beyond those for which there are as many tasks; nil for none.
  /// - Returns: the question.
  static func wholeLimit(
    _ entry: CatalogueEntry,
    most: Int? = nil
  ) -> GradeBook.Question {
    let beyond = 20
    let asked =
      "more tasks than a large limit allows\(most.map { ", and limits up to \($0)" } ?? "")"
    return .task("whole_limit", asked, seconds: 120) { seed in
      var random = SplitMix64(seed: seed)
      // Each small one; and beyond what the workloads draw, beyond the round numbers that a limit might be cut to, and
      // beyond two bytes.
      let limits = Array(1...64) + [129, 10_001, 65_537].map { $0 + random.next(below: 128) }
      // A number of fewer bits ends before, or takes it for another.
      let huge = most.map { [1 << 31, 1 << 32, 1 << 32 + 3, $0 - 1, $0] } ?? []
      for limit in limits + huge {
        let tasks = limit > limits[limits.count - 1] ? beyond : limit + beyond
        if let fault = await fault(of: entry, limit: limit, tasks: tasks) {
          return GradeItem(
            "whole_limit",
            passed: false,
            "\(tasks) tasks at once, limit \(limit): \(fault)"
          )
        }
      }
      return GradeItem(
        "whole_limit",
        passed: true,
        "limits 1 to 64, \(ListText.all(limits.suffix(3).map(String.init))), and \(beyond) tasks more than that: as many ran at "
          + "once as the limit says, and then the others"
          + (most.map { "; up to \($0), \(beyond) tasks: all ran at once" } ?? "")
      )
    }
  }

  /// What is wrong when so many tasks come at once; nil if nothing is.
  private static func fault(of entry: CatalogueEntry, limit: Int, tasks: Int) async -> String? {
    let scheduler = VirtualScheduler(workers: 1)
    let crowd = Crowd()
    let mechanism = entry.make(MechanismSetup(limit: limit))
    for number in 1...tasks {
      Task(executorPreference: scheduler) {
        let task = SimulatedTask(number: number, service: 1)
        await mechanism.carry(Visit(task, tracer: crowd, world: crowd))
      }
    }
    _ = await scheduler.onOwnThread { $0.runUntilIdle() }
    let together = crowd.admitted
    crowd.goOn()
    _ = await scheduler.onOwnThread { $0.runUntilIdle() }
    let due = min(limit, tasks)
    if together > due { return "\(together) ran at once, \(together - due) too many" }
    if together < due {
      return "\(together) ran at once; \(due - together) permits lay idle, and the others "
        + "waited. Whatever number 'init' is given is how many may run at once"
    }
    let left = tasks - crowd.admitted
    return left == 0 ? nil : "when those who ran had departed, \(left) others were never served"
  }
}
