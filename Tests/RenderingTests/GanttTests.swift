import Experiments
import Mechanisms
import TestSupport
import Testing

@testable import Rendering

@Suite(.watched)
struct GanttTests {
  let twelve = SampleRun.together(12, limit: 3, work: 100 * millisecond).run()

  /// Every kind of state and end.
  static let mixed: Run = {
    var run = SampleRun.together(7, limit: 2, work: 10 * millisecond).run(
      mechanism: "gcd-semaphore"
    )
    let log: [(Int64, Int, TraceEvent.Kind, Int)] = [
      (0, 1, .arrived, 1), (0, 1, .admitted, 1), (0, 2, .arrived, 2), (0, 2, .admitted, 2),
      (2, 3, .arrived, 3), (2, 3, .blocked, 3), (4, 4, .arrived, 4), (6, 2, .suspended, 2),
      (8, 5, .arrived, 4), (8, 5, .rejected, 4), (10, 1, .finished, 1), (10, 3, .admitted, 3),
      (12, 4, .cancelled(.waiting), 4), (14, 2, .resumed, 2), (16, 2, .failed, 2),
      (18, 6, .arrived, 1), (18, 6, .admitted, 1), (19, 6, .cancelled(.running), 1),
      (20, 3, .finished, 3), (20, 7, .arrived, 1), (20, 7, .admitted, 1), (24, 7, .progress(60), 1),
    ]
    run.events = log.map {
      TraceEvent(
        time: $0.0 * millisecond,
        task: TaskID($0.1),
        kind: $0.2,
        worker: WorkerID($0.3)
      )
    }
    // Everybody arrives as planned: nobody lacks a worker.
    for event in run.events where event.kind == .arrived {
      run.plan[Int(event.task.number) - 1].arrival = event.time
    }
    run.facts.serviceHoldsWorker = true
    run.plan[1].kind = .spin
    run.plan[2].kind = .block
    return run
  }()

  @Test
  func `twelve tasks through three permits are four rounds, folded to the lines there are`() {
    #expect(
      Gantt.tasks(twelve, TextFormat(width: 64, height: 11)) == """
                0         100       200       300       400 ms
          t01   ██████████|
          t02   ██████████|
          t03   ██████████|
          t04   ··········██████████|
          t05   ··········██████████|
          …     (6 more like these)
          t12   ······························██████████|
        running 3333333333333333333333333333333333333333
        waiting ██████████▆▆▆▆▆▆▆▆▆▆▃▃▃▃▃▃▃▃▃▃  at most 9

        """
    )
  }

  @Test
  func `every state and every end has its glyph`() {
    #expect(
      Gantt.tasks(Self.mixed, TextFormat(width: 60), legend: true) == """
                0         5         10        15        20 ms
          t01   ████████████████████|
          t02   ████████████~~~~~~~~~~~~~~~~████!
          t03       ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒████████████████████|
          t04           ················x
          t05                   x
          t06                                       ██x
          t07                                           ████████
        running 222222222222222222222222222222221111221111111111
        waiting     ▄▄▄▄████████████▄▄▄▄  at most 2
        · waiting  ▒ thread blocked  █ running  ~ suspended
        | finished  ! failed  x cancelled

        """
    )
  }

  @Test
  func `workers show what holds them: a task that waits for its permit, or one in service`() {
    #expect(
      Gantt.workers(Self.mixed, TextFormat(width: 60)) == """
                0         5         10        15        20 ms
          w1    ████████████████████|               ██x ████████
          w2    ████████████                ████!
          w3        ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒████████████████████|
          w4                    x       x
        running 222222222222222222222222222222221111221111111111
        waiting     ▄▄▄▄████████████▄▄▄▄  at most 2

        """
    )
  }

  @Test
  func `forty columns of ASCII say the same`() {
    let ascii = TextFormat(width: 40, glyphs: .ascii)
    #expect(
      Gantt.tasks(Self.mixed, ascii) == """
             0         10        20 ms
        t01  ##########|
        t02  ######~~~~~~~~##!
        t03    ========##########|
        t04      ........x
        t05          x
        t06                    #x
        t07                      ####
        run  222222222222222211211111
        wait   ==@@@@@@==  at most 2

        """
    )
    #expect(!Gantt.workers(Self.mixed, ascii).contains { !$0.isASCII })
  }

  @Test
  func `where work suspends, workers have marks for its steps and it is said why`() {
    let text = Gantt.workers(twelve, TextFormat(width: 64))
    #expect(text.contains("  w1    █         |         |         |         |\n"))
    #expect(text.contains("work that suspends holds no worker"))
    #expect(!text.contains("too short"))
  }

  @Test
  func `a state that is shown nowhere is counted`() {
    var sample = SampleRun.together(2, limit: 1, work: 100 * millisecond)
    sample.plan[1].service = millisecond / 10
    let text = Gantt.tasks(sample.run(), TextFormat(width: 64))
    #expect(text.contains("1 state is too short to be drawn: a cell is 2 ms"))
    // Its end is drawn all the same.
    #expect(text.contains("t02   ··················································|\n"))
  }

  @Test(arguments: [20, 21, 24, 30, 39, 40, 49, 50, 63, 80, 132, 400])
  func `no line is longer than the width, whatever the run`(width: Int) {
    for seed in 1...6 as ClosedRange<UInt64> {
      var sample = SampleRun.random(30 * Int(seed), limit: 4, seed: seed)
      sample.blocksWhileWaiting = seed.isMultiple(of: 2)
      sample.serviceHoldsWorker = seed.isMultiple(of: 3)
      let run = sample.run()
      for glyphs in [GlyphSet.unicode, .ascii] {
        let format = TextFormat(width: width, height: 24, glyphs: glyphs)
        for text in [
          Gantt.tasks(run, format, legend: true), Gantt.workers(run, format, legend: true),
        ] {
          for line in text.split(separator: "\n") {
            #expect(line.count <= width, "\(line)")
          }
        }
      }
    }
  }

  @Test(arguments: [1, 2, 5, 9, 10, 40, 50, 1_000, 2_500])
  func `a drawing takes no more lines than there are`(tasks: Int) {
    let run = SampleRun.together(tasks, limit: 3, work: millisecond).run()
    for height in [8, 12, 24, 60] {
      let lines = Gantt.tasks(run, TextFormat(width: 80, height: height)).split(separator: "\n")
      #expect(lines.count <= height)
      #expect(lines.count >= min(tasks, height - 5))
    }
  }

  @Test
  func `what is folded away is counted, and failures among it are named`() {
    var sample = SampleRun.together(20, limit: 1, work: millisecond)
    sample.plan[9].fails = true
    sample.plan[10].cancelAt = 1
    let few = Gantt.tasks(sample.run(), TextFormat(width: 64, height: 12))
    #expect(few.contains("  …     (13 more: 1 failed, 1 cancelled)\n"))

    var many = SampleRun.together(1_000, limit: 10, work: millisecond)
    many.plan[500].fails = true
    let text = Gantt.tasks(many.run(), TextFormat(width: 64, height: 24))
    #expect(text.contains("(1 task in 53 of 1,000; in all 1 failed)"))
    #expect(text.contains("  t0001 "))
    #expect(text.contains("  t0955 "))
  }

  @Test
  func `a task is drawn blocked until its thread goes on, and idle workers have no row`() {
    var run = SampleRun.together(2, limit: 1, work: 10 * millisecond).run()
    let gate = WorkerID(2)
    run.facts.serviceHoldsWorker = true
    run.events = [
      (0, 1, .arrived, 1), (0, 2, .arrived, 1), (0, 1, .blocked, 2), (10, 1, .unblocked, 2),
      (10, 2, .blocked, 2), (20, 1, .admitted, 3), (30, 1, .finished, 3), (30, 2, .unblocked, 2),
      (30, 2, .admitted, 3), (40, 2, .finished, 3),
    ].map { (time: Int64, task: Int, kind: TraceEvent.Kind, worker: Int) in
      TraceEvent(
        time: time * millisecond,
        task: TaskID(task),
        kind: kind,
        worker: WorkerID(worker)
      )
    }
    #expect(
      run.timeline.tasks.map { $0.spans.map(\.phase) } == [
        [.blocked, .waiting, .running], [.waiting, .blocked, .running],
      ]
    )
    #expect(run.timeline.workers[1].worker == gate)
    let rows = Gantt.workers(run, TextFormat(width: 64))
    #expect(rows.contains("\n  w2 ") && rows.contains("\n  w3 "))
    #expect(!rows.contains("  w1 "), "it only took the tasks in")
  }

  @Test
  func `a limit overstepped for no time at all is to be seen`() {
    var run = SampleRun.together(2, limit: 1, work: 10 * millisecond).run()
    run.events =
      [(0, 1), (0, 2)].flatMap { time, task in
        [
          TraceEvent(time: time, task: TaskID(task), kind: .arrived),
          TraceEvent(time: time, task: TaskID(task), kind: .admitted),
        ]
      } + [
        TraceEvent(time: 0, task: TaskID(2), kind: .finished),
        TraceEvent(time: 10 * millisecond, task: TaskID(1), kind: .finished),
      ]
    #expect(Gantt.tasks(run, TextFormat(width: 64)).contains("running 2111"))
  }

  @Test
  func `colour is added to the same characters`() {
    let plain = TextFormat(width: 60)
    let colour = TextFormat(width: 60, style: .colour)
    let painted = Gantt.tasks(Self.mixed, colour, legend: true)
    #expect(painted.contains("\u{1B}["))
    #expect(painted.withoutColour == Gantt.tasks(Self.mixed, plain, legend: true))
  }

  @Test
  func `a run without tasks or workers says so`() {
    var empty = SampleRun.together(1, limit: 1, work: 1).run()
    empty.events = []
    #expect(Gantt.workers(empty, TextFormat()) == "no event of this run names a worker\n")
    #expect(Gantt.tasks(empty, TextFormat()).contains("t01"))
    empty.facts.tasks = 0
    #expect(Gantt.tasks(empty, TextFormat()) == "no tasks\n")
  }

  @Test(arguments: [1, 9, 999, 1_000, 123_456_789, 86_400_000_000_000, .max] as [Int64])
  func `an axis has room for any length of time`(end: Int64) {
    var run = SampleRun.together(1, limit: 1, work: 1).run()
    run.plan[0].service = end
    run.events = [
      TraceEvent(time: 0, task: TaskID(1), kind: .arrived),
      TraceEvent(time: 0, task: TaskID(1), kind: .admitted),
      TraceEvent(time: end, task: TaskID(1), kind: .finished),
    ]
    for width in [20, 40, 80, 200] {
      let lines = Gantt.tasks(run, TextFormat(width: width)).split(separator: "\n")
      #expect(lines.count == 4)
      #expect(lines[0].contains(" 0"))
      #expect(lines[1].hasSuffix("█|"))
      #expect(lines.allSatisfy { $0.count <= width })
    }
  }

  @Test
  func `an axis of minutes and hours counts in them, at times that are what their labels say`() {
    let minute: Int64 = 60_000_000_000
    let axes = [
      (2 * minute, "m", minute), (119 * minute, "m", minute), (180 * minute, "h", 60 * minute),
    ]
    for (end, name, unit) in axes {
      for room in [20, 40, 72, 190] {
        let axis = TimeAxis(end: end, room: room)
        #expect(axis.unitName == name)
        #expect(axis.ticks.count > 1 && axis.cells <= room)
        #expect(Int64(axis.cells) * axis.cell >= end && Int64(axis.cells - 1) * axis.cell < end)
        for tick in axis.ticks {
          #expect(Double(tick.label).map { Int64($0 * Double(unit)) } == tick.time, "\(tick)")
        }
      }
    }
    #expect(TimeAxis(end: 2 * minute - 1, room: 72).unitName == "s")
  }

  @Test
  func `the last tick of an axis has its label, at every width`() {
    let ends: [Int64] = [
      1, 7, 99, 250, 999, 1_050, 4_000, 12_345, 186_000_000, 400_000_000, 119_999_999_999,
      120_000_000_000, 3_661_000_000_007, 7_200_000_000_000, 86_400_000_000_000,
    ]
    for end in ends {
      for room in 16...100 {
        let axis = TimeAxis(end: end, room: room)
        let line = axis.line(width: room + 1)
        let last = axis.ticks.last?.label ?? ""
        #expect(line.hasSuffix(" \(last) \(axis.unitName)") || last == "0", "\(end) in \(room)")
        #expect(line.hasPrefix("0 ") && line.count <= room + 1, "\(end) in \(room)")
      }
    }
  }
}

extension String {
  var withoutColour: String { replacing(/\u{1B}\[[0-9;]*m/, with: "") }
}
