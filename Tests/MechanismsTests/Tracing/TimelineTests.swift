import Basics
import Mechanisms
import TestSupport
import Testing

@Suite(.watched)
struct TimelineTests {
  @Test(arguments: 1...60)
  func `the spans of every task tile its life from arrival to end`(seed: Int) {
    let sample = RandomLog(tasks: 40, limit: 3, seed: UInt64(seed))
    let timeline = Timeline(events: sample.events, facts: sample.facts)
    #expect(timeline.tasks.count == 40)
    for lane in timeline.tasks {
      guard let arrived = lane.life.arrived, let ended = lane.life.ended else { continue }
      var time = arrived
      for span in lane.spans {
        #expect(span.start == time)
        #expect(span.end >= span.start)
        time = span.end
      }
      #expect(time == ended)
      let serving = lane.spans.filter { $0.phase == .running || $0.phase == .suspended }
      #expect(serving.reduce(0) { $0 + $1.end - $1.start } == (lane.life.service ?? 0))
      #expect(serving.isEmpty == (lane.life.admitted == nil))
    }
  }

  @Test(arguments: 1...40)
  func `how many run and wait at each time is what counting the tasks gives`(seed: Int) {
    let sample = RandomLog(tasks: 25, limit: 3, seed: UInt64(seed))
    let timeline = Timeline(events: sample.events, facts: sample.facts)
    func value(_ function: StepFunction, at time: Int64) -> Int {
      function.steps.last { $0.time <= time }?.value ?? 0
    }
    for time in 0...timeline.end {
      let running = timeline.tasks.count { lane in
        guard let admitted = lane.life.admitted, let ended = lane.life.ended else { return false }
        return admitted <= time && time < ended
      }
      let waiting = timeline.tasks.count { lane in
        guard let arrived = lane.life.arrived, let ended = lane.life.ended else { return false }
        return arrived <= time && time < (lane.life.admitted ?? ended)
      }
      #expect(value(timeline.running, at: time) == running)
      #expect(value(timeline.waiting, at: time) == waiting)
    }
  }

  @Test
  func `what never ended goes on to the end of the log`() {
    let facts = RunFacts(tasks: 2, limit: 1, promisesOrder: true, serviceHoldsWorker: false)
    let events = log((0, 1, .arrived), (0, 1, .admitted), (4, 2, .arrived), (9, 1, .progress(20)))
    let timeline = Timeline(events: events, facts: facts)
    #expect(timeline.tasks[0].spans.map { [$0.start, $0.end] } == [[0, 9]])
    #expect(timeline.tasks[1].spans.map(\.end) == [9])
    #expect(timeline.tasks[1].life.end == nil)
  }

  @Test
  func `a service that took no time is kept, a wait that took none is not`() {
    let facts = RunFacts(tasks: 1, limit: 1, promisesOrder: true, serviceHoldsWorker: false)
    let events = log((3, 1, .arrived), (3, 1, .admitted), (3, 1, .finished))
    let timeline = Timeline(events: events, facts: facts)
    #expect(timeline.tasks[0].spans.map(\.phase) == [.running])
    #expect(timeline.tasks[0].spans.map { [$0.start, $0.end] } == [[3, 3]])
    #expect(timeline.running.peak == 1)
  }

  @Test
  func `a worker's spans are the waits that block it and the services that hold it`() {
    let facts = RunFacts(tasks: 3, limit: 1, promisesOrder: true, serviceHoldsWorker: true)
    let timeline = Timeline(events: RunSummaryTests.twoBlocked, facts: facts)
    #expect(timeline.workers.map(\.worker.label) == ["w1", "w2", "w3"])
    let second = timeline.workers[1].spans
    #expect(second.map { [$0.start, $0.end] } == [[1, 5], [5, 6]])
    #expect(second.map(\.phase) == [.blocked, .running])
    #expect(second.map(\.task) == [TaskID(2), TaskID(2)])
    #expect(timeline.held.peak == 3)
    #expect(timeline.workers[2].marks.map(\.kind) == [.arrived, .blocked, .admitted, .finished])
  }

  @Test(arguments: 1...30)
  func `the largest value in a cell is the largest of its instants`(seed: Int) {
    let sample = RandomLog(tasks: 20, limit: 3, seed: UInt64(seed))
    let timeline = Timeline(events: sample.events, facts: sample.facts)
    let function = timeline.waiting
    for length in [1, 2, 3, 7, 50] as [Int64] {
      let cells = Int(timeline.end / length) + 1
      let expected = (0..<Int64(cells)).map { cell in
        (cell * length..<(cell + 1) * length).map { time in
          function.steps.last { $0.time <= time }?.value ?? 0
        }.max() ?? 0
      }
      #expect(function.cells(count: cells, length: length, .largest) == expected)
    }
  }

  @Test(arguments: 1...30)
  func `the cells of a function that grows are those of what it is by then, and was`(
    seed: Int
  ) {
    var random = SplitMix64(seed: UInt64(seed))
    let choices: [(Int64, GrowingCells.Choice)] = [
      (1, .lasting(cap: nil)), (3, .largest), (7, .lasting(cap: 6)), (50, .lasting(cap: nil)),
    ]
    for (length, choice) in choices {
      var growing = GrowingCells(length: length, choice)
      var function = StepFunction()
      var time: Int64 = 0
      for _ in 0..<60 {
        if Int.random(in: 0..<3, using: &random) > 0 {
          time += Int64.random(in: 0...4, using: &random)
        }
        function.set(Int.random(in: 0...9, using: &random), at: time)
        let earlier = function.known(at: Int64.random(in: 0...time, using: &random))
        for asked in [function, earlier] {
          let count = Int.random(in: 0...Int(time / length) + 2, using: &random)
          let anew = asked.cells(count: count, length: length, choice)
          #expect(growing.first(count, of: asked) == anew)
        }
      }
    }
  }

  @Test
  func `a cell shows a value that was, the one held longest, and one above the limit in any case`()
  {
    var function = StepFunction()
    function.set(5, at: 0)
    // Five leave one after the other, and two come.
    for value in [4, 3, 2, 1, 0, 1, 2] { function.set(value, at: 10) }
    #expect(function.cells(count: 3, length: 8, .lasting(cap: nil)) == [5, 2, 2])
    #expect(function.cells(count: 2, length: 10, .lasting(cap: nil)) == [5, 2])
    function.set(7, at: 21)
    function.set(3, at: 22)
    #expect(function.cells(count: 3, length: 10, .lasting(cap: nil)) == [5, 2, 3])
    #expect(function.cells(count: 3, length: 10, .lasting(cap: 6)) == [5, 2, 7])
    function.set(0, at: 31)
    #expect(function.cells(count: 5, length: 10, .lasting(cap: 7)) == [5, 2, 3, 3, 0])
  }

  @Test
  func `a value taken for no time at all is seen where no other is`() {
    var function = StepFunction()
    function.set(1, at: 0)
    function.set(2, at: 5)
    function.set(1, at: 5)
    function.set(0, at: 9)
    let ones = [1, 1, 1, 1, 1, 1, 1, 1, 1, 0]
    #expect(function.cells(count: 10, length: 1, .largest) == ones)
    #expect(function.cells(count: 10, length: 1, .lasting(cap: 2)) == ones)
    #expect(function.cells(count: 10, length: 1, .lasting(cap: 1))[5] == 2)
    #expect(function.peak == 2)
    function.set(3, at: 12)
    function.set(0, at: 12)
    #expect(function.cells(count: 13, length: 1, .lasting(cap: nil)).last == 3)
  }
}
