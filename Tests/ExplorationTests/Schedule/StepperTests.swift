import TestSupport
import Testing

@testable import ExplorableSynchronization
@testable import Exploration

@Suite(.watched) struct StepperTests {
  let flawed = Scenario.semaphore(.checksThenParks, tasks: 2, limit: 1, cancellable: false)

  @Test func `each option tells what it will do, and does it`() throws {
    var stepper = try Stepper(flawed)
    var seen = 0
    while !stepper.isOver {
      let option = stepper.options[seen % stepper.options.count]
      try stepper.choose(seen % stepper.options.count)
      #expect(stepper.steps.last == option.outcome)
      seen += 1
    }
    #expect(stepper.options == [])
    #expect(stepper.steps.count == seen)
  }

  @Test func `the learner can lose a wake-up by hand`() throws {
    var stepper = try Stepper(flawed)
    func choose(_ text: String) throws {
      let index = try #require(stepper.options.firstIndex { $0.choice.text == text })
      try stepper.choose(index)
    }
    try choose("1")
    #expect(stepper.steps[0].description == "arrives; is admitted; its body runs")
    try choose("2")
    #expect(stepper.waiters.isEmpty, "it yields between looking and parking")
    try choose("w1")
    try choose("1")
    while !stepper.isOver { try stepper.choose(0) }
    #expect(stepper.violation?.kind == .lostWakeUp)
    #expect(stepper.violation?.message == "t02 waits for ever though no body is in service")
    #expect(stepper.waiters.map(\.task) == [2])
    #expect(try Replay(of: stepper.schedule, in: flawed).violation == stepper.violation)
  }

  @Test func `going back leads to the same options as before`() throws {
    var stepper = try Stepper(flawed)
    var positions = [stepper.options]
    for _ in 0..<4 {
      try stepper.choose(stepper.options.count - 1)
      positions.append(stepper.options)
    }
    for number in (0..<4).reversed() {
      try stepper.back()
      #expect(stepper.options == positions[number])
      #expect(stepper.steps.count == number)
    }
    try stepper.back(10)
    #expect(stepper.options == positions[0])
  }

  @Test func `a copy is a fork, and goto cuts`() throws {
    var stepper = try Stepper(flawed)
    try stepper.choose(0)
    let fork = stepper
    try stepper.goOn()
    #expect(stepper.isOver)
    #expect(stepper.violation == nil)
    try stepper.go(to: 1)
    #expect(stepper.options == fork.options)
    #expect(stepper.schedule == fork.schedule)
  }

  @Test func `cancelling is among the options, once for each task that has not ended`() throws {
    var stepper = try Stepper(.semaphore(.none, tasks: 2, limit: 1, cancellable: true))
    #expect(stepper.options.map(\.choice.text) == ["1", "2", "c1", "c2"])
    try stepper.choose(0)
    try stepper.choose(#require(stepper.options.firstIndex { $0.choice.text == "2" }))
    #expect(stepper.waiters.map(\.task) == [2])
    try stepper.choose(#require(stepper.options.firstIndex { $0.choice.text == "c2" }))
    #expect(!stepper.options.contains { $0.choice.text == "c2" })
    #expect(stepper.waiters.isEmpty)
    try stepper.goOn()
    #expect(stepper.violation == nil)
    #expect(stepper.steps.map(\.description).contains("leaves the line, cancelled"))
  }

  @Test func `of a word that several figures are packed into no sum is told`() {
    let compare = SynchronizationOperation(.compare, 1)
    func text(_ found: String, _ left: String) -> String {
      compare.text(of: "state", OperationValues(found: found, left: left, hasWritten: true))
    }
    #expect(text("0", "1") == "compares and changes atomic 1 (state = 0, then 1)")
    #expect(
      text("36028797018963969", "72057596185411584") == "compares and changes atomic 1 (state)"
    )
  }
}
