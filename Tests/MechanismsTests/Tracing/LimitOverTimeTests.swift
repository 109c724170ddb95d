import Basics
import Mechanisms
import TestSupport
import Testing

/// What a change of the limit does to every reading of the log.
@Suite(.watched) struct LimitOverTimeTests {
  private static func log(_ events: (Int64, Int, TraceEvent.Kind)...) -> [TraceEvent] {
    events.map { TraceEvent(time: $0.0, task: TaskID($0.1), kind: $0.2) }
  }

  private static func summary(_ events: [TraceEvent], tasks: Int, limit: Int) -> RunSummary {
    RunSummary(
      events: events,
      facts: RunFacts(tasks: tasks, limit: limit, promisesOrder: true, serviceHoldsWorker: false)
    )
  }

  private static let raised = log(
    (0, 1, .arrived),
    (0, 1, .admitted),
    (0, 2, .arrived),
    (0, 3, .arrived),
    (5, 0, .limit(2)),
    (5, 2, .admitted),
    (10, 1, .finished),
    (10, 3, .admitted),
    (15, 2, .finished),
    (20, 3, .finished)
  )

  @Test
  func `a raised limit holds from then on`() {
    let summary = Self.summary(Self.raised, tasks: 3, limit: 1)
    #expect(summary.violations == [])
    #expect(summary.peakRunning == 2)
    #expect(summary.limitAtPeak == 2)
    #expect(summary.limit.steps.map(\.value) == [1, 2])
    #expect(summary.limit.area(from: 0, to: 20) == 35)
    let early = Self.raised.filter { $0.time != 5 || $0.task > .run }
    #expect(
      Self.summary(early, tasks: 3, limit: 1).violations.first?.hasPrefix(
        "over-admission: 2 running"
      )
        == true
    )
  }

  @Test
  func `a lowered limit stops nobody who runs, and takes a permit with each departure`() {
    func log(lastAdmission: Int64) -> [TraceEvent] {
      (1...3).flatMap { task in Self.log((0, task, .arrived), (0, task, .admitted)) }
        + Self.log((1, 4, .arrived), (2, 0, .limit(1)))
        + [(5, 1), (6, 2), (7, 3)].flatMap { time, task in
          Self.log((Int64(time), task, .finished))
            + (lastAdmission == Int64(time) ? Self.log((lastAdmission, 4, .admitted)) : [])
        } + Self.log((9, 4, .finished))
    }
    #expect(Self.summary(log(lastAdmission: 7), tasks: 4, limit: 3).violations == [])
    for early: Int64 in [5, 6] {
      let summary = Self.summary(log(lastAdmission: early), tasks: 4, limit: 3)
      #expect(summary.overAdmissions == 1, "admitted at \(early)")
    }
  }

  @Test
  func `why says that the new limit let a task in`() {
    let facts = RunFacts(tasks: 3, limit: 1, promisesOrder: true, serviceHoldsWorker: false)
    let why = Why(TaskID(2), events: Self.raised, facts: facts)?.text ?? ""
    #expect(why.contains("admitted at 5 ns, when the limit had become 2"), "\(why)")
  }

  /// A right limiter whose permits are handed over some time before the bodies begin.
  @Test
  func `no right limiter is accused, and one that ignores the cuts is`() {
    var accused = 0
    for seed in 0..<2_000 {
      let right = Self.play(seed: seed, heedsCuts: true)
      let summary = Self.summary(right, tasks: 12, limit: 3)
      #expect(summary.violations == [], "seed \(seed)")
      let wrong = Self.summary(Self.play(seed: seed, heedsCuts: false), tasks: 12, limit: 3)
      accused += wrong.overAdmissions > 0 ? 1 : 0
    }
    #expect(accused > 200, "\(accused) of 2000")
  }

  private static func play(seed: Int, heedsCuts: Bool) -> [TraceEvent] {
    var random = SplitMix64(seed: UInt64(seed))
    var events: [TraceEvent] = []
    var (limit, promised) = (3, 3)
    var (absent, queue, granted, running) = (Array(1...12), [Int](), [Int](), [Int]())
    func note(_ task: Int, _ kind: TraceEvent.Kind) {
      events.append(TraceEvent(time: Int64(events.count), task: TaskID(task), kind: kind))
    }
    while !(absent.isEmpty && queue.isEmpty && granted.isEmpty && running.isEmpty) {
      switch Int.random(in: 0..<8, using: &random) {
      case 0...1 where !absent.isEmpty:
        queue.append(absent.removeFirst())
        note(queue[queue.count - 1], .arrived)
      case 2...3 where !granted.isEmpty:
        let place = Int.random(in: granted.indices, using: &random)
        running.append(granted.remove(at: place))
        note(running[running.count - 1], .admitted)
      case 4...6 where !running.isEmpty:
        note(running.remove(at: Int.random(in: running.indices, using: &random)), .finished)
      case 7:
        promised = Int.random(in: 1...4, using: &random)
        limit = heedsCuts ? promised : max(limit, promised)
        note(0, .limit(Int32(promised)))
      default: continue
      }
      while granted.count + running.count < limit, !queue.isEmpty {
        granted.append(queue.removeFirst())
      }
    }
    return events
  }
}
