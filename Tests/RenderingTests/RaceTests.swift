import Experiments
import Mechanisms
import TestSupport
import Testing

@testable import Rendering

/// The same tasks on several mechanisms on one axis, at any moment.
@Suite(.watched) struct RaceTests {
  /// Two that differ, by the names that they have in the picture.
  private static let runs: [(name: String, run: Run)] = [
    ("narrow", SampleRun.random(30, limit: 1, seed: 7).run()),
    ("wide", SampleRun.random(30, limit: 3, seed: 7).run()),
  ]

  /// The race as far as its logs are known.
  private func view(knowing: Int64 = .max) -> RaceView {
    RaceView(
      Self.runs.map { name, run in
        var lane = RaceLane(name: name, plan: run.plan, limit: run.facts.limit)
        lane.take(run.events.filter { $0.time - (run.events.first?.time ?? 0) <= knowing })
        return lane
      }
    )
  }

  @Test(arguments: [60, 80, 200])
  func `each frame says of each mechanism what its log says at that moment`(_ width: Int) throws {
    let format = TextFormat(width: width)
    let whole = view()
    let end = whole.end
    for step in Int64(0)...20 {
      let moment = end * step / 20
      let lines = whole.lines(at: moment, until: end, format)
      #expect(lines.allSatisfy { $0.count <= width }, "\(lines)")
      for (name, run) in Self.runs {
        let start = run.events.first?.time ?? 0
        let known = run.events.filter { $0.time - start <= moment }
        let lives = TaskLife.all(in: known, tasks: run.plan.count)
        let ended = lives.count { $0.ended != nil }
        let head = try #require(lines.first { $0.dropFirst(2).hasPrefix(name) })
        #expect(head.contains("\(ended) of 30 ended"), "\(head) at \(moment)")
        for (count, state) in [
          (lives.count(where: \.isInService), "running"),
          (lives.count(where: \.stillWaits), "waiting"),
        ] where ended < 30 {
          #expect(head.contains("\(count) \(state)") == (count > 0), "\(head) at \(moment)")
        }
      }
    }
  }

  @Test(arguments: [60, 80, 200])
  func `a frame needs nothing of the log beyond its moment, and the last is the final picture`(
    _ width: Int
  ) {
    let format = TextFormat(width: width)
    let whole = view()
    let end = whole.end
    for step in Int64(0)...20 {
      let moment = end * step / 20
      let soFar = view(knowing: moment)
      #expect(
        soFar.lines(at: moment, until: end, format) == whole.lines(at: moment, until: end, format)
      )
    }
    #expect(whole.isOver)
    #expect(whole.standing(at: end) == "wide ended first")
    #expect(whole.inOrderOfEnd == ["wide", "narrow"])
  }

  @Test
  func `one row holds the counts of its cells, and stops at the moment`() throws {
    var lane = RaceLane(
      name: "limiter",
      plan: SampleRun.together(6, limit: 2, work: 100 * millisecond).plan,
      limit: 2
    )
    lane.take(SampleRun.together(6, limit: 2, work: 100 * millisecond).run().events)
    let view = RaceView([lane])
    let lines = view.lines(at: 150 * millisecond, until: view.end, TextFormat(width: 72))
    let running = try #require(lines.first { $0.hasPrefix("  running") })
    #expect(running == "  running  " + String(repeating: "2", count: 31))
    let waiting = try #require(lines.first { $0.hasPrefix("  waiting") })
    #expect(
      waiting == "  waiting  " + String(repeating: "▆", count: 20)
        + String(repeating: "▃", count: 11)
    )
  }

  @Test
  func `where there is no room for three lines each there are two, or one`() {
    let view = view()
    let heights = [20, 7, 6, 5, 4, 3, 2].map { height in
      view.lines(at: view.end, until: view.end, TextFormat(width: 80, height: height)).count
    }
    #expect(heights == [7, 7, 5, 5, 2, 2, 2])
  }

  @Test
  func `who is ahead has more tasks behind it, and nobody is where all are level`() {
    let view = view()
    #expect(view.standing(at: 0) == "all level")
    let moments = stride(from: Int64(0), to: view.end, by: Int(view.end / 40))
    let standings = Set(moments.map { view.standing(at: $0) })
    #expect(standings.isSubset(of: ["all level", "wide is ahead", "wide ended first"]))
    #expect(standings.contains("wide is ahead"))
  }

  @Test
  func `a task that was cancelled brings nobody ahead`() {
    var events: [[TraceEvent]] = [[], []]
    func note(_ lane: Int, _ task: Int, _ time: Int64, _ kind: TraceEvent.Kind) {
      events[lane].append(TraceEvent(time: time, task: TaskID(task), kind: kind))
    }
    for lane in 0...1 {
      for task in 1...2 { note(lane, task, 0, .arrived) }
      note(lane, 1, 0, .admitted)
    }
    note(0, 2, 1, .cancelled(.waiting))
    note(1, 1, 2, .finished)
    note(1, 2, 2, .admitted)
    note(0, 1, 3, .finished)
    note(1, 2, 4, .failed)
    let plan = SampleRun.together(2, limit: 1, work: 1).plan
    let view = RaceView(
      zip(["cancels", "serves"], events).map { name, events in
        var lane = RaceLane(name: name, plan: plan, limit: nil)
        lane.take(events)
        return lane
      }
    )
    #expect(
      (Int64(0)...4).map { view.standing(at: $0) } == [
        "all level", "all level", "serves is ahead", "cancels ended first",
        "serves finished the most tasks",
      ]
    )
  }

  @Test
  func `the moments are those of the log, one after the other and back`() {
    let view = view()
    let all = Set(
      Self.runs.flatMap { _, run in run.events.map { $0.time - (run.events.first?.time ?? 0) } }
    )
    var forward: [Int64] = [0]
    while let next = view.moment(after: forward[forward.count - 1]) { forward.append(next) }
    #expect(Set(forward).isSubset(of: all) && forward.last == view.end)
    var back: [Int64] = [view.end]
    while let next = view.moment(before: back[back.count - 1]) { back.append(next) }
    #expect(forward == back.reversed())
  }
}

/// How a race that is over is played.
@Suite(.watched) struct PlaybackTests {
  private let second: Int64 = 1_000_000_000

  /// Lets the machine's clock move on, a tenth of a second at a time.
  private func goOn(_ playback: inout Playback, from start: Int64, to end: Int64) {
    for time in stride(from: start, through: end, by: Int(second / 10)) { playback.goOn(to: time) }
  }

  @Test
  func `a short race is stretched to four seconds, a long one takes ten, one between its own time`()
  {
    for (length, seconds) in [(1, 4), (5, 5), (10, 10), (3_600, 10)] as [(Int64, Int64)] {
      var playback = Playback(end: length * second)
      playback.goOn(to: 100 * second)
      #expect(playback.moment == 0, "it begins when it is first shown")
      let end = (100 + seconds) * second
      goOn(&playback, from: 100 * second, to: end - second / 10)
      #expect(!playback.isOver)
      goOn(&playback, from: end, to: end + second / 10)
      #expect(playback.isOver && playback.moment == length * second)
    }
  }

  @Test
  func `what is held stands still, goes on from there, and is not over at its end`() {
    var playback = Playback(end: 8 * second)
    goOn(&playback, from: 0, to: 2 * second)
    playback.hold()
    goOn(&playback, from: 2 * second, to: 5 * second)
    #expect(playback.moment == 2 * second)
    playback.hold()
    playback.change(speedBy: 2)
    goOn(&playback, from: 5 * second, to: 6 * second)
    #expect(playback.moment == 4 * second)
    playback.jump(to: 9 * second)
    #expect(playback.moment == 8 * second && playback.isHeld && !playback.isOver)
    playback.jump(to: -1)
    #expect(playback.moment == 0)
  }

  @Test
  func `a program that had no processor for a while leaves nothing of a race out`() {
    var playback = Playback(end: 8 * second)
    playback.goOn(to: 0)
    playback.goOn(to: 100 * second)
    #expect(playback.moment == second / 5)
  }

  @Test
  func `a race without any length is over at once`() {
    var playback = Playback(end: 0)
    playback.goOn(to: 1)
    playback.goOn(to: 2)
    #expect(playback.isOver)
  }

  @Test
  func `keys hold, step and change the speed, and a letter begins a line for the prompt`() {
    var keys = RaceKeys()
    func press(_ text: String) -> [RaceKeys.Action] { text.utf8.compactMap { keys.press($0) } }
    #expect(press(" p+-") == [.hold, .hold, .faster, .slower])
    #expect(press("\u{1B}[C\u{1B}OD\u{1B}[A\u{1B}[1;5C") == [.forward, .back, .forward])
    #expect(press("\u{1B}[H\u{1B}[F\u{1B}[1~\u{1B}[4~") == [.toBegin, .toEnd, .toBegin, .toEnd])
    #expect(press("?\r") == [])
    #expect(press("Q") == [.leave])
    #expect(press("stats q\u{7F}\u{7F} -p+\r") == [.typedAhead])
    #expect(String(decoding: keys.typedAhead, as: UTF8.self) == "stats -p+\r")
    #expect(keys.message == "for the prompt: stats -p+")
  }
}
