import Basics
import Experiments
import Mechanisms
import TestSupport
import Testing

@testable import Rendering

/// What is kept of one picture of a run for the next.
@Suite(.watched) struct KeptDrawingTests {
  /// A run on the wall clock with cancellations and failures, tasks that are suspended, and a limit that changes.
  private static func run(_ seed: Int, tasks: Int = 24) -> Run {
    var sample = SampleRun.random(tasks, limit: 3, seed: UInt64(seed))
    sample.blocksWhileWaiting = seed.isMultiple(of: 2)
    var run = sample.run()
    (run.clock, run.workers) = (.real, nil)
    var random = SplitMix64(seed: UInt64(seed))
    for life in TaskLife.all(in: run.events, tasks: tasks) {
      guard let begin = life.admitted, let end = life.ended, end > begin + 1 else { continue }
      guard Bool.random(using: &random) else { continue }
      let pause = Int64.random(in: begin..<end, using: &random)
      let resumption = Int64.random(in: pause...end, using: &random)
      for (time, kind) in [(pause, TraceEvent.Kind.suspended), (resumption, .resumed)] {
        // Before the end of the task, which may be at the same time.
        let place = run.events.firstIndex { $0.time > time || $0.time == time && $0.kind.isEnd }
        run.events.insert(
          TraceEvent(time: time, task: life.task, kind: kind),
          at: place ?? run.events.endIndex
        )
      }
    }
    let times = run.events.map(\.time)
    for (number, limit) in [(3, 5), (2, 1)] {
      let place = times.count * (number - 1) / 4
      run.events.insert(
        TraceEvent(time: times[place], task: .run, kind: .limit(Int32(limit))),
        at: place
      )
    }
    run.events.sort { $0.time < $1.time }
    return run
  }

  /// The moments at which something could look different, and those beside them.
  private static func moments(of run: Run) -> [Int64] {
    let end = (run.events.last?.time ?? 0) + millisecond
    let even = stride(from: 0, through: end, by: Int(millisecond) / 2).map { Int64($0) }
    return Set((even + run.events.map(\.time)).flatMap { [$0, $0 + 1] }).sorted()
  }

  private static func opening(of run: Run) -> TimelineLog {
    var opening = run
    opening.events = []
    return TimelineLog(opening)
  }

  @Test(arguments: (1...8).fewUnlessLong(3))
  func `a picture with what is kept is the one drawn anew, whatever happens and is looked at`(
    _ seed: Int
  ) {
    let run = Self.run(seed)
    var random = SplitMix64(seed: UInt64(seed))
    var view = TimelineView(Self.opening(of: run), expecting: (run.events.last?.time ?? 0) / 2)
    var kept: KeptDrawing?
    var why: Why?
    var format = TextFormat(width: 80, height: 14, style: .colour)
    var coming = run.events
    for now in Self.moments(of: run) {
      // What some threads report is known only later.
      let lags = seed > 4
      let known = coming.filter {
        $0.time <= now && (!lags || $0.task.number % 3 > 0 || $0.time <= now - 2 * millisecond)
      }
      coming.removeAll { known.contains($0) }
      view.log.take(known)
      switch Int.random(in: 0..<24, using: &random) {
      case 0: view.selected = Int.random(in: 0..<24, using: &random)
      case 1: view.select(by: Int.random(in: -3...3, using: &random), at: now)
      case 2: view.selected = nil
      case 3: format.width = Int.random(in: 20...120, using: &random)
      case 4: format.height = Int.random(in: 6...40, using: &random)
      case 5: view.mark(now)
      default: break
      }
      let isPast = Int.random(in: 0..<8, using: &random) == 0
      let moment = isPast ? Int64.random(in: 0...now, using: &random) : now
      let anew = view.lines(at: moment, seen: now, format)
      let lines = view.lines(at: moment, seen: now, format, keeping: &kept)
      #expect(lines == anew, "at \(moment) of \(now)")
      var first: Why?
      let told = view.history(at: moment, format, keeping: &first)
      #expect(view.history(at: moment, format, keeping: &why) == told, "at \(moment) of \(now)")
    }
  }

  @Test(arguments: 1...4)
  func `a row is drawn again where something has happened to its task, or it looks different`(
    _ seed: Int
  ) throws {
    let run = Self.run(seed)
    let format = TextFormat(width: 60)
    var view = TimelineView(Self.opening(of: run), expecting: run.events.last?.time ?? 0)
    var kept: KeptDrawing?
    var before: (moment: Int64, lines: [String]) = (-1, [])
    var again = 0
    let moments = Self.moments(of: run)
    for moment in moments {
      view.log.take(run.events.filter { $0.time > before.moment && $0.time <= moment })
      let lines = view.lines(at: moment, format, keeping: &kept)
      if !before.lines.isEmpty {
        let happened = Set(
          run.events.filter { $0.time >= before.moment && $0.time <= moment }.map(\.task)
        )
        let different = zip(lines, before.lines).count { $0 != $1 }
        let drawn = try #require(kept).drawnAgain
        #expect(drawn <= different + happened.count, "at \(moment)")
        again += drawn
      }
      before = (moment, lines)
    }
    #expect(again < moments.count * 24 / 4)
  }

  @Test func `in virtual time a row is kept for its moment only`() {
    var run = Self.run(1)
    (run.clock, run.workers) = (.virtual, 1)
    let view = TimelineView(TimelineLog(run), expecting: 1)
    var kept: KeptDrawing?
    for moment in Self.moments(of: run) {
      let format = TextFormat(width: 40)
      let anew = view.lines(at: moment, format)
      for _ in 1...2 { #expect(view.lines(at: moment, format, keeping: &kept) == anew) }
      #expect(kept?.drawnAgain == 0)
    }
  }
}
