import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Exploration

/// What a reduced search must find: all that a search finds which runs each schedule to its end.
@Suite(.inTurn, .watched) struct `Searches of unchanged code, reduced` {
  private static func merging(overlooking overlooked: Touches.Oversight) -> Reduction {
    var reduction = Reduction.merging
    reduction.overlooked = overlooked
    return reduction
  }

  /// Compares the searches, unless there are too many schedules to run each to its end.
  private func compare(_ program: SmallProgram, _ preemptions: Int?, schedules: Int = 20_000) throws
  {
    let unreduced = try SearchFindings(
      of: program,
      preemptions: preemptions,
      schedules: schedules,
      .none
    )
    guard unreduced.verdict.schedules < schedules else { return }
    let reduced = try SearchFindings(of: program, preemptions: preemptions, .merging)
    let count = reduced.verdict.schedules
    print(
      "\(program.name): \(count) schedules and \(reduced.verdict.merged) that were left, for "
        + "\(unreduced.verdict.schedules)"
    )
    #expect(reduced.outcomes == unreduced.outcomes, "\(program.name)")
    #expect(count <= unreduced.verdict.schedules, "\(program.name)")
    #expect(reduced.verdict.coverage == unreduced.verdict.coverage, "\(program.name)")
  }

  @Test(arguments: longTestsRun ? SmallProgram.all : SmallProgram.few)
  func `what small programs come to is the same in a reduced search and in one that is not`(
    program: SmallProgram
  ) throws {
    for preemptions in program.preemptions { try compare(program, preemptions) }
  }

  @Test(arguments: SearchOversight.all.fewUnlessLong(5))
  fileprivate func `a search that overlooked this would miss what a small program comes to`(
    oversight: SearchOversight
  ) throws {
    let program = SmallProgram(DrawnProgram(oversight.tasks))
    func outcomes(_ reduction: Reduction) throws -> Set<String> {
      try SearchFindings(of: program, preemptions: oversight.preemptions, reduction).outcomes
    }
    let all = try outcomes(.none)
    #expect(try outcomes(.merging) == all)
    // So it is not what orders the same steps besides that makes the difference.
    #expect(try outcomes(Self.merging(overlooking: oversight.besides)) == all)
    let blind = try outcomes(
      Self.merging(overlooking: oversight.overlooked.union(oversight.besides))
    )
    #expect(blind.isStrictSubset(of: all), "\(blind)")
  }

  @Test(arguments: longTestsRun ? Meeting.all : Meeting.few)
  fileprivate func `what one deed tells another is kept apart from who comes first afterwards`(
    meeting: Meeting
  ) throws {
    try compare(SmallProgram(meeting.program), meeting.preemptions)
  }

  @Test(arguments: TinyPrograms.all.fewUnlessLong(1))
  fileprivate func `what all programs of a few deeds come to is the same in both`(
    programs: TinyPrograms
  ) throws {
    var schedules = (whole: 0, run: 0, left: 0)
    for program in programs.chosen {
      let small = SmallProgram(program)
      let unreduced = try SearchFindings(of: small, preemptions: programs.preemptions, .none)
      let reduced = try SearchFindings(of: small, preemptions: programs.preemptions, .merging)
      schedules.whole += unreduced.verdict.schedules
      schedules.run += reduced.verdict.schedules
      schedules.left += reduced.verdict.merged
      #expect(reduced.outcomes == unreduced.outcomes, "\(small.name)")
    }
    print(
      "\(programs.testDescription): \(programs.chosen.count) programs, \(schedules.run) schedules and "
        + "\(schedules.left) that were left, for \(schedules.whole)"
    )
  }

  @Test func `a step that touches more than can be kept is like no other`() {
    func course(ofStepThatTouches count: UInt) -> UInt64 {
      let touches = Touches(overlooked: [])
      touches.begin()
      defer { touches.end() }
      touches.beginStep(of: 1, 0)
      for number in 1...count { touches.note(address: number * 8) }
      touches.endStep()
      touches.beginStep(of: 2, 0)
      touches.endStep()
      return touches.sum
    }
    // What is touched is noted in one place of the process, which a grading beside this test may be using.
    let (few, many) = turnsOfExplorations.withLock { _ in
      let few = (1...2).map { _ in course(ofStepThatTouches: 1_000) }
      return (few, (1...2).map { _ in course(ofStepThatTouches: 10_000) })
    }
    #expect(few[0] == few[1])
    #expect(many[0] != many[1])
  }

  /// The figures of the documentation's page are what it prints.
  @Test(.long) func `most is saved where tasks do what no other one sees`() throws {
    func savings(_ name: String, _ body: @escaping @Sendable () async -> Void) throws -> Double {
      func verdict(_ reduction: Bool) throws -> ExplorationVerdict {
        let start = ContinuousClock.now
        let verdict = try explore(name, reduction: reduction) { await body() }
        print("\(name): \(verdict), \(ContinuousClock.now - start)")
        return verdict
      }
      let reduced = try verdict(true)
      return try Double(verdict(false).schedules) / Double(reduced.schedules + reduced.merged)
    }
    let ofYields = try savings("four tasks with a yield each") {
      let tasks = (1...4).map { _ in Task { await Task.yield() } }
      for task in tasks { await task.value }
    }
    let ofBucket = try savings("a bucket of one token and three tasks") {
      let bucket = TokenBucket()
      await together(3) { _ in
        await bucket.take()
        await bucket.give()
      }
    }
    #expect(ofYields > ofBucket && ofBucket > 1)
  }

  @Test func `a verdict says that it is reduced, and without a reduction it is not`() throws {
    let program = try #require(SmallProgram.all.first { $0.name == "a lock, taken twice by each" })
    let reduced = try explore("reduced", reduction: true) { _ = await program.body() }
    let whole = try explore("whole") { _ = await program.body() }
    #expect(
      "\(reduced)"
        == "bounded, at most 2 pre-emptions, reduced: \(reduced.schedules) schedules run and "
        + "\(reduced.merged) left, \(reduced.steps) steps; not covered: the rest of \(reduced.merged) "
        + "schedules, left where another had come to the same, as far as it is seen what steps touch"
    )
    #expect(reduced.merged > 0)
    #expect(!reduced.ranEverySchedule)
    #expect(whole.merged == 0)
    #expect(whole.schedules > reduced.schedules + reduced.merged)
    #expect("\(whole)".contains("\(whole.schedules) schedules, \(whole.steps) steps"))
    #expect(whole.coverage == .exhaustive)
  }

  @Test func `a search that could leave schedules and leaves none is exhaustive`() throws {
    let verdict = try explore("one task", reduction: true) {}
    #expect(
      "\(verdict)"
        == "exhaustive, at most 2 pre-emptions, reduced: 1 schedule run and none left, "
        + "1 step"
    )
  }

  @Test func `where races are not looked for, a reduced verdict names them`() throws {
    let program = try #require(SmallProgram.all.first { $0.name == "a lock, taken twice by each" })
    func verdict(races: Bool) throws -> ExplorationVerdict {
      try explore("races", preemptions: 1, races: races, reduction: true) {
        _ = await program.body()
      }
    }
    let phrase = "what a data race would come to in those, for races were not looked for"
    #expect(try verdict(races: false).notCovered.contains(phrase))
    #expect(try !verdict(races: true).notCovered.contains(phrase))
  }
}

/// What a search might overlook, and a program of which it would miss something then.
private struct SearchOversight: Sendable, CustomTestStringConvertible {
  var name: String
  var overlooked: Touches.Oversight
  /// What has to be overlooked too, for it puts the same steps in an order.
  var besides: Touches.Oversight = []
  var preemptions: Int? = 2
  var tasks: [[DrawnProgram.Deed]]

  var testDescription: String { name }

  static let all = [
    SearchOversight(
      name: "that who writes an atomic changes it",
      overlooked: .writes,
      tasks: [[.store(0)], [.store(0)]]
    ),
    SearchOversight(
      name: "the same, of numbers counted up",
      overlooked: .writes,
      tasks: [[.add(0)], [.add(0)]]
    ),
    SearchOversight(name: "atomics", overlooked: .atomics, tasks: [[.store(0)], [.load(0)]]),
    SearchOversight(
      name: "atomics, with no bound on pre-emptions",
      overlooked: .atomics,
      preemptions: nil,
      tasks: [[.store(0)], [.load(0)]]
    ),
    SearchOversight(name: "locks", overlooked: .locks, tasks: [[.take(0)], [.take(0)]]),
    SearchOversight(
      name: "locks, taken in two orders",
      overlooked: .locks,
      tasks: [[.take(0), .take(1)], [.take(1), .take(0)]]
    ),
    SearchOversight(
      name: "actors",
      overlooked: .actors,
      besides: .runtime,
      tasks: [[.visit(0)], [.visit(0)]]
    ),
    SearchOversight(
      name: "the main actor",
      overlooked: [.mainActor, .actors],
      besides: [.runtime, .locks, .course],
      tasks: [[.main], [.main]]
    ),
    SearchOversight(
      name: "which child of a group ends first",
      overlooked: [.runtime, .locks, .resumptions],
      tasks: [[.group], [.yield]]
    ),
    SearchOversight(
      name: "time",
      overlooked: .time,
      tasks: [[.sleep(1), .time], [.sleep(1), .time]]
    ),
    SearchOversight(
      name: "cancellations",
      overlooked: .cancellations,
      besides: [.locks, .runtime, .resumptions, .course],
      tasks: [[.cancel(1)], [.ask]]
    ),
    SearchOversight(name: "chance", overlooked: .chance, tasks: [[.draw], [.draw]]),
    SearchOversight(
      name: "priorities",
      overlooked: .priorities,
      besides: [.locks, .runtime, .resumptions, .course],
      tasks: [[.raise(1)], [.rank]]
    ),
    SearchOversight(
      name: "who is the last to let go of an object",
      overlooked: .owners,
      tasks: [[.drop], [.drop]]
    ),
    SearchOversight(
      name: "whether an object was there",
      overlooked: .owners,
      tasks: [[.drop], [.drop, .look]]
    ),
    SearchOversight(
      name: "how many pre-emptions were spent",
      overlooked: .spent,
      preemptions: 1,
      tasks: [[.load(0), .load(0)], [.store(0)], [.store(0)]]
    ),
    SearchOversight(
      name: "who has the turn",
      overlooked: .turns,
      preemptions: 1,
      tasks: [[.add(0), .add(0)], [.add(0), .add(0)]]
    ),
  ]
}

/// A deed of one task that another task's deed may notice; each then takes a lock.
///
/// A search that does not see the first loses one of the ways in which it can have gone, together with one of the
/// orders of the second: one of them alone would be found by luck.
private struct Meeting: Sendable, CustomTestStringConvertible {
  var one: DrawnProgram.Deed
  var other: DrawnProgram.Deed
  var preemptions: Int? = 2

  var testDescription: String { "\(one), \(other)" }

  var program: DrawnProgram { DrawnProgram([[one, .take(0)], [other, .take(0)]]) }

  private static func pairs(_ deeds: [DrawnProgram.Deed], within preemptions: Int? = 2) -> [Meeting]
  {
    deeds.indices.flatMap { one in
      deeds[one...].map { Meeting(one: deeds[one], other: $0, preemptions: preemptions) }
    }
  }

  static let few = [Meeting(one: .wait(0), other: .open(0), preemptions: 1)]

  static let all =
    pairs([.load(0), .store(0), .add(0), .compare(0), .swap(0)])
    + pairs([.take(1), .tryToTake(1)])
    + pairs([.visit(0), .visitTwice(0), .start(0)], within: 1)
    + [Meeting(one: .wait(0), other: .open(0))]
    + pairs([.main], within: 1) + pairs([.give]) + pairs([.send], within: 1)
    + pairs([.child(1)], within: 1)
    + pairs([.cancel(1), .ask, .sleep(1)], within: 1) + pairs([.sleep(1), .time], within: 1)
    + pairs([.draw]) + pairs([.drop, .look]) + pairs([.raise(1), .rank])
}

/// All programs of so many tasks, each of so many of these deeds.
private struct TinyPrograms: Sendable, CustomTestStringConvertible {
  var name: String
  var tasks = 2
  var deeds = 1
  var preemptions: Int? = 2
  var alphabet: [DrawnProgram.Deed]

  var testDescription: String {
    "\(name), \(tasks) tasks of \(deeds) each, within \(preemptions.map { "\($0)" } ?? "any number")"
  }

  /// All of them where tests may take long, else some from all over.
  var chosen: [DrawnProgram] {
    let all = DrawnProgram.all(tasks: tasks, deeds: deeds, of: alphabet)
    guard !longTestsRun, all.count > Self.few else { return all }
    return (0..<Self.few).map { all[$0 * all.count / Self.few] }
  }

  private static let few = 2

  private static let memory: [DrawnProgram.Deed] = [
    .load(0), .store(0), .add(0), .compare(0), .load(1), .store(1),
  ]
  private static let locks: [DrawnProgram.Deed] = [
    .take(0), .take(1), .tryToTake(0), .nest(0), .load(0), .store(0),
  ]
  private static let tasks: [DrawnProgram.Deed] = [
    .yield, .visit(0), .visitTwice(0), .wait(0), .open(0), .main, .start(0), .child(0), .take(0),
  ]
  private static let surroundings: [DrawnProgram.Deed] = [
    .cancel(1), .ask, .sleep(1), .sleep(2), .time, .draw, .drop, .look, .raise(1), .rank, .store(0),
    .load(0),
  ]

  private static let threads: [DrawnProgram.Deed] = [
    .thread, .threadThatCounts, .threadThatSignals, .joinThread, .countOfThreads, .takePost,
  ]

  static let all = [
    TinyPrograms(name: "memory", deeds: 2, preemptions: 1, alphabet: memory),
    TinyPrograms(name: "memory", deeds: 2, alphabet: memory),
    TinyPrograms(name: "memory", tasks: 3, preemptions: 1, alphabet: memory),
    TinyPrograms(name: "locks", deeds: 2, alphabet: locks),
    TinyPrograms(name: "locks", tasks: 3, preemptions: 1, alphabet: locks),
    TinyPrograms(name: "tasks", alphabet: tasks),
    TinyPrograms(name: "tasks", deeds: 2, preemptions: 1, alphabet: tasks),
    TinyPrograms(name: "surroundings", alphabet: surroundings),
    TinyPrograms(name: "surroundings", deeds: 2, preemptions: 1, alphabet: surroundings),
    TinyPrograms(name: "threads", deeds: 2, preemptions: 1, alphabet: threads),
  ]
}
