import Experiments
import Foundation
import Mechanisms
import Rendering
import TestSupport
import Testing

/// Reads a trace back and holds it against the rules Perfetto's importer has, and against the log.
struct ChromeTraceChecker {
  struct Event {
    let phase: String
    let name: String
    let category: String
    /// Nanoseconds.
    let time: Int64
    let duration: Int64
    let process: Int
    let thread: Int
    let id: String
    let counter: Int?
    let bindsToEnclosing: Bool

    init?(_ object: [String: Any]) {
      guard let phase = object["ph"] as? String, let name = object["name"] as? String,
        let process = object["pid"] as? Int, let thread = object["tid"] as? Int
      else { return nil }
      self.phase = phase
      self.name = name
      self.process = process
      self.thread = thread
      category = object["cat"] as? String ?? ""
      time = Self.nanoseconds(object["ts"])
      duration = Self.nanoseconds(object["dur"])
      let local = (object["id2"] as? [String: Any])?["local"] as? String
      id = local ?? object["id"] as? String ?? ""
      counter = (object["args"] as? [String: Any])?["tasks"] as? Int
      bindsToEnclosing = object["bp"] as? String == "e"
    }

    private static func nanoseconds(_ microseconds: Any?) -> Int64 {
      guard let number = microseconds as? NSNumber else { return 0 }
      return Int64((number.doubleValue * 1_000).rounded())
    }
  }

  let events: [Event]
  private(set) var faults: [String] = []

  init(_ text: String) throws {
    let root = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    let list = root?["traceEvents"] as? [[String: Any]] ?? []
    events = list.compactMap(Event.init)
    if events.count != list.count {
      faults.append("\(list.count - events.count) events lack a field")
    }
    if events.isEmpty { faults.append("no events") }
    checkNumbers()
    checkWorkers()
    checkTasks()
    checkFlows()
  }

  private mutating func checkNumbers() {
    for event in events {
      if event.process == 0 || event.thread == 0 { faults.append("\(event.name) has pid or tid 0") }
      if event.time < 0 || event.duration < 0 { faults.append("\(event.name) has a negative time") }
      if !["M", "X", "b", "e", "s", "f", "C"].contains(event.phase) {
        faults.append("phase \(event.phase) is not one the importer reads")
      }
    }
    let named = Set(events.filter { $0.name == "thread_name" }.map { [$0.process, $0.thread] })
    for event in events where event.phase == "X" && !named.contains([event.process, event.thread]) {
      faults.append("lane \(event.thread) has no name")
    }
  }

  /// Slices of one lane are apart, or one lies within the other.
  private mutating func checkWorkers() {
    let lanes = Dictionary(grouping: events.filter { $0.phase == "X" }) { $0.thread }
    for (lane, slices) in lanes {
      var open: [Int64] = []
      for slice in slices.sorted(by: { ($0.time, -$0.duration) < ($1.time, -$1.duration) }) {
        while let end = open.last, end <= slice.time { open.removeLast() }
        if let end = open.last, slice.time + slice.duration > end {
          faults.append("\(slice.name) overlaps its neighbour in lane \(lane)")
        }
        open.append(slice.time + slice.duration)
      }
    }
  }

  /// Read in the order of time, and of the file where times are equal, every slice closes in turn.
  private mutating func checkTasks() {
    var stacks: [String: [String]] = [:]
    var roots: Set<String> = []
    let slices = events.enumerated().filter { ["b", "e"].contains($0.element.phase) }
    for (_, event) in slices.sorted(by: {
      ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
    }) {
      if event.category != "task" || event.id.isEmpty {
        faults.append("\(event.name) has no identity")
      }
      if event.phase == "b" {
        if stacks[event.id, default: []].isEmpty, !roots.insert(event.name).inserted {
          faults.append("two tasks are called \(event.name)")
        }
        stacks[event.id, default: []].append(event.name)
      } else if stacks[event.id]?.popLast() != event.name {
        faults.append("\(event.name) of \(event.id) closes what is not open")
      }
    }
    for (id, stack) in stacks where !stack.isEmpty { faults.append("\(stack) of \(id) stays open") }
  }

  private mutating func checkFlows() {
    let starts = events.filter { $0.phase == "s" }
    let ends = Dictionary(events.filter { $0.phase == "f" }.map { ($0.id, $0) }) { first, _ in first
    }
    let slices = Dictionary(grouping: events.filter { $0.phase == "X" }) { $0.thread }
    if starts.count != ends.count {
      faults.append("\(starts.count) flows start, \(ends.count) end")
    }
    func isInside(_ event: Event) -> Bool {
      slices[event.thread, default: []].contains {
        $0.time <= event.time && (event.time < $0.time + $0.duration || $0.duration == 0)
      }
    }
    for start in starts {
      guard let end = ends[start.id] else {
        faults.append("flow \(start.id) has no end")
        continue
      }
      if end.name != start.name || end.category != start.category || !end.bindsToEnclosing {
        faults.append("flow \(start.id) does not match its end")
      }
      if end.time < start.time { faults.append("flow \(start.id) ends before it starts") }
      if !isInside(start) || !isInside(end) { faults.append("flow \(start.id) hangs in the air") }
    }
  }

  func count(_ phase: String) -> Int { events.count { $0.phase == phase } }
}

@Suite(.watched)
struct ChromeTraceTests {
  /// Waiting and service each with and without a worker held.
  @Test(arguments: 1...12)
  func `what is written keeps the importer's rules and has as much as the log`(seed: Int) throws {
    var sample = SampleRun.random(150, limit: 1 + seed / 3, seed: UInt64(seed))
    sample.blocksWhileWaiting = seed.isMultiple(of: 2)
    sample.serviceHoldsWorker = seed.isMultiple(of: 3)
    let run = sample.run()
    let trace = try ChromeTraceChecker(ChromeTrace.text(run))
    #expect(trace.faults == [])
    let timeline = Timeline(events: run.events, facts: run.facts)
    let spans = timeline.tasks.reduce(0) { $0 + $1.spans.count }
    #expect(trace.count("b") == spans + run.plan.count)
    #expect(trace.count("e") == trace.count("b"))
    #expect(trace.count("C") == timeline.running.steps.count + timeline.waiting.steps.count)
    let held = timeline.workers.reduce(0) { $0 + $1.spans.count }
    let moments = timeline.workers.reduce(0) { $0 + Set($1.marks.map(\.time)).count }
    #expect(trace.count("X") == (held > 0 ? held : moments))
    let woken = run.events.count { $0.kind == .admitted && $0.cause != nil }
    // Where only waiting holds a worker, departures lie in no slice and have no flows.
    let everyoneHasSlices = sample.serviceHoldsWorker || !sample.blocksWhileWaiting
    #expect(everyoneHasSlices ? trace.count("s") == woken : trace.count("s") < woken)
  }

  @Test
  func `counters end at nothing running and nothing waiting`() throws {
    let run = SampleRun.random(60, limit: 2, seed: 9).run()
    let trace = try ChromeTraceChecker(ChromeTrace.text(run))
    for name in ["running", "waiting"] {
      let last = trace.events.last { $0.phase == "C" && $0.name == name }
      #expect(last?.counter == 0)
    }
  }

  @Test
  func `a task that never ended is closed at the end of the log`() throws {
    var run = SampleRun.together(3, limit: 1, work: millisecond).run()
    run.events.removeLast(2)
    let trace = try ChromeTraceChecker(ChromeTrace.text(run))
    #expect(trace.faults == [])
    #expect(trace.count("b") == trace.count("e"))
  }

  @Test
  func `two tasks that hold one worker at once lie in lanes beside each other`() throws {
    let facts = RunFacts(tasks: 2, limit: 2, promisesOrder: false, serviceHoldsWorker: true)
    let worker = WorkerID(1)
    let events = [
      TraceEvent(time: 0, task: TaskID(1), kind: .arrived),
      TraceEvent(time: 0, task: TaskID(1), kind: .admitted, worker: worker),
      TraceEvent(time: 5, task: TaskID(2), kind: .arrived),
      TraceEvent(time: 5, task: TaskID(2), kind: .admitted, worker: worker),
      TraceEvent(time: 9, task: TaskID(1), kind: .finished, worker: worker),
      TraceEvent(time: 12, task: TaskID(2), kind: .finished, worker: worker),
    ]
    var run = SampleRun.together(2, limit: 2, work: 9).run()
    run.events = events
    run.facts = facts
    let trace = try ChromeTraceChecker(ChromeTrace.text(run))
    #expect(trace.faults == [])
    #expect(trace.events.filter { $0.phase == "X" }.map(\.thread) == [1, 2])
  }

  @Test
  func `the checker itself finds what is wrong`() throws {
    let wrong = """
      {"traceEvents":[
      {"ph":"X","name":"a","pid":2,"tid":1,"ts":0,"dur":10},
      {"ph":"X","name":"b","pid":2,"tid":1,"ts":5,"dur":10},
      {"ph":"b","name":"t1","cat":"task","id2":{"local":"0x1"},"pid":1,"tid":0,"ts":0},
      {"ph":"s","name":"w","cat":"c","id":"0x1","pid":2,"tid":7,"ts":0}]}
      """
    let faults = try ChromeTraceChecker(wrong).faults.joined(separator: "\n")
    for part in ["pid or tid 0", "no name", "overlaps", "stays open", "no end"] {
      #expect(faults.contains(part))
    }
  }
}
