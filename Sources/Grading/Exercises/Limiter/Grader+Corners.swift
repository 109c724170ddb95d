internal import Basics
internal import Experiments
internal import Exploration
internal import LessonBook
internal import Limiters
internal import Mechanisms
internal import Rendering

/// What a body throws that is nobody's error but its own.
private struct Refusal: Error {}

// The corners that neither an exploration of three tasks nor a long line meets: what becomes of one body, short
// lines of which each part is cancelled, every number of permits, and what is kept when all is over.
extension Grader {
  // MARK: One body

  /// A body runs once, on the task that brought it, and its value or error is what comes out.
  static func values<Limiter: LearnerLimiter>(_ type: Limiter.Type) -> GradeBook.Question {
    .task("values", "one task alone", seconds: 10) { _ in
      func refused(_ why: String) -> GradeItem { GradeItem("values", passed: false, why) }
      let limiter = Limiter(limit: 1)
      var runs = 0
      do {
        let caller = withUnsafeCurrentTask { $0 }
        var isOnCaller = false
        let value = try await limiter.run {
          runs += 1
          isOnCaller = withUnsafeCurrentTask { $0 } == caller
          return 42
        }
        guard value == 42 else { return refused("run returned another value than its body") }
        guard isOnCaller else { return refused("the body ran on another task than the caller's") }
        let nothing: Int? = try await limiter.run {
          runs += 1
          return nil
        }
        guard nothing == nil else {
          return refused("the body returned nil, and run something else")
        }
      } catch {
        return refused("run threw \(error), though its body did not")
      }
      guard runs == 2 else {
        return refused("two bodies, one of which returned nil, ran \(runs) times")
      }
      do {
        try await limiter.run {
          runs += 1
          throw Refusal()
        }
        return refused("the body threw, and run did not")
      } catch is Refusal {
        guard runs == 3 else { return refused("a body that throws ran \(runs - 2) times") }
        return GradeItem("values", passed: true, "the body's value and its error come out of run")
      } catch {
        return refused("the body threw Refusal, and run threw \(error)")
      }
    }
  }

  /// A body may throw the error that tells of a cancellation as well, though nobody was cancelled.
  static func permitBack<Limiter: LearnerLimiter>(_ type: Limiter.Type) -> GradeBook.Question {
    let asked = "a body that throws CancellationError though nobody was cancelled, then another"
    return .task("permit_back", asked, seconds: 10) { _ in
      let limiter = Limiter(limit: 1)
      var runs = 0
      do {
        try await limiter.run {
          runs += 1
          throw CancellationError()
        }
        return GradeItem("permit_back", passed: false, "\(asked): run did not throw")
      } catch is CancellationError {
      } catch {
        return GradeItem("permit_back", passed: false, "\(asked): run threw \(error)")
      }
      guard runs == 1 else {
        return GradeItem("permit_back", passed: false, "\(asked): the first ran \(runs) times")
      }
      let second = try? await limiter.run { 42 }
      guard second == 42 else {
        return GradeItem("permit_back", passed: false, "\(asked): the other did not run")
      }
      return GradeItem("permit_back", passed: true, "\(asked): the permit comes back")
    }
  }

  /// Who is cancelled while its body runs gives its permit back too, however the body ends.
  static func permitBackOfCancelled<Limiter: LearnerLimiter>(
    _ type: Limiter.Type
  ) -> GradeBook.Question {
    let asked = "a task that is cancelled while its body runs, and the body"
    return .task("permit_back_cancelled", "\(asked) ends, then another", seconds: 20) { _ in
      for ending in Ending.allCases {
        let limiter = Limiter(limit: 1)
        let visit: @Sendable () async throws -> Void = {
          try await limiter.run {
            withUnsafeCurrentTask { $0?.cancel() }
            switch ending {
            case .returns: return
            case .throwsItsOwn: throw Refusal()
            case .throwsCancellation: throw CancellationError()
            }
          }
        }
        _ = await Task { try await visit() }.result
        let served = Lock(0)
        let next: @Sendable () async -> Void = {
          try? await limiter.run { served.withLock { $0 += 1 } }
        }
        Task { await next() }
        guard await Moment.pass(until: 1, { served.withLock { $0 } }) == 1 else {
          return GradeItem(
            "permit_back_cancelled",
            passed: false,
            "\(asked) \(ending.words): its permit was not given back, and the next who came was never served"
          )
        }
      }
      return GradeItem(
        "permit_back_cancelled",
        passed: true,
        "\(asked) returns or throws: the permit comes back"
      )
    }
  }

  /// How many bodies run, and have run.
  private final class Bodies: Sendable {
    private let state = Lock((running: 0, most: 0, ended: 0))

    var counts: (most: Int, ended: Int) { state.withLock { ($0.most, $0.ended) } }

    func begin() {
      state.withLock {
        $0.running += 1
        $0.most = max($0.most, $0.running)
      }
    }

    func end() {
      state.withLock {
        $0.running -= 1
        $0.ended += 1
      }
    }
  }

  /// Who comes from inside of a body is a task like others, and needs a permit of its own.
  static func children<Limiter: LearnerLimiter>(_ type: Limiter.Type) -> GradeBook.Question {
    let asked = "a body that starts three tasks, which come to the same limiter, limit 2"
    return .task("children", asked, seconds: 30) { _ in
      let limiter = Limiter(limit: 2)
      let bodies = Bodies()
      let scheduler = VirtualScheduler(workers: 1)
      Task(executorPreference: scheduler) {
        try? await limiter.run {
          bodies.begin()
          await withTaskGroup { group in
            for _ in 1...3 {
              group.addTask { @Sendable in
                try? await limiter.run {
                  bodies.begin()
                  for _ in 1...5 { await Task.yield() }
                  bodies.end()
                }
              }
            }
          }
          bodies.end()
        }
      }
      _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      let (most, served) = bodies.counts
      return GradeItem(
        "children",
        passed: most == 2 && served == 4,
        most > 2
          ? "\(asked): \(most) bodies ran at once. A task that a body starts needs a permit of its own"
          : "\(asked): \(served) of 4 bodies ended, and \(most) ran at once"
      )
    }
  }

  /// Who is inside of one limiter needs a permit of another like everybody else.
  static func nested<Limiter: LearnerLimiter>(_ type: Limiter.Type) -> GradeBook.Question {
    let tasks = 3
    let asked =
      "\(tasks) tasks, each inside of a limiter of its own, come to the same other limiter, limit 1"
    return .task("nested", asked, seconds: 30) { _ in
      let inner = Limiter(limit: 1)
      let bodies = Bodies()
      let scheduler = VirtualScheduler(workers: 1)
      for _ in 1...tasks {
        let outer = Limiter(limit: 1)
        Task(executorPreference: scheduler) {
          try await outer.run {
            try await inner.run {
              bodies.begin()
              for _ in 1...5 { await Task.yield() }
              bodies.end()
            }
          }
        }
      }
      _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      let (most, served) = bodies.counts
      return GradeItem(
        "nested",
        passed: most == 1 && served == tasks,
        most > 1
          ? "\(asked): \(most) bodies ran at once. A permit of one limiter is none of another"
          : "\(asked): \(served) of \(tasks) bodies ended, and \(most) ran at once"
      )
    }
  }

  /// How a body ends that is asked for by a task that may be cancelled.
  private enum Ending: CaseIterable {
    case returns
    case throwsItsOwn
    case throwsCancellation

    var words: String {
      switch self {
      case .returns: "returns"
      case .throwsItsOwn: "throws"
      case .throwsCancellation: "throws CancellationError"
      }
    }
  }

  /// A cancelled task's body runs once and says how it ended, or not at all; another's is not touched.
  static func cancelledBody<Limiter: LearnerLimiter>(
    _ type: Limiter.Type
  ) -> [GradeBook.Question] {
    Ending.allCases.map { ending in
      promise(
        "cancelled_body",
        "a task that is cancelled, whose body \(ending.words), beside another, one permit",
        tasks: ["the one that is cancelled", "the other"],
        preemptions: onePreemption,
        schedules: 2_000
      ) {
        let limiter = Limiter(limit: 1)
        let runs = Lock((gone: 0, other: 0))
        let visit: @Sendable () async throws -> Int = {
          try await limiter.run {
            runs.withLock { $0.gone += 1 }
            await Task.yield()
            switch ending {
            case .returns: return 1
            case .throwsItsOwn: throw Refusal()
            case .throwsCancellation: throw CancellationError()
            }
          }
        }
        let otherVisit: @Sendable () async throws -> Int = {
          try await limiter.run {
            runs.withLock { $0.other += 1 }
            await Task.yield()
            return 2
          }
        }
        let (gone, other) = (Task { try await visit() }, Task { try await otherVisit() })
        await Task.yield()
        gone.cancel()
        let result = await gone.result
        let answer = try? await other.value
        let (count, others) = runs.withLock { $0 }
        try require(count <= 1, "the body of the task that is cancelled ran \(count) times")
        try require(
          answer == 2 && others == 1,
          "the other task, which nobody cancelled, ran \(others) times and was told "
            + (answer.map { "\($0), not 2" } ?? "an error")
        )
        let told =
          switch result {
          case .success(let value): "\(value)"
          case .failure(is Refusal): "its body's error"
          case .failure(is CancellationError): "CancellationError"
          case .failure(let error): "\(error)"
          }
        let ended =
          switch ending {
          case .returns: "1"
          case .throwsItsOwn: "its body's error"
          case .throwsCancellation: "CancellationError"
          }
        let due = count == 0 ? "CancellationError" : ended
        try require(
          told == due,
          "the body of the task that is cancelled ran \(count == 0 ? "not at all" : "once"), and run told it "
            + "\(told), not \(due)"
        )
        let last = try? await limiter.run { 3 }
        try require(last == 3, "a task that came later was not served")
      }
    }
  }

  // MARK: Lines

  /// Urgent tasks wait as others do, and their permits come back.
  static func urgencies(
    _ entry: CatalogueEntry,
    overtakings: Int = 0
  ) -> GradeBook.Question {
    let asked =
      "a line of 36, four times low, high, background, medium, high, low and three of the highest in urgency, of which "
      + "every second fails, limit 1"
    return .task("urgencies", asked, seconds: 30) { _ in
      let highest = TaskPriority(rawValue: 33)
      let nine: [TaskPriority] = [
        .low, .high, .background, .medium, .high, .low, highest, highest, highest,
      ]
      let priorities = nine + nine + nine + nine
      let millisecond: Int64 = 1_000_000
      let scheduler = VirtualScheduler(workers: 1)
      let recorder = OrderTracer()
      let mechanism = entry.make(MechanismSetup(limit: 1))
      let world = SchedulerWorld(scheduler: scheduler)
      for number in 1...priorities.count + 1 {
        let priority = number == 1 ? .medium : priorities[number - 2]
        Task(executorPreference: scheduler, priority: priority) {
          try await scheduler.clock.sleep(nanoseconds: Int64(number) * millisecond)
          let task = SimulatedTask(
            number: number,
            service: 100 * millisecond,
            fails: number.isMultiple(of: 2)
          )
          await mechanism.carry(Visit(task, tracer: recorder, world: world))
        }
      }
      _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      let order = recorder.admitted.map { $0 - 1 }.filter { $0 > 0 }
      let names = ListText.all(order.map(String.init))
      guard order.count == priorities.count else {
        return GradeItem("urgencies", passed: false, "\(asked): served were only \(names)")
      }
      let most =
        order.enumerated().map { place, one in order[..<place].count { $0 > one } }.max() ?? 0
      let rule =
        overtakings == 0
        ? "Urgency moves nobody forward: they are served as they came"
        : "One who waits may be overtaken at most once, here one was \(most) times"
      return GradeItem(
        "urgencies",
        passed: most <= overtakings,
        "\(asked): served in the order \(names)" + (most > overtakings ? ". \(rule)" : "")
      )
    }
  }

  private struct SchedulerWorld: World {
    let scheduler: VirtualScheduler

    var now: Int64 { scheduler.now }
    func suspend(for nanoseconds: Int64) async throws {
      try await scheduler.clock.sleep(nanoseconds: nanoseconds)
    }
    func leaveStartingThread() async {}
    func block(for nanoseconds: Int64) {}
    func spin(for nanoseconds: Int64) {}
  }

  /// Who was admitted, in this order.
  private final class OrderTracer: Tracer {
    private let order = Lock<[Int]>([])

    var admitted: [Int] { order.withLock { $0 } }

    func record(_ kind: TraceEvent.Kind, of id: TaskID) {
      if kind == .admitted { order.withLock { $0.append(Int(id.number)) } }
    }

    func noteLostResult(of id: TaskID, toldCancelled: Bool) {}
  }

  // MARK: What is kept

  /// Whether something is kept for each visit, when all visits are over.
  ///
  /// The heap is looked at between batches of visits. What is kept for each makes it grow in every batch; what else
  /// the program does makes it grow in some.
  static func kept(
    _ entry: CatalogueEntry,
    cancels: Bool = false
  ) -> GradeBook.Question {
    let asked = "visits, of which most wait\(cancels ? " and some are cancelled" : "")"
    return GradeBook.Question(name: "kept") { terms in
      judgeKept(entry, cancels, asked, terms.heap).ask(terms)
    }
  }

  private static func judgeKept(
    _ entry: CatalogueEntry,
    _ cancels: Bool,
    _ asked: String,
    _ heap: @escaping @Sendable () -> Int64
  ) -> GradeBook.Question {
    .task("kept", "thousands of \(asked)", seconds: 120) { _ in
      let visits = 3_000
      let mechanism = entry.make(MechanismSetup(limit: 1))
      let tracer = CountingTracer(ordered: false)
      // A Signal takes more, and so does a waiter.
      var growth = GrowthWatch(perBatch: Int64(visits) * leastKept)
      var batches = 0
      while batches < 20 {
        await crowd(mechanism, visits, Course(cancels: cancels), tracer)
        batches += 1
        if let fault = tracer.fault(visits * batches, exactly: !cancels) {
          return GradeItem("kept", passed: false, "\(batches * visits) \(asked): \(fault)")
        }
        if growth.isOver(heap()) {
          return GradeItem(
            "kept",
            passed: true,
            "\(batches * visits) \(asked): nothing is kept of them"
          )
        }
      }
      return GradeItem(
        "kept",
        passed: false,
        "\(batches * visits) \(asked): memory grows with each batch of \(visits), so something is kept of "
          + "each visit when it is over. Look what is put into an array or a dictionary and never taken out, or is "
          + "left to a timer"
      )
    }
  }

  /// Numbers that are given to visits do not come to an end after two bytes of them, however bodies end.
  static func manyVisits(_ entry: CatalogueEntry) -> GradeBook.Question {
    manyOfOneKind(entry, "many", "", Course())
  }

  /// The same where bodies throw.
  static func manyThrown(_ entry: CatalogueEntry) -> GradeBook.Question {
    manyOfOneKind(entry, "many_thrown", " whose bodies throw", Course(fails: true))
  }

  /// After a long life as many run at once as at first: no permit is worn out, and none has come to be two.
  static func limitAfterMany(_ entry: CatalogueEntry) -> GradeBook.Question {
    let (visits, limit) = (30_000, 3)
    let asked = "\(visits) visits of six tasks, limit \(limit), and then six that stay"
    return .task("limit_after_many", asked, seconds: 120) { _ in
      let scheduler = VirtualScheduler(workers: 1)
      let mechanism = entry.make(MechanismSetup(limit: limit))
      let stays = Crowd()
      Task(executorPreference: scheduler) {
        await crowd(mechanism, visits, Course(), CountingTracer(ordered: false))
        for number in 1...6 { visit(mechanism, number, stays, on: scheduler) }
      }
      _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      let running = stays.admitted
      stays.goOn()
      _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      return GradeItem(
        "limit_after_many",
        passed: running == limit,
        "\(asked): \(running) of them ran at once"
          + (running < limit ? ", and the others waited" : "")
      )
    }
  }

  /// The same where most are cancelled while they wait; all of those who come then are served.
  static func manyCancelled(_ entry: CatalogueEntry) -> GradeBook.Question {
    let visits = 105_000
    let asked = "\(visits) visits of six tasks, two of three of them cancelled, limit 1, then six"
    return .task("many_cancelled", asked, seconds: 120) { _ in
      let fault = await faultOfMany(entry) { mechanism, ordered in
        let (tracer, later) = (CountingTracer(ordered: ordered), CountingTracer(ordered: ordered))
        await crowd(mechanism, visits, Course(cancels: true), tracer)
        await crowd(mechanism, 6, Course(), later)
        return tracer.fault(visits, exactly: false) ?? later.fault(6, exactly: true)
      }
      return GradeItem(
        "many_cancelled",
        passed: fault == nil,
        "\(asked): \(fault ?? "those who come then are served as the first")"
      )
    }
  }

  private static func manyOfOneKind(
    _ entry: CatalogueEntry,
    _ name: String,
    _ kind: String,
    _ course: Course
  ) -> GradeBook.Question {
    let visits = 90_000
    let asked = "\(visits) visits of six tasks\(kind), limit 1"
    return .task(name, asked, seconds: 120) { _ in
      let fault = await faultOfMany(entry) { mechanism, ordered in
        let tracer = CountingTracer(ordered: ordered)
        await crowd(mechanism, visits, course, tracer)
        return tracer.fault(visits, exactly: true)
      }
      return GradeItem(
        name,
        passed: fault == nil,
        "\(asked): \(fault ?? "each had its turn, the last as the first")"
      )
    }
  }

  /// Looks for what is wrong with many visits.
  ///
  /// They run on the deterministic executor, one step after the other, and who went before whom is looked at. On
  /// threads it cannot be: the machine may let one rest who has come and is not in line yet, and thousands go before it.
  /// An answer that goes on elsewhere, such as on a queue, does not end there, and is asked again on threads.
  ///
  /// - Parameters:
  ///   - entry: what is asked.
  ///   - carry: makes the visits, and says what is wrong with them; it is told whether their order counts.
  /// - Returns: what is wrong, if anything is.
  private static func faultOfMany(
    _ entry: CatalogueEntry,
    _ carry: @escaping @Sendable (_ mechanism: any Mechanism, _ ordered: Bool) async -> String?
  ) async -> String? {
    let found = Lock((fault: nil as String?, isThere: false))
    let mechanism = entry.make(MechanismSetup(limit: 1))
    let scheduler = VirtualScheduler(workers: 1)
    Task(executorPreference: scheduler) {
      let fault = await carry(mechanism, true)
      found.withLock { $0 = (fault, true) }
    }
    _ = await scheduler.onOwnThread { $0.runUntilIdle() }
    let (fault, isThere) = found.withLock { $0 }
    return isThere ? fault : await carry(entry.make(MechanismSetup(limit: 1)), false)
  }

  /// How many bytes are kept of each visit or message at least, if anything is.
  static let leastKept: Int64 = 20

  /// What becomes of the visits of a crowd.
  private struct Course {
    /// Two of three are cancelled, mostly while they wait.
    var cancels = false
    /// Every body throws.
    var fails = false
  }

  /// Sends a crowd of tasks through, which meet at one permit.
  private static func crowd(
    _ mechanism: any Mechanism,
    _ visits: Int,
    _ course: Course,
    _ tracer: CountingTracer
  ) async {
    let tasks = 6
    let world = YieldingWorld()
    await withTaskGroup { group in
      for number in 1...tasks {
        group.addTask {
          for visit in 0..<visits / tasks {
            let task = SimulatedTask(number: number, service: 1, fails: course.fails)
            let carry: @Sendable () async -> Void = {
              await mechanism.carry(Visit(task, tracer: tracer, world: world))
            }
            if course.cancels, visit % 3 > 0 {
              await withTaskGroup { one in
                one.addTask { await carry() }
                await Task.yield()
                one.cancelAll()
              }
            } else {
              await carry()
            }
          }
        }
      }
    }
  }

  /// A world in which service is a yield.
  private final class YieldingWorld: World {
    var now: Int64 { 0 }
    func suspend(for nanoseconds: Int64) async throws { await Task.yield() }
    func leaveStartingThread() async {}
    func block(for nanoseconds: Int64) {}
    func spin(for nanoseconds: Int64) {}
  }

  /// Counts who is in service, and how many others each lets go first.
  private final class CountingTracer: Tracer {
    /// So many are let by of six tasks at most: a line that keeps no order lets by a few, and one that has turned round
    /// lets by thousands.
    private static let mostLetBy = 2_000

    private let counts = Lock((admitted: 0, running: 0, peak: 0, letBy: 0))
    private let came = Lock<[Int32: Int]>([:])
    /// Whether it counts who was let by.
    private let ordered: Bool

    init(ordered: Bool) { self.ordered = ordered }

    func record(_ kind: TraceEvent.Kind, of id: TaskID) {
      counts.withLock { counts in
        switch kind {
        case .arrived: came.withLock { $0[id.number] = counts.admitted }
        case .admitted:
          let before = came.withLock { $0.removeValue(forKey: id.number) } ?? counts.admitted
          counts.letBy = max(counts.letBy, counts.admitted - before)
          counts.admitted += 1
          counts.running += 1
          counts.peak = max(counts.peak, counts.running)
        case .finished, .failed, .cancelled(.running): counts.running -= 1
        default: break
        }
      }
    }

    func noteLostResult(of id: TaskID, toldCancelled: Bool) {}

    func fault(_ visits: Int, exactly: Bool) -> String? {
      let (admitted, _, peak, letBy) = counts.withLock { $0 }
      if peak > 1 { return "\(peak) bodies were in service at once, limit 1" }
      if ordered, letBy > Self.mostLetBy {
        return
          "one waited while \(letBy) who had come later went before it. Number those in line so that no number comes "
          + "twice, however many have come"
      }
      if exactly, admitted != visits { return "\(admitted) bodies ran" }
      return nil
    }
  }
}

/// Tells memory that grows with every batch from memory that grows now and then.
struct GrowthWatch {
  /// By how much it grows in a batch of which something is kept.
  let perBatch: Int64
  private var last: Int64?
  private var quiet = 0

  init(perBatch: Int64) { self.perBatch = perBatch }

  /// Whether it has not grown in three batches: something else may be let go of in one or two.
  mutating func isOver(_ bytes: Int64) -> Bool {
    if let last, bytes - last < perBatch { quiet += 1 }
    last = bytes
    return quiet == 3
  }
}
