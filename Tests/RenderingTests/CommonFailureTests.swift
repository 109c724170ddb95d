import Mechanisms
import TestSupport
import Testing

@testable import Rendering

@Suite(.watched) struct `Failures of one reason` {
  private func failures(_ texts: [String]) -> [CommonFailure] {
    let events = texts.enumerated().flatMap { index, text in
      let task = TaskID(index + 1)
      return [TraceEvent.Kind.arrived, .admitted, .error(ErrorText(text)), .failed].map {
        TraceEvent(time: 0, task: task, kind: $0)
      }
    }
    let facts = RunFacts(
      tasks: texts.count,
      limit: nil,
      promisesOrder: false,
      serviceHoldsWorker: false
    )
    return CommonFailure.all(in: RunSummary(events: events, facts: facts).errors)
  }

  @Test func `are told as one, with the first that was asked for`() {
    let refused = "the server answered with status 503"
    let found = failures([
      "no answer", "/image/10: \(refused)", "/image/9: \(refused)", "/image/9: \(refused)",
    ])
    #expect(found.map(\.text) == ["\(refused) (first: /image/10)", "no answer"])
    #expect(found.map(\.tasks) == [3, 1])
    #expect(found.map(\.first) == [TaskID(2), TaskID(1)])
  }

  @Test func `keep their own words where there is one of them`() {
    #expect(failures(["/image/1: no answer"]).map(\.text) == ["/image/1: no answer"])
    #expect(failures(["/tmp is full"]).map(\.text) == ["/tmp is full"])
  }
}
