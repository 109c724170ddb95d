internal import Basics
internal import Experiments
internal import LessonBook
internal import Limiters
internal import Mechanisms

// Lines of hundreds and thousands, and who is cancelled in them or before it comes.
extension Grader {
  // MARK: A line of hundreds

  /// Of a line of hundreds most are cancelled, and of one of thousands some; the others are served in their order, and
  /// no permit is lost.
  ///
  /// More than a byte can count wait, so that ids which are used again name two who wait; and more than the round
  /// numbers that a line might have room for.
  static func cancelledCrowd(
    _ entry: CatalogueEntry,
    overtakings: Int = 0
  ) -> GradeBook.Question {
    let lines = "lines of hundreds and thousands, some of them cancelled"
    return .task("cancelled_crowd", lines, seconds: 120) { seed in
      var random = SplitMix64(seed: seed)
      var asked: [String] = []
      // Each may look for its place from the first in line on, so of a long line fewer leave.
      for (limit, least, share) in [(1, 300, 0.67), (3, 10_001, 0.05)] {
        let waiting = least + random.next(below: 300)
        let numbers = limit + 1...limit + waiting
        let gone = numbers.filter { _ in random.nextUnit() < share }.shuffled(using: &random)
        asked.append("limit \(limit), \(waiting) wait, \(gone.count) of them are cancelled")
        let fault = await fault(
          of: entry,
          limit: limit,
          waiting: numbers,
          cancelled: gone,
          overtakings
        )
        guard let fault else { continue }
        return GradeItem(
          "cancelled_crowd",
          passed: false,
          "\(asked.last ?? ""), seed \(seed): \(fault)"
        )
      }
      return GradeItem(
        "cancelled_crowd",
        passed: true,
        "\(asked.joined(separator: "; ")); seed \(seed): they leave, and the others are served"
      )
    }
  }

  private static func fault(
    of entry: CatalogueEntry,
    limit: Int,
    waiting: ClosedRange<Int>,
    cancelled: [Int],
    _ overtakings: Int
  ) async -> String? {
    let scheduler = VirtualScheduler(workers: 1)
    let crowd = Crowd()
    let mechanism = entry.make(MechanismSetup(limit: limit))
    let tasks = (1...waiting.upperBound).map { number in
      visit(mechanism, number, crowd, on: scheduler)
    }
    _ = await scheduler.onOwnThread { $0.runUntilIdle() }
    for number in cancelled { tasks[number - 1].cancel() }
    _ = await scheduler.onOwnThread { $0.runUntilIdle() }
    if crowd.admitted != limit { return "\(crowd.admitted) ran at once" }
    if crowd.left < cancelled.count { return "\(cancelled.count - crowd.left) of those waited on" }
    crowd.goOn()
    _ = await scheduler.onOwnThread { $0.runUntilIdle() }
    let served = crowd.begun.dropFirst(limit)
    let due = Set(waiting).subtracting(cancelled)
    let forgotten = due.subtracting(served)
    if let first = forgotten.min() {
      return "\(forgotten.count) whom nobody cancelled were never served, the first of them number "
        + "\(first - limit) in the line"
    }
    if let number = overtakenInLongLine(Array(served), moreThan: overtakings) {
      return "number \(number - limit) in the line was overtaken"
    }
    let later = Crowd()
    for number in 1...limit { visit(mechanism, number, later, on: scheduler) }
    _ = await scheduler.onOwnThread { $0.runUntilIdle() }
    let together = later.admitted
    later.goOn()
    _ = await scheduler.onOwnThread { $0.runUntilIdle() }
    return together == limit
      ? nil
      : "when all were gone, \(together) of \(limit) who came later ran at once: a permit was lost"
  }

  /// Who was served behind more than so many that had come later.
  private static func overtaken(_ served: [Int], moreThan most: Int) -> Int? {
    served.enumerated().first { place, one in served[..<place].count { $0 > one } > most }?.element
  }

  @discardableResult
  static func visit(
    _ mechanism: any Mechanism,
    _ number: Int,
    _ crowd: Crowd,
    fails: Bool = false,
    on scheduler: VirtualScheduler
  ) -> Task<Void, Never> {
    Task(executorPreference: scheduler) { await carry(mechanism, number, crowd, fails: fails) }
  }

  static func carry(
    _ mechanism: any Mechanism,
    _ number: Int,
    _ crowd: Crowd,
    fails: Bool = false
  ) async {
    let task = SimulatedTask(number: number, service: 1, fails: fails)
    await mechanism.carry(Visit(task, tracer: crowd, world: crowd))
  }

  // MARK: A line that grows

  /// A line that has been served in part, and then grows beyond any room that it may have had, keeps its order.
  static func grownLine(
    _ entry: CatalogueEntry,
    overtakings: Int = 0
  ) -> GradeBook.Question {
    let (early, served, late) = (600, 300, 17_000)
    let asked = "\(early) wait, limit 1, \(served) of them are served, and \(late) more come"
    return .task("grown_line", asked, seconds: 120) { _ in
      let scheduler = VirtualScheduler(workers: 1)
      let mechanism = entry.make(MechanismSetup(limit: 1))
      let all = Crowd()
      // Who has the permit first, the last who is served before the others come, and one who is served soon after.
      let stays = [1: Crowd(), served + 2: Crowd(), 2 * served + 3: Crowd()]
      all.goOn()
      let goOn: @Sendable (Int) async -> Int64 = { number in
        stays[number]?.goOn()
        return await timeToIdle(scheduler)
      }
      let come: @Sendable (ClosedRange<Int>) async -> Int64 = { numbers in
        for number in numbers {
          Task(executorPreference: scheduler) {
            let task = SimulatedTask(number: number, service: 1)
            await mechanism.carry(Visit(task, tracer: all, world: stays[number] ?? all))
          }
        }
        return await timeToIdle(scheduler)
      }
      _ = await come(1...early + 1)
      let together = all.begun.count
      _ = await goOn(1)
      for first in stride(from: early + 2, through: early + late + 1, by: 1_000) {
        let time = await come(first...first + 999)
        if let slow = tooSlow(time, 1_000, "come", waiting: first) {
          return GradeItem("grown_line", passed: false, "\(asked): \(slow)")
        }
      }
      let time = await goOn(served + 2)
      if let slow = tooSlow(time, served, "are served", waiting: early - served + late) {
        return GradeItem("grown_line", passed: false, "\(asked): \(slow)")
      }
      _ = await goOn(2 * served + 3)
      let order = all.begun
      let left = early + late + 1 - order.count
      let fault: String? =
        if together > 1 {
          "\(together) ran at once"
        } else if left > 0 {
          "\(left) of them were never served. Look what becomes of a line when it grows long: when it needs more room, or its numbers begin again"
        } else if let number = overtakenInLongLine(order, moreThan: overtakings) {
          "number \(number - 1) of them was overtaken\(overtakings > 0 ? " more than once" : ""). A line that needs "
            + "more room keeps its order"
        } else {
          nil
        }
      return GradeItem(
        "grown_line",
        passed: fault == nil,
        "\(asked): \(fault ?? "all are served in their order")"
      )
    }
  }

  /// How much processor time it takes until nothing more can run.
  private static func timeToIdle(_ scheduler: VirtualScheduler) async -> Int64 {
    await scheduler.onOwnThread { scheduler in
      let before = MachineClock.threadTime()
      _ = scheduler.runUntilIdle()
      return MachineClock.threadTime() - before
    }
  }

  /// Who takes a millisecond for each goes through the line; who does not takes some microseconds.
  private static func tooSlow(_ time: Int64, _ count: Int, _ what: String, waiting: Int) -> String?
  {
    guard time > Int64(count) * mostForEach else { return nil }
    return
      "it is too slow. Where \(count) \(what) while \(waiting) wait, your code takes \(time / Int64(count) / 1_000_000) ms "
      + "of processor time for each. Who goes through the whole line for each that comes or departs takes longer with "
      + "each that waits: take the first, and look at no other"
  }

  private static let mostForEach: Int64 = 1_000_000

  /// The same as `overtaken`, of a line that is mostly in order.
  static func overtakenInLongLine(_ served: [Int], moreThan most: Int) -> Int? {
    var last = 0
    for (place, one) in served.enumerated() {
      if one < last, served[..<place].count(where: { $0 > one }) > most { return one }
      last = max(last, one)
    }
    return nil
  }

  // MARK: One that comes cancelled

  /// Who was cancelled before it came needs a permit as others do, and stands behind who came before.
  ///
  /// Who is told that it was cancelled takes no permit along. In lesson 7 nobody is told so: it `servesAll`.
  static func cancelledBefore(
    _ entry: CatalogueEntry,
    overtakings: Int = 0,
    servesAll: Bool = false
  ) -> GradeBook.Question {
    let asked =
      "one has the only permit, then five come: the second of them was cancelled before, the fourth is cancelled "
      + "as it waits"
    return .task("cancelled_before", asked, seconds: 30) { _ in
      let scheduler = VirtualScheduler(workers: 1)
      let crowd = Crowd()
      let fault = Lock<String?>(nil)
      let mechanism = entry.make(
        MechanismSetup(limit: 1, onFault: { sentence in fault.withLock { $0 = $0 ?? sentence } })
      )
      visit(mechanism, 1, crowd, on: scheduler)
      visit(mechanism, 2, crowd, on: scheduler)
      Task(executorPreference: scheduler) {
        withUnsafeCurrentTask { $0?.cancel() }
        await carry(mechanism, 3, crowd)
      }
      visit(mechanism, 4, crowd, on: scheduler)
      let goes = visit(mechanism, 5, crowd, on: scheduler)
      visit(mechanism, 6, crowd, on: scheduler)
      _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      goes.cancel()
      _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      let together = crowd.admitted
      crowd.goOn()
      _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      let order = crowd.begun
      // Once more, where nobody is before it.
      let alone = Crowd()
      let isOver = Lock(false)
      Task(executorPreference: scheduler) {
        withUnsafeCurrentTask { $0?.cancel() }
        await carry(mechanism, 1, alone)
        isOver.withLock { $0 = true }
      }
      _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      alone.goOn()
      _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      let later = Crowd()
      visit(mechanism, 1, later, on: scheduler)
      _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      let isServedLater = later.admitted == 1
      later.goOn()
      _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      // Who was cancelled may be turned away, unless that was asked; the others are served, one after the other.
      let forgotten = [2, 4, 6].first { !order.contains($0) }
      let turnedAway = servesAll ? [3, 5].first { !order.contains($0) } : nil
      var seen = fault.withLock { $0 }.map { "\($0). Being cancelled gives nobody a permit" }
      if seen == nil, together != 1 {
        seen = "\(together) ran at once. Being cancelled gives nobody a permit"
      }
      if seen == nil, let forgotten {
        seen =
          "number \(forgotten - 1) of them was never served: a permit went along with one who was cancelled"
      }
      if seen == nil, let turnedAway {
        seen =
          "number \(turnedAway - 1) of them was not served. Who is cancelled waits like the others"
      }
      if seen == nil, let number = overtaken(order, moreThan: overtakings) {
        seen = "number \(number - 1) of them was overtaken. Being cancelled moves nobody forward"
      }
      if seen == nil, !isOver.withLock({ $0 }) {
        seen =
          "then all was free, one came that had been cancelled before, and it waits for ever. Nobody comes who would "
          + "wake it: let it in, or tell it"
      }
      if seen == nil, servesAll, alone.begun.isEmpty {
        seen =
          "then all was free, and one that had been cancelled before was not served. It is served like the others"
      }
      if seen == nil, !isServedLater {
        seen =
          "then all was free, one came that had been cancelled before, and who came behind it was not served: what it "
          + "had taken is lost"
      }
      return GradeItem(
        "cancelled_before",
        passed: seen == nil,
        "\(asked): \(seen ?? "none of the two runs beside the others or before its turn, and all \(servesAll ? "" : "others ")are served")"
      )
    }
  }
}
