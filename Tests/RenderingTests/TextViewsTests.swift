import Experiments
import Mechanisms
import Rendering
import TestSupport
import Testing

/// Golden texts of the views that are not drawings.
@Suite(.watched)
struct TextViewsTests {
  static let twelve = SampleRun.together(12, limit: 3, work: 100 * millisecond).run()
  static let blocking: Run = {
    var sample = SampleRun.together(5, limit: 2, work: 30 * millisecond)
    sample.blocksWhileWaiting = true
    sample.serviceHoldsWorker = true
    sample.plan[1].fails = true
    sample.plan[4].cancelAt = 40 * millisecond
    return sample.run(mechanism: "gcd-semaphore")
  }()
  /// A barging newcomer over the limit, a permit lost, one task left in service and one waiting.
  static let broken: Run = {
    var run = SampleRun.together(4, limit: 1, work: 10 * millisecond).run(mechanism: "specimen")
    run.events = [
      (0, 1, .arrived), (0, 1, .admitted), (1, 2, .arrived), (5, 3, .arrived), (5, 3, .admitted),
      (9, 1, .finished), (12, 4, .arrived),
    ].map { (time: Int64, task: Int, kind: TraceEvent.Kind) in
      TraceEvent(time: time * millisecond, task: TaskID(task), kind: kind)
    }
    run.permitsLeft = 2
    run.stoppedBecause = "nothing can run, and t02 and t04 wait for ever"
    return run
  }()

  @Test func `a text is wrapped line by line, and an empty line parts paragraphs`() {
    #expect(Columns.wrap("one two three", width: 7) == ["one two", "three"])
    #expect(Columns.wrap("one two\nthree", width: 20) == ["one two", "three"])
    #expect(Columns.wrap("one\n\ntwo three", width: 9) == ["one", "", "two three"])
    #expect(Columns.wrap("one two", width: 4, indent: 2, first: "- ") == ["- one", "  two"])
    #expect(Columns.wrap("", width: 9) == [])
  }

  @Test
  func `the summary line`() {
    let wide = TextFormat(width: 120)
    #expect(
      SummaryText.line(Self.twelve, Self.twelve.summary, wide) == """
        makespan 400 ms · 30.0 tasks/s · waiting mean 150 ms, p99 300 ms · peak 3 of 3 · order kept

        """
    )
    #expect(
      SummaryText.line(Self.blocking, Self.blocking.summary, TextFormat(width: 40, glyphs: .ascii))
        == """
        makespan 60 ms, 50.0 tasks/s
        waiting mean 15 ms, p99 30 ms (of 4
          admitted), peak 2 of 2, order kept
        1 failed, 1 cancelled while waiting

        """
    )
  }

  @Test
  func `the figures of a run whose tasks were not all admitted say of whom they are`() {
    let format = TextFormat(width: 100)
    #expect(
      SummaryText.stats(Self.blocking, Self.blocking.summary, format).contains(
        "\nthese are of the 4 admitted; 1 other asked for a permit and never had one\n"
      )
    )
    #expect(!SummaryText.stats(Self.twelve, Self.twelve.summary, format).contains("these are of"))
    let broken = SummaryText.line(Self.broken, Self.broken.summary, format)
    #expect(broken.contains("(of 2 admitted)"), "\(broken)")
  }

  @Test(arguments: [
    (40 * millisecond, "100 tasks/s"), (40_000 * millisecond, "0.10 tasks/s"),
    (3_600_000 * millisecond, "4.00 tasks/h"), (360_000_000 * millisecond, "0.96 tasks/day"),
    (40_000_000_000 * millisecond, "3.16 tasks/year"),
  ])
  func `so few tasks a second that nothing can be read are counted in a longer time`(
    work: Int64,
    told: String
  ) {
    let run = SampleRun.together(4, limit: 4, work: work).run()
    let format = TextFormat(width: 100)
    let line = SummaryText.line(run, run.summary, format)
    #expect(line.contains(" \(told) "), "\(line)")
    let unit = told.split(separator: " ")[1]
    #expect(ComparisonTable.text([run, run], format).contains(" \(unit) "))
  }

  @Test
  func `the figures, with a histogram`() {
    #expect(
      SummaryText.stats(Self.twelve, Self.twelve.summary, TextFormat(width: 64)) == """
                    mean     p50     p90     p99     max
        waiting   150 ms  100 ms  300 ms  300 ms  300 ms
        service   100 ms  100 ms  100 ms  100 ms  100 ms
        response  250 ms  200 ms  400 ms  400 ms  400 ms

        makespan 400 ms · 30.0 tasks/s · peak 3 of 3
        permits used 100 % · at most 9 waiting · 1 worker · order kept
        12 finished

        waiting time, number of tasks
             0 s to 40 ms   3  ████████████████████████████████████████
           40 ms to 80 ms   0
           80 ms to 120 ms  3  ████████████████████████████████████████
          120 ms to 160 ms  0
          160 ms to 200 ms  0
          200 ms to 240 ms  3  ████████████████████████████████████████
          240 ms to 280 ms  0
          280 ms to 320 ms  3  ████████████████████████████████████████

        response time, number of tasks
          100 ms to 150 ms  3  ████████████████████████████████████████
          150 ms to 200 ms  0
          200 ms to 250 ms  3  ████████████████████████████████████████
          250 ms to 300 ms  0
          300 ms to 350 ms  3  ████████████████████████████████████████
          350 ms to 400 ms  0
          400 ms to 450 ms  3  ████████████████████████████████████████

        """
    )
  }

  @Test func `times that differ by a trifle have no histogram of intervals called alike`() {
    var sample = SampleRun.together(12, limit: 12, work: 1_000 * millisecond)
    for index in sample.plan.indices {
      sample.plan[index].service += Int64(index) * millisecond / 10
    }
    let run = sample.run()
    let text = SummaryText.stats(run, run.summary, TextFormat(width: 64))
    #expect(!text.contains("response time, number of tasks"), "\(text)")
  }

  @Test
  func `a laid-out text is broken at words, and only where it does not fit`() {
    #expect(
      Columns.reflowed("a   table\n  t01 takes lock 2 at MyDoor.swift:8", width: 24)
        == "a   table\n  t01 takes lock 2 at\n    MyDoor.swift:8"
    )
  }

  @Test func `a text in a column goes on under its own column`() {
    let steps = """
           9  task 2  MyDoor.swift:12  enters
          10  task 3  MyDoor.swift:7   takes lock 1 (isOpen); lets task 1 go on  ◀
      """
    #expect(
      Columns.reflowed(steps, width: 58) == """
             9  task 2  MyDoor.swift:12  enters
            10  task 3  MyDoor.swift:7   takes lock 1 (isOpen);
                                         lets task 1 go on ◀
        """
    )
    // Where that column would be too narrow, under the one before.
    #expect(
      Columns.reflowed(steps, width: 52).contains(
        "10  task 3  MyDoor.swift:7 takes lock 1\n                (isOpen); lets task 1"
      )
    )
  }

  @Test
  func `notes name what is wrong and the command that shows it`() {
    let notes = Note.all(for: Self.broken, Self.broken.summary)
    #expect(
      Note.text(notes, TextFormat(width: 100)) == """
        ✗ over-admission: 2 running at 5 ms, limit 1. See: timeline
        ✗ order: t03 was admitted before t02 at 5 ms, although t02 had arrived earlier. See: why t02
        ✗ never-ended: t02 (waiting since 1 ms), t03 (in service since 5 ms), t04 (waiting since 12 ms).
          See: why t02
        ✗ permit-leak: 1 permit still in use after the last task ended. See: events
        ✗ nothing can run, and t02 and t04 wait for ever. See: why t02

        """
    )
  }

  @Test
  func `a run in order has no notes, waiting threads and idle permits have one`() {
    #expect(Note.all(for: Self.twelve, Self.twelve.summary) == [])
    let blocking = Note.all(for: Self.blocking, Self.blocking.summary)
    #expect(
      blocking.map(\.text) == [
        "peak 5 threads for a limit of 2: waiting tasks blocked up to 3 of them"
      ]
    )
    #expect(blocking.map(\.command) == ["compare 5 gcd-semaphore gcd-gate limit=2 kind=suspend"])
    // When t01 has departed and t02 is not admitted yet, all three threads seem to wait; one of them works.
    var handedOver = SampleRun.together(4, limit: 1, work: millisecond)
      .run(mechanism: "gcd-semaphore")
    handedOver.events = [
      (0, 1, .arrived), (0, 1, .admitted), (0, 2, .arrived), (0, 2, .blocked), (0, 3, .arrived),
      (0, 3, .blocked), (1, 1, .finished), (1, 4, .arrived), (1, 4, .blocked), (2, 2, .admitted),
      (3, 2, .finished), (3, 3, .admitted), (4, 3, .finished), (4, 4, .admitted), (5, 4, .finished),
    ].map { (time: Int64, task: Int, kind: TraceEvent.Kind) in
      TraceEvent(time: time * millisecond, task: TaskID(task), kind: kind)
    }
    #expect(
      Note.all(for: handedOver, handedOver.summary).map(\.text) == [
        "peak 3 threads for a limit of 1: waiting tasks blocked up to 2 of them"
      ]
    )

    var sparse = SampleRun.together(6, limit: 4, work: millisecond)
    for index in sparse.plan.indices { sparse.plan[index].arrival = Int64(index) * 2 * millisecond }
    let idle = sparse.run()
    #expect(
      Note.all(for: idle, idle.summary).map(\.text) == [
        "the limit of 4 was never reached: at most 1 ran at once"
      ]
    )
  }

  @Test
  func `blocking work on a narrow pool is told from a limit that was not needed`() {
    var sample = SampleRun.together(6, limit: 2, work: millisecond)
    sample.serviceHoldsWorker = true
    var run = sample.run()
    run.workers = 2
    run.limit = 4
    run.facts.limit = 4
    #expect(
      Note.all(for: run, run.summary).map(\.text) == [
        "blocking work held all 2 workers, so at most 2 ran although the limit is 4"
      ]
    )
    // Tasks that come one after the other wait for nobody, and one worker is enough.
    var sparse = SampleRun.together(6, limit: 4, work: millisecond)
    sparse.serviceHoldsWorker = true
    for index in sparse.plan.indices { sparse.plan[index].arrival = Int64(index) * 2 * millisecond }
    var idle = sparse.run()
    idle.workers = 1
    #expect(
      Note.all(for: idle, idle.summary).map(\.text) == [
        "the limit of 4 was never reached: at most 1 ran at once"
      ]
    )
    // Nor is it the pool that keeps back a task that depends on another.
    for index in run.plan.indices.dropFirst() { run.plan[index].after = 0 }
    #expect(
      Note.all(for: run, run.summary).map(\.text) == [
        "the limit of 4 was never reached: at most 2 ran at once"
      ]
    )
  }

  @Test
  func `a run in sentences`() {
    #expect(
      Describe.run(Self.blocking, Self.blocking.summary) == """
        5 tasks went to gcd-semaphore with a limit of 2, in virtual time, seed 1.
        3 finished, 1 failed, 1 left while waiting because of a cancellation.
        From the first arrival to the last end it took 60 ms, which is 50.0 tasks a second.
        At most 2 ran at once, and at most 3 waited at once.
        2 of the 4 that ran had to wait first: the mean over all is 15 ms, the median 0 s, and t03 waited longest, 30 ms.
        Every service took 30 ms.
        Tasks were admitted in the order of their arrival.
        It took 5 workers.
        Note: peak 5 threads for a limit of 2: waiting tasks blocked up to 3 of them. The command compare 5 gcd-semaphore gcd-gate limit=2 kind=suspend shows it.

        """
    )
  }

  @Test
  func `the events of a task and of a run`() {
    #expect(
      EventsText.list(Self.blocking, of: TaskID(5), TextFormat()) == """
         0 ms  t05  arrived
         0 ms  t05  blocked on w5
        40 ms  t05  cancelled while waiting on w5

        """
    )
    let folded = EventsText.list(Self.twelve, TextFormat(height: 5))
    #expect(
      folded == """
          0 ms  t01  arrived on w1
          0 ms  t01  admitted on w1
          0 ms  t02  arrived on w1
             …  (32 more events)
        400 ms  t12  finished on w1

        """
    )
    #expect(EventsText.list(Self.twelve, of: TaskID(99), TextFormat()) == "no event names t99\n")
  }

  @Test
  func `times of a list have as many decimals as it takes to tell them apart`() {
    var run = SampleRun.together(1, limit: 1, work: 1).run()
    run.events[2].time = 1_234_500
    let text = EventsText.list(run, TextFormat())
    #expect(text.contains("0.0000 ms  t01  arrived"))
    #expect(text.contains("1.2345 ms  t01  finished"))
  }

  @Test
  func `mechanisms side by side`() {
    let slow = SampleRun.together(12, limit: 2, work: 100 * millisecond).run(mechanism: "pool")
    var real = Self.blocking
    real.clock = .real
    #expect(
      ComparisonTable.text([Self.twelve, slow, real], TextFormat(width: 80)) == """
        mechanism            makespan tasks/s wait p50 wait p99 peak threads order
        limiter       ████     400 ms    30.0   100 ms   300 ms  3/3       1 kept
        pool          ██████   600 ms    20.0   200 ms   500 ms  2/2       1 kept
        gcd-semaphore ▋         60 ms    50.0      0 s    30 ms  2/2       5 kept

        gcd-semaphore ran on the wall clock, the others in virtual time, where
          everything but the work itself takes no time: compare the shapes, not the last
          digits.
        Not the same work: the tasks of gcd-semaphore differ from those of limiter.
        gcd-semaphore ended first, after 60 ms; pool took 10.0 times as long.
        gcd-semaphore held 5 threads: a waiting task blocks one each.
        Every one admitted in the order of arrival.

        """
    )
    #expect(
      ComparisonTable.text([Self.twelve, slow], TextFormat(width: 24, glyphs: .ascii)) == """
        mechanism makespan peak
        limiter     400 ms  3/3
        pool        600 ms  2/2

        limiter ended first,
          after 400 ms; pool
          took 1.50 times as
          long.
        Every one admitted in
          the order of arrival.

        """
    )
    #expect(ComparisonTable.text([], TextFormat()) == "nothing to compare\n")
  }

  @Test
  func `who began before an earlier arrival is told, though a late start explains it`() {
    var run = SampleRun.together(2, limit: 2, work: 10 * millisecond).run(mechanism: "pool")
    run.facts.promisesOrder = false
    run.events = [
      (0, 1, .arrived), (0, 2, .arrived), (1, 2, .admitted), (2, 1, .admitted), (11, 2, .finished),
      (12, 1, .finished),
    ].map { (time: Int64, task: Int, kind: TraceEvent.Kind) in
      TraceEvent(time: time * millisecond, task: TaskID(task), kind: kind)
    }
    #expect(run.summary.fifoInversions == 1 && run.summary.orderBreaks == 0)
    #expect(SummaryText.order(run, run.summary) == "1 began before an earlier arrival")
    let text = ComparisonTable.text([run, Self.twelve], TextFormat(width: 300))
    #expect(text.contains("1 early\n"), "\(text)")
    #expect(
      text.contains(
        "Tasks of pool were seen to begin before an earlier arrival, which a late start explains.\n"
      )
    )
    #expect(!text.contains("Every one admitted"))
    run.facts.promisesOrder = true
    #expect(SummaryText.order(run, run.summary) == "order kept")
  }

  @Test
  func `a line of a comparison is a summary with the mechanism inside`() {
    let lines = ComparisonTable.jsonLines([Self.twelve, Self.blocking]).split(separator: "\n")
    #expect(lines.count == 2)
    #expect(
      lines[0].hasPrefix(#"{"mechanism":"limiter","makespan_ns":400000000,"peak_running":3,"#)
    )
    #expect(lines[1].hasSuffix(#""permits_left":0,"violations":[]}"#))
  }

  @Test
  func `two runs held against each other`() {
    let slow = SampleRun.together(12, limit: 2, work: 100 * millisecond).run()
    #expect(
      RunDiff.text(Self.twelve, slow, TextFormat(width: 80)) == """
        limit: 3, then 2

                       first  second   change
        makespan      400 ms  600 ms  +50.0 %
        waiting mean  150 ms  250 ms  +66.7 %
        waiting p50   100 ms  200 ms   +100 %
        waiting p99   300 ms  500 ms  +66.7 %
        service mean  100 ms  100 ms     same
        response p99  400 ms  600 ms  +50.0 %
        peak running       3       2       -1
        threads            1       1     same
        finished          12      12     same

        The logs agree for 5 events; then the first has t03 admitted at 0 s, the second
          t04 arrived at 0 s.
        9 tasks waited longer or shorter; most changed t09, from 200 ms to 400 ms.

        """
    )
    #expect(
      RunDiff.text(Self.twelve, Self.twelve, TextFormat())
        == "the two runs are the same, event for event\n"
    )
  }

  @Test
  func `tasks as comma-separated values`() {
    #expect(
      RunCSV.text(Self.blocking) == """
        task,kind,planned_service_ns,priority,arrived_ns,admitted_ns,ended_ns,end,waiting_ns,service_ns,response_ns,worker,cause
        t01,suspend,30000000,medium,0,0,30000000,finished,0,30000000,30000000,w1,
        t02,suspend,30000000,medium,0,0,30000000,failed,0,30000000,30000000,w2,
        t03,suspend,30000000,medium,0,30000000,60000000,finished,30000000,30000000,60000000,w3,t01
        t04,suspend,30000000,medium,0,30000000,60000000,finished,30000000,30000000,60000000,w4,t02
        t05,suspend,30000000,medium,0,,40000000,cancelled-waiting,,,,,

        """
    )
  }

  @Test(arguments: [20, 27, 40, 55, 80])
  func `no view is wider than the terminal`(width: Int) {
    let format = TextFormat(width: width)
    for run in [Self.twelve, Self.blocking, Self.broken] {
      let texts = [
        SummaryText.line(run, run.summary, format), SummaryText.stats(run, run.summary, format),
        Note.text(Note.all(for: run, run.summary), format),
        ComparisonTable.text([run, Self.twelve], format), RunDiff.text(run, Self.twelve, format),
      ]
      for line in texts.flatMap({ $0.split(separator: "\n") }) where !line.contains("specimen") {
        #expect(line.count <= width, "\(line)")
      }
    }
  }
}
