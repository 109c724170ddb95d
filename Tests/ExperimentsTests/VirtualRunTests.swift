import Experiments
import Mechanisms
import TestSupport
import Testing

extension Experiment {
  /// A run of one of the catalogue's, in virtual time.
  static func virtual(
    _ id: String,
    limit: Int,
    _ workload: Workload,
    workers: Int = Experiment.defaultWorkers
  ) throws -> Experiment {
    Experiment(
      mechanism: try #require(Catalogue.entry(id)),
      limit: limit,
      workload: workload,
      clock: .virtual,
      workers: workers
    )
  }

  /// Runs it from its beginning to its end.
  func run() async -> Run {
    let run = VirtualRun(self)
    run.submit(workload)
    return await run.finish()
  }
}

let milliseconds: Int64 = 1_000_000

extension Run {
  var lives: [TaskLife] { TaskLife.all(in: events, tasks: plan.count) }
  var figures: RunSummary { RunSummary(events: events, facts: facts, permitsLeft: permitsLeft) }

  /// The lines of one kind of event, as "t03 at 40 because of t01".
  func told(_ kind: TraceEvent.Kind) -> [String] {
    events.filter { $0.kind == kind }.map { event in
      let cause = event.cause.map { " because of \($0.label(amongst: plan.count))" } ?? ""
      return "\(event.task.label(amongst: plan.count)) at \(event.time / milliseconds)\(cause)"
    }
  }
}

@Suite(.watched) struct VirtualRunTests {
  static let mechanisms = MechanismExplorationTests.mechanisms

  // MARK: The same again

  @Test(arguments: mechanisms)
  func `the same seed gives the same events, fifty times of fifty`(id: String) async throws {
    var workload = Workload(
      count: 60,
      service: .exponential(mean: 20 * milliseconds),
      arrivals: .poisson(perSecond: 200),
      cancellations: .share(percent: 20),
      failPercent: 10,
      seed: 7
    )
    for kind in [ServiceKind.suspend, .spin, .download] {
      workload.kind = kind
      let experiment = try Experiment.virtual(id, limit: 3, workload, workers: 2)
      let first = await experiment.run()
      #expect(first.events.count >= 120)
      for _ in 2...(kind == .suspend ? 50 : 5) {
        let again = await experiment.run()
        #expect(again.events == first.events)
        #expect(again.plan == first.plan)
        #expect(again.stoppedBecause == nil)
      }
    }
  }

  @Test func `another seed gives another run`() async throws {
    func events(_ seed: UInt64) async throws -> [TraceEvent] {
      let workload = Workload(count: 20, service: .exponential(mean: milliseconds), seed: seed)
      return await (try Experiment.virtual("limiter", limit: 3, workload)).run().events
    }
    let one = try await events(1)
    #expect(try await events(2) != one)
  }

  // MARK: The pool

  /// Ten tasks of 10 ms, all at once, on a pool of two, the limit out of the way.
  private func makespan(_ id: String, _ kind: ServiceKind, workers: Int) async throws -> Int64 {
    let workload = Workload(count: 10, service: .fixed(10 * milliseconds), kind: kind)
    let run = await (try Experiment.virtual(id, limit: 10, workload, workers: workers)).run()
    let summary = RunSummary(events: run.events, facts: run.facts)
    #expect(summary.finished == 10)
    #expect(summary.violations == [])
    return summary.makespan / milliseconds
  }

  @Test(arguments: ["limiter", "pool", "task-group", "none"])
  func `blocking and spinning tasks starve a narrow pool, suspending ones do not notice it`(
    id: String
  ) async throws {
    #expect(try await makespan(id, .suspend, workers: 1) == 10)
    #expect(try await makespan(id, .block, workers: 2) == 50)
    #expect(try await makespan(id, .spin, workers: 5) == 20)
    #expect(try await makespan(id, .block, workers: 10) == 10)
  }

  @Test func `a timer that is due waits for a worker while all are held`() async throws {
    let run = VirtualRun(
      try .virtual("none", limit: 1, Workload(count: 1, service: .fixed(0)), workers: 1)
    )
    run.submit(Workload(count: 1, service: .fixed(5 * milliseconds)))
    run.submit(
      Workload(count: 1, service: .fixed(30 * milliseconds), kind: .block, arrivals: .together)
    )
    let lives = await run.finish().lives
    #expect(lives.map(\.ended) == [30 * milliseconds, 30 * milliseconds])
  }

  @Test func `the workers in the log are those of the pool`() async throws {
    let workload = Workload(count: 9, service: .fixed(milliseconds), kind: .block)
    let run = await (try Experiment.virtual("limiter", limit: 9, workload, workers: 3)).run()
    #expect(Set(run.events.compactMap(\.worker?.number)) == [1, 2, 3])
    #expect(run.workers == 3)
  }

  // MARK: Steering at the present time

  @Test func `tasks given, cancelled and let run act at the present virtual time`() async throws {
    let one = Workload(count: 1, service: .fixed(100 * milliseconds))
    let run = VirtualRun(try .virtual("limiter", limit: 1, one))
    #expect(run.submit(one).map(\.number) == [1])
    #expect(run.now == 0)
    #expect(await run.advance(by: 30 * milliseconds) == .paused)
    #expect(run.now == 30 * milliseconds)

    #expect(
      run.submit(Workload(count: 2, service: .fixed(10 * milliseconds))).map(\.number) == [2, 3]
    )
    #expect(await run.advance(by: 0) == .paused)
    #expect(run.now == 30 * milliseconds)
    #expect(await run.advance(by: 10 * milliseconds) == .paused)
    run.cancel(2)
    #expect(await run.idle() == .finished)
    #expect(run.now == 110 * milliseconds)

    let finished = await run.finish()
    #expect(
      finished.told(.arrived) == ["t01 at 0", "t02 at 30", "t03 at 30"]
    )
    #expect(finished.told(.cancelled(.waiting)) == ["t02 at 40 because of t00"])
    #expect(finished.told(.admitted).last == "t03 at 100 because of t01")
    #expect(finished.told(.finished) == ["t01 at 100", "t03 at 110"])
    #expect(finished.stoppedBecause == nil)
  }

  @Test func `a task cancelled before it arrives is turned away as it arrives`() async throws {
    let workload = Workload(
      count: 2,
      service: .fixed(10 * milliseconds),
      arrivals: .every(5 * milliseconds)
    )
    let run = VirtualRun(try .virtual("limiter", limit: 1, workload))
    run.submit(workload)
    run.cancel(2)
    let lives = await run.finish().lives
    #expect(lives[0].end == .finished)
    #expect(lives[1].end == .cancelledWhileWaiting)
    #expect(lives[1].ended == 5 * milliseconds)
  }

  @Test func `a limit raised in mid-run admits those who wait, at that time`() async throws {
    var experiment = try Experiment.virtual(
      "limiter",
      limit: 1,
      Workload(count: 4, service: .fixed(100 * milliseconds))
    )
    experiment.controls = [(at: 30 * milliseconds, control: .changeLimit(3))]
    let run = await experiment.run()
    #expect(run.lives.map { ($0.admitted ?? -1) / milliseconds } == [0, 30, 30, 100])
    #expect(
      run.events.filter { $0.task == .run }
        == [TraceEvent(time: 30 * milliseconds, task: .run, kind: .limit(3))]
    )
    #expect(run.figures.violations == [])
  }

  @Test func `whatever the limit becomes, and when, a right limiter is not accused`() async throws {
    let times: [Int64] = [0, 10, 15, 20]
    for (first, second) in times.flatMap({ one in times.map { (one, $0) } }) where first <= second {
      for limits in [(1, 3), (3, 1), (1, 1), (5, 2)] {
        var experiment = try Experiment.virtual(
          "limiter",
          limit: 2,
          Workload(count: 7, service: .fixed(10 * milliseconds))
        )
        experiment.controls = [
          (first * milliseconds, .changeLimit(limits.0)),
          (second * milliseconds, .changeLimit(limits.1)),
        ]
        let run = await experiment.run()
        #expect(run.figures.violations == [], "\(limits) at \(first) and \(second) ms")
        #expect(run.lives.allSatisfy { $0.end == .finished })
      }
    }
  }

  @Test func `a run that is stopped says why and ends all its tasks`() async throws {
    let workload = Workload(count: 5, service: .fixed(100 * milliseconds))
    let run = VirtualRun(try .virtual("limiter", limit: 1, workload))
    run.submit(workload)
    _ = await run.advance(by: 50 * milliseconds)
    run.stop(because: "enough")
    let finished = await run.finish()
    #expect(finished.stoppedBecause == "enough")
    #expect(finished.permitsLeft == 0)
    #expect(finished.lives.allSatisfy { $0.ended != nil })
  }

  // MARK: Standing still

  @Test func `a permit that was lost is reported with who waits, since when, and the permits`()
    async throws
  {
    let workload = Workload(
      count: 3,
      service: .fixed(10 * milliseconds),
      arrivals: .every(4 * milliseconds),
      failPercent: 100
    )
    let experiment = try Experiment.virtual("specimen-throwing-body", limit: 1, workload)
    let run = await experiment.run()
    #expect(
      run.stoppedBecause
        == "nothing can run and nothing sleeps: t02 since 4 ms and t03 since 8 ms wait for ever, "
        + "though nobody is in service: permits in use are 1 of 1, lost or held by tasks that wait for each other"
    )
    #expect(run.permitsLeft == 1)
    #expect(RunSummary(events: run.events, facts: run.facts).unended.map(\.number) == [2, 3])
  }

  @Test func `a run under way that stands still says so, and may be stopped`() async throws {
    let workload = Workload(count: 2, service: .fixed(10 * milliseconds), failPercent: 100)
    let run = VirtualRun(try .virtual("specimen-throwing-body", limit: 1, workload))
    run.submit(workload)
    #expect(await run.idle() == .stuck)
    #expect(run.standstill.contains("t02 since 0 s waits for ever"))
    run.cancel(2)
    #expect(await run.idle() == .finished)
    #expect(await run.finish().stoppedBecause == nil)
  }

  @Test func `limits taken in opposite order stand still and are reported, never a hang`()
    async throws
  {
    let workload = Workload(count: 2, service: .fixed(10 * milliseconds))
    let experiment = try Experiment.virtual("specimen-nested-deadlock", limit: 1, workload)
    let run = await experiment.run()
    #expect(
      run.stoppedBecause
        == "nothing can run and nothing sleeps: t01 since 0 s and t02 since 0 s wait for ever, "
        + "though nobody is in service: permits in use are 2: t01 holds a connection and wants a "
        + "file, t02 holds a file and wants a connection"
    )
  }

  // MARK: Causes

  @Test(arguments: ["limiter", "pool", "task-group", "fifo-queue"])
  func `a task that waited was admitted because of the one that departed`(id: String) async throws {
    let workload = Workload(
      count: 5,
      service: .fixed(100 * milliseconds),
      arrivals: .every(10 * milliseconds)
    )
    let run = await (try Experiment.virtual(id, limit: 1, workload)).run()
    #expect(
      run.told(.admitted).dropFirst() == [
        "t02 at 100 because of t01", "t03 at 200 because of t02", "t04 at 300 because of t03",
        "t05 at 400 because of t04",
      ]
    )
    let why = try #require(Why(TaskID(3), events: run.events, facts: run.facts))
    #expect(why.text.contains("t02's departure admitted it at 200 ms"))
  }

  @Test(arguments: ["limiter", "pool", "task-group"])
  func `with two permits each goes on because of the one whose permit it has`(
    id: String
  ) async throws {
    // 1 and 2 take 30 and 50 ms; the rest 30: departures alternate.
    let run = VirtualRun(try .virtual(id, limit: 2, Workload(count: 0, service: .fixed(0))))
    for service in [30, 50, 30, 30, 30] as [Int64] {
      run.submit(Workload(count: 1, service: .fixed(service * milliseconds)))
    }
    let finished = await run.finish()
    #expect(
      finished.told(.admitted).dropFirst(2) == [
        "t03 at 30 because of t01", "t04 at 50 because of t02", "t05 at 60 because of t03",
      ]
    )
  }

  @Test func `on an actor's queue a waiter starts because of the one before`() async throws {
    let workload = Workload(count: 3, service: .fixed(10 * milliseconds), kind: .spin)
    let run = await (try Experiment.virtual("actor-queue", limit: 1, workload)).run()
    #expect(
      run.told(.admitted).dropFirst() == ["t02 at 10 because of t01", "t03 at 20 because of t02"]
    )
  }

  @Test func `an actor's queue keeps its order also where the tasks that began suspend`()
    async throws
  {
    let workload = Workload(count: 6, service: .fixed(10 * milliseconds), kind: .suspend)
    let run = await (try Experiment.virtual("actor-queue", limit: 1, workload)).run()
    #expect(run.facts.promisesOrder && run.facts.limit == nil)
    #expect(run.told(.admitted).map { $0.prefix(3) } == ["t01", "t02", "t03", "t04", "t05", "t06"])
  }

  @Test func `a cancelled task leaves because of the driver that cancelled it`() async throws {
    let workload = Workload(
      count: 2,
      service: .fixed(100 * milliseconds),
      cancellations: .chosen([2: 40 * milliseconds])
    )
    let run = await (try Experiment.virtual("limiter", limit: 1, workload)).run()
    #expect(run.told(.cancelled(.waiting)) == ["t02 at 40 because of t00"])
  }
}
