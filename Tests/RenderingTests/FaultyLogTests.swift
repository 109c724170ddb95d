import Basics
import Experiments
import Mechanisms
import Rendering
import TestSupport
import Testing

/// A faulty mechanism leaves a faulty log, and that is when its views are needed most.
@Suite(.watched)
struct FaultyLogTests {
  /// Any event of any task at any time, in the order of time.
  static func anything(seed: UInt64) -> Run {
    var random = SplitMix64(seed: seed)
    let kinds: [TraceEvent.Kind] = [
      .arrived, .arrived, .limit(0), .limit(2), .blocked, .admitted, .admitted, .progress(40),
      .suspended, .resumed,
      .finished, .failed, .cancelled(.waiting), .cancelled(.running), .rejected,
    ]
    var time: Int64 = 0
    var run = SampleRun.together(6, limit: 2, work: 10).run()
    run.facts.serviceHoldsWorker = Bool.random(using: &random)
    run.events = (0..<Int.random(in: 0...60, using: &random)).map { _ in
      time += Int64.random(in: 0...2, using: &random)
      return TraceEvent(
        time: time,
        // Beyond the plan, and the run itself, too.
        task: TaskID(Int.random(in: 0...8, using: &random)),
        kind: kinds[Int.random(in: 0..<kinds.count, using: &random)],
        worker: Bool.random(using: &random) ? WorkerID(Int.random(in: 1...3, using: &random)) : nil,
        cause: Bool.random(using: &random) ? TaskID(Int.random(in: 0...9, using: &random)) : nil
      )
    }
    return run
  }

  @Test(arguments: 0..<20)
  func `every view copes with any log`(batch: UInt64) throws {
    for seed in batch * 10..<(batch + 1) * 10 {
      let run = Self.anything(seed: seed)
      let summary = run.summary
      let format = TextFormat(width: 40, height: 10)
      let texts = [
        Gantt.tasks(run, format), Gantt.workers(run, format), EventsText.list(run, format),
        SummaryText.line(run, summary, format), SummaryText.stats(run, summary, format),
        Describe.run(run, summary), ComparisonTable.text([run, run], format),
        RunDiff.text(run, SampleRun.together(3, limit: 1, work: 5).run(), format),
        RunCSV.text(run), RunJSONLines.text(run), RunSVG.text(run, summary),
        RunPage.html(run, summary),
      ]
      #expect(!texts.contains { $0.isEmpty })
      for number in 0...9 {
        if let why = Why(TaskID(number), events: run.events, facts: run.facts) {
          #expect(!why.text.isEmpty)
        }
      }
      let trace = try ChromeTraceChecker(ChromeTrace.text(run))
      #expect(trace.faults.filter { $0 != "no events" } == [], "seed \(seed)")
    }
  }
}
