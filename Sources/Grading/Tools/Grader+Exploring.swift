internal import Experiments
internal import Exploration
internal import LessonBook
internal import Mechanisms
internal import Rendering

/// Mechanisms that are explored: the lab's own explorations, and their reports in a sentence.
extension Grader {
  /// More schedules than this are not looked at one by one; the sentence then says so.
  static let mostSchedules = 20_000

  /// How many are drawn at random.
  static let mostDrawn = 2_000

  /// The same inside synchronous code, where a schedule has many more steps.
  static let mostInside = 4_000

  /// The same at random.
  ///
  /// Where tasks may be cancelled, two locks in the place of one break a promise in some of a hundred schedules drawn,
  /// and in none of the first four thousand in order.
  static let mostDrawnInside = 1_500

  /// The same of four tasks and two permits: what one pre-emption shows is in one of some dozens.
  static let mostDrawnOfMany = 700

  /// The same of four tasks: a second overtaking shows in one of some five hundred schedules.
  static let mostDrawnOfFour = 4_000

  static func explored(
    _ entry: CatalogueEntry,
    _ name: String,
    tasks: Int,
    limit: Int,
    cancels: Bool = false,
    fails: Bool = false,
    inside: Bool = false,
    overtaking: Int? = nil,
    isRandom: Bool = false,
    drawing: Int? = nil,
    preemptions: Int = ExplorationPlan.defaultPreemptions
  ) -> GradeBook.Question {
    let asked = [
      "\(tasks) tasks, limit \(limit)",
      cancels ? "any of them cancelled at any step" : "",
      fails ? "every body throwing" : "",
      inside ? "stopping at any two operations on locks and atomics" : "",
      overtaking.map {
        $0 == 0 ? "nobody overtaken" : "overtaken at most \($0 == 1 ? "once" : "\($0) times")"
      } ?? "",
    ].filter { !$0.isEmpty }.joined(separator: ", ")
    var scenario = ExplorationScenario(entry)
    scenario.tasks = tasks
    scenario.limit = limit
    scenario.cancels = cancels
    scenario.fails = fails
    scenario.inside = inside
    scenario.overtakingBound = overtaking
    // It ends after so many schedules; the time is for a machine that is busy with something else.
    return .task(name, asked, seconds: 1_000) { [scenario] seed in
      let plan = ExplorationPlan(
        strategy: isRandom ? .random : .exhaustive,
        schedules: isRandom
          ? drawing ?? (inside ? mostDrawnInside : mostDrawn)
          : (inside ? mostInside : mostSchedules),
        seed: seed,
        preemptions: inside && !isRandom ? preemptions : nil
      )
      do throws(Experiments.ExplorationFailure) {
        let report = try await scenario.explore(plan)
        guard let violation = report.found?.minimum.violation else {
          return verdict(on: report, plan, name, asked)
        }
        return GradeItem(
          name,
          passed: false,
          "\(asked): \(violation.kind) in schedule \(report.firstFailureAt ?? report.schedules), "
            + (isRandom ? "seed \(seed): " : "") + violation.message,
          story: ExplorationText.text(report, withTime: false, TextFormat())
        )
      } catch {
        return GradeItem(
          name,
          passed: false,
          "\(asked): " + (error.isDivergence ? differentRuns : "\(error)")
        )
      }
    }
  }

  /// Says how far an exploration went that found nothing wrong.
  static func verdict(
    on report: ExplorationReport,
    _ plan: ExplorationPlan,
    _ name: String,
    _ asked: String
  ) -> GradeItem {
    // With a bound on pre-emptions they are not all there are.
    let isWhole = report.isExhaustive && plan.preemptions == nil
    let isDrawn = plan.strategy != .exhaustive
    let extent = "\(isWhole ? "all " : "")\(report.schedules)\(isDrawn ? " drawn" : "")"
    // A schedule that was given up says nothing, and one in ten is too many to call it right.
    let isMostlySeen = report.givenUp * 10 < report.schedules
    let left = report.givenUp == 0 ? "" : ", \(report.givenUp) given up as too long"
    return GradeItem(
      name,
      passed: isMostlySeen,
      "\(asked): \(extent) schedules \(isMostlySeen ? "are right" : "looked at")\(left)"
    )
  }
}
