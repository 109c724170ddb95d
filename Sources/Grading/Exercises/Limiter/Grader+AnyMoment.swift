internal import Basics
internal import Experiments
internal import LessonBook
internal import Mechanisms

extension Grader {
  /// Whoever comes, departs or is cancelled, in whatever order and at whatever limit, each gets what it is owed.
  ///
  /// Nobody is cancelled where an answer need not heed that.
  static func anyMoment(
    _ entry: CatalogueEntry,
    cancels: Bool = true,
    overtakings: Int = 0
  ) -> GradeBook.Question {
    let limits = 1...64
    let tasks =
      "tasks of any urgency that \(cancels ? "come, depart and are cancelled" : "come and depart") at any moment"
    let asked = "limits \(limits.lowerBound) to \(limits.upperBound), and \(tasks)"
    return .task("any_moment", asked, seconds: 120) { seed in
      for limit in limits {
        let visits = VisitsAtAnyMoment(
          entry,
          limit: limit,
          cancels: cancels,
          overtakings: overtakings
        )
        let fault = await VirtualScheduler(workers: 1).onOwnThread { scheduler in
          var random = SplitMix64(seed: seed &+ UInt64(limit))
          return visits.play(40, &random, on: scheduler)
        }
        guard let fault else { continue }
        return GradeItem(
          "any_moment",
          passed: false,
          "\(tasks), limit \(limit), seed \(seed): \(fault)",
          story: "what was done, the last at the end:\n\(visits.story)"
        )
      }
      return GradeItem(
        "any_moment",
        passed: true,
        "\(asked), seed \(seed): each is served or leaves as it should"
      )
    }
  }
}
