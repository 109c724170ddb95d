import Experiments
import Mechanisms
import TestSupport
import Testing

@testable import Rendering

/// The timeline of a run that is watched, at any moment.
@Suite(.watched) struct TimelineViewTests {
  private static let run = SampleRun.random(14, limit: 2, seed: 7).run()
  private static let many = SampleRun.random(400, limit: 3, seed: 7).run()
  private static let end = run.events.last?.time ?? 0

  /// The view of a run, of which the log is known up to a moment.
  private func view(_ run: Run = Self.run, knowing: Int64 = .max) -> TimelineView {
    var known = run
    known.events = run.events.filter { $0.time <= knowing }
    return TimelineView(TimelineLog(known), expecting: run.events.last?.time ?? 0)
  }

  /// The rows by the task that each is of.
  private func rows(_ lines: [String]) -> [Substring: Substring] {
    var rows: [Substring: Substring] = [:]
    for line in lines {
      let words = line.dropFirst(2).split(separator: " ", maxSplits: 1)
      guard let name = words.first, name.first == "t", Int(name.dropFirst()) != nil else {
        continue
      }
      rows[name] = Columns.trimmed(String(words.dropFirst().first ?? ""))[...]
    }
    return rows
  }

  @Test(arguments: [1, 2, 3])
  func `what is known of now without searching is what a search of that moment finds`(_ seed: Int) {
    let run = SampleRun.random(60, limit: 4, seed: UInt64(seed)).run()
    let whole = TimelineLog(run)
    var opening = run
    opening.events = []
    for moment in Set(run.events.map(\.time)).sorted() {
      var soFar = TimelineLog(opening)
      soFar.take(run.events.filter { $0.time <= moment })
      let counts = whole.counts(of: whole.plan.indices, at: moment)
      #expect(soFar.counts(at: moment) == counts && whole.counts(at: moment) == counts)
      let first = whole.plan.indices.first { whole.state(of: $0, at: moment) != .ended }
      #expect(soFar.firstUnended(at: moment) == first && whole.firstUnended(at: moment) == first)
      #expect(
        soFar.plan.indices.allSatisfy {
          soFar.state(of: $0, at: moment) == whole.state(of: $0, at: moment)
        }
      )
    }
  }

  @Test(arguments: [60, 80, 200])
  func `the last frame is the final timeline`(_ width: Int) {
    let format = TextFormat(width: width)
    let timeline = Gantt.tasks(Self.run, format).split(separator: "\n").map(String.init)
    let lines = view().lines(at: Self.end, format)
    #expect(lines == Array(timeline.prefix(lines.count)))
    #expect(lines.count == 14 + 3)
  }

  @Test(arguments: [60, 80, 200])
  func `each frame says of each task what its log says by that moment, and needs no more of it`(
    _ width: Int
  ) throws {
    let format = TextFormat(width: width)
    let whole = view()
    for step in Int64(0)...20 {
      let moment = Self.end * step / 20
      let lines = whole.lines(at: moment, format)
      #expect(lines.allSatisfy { $0.count <= width }, "\(lines)")
      #expect(view(knowing: moment).lines(at: moment, format) == lines, "at \(moment)")
      let known = Self.run.events.filter { $0.time <= moment }
      let lives = TaskLife.all(in: known, tasks: Self.run.plan.count)
      let rows = rows(lines)
      for life in lives {
        let row = try #require(rows[life.task.label(amongst: 14)[...]])
        let last: Character? =
          switch life.end {
          case .finished: "|"
          case .failed: "!"
          case .cancelledWhileRunning, .cancelledWhileWaiting: "x"
          case .rejected, nil: nil
          }
        if let last {
          #expect(row.last == last, "\(life) at \(moment): \(row)")
        } else {
          #expect(!row.contains { "|!x".contains($0) }, "\(life) at \(moment): \(row)")
          #expect(row.isEmpty || life.arrived != nil, "\(life) at \(moment): \(row)")
        }
      }
      let ended = lives.count { $0.ended != nil }
      #expect(whole.standing(at: moment) == "\(ended) of 14 ended")
    }
  }

  @Test(arguments: [12, 24, 50])
  func `of more tasks than rows, those around the one selected are shown, and the rest is counted`(
    _ height: Int
  ) throws {
    let format = TextFormat(width: 80, height: height)
    var view = view(Self.many)
    let end = Self.many.events.last?.time ?? 0
    for (selected, moment) in [(nil, end / 2), (0, end / 2), (200, end / 3), (399, end)] {
      view.selected = selected
      let lines = view.lines(at: moment, format)
      #expect(lines.count == height)
      let rows = rows(lines)
      #expect(rows.count == height - 4)
      if let selected {
        let name = TaskID(selected + 1).label(amongst: 400)
        #expect(lines.contains { $0.hasPrefix("▸ \(name)") }, "\(lines)")
      }
      let rest = try #require(lines.first { $0.contains("more:") })
      #expect(rest.contains("\(400 - rows.count) more: "), "\(rest)")
      let counted = rest.split { !$0.isNumber }.compactMap { Int($0) }
      #expect(counted.dropFirst().reduce(0, +) == counted.first)
      let whole = self.view(Self.many)
        .lines(at: moment, TextFormat(width: 80))
      let all = self.rows(whole)
      for (name, row) in rows { #expect(all[name] == row, "\(name)") }
    }
  }

  @Test(arguments: [20, 40, 49, 50, 80])
  func `the task selected has its whole name, however narrow the window is`(_ width: Int) {
    var view = view(Self.many)
    view.selected = 199
    let lines = view.lines(at: 0, TextFormat(width: width, height: 24))
    #expect(lines.contains { $0.hasPrefix("▸t200") || $0.hasPrefix("▸ t200 ") }, "\(lines)")
  }

  @Test func `the axis has room for what is expected, and grows where that was too little`() {
    var view = TimelineView(TimelineLog(open()), expecting: 10 * millisecond)
    #expect(view.horizon == 10 * millisecond)
    let half = Self.end / 2
    view.log.take(Self.run.events.filter { $0.time <= half })
    #expect(view.horizon >= half && view.horizon < 2 * half)
    #expect(self.view().horizon == Self.end)
  }

  /// The run before anything has happened.
  private func open() -> Run {
    var run = Self.run
    run.events = []
    return run
  }

  @Test
  func `the task selected is told with what it waits for, and a moment that is marked is seen`()
    throws
  {
    let run = SampleRun.together(6, limit: 2, work: 100 * millisecond).run()
    var view = TimelineView(TimelineLog(run), expecting: 1)
    view.selected = 4
    let moment = 150 * millisecond
    var why: Why?
    let told = view.history(at: moment, TextFormat(width: 200), keeping: &why)
      .joined(separator: "\n")
    #expect(told.contains("t05 has waited 150 ms so far"), "\(told)")
    #expect(told.contains("t03 and t04 ahead in the queue"), "\(told)")
    #expect(told.hasSuffix("0 s arrived"), "\(told)")
    view.mark(moment)
    view.mark(moment)
    #expect(view.marks == [moment])
    let lines = view.lines(at: moment, TextFormat(width: 72))
    let column = try #require(lines[1].firstIndex(of: "v"))
    #expect(lines[1].distance(from: lines[1].startIndex, to: column) == 8 + 30)
  }

  @Test func `keys select, step, mark and steer, and a letter begins a line for the prompt`() {
    var keys = TimelineKeys()
    func press(_ text: String) -> [TimelineKeys.Action] { text.utf8.compactMap { keys.press($0) } }
    #expect(press(" p+-") == [.hold, .hold, .faster, .slower])
    #expect(
      press("\u{1B}[A\u{1B}OB\u{1B}[C\u{1B}[D") == [.select(-1), .select(1), .forward, .back]
    )
    #expect(
      press("\u{1B}[H\u{1B}[F\u{1B}[1~\u{1B}[4~\u{1B}[5~\u{1B}[6~")
        == [.toBegin, .toEnd, .toBegin, .toEnd, .selectPage(-1), .selectPage(1)]
    )
    #expect(press("c\rc7\rc7\u{1B}c0\rasm") == [.cancel(nil), .cancel(7), .add, .suspend, .mark])
    #expect(press("/t1x\u{7F}2\r") == [.find(2)])
    #expect(press("l5\r") == [.limit(5)])
    #expect(press("l5\u{1B}") == [])
    #expect(press("Q") == [.leave])
    #expect(press("wait q\r") == [.typedAhead])
    #expect(String(decoding: keys.typedAhead, as: UTF8.self) == "wait q\r")
    var others = TimelineKeys()
    #expect("lesson 2\r".utf8.compactMap { others.press($0) } == [.typedAhead])
    #expect(String(decoding: others.typedAhead, as: UTF8.self) == "lesson 2\r")
    var another = TimelineKeys()
    #expect("check\r".utf8.compactMap { another.press($0) } == [.typedAhead])
    #expect(String(decoding: another.typedAhead, as: UTF8.self) == "check\r")
  }

  @Test func `the events are gone through one by one, forward and back`() {
    let log = view().log
    let all = Set(Self.run.events.map(\.time)).sorted()
    var forward = [Int64](repeating: all[0], count: 1)
    while let next = log.moment(after: forward[forward.count - 1]) { forward.append(next) }
    #expect(forward == all)
    var back = [all[all.count - 1]]
    while let next = log.moment(before: back[back.count - 1]) { back.append(next) }
    #expect(back.reversed() == all)
  }
}
