internal import Basics
internal import Experiments
internal import LessonBook
internal import Mechanisms

extension Grader {
  /// What a limiter meets that lives for months: more visits than it has numbers for, and more who wait than it has
  /// room for.
  static func longRun(_ entry: CatalogueEntry, overtakings: Int = 0) -> GradeBook.Question {
    // More than 18 bits can number, and than 16 can.
    let (visits, room) = (270_000, 65_537)
    let asked =
      "\(visits) visits one after the other, and then a line of more than \(room), limit 1"
    return .task("long_run", asked, seconds: 120) { seed in
      var random = SplitMix64(seed: seed)
      let waiting = room + random.next(below: 200)
      let mechanism = entry.make(MechanismSetup(limit: 1))
      await mechanism.visits(visits, EmptyBody())
      let fault = await faultOfLine(mechanism, waiting, served: 200, overtakings)
      return GradeItem(
        "long_run",
        passed: fault == nil,
        "\(visits) visits one after the other, and then a line of \(waiting), limit 1: "
          + (fault ?? "it is kept, and served in its order")
      )
    }
  }

  /// Has a line of so many come to one permit, and the first of it be served; the others are left there.
  private static func faultOfLine(
    _ mechanism: any Mechanism,
    _ waiting: Int,
    served: Int,
    _ overtakings: Int
  ) async -> String? {
    let scheduler = VirtualScheduler(workers: 1)
    // Who has the permit first, and who keeps it when some have been served.
    let (first, last, others) = (Crowd(), Crowd(), Crowd())
    others.goOn()
    for number in 1...waiting + 1 {
      let crowd = number == 1 ? first : number == served + 2 ? last : others
      visit(mechanism, number, crowd, on: scheduler)
    }
    _ = await scheduler.onOwnThread { $0.runUntilIdle() }
    let together = first.admitted + others.admitted + last.admitted
    if together != 1 { return "\(together) ran at once" }
    first.goOn()
    _ = await scheduler.onOwnThread { $0.runUntilIdle() }
    let order = first.begun + others.begun + last.begun
    if order.count < served + 2 {
      return "only \(order.count - 1) of them were served, and the others wait for ever"
    }
    guard let number = overtakenInLongLine(order, moreThan: overtakings) else { return nil }
    return
      "number \(number - 1) in the line was overtaken\(overtakings > 0 ? " more than once" : "")"
  }
}
