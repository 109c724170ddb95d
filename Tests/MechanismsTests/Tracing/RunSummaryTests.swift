import Mechanisms
import TestSupport
import Testing

@Suite(.watched)
struct RunSummaryTests {
  static let oneAtATime = RunFacts(
    tasks: 2,
    limit: 1,
    promisesOrder: true,
    serviceHoldsWorker: false
  )

  static let kept = log(
    (10, 1, .arrived),
    (10, 1, .admitted),
    (15, 2, .arrived),
    (30, 1, .finished),
    (30, 2, .admitted),
    (40, 2, .failed)
  )

  @Test
  func `the figures of a small run`() {
    let summary = RunSummary(events: Self.kept, facts: Self.oneAtATime)
    #expect(summary.makespan == 30)
    #expect(summary.peakRunning == 1)
    #expect(summary.peakWaiting == 1)
    #expect(summary.throughput == 1e9 / 30)
    #expect(summary.waiting == Percentiles([0, 15]))
    #expect(summary.service == Percentiles([20, 10]))
    #expect(summary.response == Percentiles([20, 25]))
    #expect(summary.finished == 1)
    #expect(summary.failed == 1)
    #expect(summary.fifoInversions == 0)
    #expect(summary.violations == [])
  }

  @Test
  func
    `a task that a cache answers needs no permit, and may take the place of one that is cancelled`()
  {
    let facts = RunFacts(tasks: 3, limit: 1, promisesOrder: false, serviceHoldsWorker: false)
    let events = log(
      (0, 1, .arrived),
      (0, 1, .answered(.missed)),
      (0, 1, .admitted),
      (1, 2, .arrived),
      (1, 2, .answered(.joined)),
      (2, 3, .arrived),
      (2, 3, .answered(.hit)),
      (3, 3, .finished),
      (5, 1, .cancelled(.running)),
      (5, 2, .admitted),
      (9, 2, .finished)
    )
    let summary = RunSummary(events: events, facts: facts)
    #expect(summary.violations == [])
    #expect(summary.peakRunning == 1)
    #expect(summary.peakWaiting == 0)
    #expect(summary.fifoInversions == 0)
    #expect(summary.finished == 2)
    let timeline = Timeline(events: events, facts: facts)
    #expect(timeline.tasks[1].spans.map(\.phase) == [.suspended, .running])
    #expect(TaskLife.all(in: events, tasks: 3).map(\.answer) == [.missed, .joined, .hit])
  }

  @Test
  func `a run in which nothing happened comes to nothing`() {
    let facts = RunFacts(tasks: 0, limit: nil, promisesOrder: false, serviceHoldsWorker: false)
    let summary = RunSummary(events: [], facts: facts)
    #expect(summary.makespan == 0)
    #expect(summary.throughput == 0)
    #expect(summary.violations == [])
  }

  @Test
  func `a task admitted at once does not count as waiting`() {
    let events = log((0, 1, .arrived), (0, 1, .admitted), (5, 1, .finished))
    #expect(RunSummary(events: events, facts: Self.oneAtATime).peakWaiting == 0)
  }

  /// Each rule, broken on purpose, and how the violation begins.
  @Test(
    arguments: [
      (
        [
          (0, 1, .arrived), (0, 1, .admitted), (1, 2, .arrived), (2, 2, .admitted),
          (3, 1, .finished),
          (3, 2, .finished),
        ],
        "over-admission: 2 running at 2 ns, limit 1"
      ),
      (
        [
          (0, 1, .arrived), (0, 2, .arrived), (1, 2, .admitted), (2, 2, .finished),
          (2, 1, .admitted),
          (3, 1, .finished),
        ],
        "order: t02 was admitted before t01 at 1 ns, although t01 had arrived earlier"
      ),
      (
        [
          (0, 1, .arrived), (0, 1, .admitted), (1, 1, .finished), (2, 1, .finished),
          (2, 2, .arrived),
          (2, 2, .rejected),
        ],
        "double-end: t01 ended twice at 2 ns"
      ),
      (
        [
          (0, 1, .arrived), (1, 1, .cancelled(.waiting)), (2, 1, .admitted), (3, 1, .finished),
          (3, 2, .arrived), (3, 2, .rejected),
        ],
        "ran-after-cancel: t01 ran although it had been cancelled while waiting at 2 ns"
      ),
      (
        [
          (0, 1, .arrived), (0, 1, .admitted), (1, 1, .admitted), (2, 1, .finished),
          (3, 2, .arrived),
          (3, 2, .rejected),
        ],
        "admitted-twice: t01 was admitted again at 1 ns"
      ),
      (
        [(0, 1, .arrived), (1, 1, .finished), (3, 2, .arrived), (3, 2, .rejected)],
        "never-admitted: t01 ended its service without having been admitted at 1 ns"
      ),
      (
        [(0, 1, .admitted), (1, 1, .finished), (3, 2, .arrived), (3, 2, .rejected)],
        "never-arrived: t01 was admitted without having arrived at 0 s"
      ),
      (
        [(0, 1, .arrived), (0, 1, .admitted), (3, 2, .arrived)],
        "never-ended: t01 (in service since 0 s), t02 (waiting since 3 ns)"
      ),
      (
        [(0, 1, .arrived), (0, 1, .rejected)],
        "never-arrived: 1 of 2 tasks never arrived"
      ),
    ] as [([(Int64, Int, TraceEvent.Kind)], String)]
  )
  func `a broken rule is told in one line`(lines: [(Int64, Int, TraceEvent.Kind)], text: String) {
    let events = lines.map { TraceEvent(time: $0.0, task: TaskID($0.1), kind: $0.2) }
    #expect(RunSummary(events: events, facts: Self.oneAtATime).violations.contains(text))
  }

  @Test
  func `a permit that was not given back is a violation, none left is not`() {
    let leaky = RunSummary(events: Self.kept, facts: Self.oneAtATime, permitsLeft: 2)
    #expect(leaky.violations == ["permit-leak: 2 permits still in use after the last task ended"])
    let sound = RunSummary(events: Self.kept, facts: Self.oneAtATime, permitsLeft: 0)
    #expect(sound.violations == [])
  }

  @Test
  func `a permit that an unended task holds is no leak, one beyond it is`() {
    let stuck = [
      TraceEvent(time: 0, task: TaskID(1), kind: .arrived),
      TraceEvent(time: 0, task: TaskID(2), kind: .arrived),
      TraceEvent(time: 1, task: TaskID(1), kind: .holds(.connection)),
      TraceEvent(time: 2, task: TaskID(2), kind: .admitted),
    ]
    func violations(_ left: Int) -> [String] {
      RunSummary(events: stuck, facts: Self.oneAtATime, permitsLeft: left).violations
        .filter { $0.hasPrefix("permit-leak") }
    }
    #expect(violations(2) == [])
    #expect(violations(0) == [])
    #expect(violations(3) == ["permit-leak: 1 permit still in use after the last task ended"])
  }

  @Test(arguments: 1...40)
  func `counts of random logs agree with counting at every event`(seed: Int) {
    let sample = RandomLog(tasks: 30, limit: 3, seed: UInt64(seed), holds: seed.isMultiple(of: 2))
    let events = sample.events
    let summary = RunSummary(events: events, facts: sample.facts)
    var peak = 0
    var overLimit = 0
    for now in events.indices {
      let running = (1...30).count { number in
        let own = events[...now].filter { $0.task == TaskID(number) }.map(\.kind)
        return own.contains(.admitted) && !own.contains { $0.isEnd }
      }
      peak = max(peak, running)
      if events[now].kind == .admitted, running > 3 { overLimit += 1 }
    }
    #expect(summary.peakRunning == peak)
    #expect(summary.overAdmissions == overLimit)
    #expect(summary.finished == events.count { $0.kind == .finished })
    #expect(summary.failed == events.count { $0.kind == .failed })
    #expect(summary.rejected == events.count { $0.kind == .rejected })
    #expect(summary.cancelledWhileWaiting == events.count { $0.kind == .cancelled(.waiting) })
    #expect(summary.cancelledWhileRunning == events.count { $0.kind == .cancelled(.running) })
    #expect(summary.unended == [])
  }

  // MARK: Threads

  static func onWorkers(_ lines: [(Int64, Int, TraceEvent.Kind, Int)]) -> [TraceEvent] {
    lines.map { TraceEvent(time: $0.0, task: TaskID($0.1), kind: $0.2, worker: WorkerID($0.3)) }
  }

  static let twoBlocked = onWorkers([
    (0, 1, .arrived, 1), (0, 1, .admitted, 1), (1, 2, .arrived, 2), (1, 2, .blocked, 2),
    (1, 3, .arrived, 3), (1, 3, .blocked, 3), (5, 1, .finished, 1), (5, 2, .admitted, 2),
    (6, 2, .finished, 2), (6, 3, .admitted, 3), (7, 3, .finished, 3),
  ])

  @Test
  func `a blocked waiter holds a thread, and so does service that blocks`() {
    var facts = RunFacts(tasks: 3, limit: 1, promisesOrder: true, serviceHoldsWorker: false)
    #expect(RunSummary(events: Self.twoBlocked, facts: facts).threadsPeak == 2)
    facts.serviceHoldsWorker = true
    #expect(RunSummary(events: Self.twoBlocked, facts: facts).threadsPeak == 3)
    #expect(RunSummary(events: Self.twoBlocked, facts: facts).blockedPeak == 2)
  }

  @Test
  func `tasks that wait on one thread hold one thread`() {
    let facts = RunFacts(tasks: 3, limit: 1, promisesOrder: true, serviceHoldsWorker: true)
    let gate = Self.onWorkers([
      (0, 1, .arrived, 1), (0, 1, .admitted, 1), (1, 2, .arrived, 2), (1, 2, .blocked, 2),
      (1, 3, .arrived, 3), (1, 3, .blocked, 2), (5, 1, .finished, 1), (5, 2, .admitted, 1),
      (6, 2, .finished, 1), (6, 3, .admitted, 1), (7, 3, .finished, 1),
    ])
    #expect(RunSummary(events: gate, facts: facts).blockedPeak == 1)
    #expect(RunSummary(events: gate, facts: facts).threadsPeak == 2)
  }

  @Test
  func `where nothing is held, the workers seen are counted`() {
    let facts = RunFacts(tasks: 2, limit: 2, promisesOrder: true, serviceHoldsWorker: false)
    let events = Self.onWorkers([
      (0, 1, .arrived, 1), (0, 1, .admitted, 1), (3, 2, .arrived, 1), (3, 2, .admitted, 2),
      (5, 1, .finished, 2), (6, 2, .finished, 2),
    ])
    #expect(RunSummary(events: events, facts: facts).threadsPeak == 2)
  }
}
