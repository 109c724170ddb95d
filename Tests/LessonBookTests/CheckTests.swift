import TestSupport
import Testing

@testable import LessonBook

@Suite(.watched) struct CheckTests {
  private func run(
    _ mechanism: String,
    limit: Int,
    peak: Int,
    makespan: Int64 = 20_000_000
  ) -> MetricTable {
    MetricTable([
      "mechanism": .word(mechanism), "limit": .count(limit), "peak_running": .count(peak),
      "makespan": .duration(makespan),
    ])
  }

  private let exploration = MetricTable(["violation": .word("over-admission")])

  private func checks(_ texts: String...) throws -> [Check] {
    try texts.map { try Check($0, sentence: "it holds", line: 1) }
  }

  private func isPassed(_ checks: [Check], by evidence: [any MetricSource]) -> Bool {
    checks.judge(evidence).allSatisfy(\.isMet)
  }

  @Test func `before anything is run there is nothing to judge`() throws {
    let results = try checks("peak_running = 3", "for limit = 2: peak_running = 2").judge([])
    #expect(results.map(\.isMet) == [false, false])
    #expect(results[0].remark() == "you have not run anything since this page began that shows it")
    #expect(results[1].remark() == "you have not run anything since this page began that shows it")
    #expect(results[1].complaint == "nothing was run with limit = 2")
  }

  @Test func `of the run that comes nearest it says what is different, not what is asked`() throws {
    let check = try checks("for mechanism = limiter and limit = 2: peak_running = 2")
    let evidence = [run("limiter", limit: 3, peak: 3), run("pool", limit: 4, peak: 4)]
    #expect(
      check.judge(evidence)[0].remark()
        == "you have not run yet what this is about: the run that comes nearest had limit = 3"
    )
    #expect(
      check.judge([exploration])[0].remark()
        == "you have not run anything since this page began that shows it"
    )
  }

  @Test func `which clock is wanted is told, for the task names it`() throws {
    let check = try checks("for clock = real and limit = 2: peak_running = 2")
    let run = MetricTable([
      "clock": .word("virtual"), "limit": .count(3), "peak_running": .count(3),
    ])
    #expect(
      check.judge([run])[0].remark()
        == "you have not run yet what this is about: the run that comes nearest had "
        + "clock = virtual and limit = 3; wanted clock = real"
    )
  }

  @Test func `a run that meets it stays good when other runs follow`() throws {
    let good = run("limiter", limit: 3, peak: 3)
    let other = run("pool", limit: 5, peak: 5)
    let check = try checks("peak_running = 3")
    #expect(isPassed(check, by: [good, other]))
  }

  @Test func `checks without conditions must hold of one and the same run`() throws {
    let all = try checks("peak_running = 3", "makespan = 20ms")
    let half = run("limiter", limit: 3, peak: 3, makespan: 30_000_000)
    let otherHalf = run("limiter", limit: 2, peak: 2)
    #expect(!isPassed(all, by: [half, otherHalf]))
    #expect(isPassed(all, by: [half, run("limiter", limit: 3, peak: 3)]))
  }

  @Test func `conditions choose the run`() throws {
    let both = try checks(
      "for mechanism = pool and limit = 2: peak_running = 2",
      "for mechanism = limiter: peak_running = 3"
    )
    let pool = run("pool", limit: 2, peak: 2)
    let limiter = run("limiter", limit: 3, peak: 3)
    #expect(both.judge([pool, limiter]).map(\.isMet) == [true, true])
    #expect(both.judge([limiter, pool]).map(\.isMet) == [true, true])
    #expect(both.judge([pool]).map(\.isMet) == [true, false])
    #expect(both.judge([run("pool", limit: 3, peak: 3)]).map(\.isMet) == [false, false])
  }

  @Test func `a missed check tells of the newest run it is about`() throws {
    let runs = [run("pool", limit: 4, peak: 4), run("pool", limit: 5, peak: 5)]
    let result = try checks("peak_running = 3").judge(runs)[0]
    #expect(result.remark() == "in your run peak_running is 5; wanted: 3")
    #expect(
      result.remark(asking: Metric("peak_running")) == "in your run peak_running is 5",
      "what is asked is not told"
    )
    let chosen = try checks("limit = 3").judge(runs)[0]
    #expect(chosen.remark() == "in your run limit is 5", "nor what the learner has to choose")
  }

  @Test
  func `a missed check names the run that it speaks of, and says why a newer one is not meant`()
    throws
  {
    let old = OriginatedSource(run("pool", limit: 4, peak: 4), from: "run 1 ('run 8 pool limit=4')")
    let new = OriginatedSource(run("pool", limit: 5, peak: 5), from: "run 2 ('run 8 pool limit=5')")
    let check = try checks("for mechanism = pool and limit = 4: peak_running = 3")
    #expect(
      check.judge([old])[0].remark()
        == "run 1 ('run 8 pool limit=4'): peak_running is 4; wanted: 3"
    )
    #expect(
      check.judge([old, new])[0].remark()
        == "run 2 ('run 8 pool limit=5') had limit = 5 and does not count; "
        + "run 1 ('run 8 pool limit=4'): peak_running is 4; wanted: 3"
    )
    #expect(
      check.judge([new])[0].remark()
        == "you have not run yet what this is about: the run that comes nearest, "
        + "run 2 ('run 8 pool limit=5'), had limit = 5"
    )
  }

  @Test func `where a guess need not be exact, one percent is close to none`() {
    let nobody = [MetricTable(["waited": .percent(0)])]
    func judge(_ percent: Double, tolerance: Double) -> Bool? {
      prediction(
        .share,
        answer: .figure(Metric("waited"), conditions: []),
        tolerance: tolerance
      ).comparison(of: .percent(percent), with: nobody)?.isRight
    }
    #expect(judge(1, tolerance: 20) == true)
    #expect(judge(2, tolerance: 20) == false)
    #expect(judge(1, tolerance: 0) == false)
  }

  @Test func `runs and explorations are kept apart`() throws {
    let both = try checks("violation = over-admission", "peak_running = 3")
    let limiter = run("limiter", limit: 3, peak: 3)
    #expect(both.judge([exploration]).map(\.isMet) == [true, false])
    #expect(both.judge([exploration, limiter]).map(\.isMet) == [true, true])
    #expect(both.judge([limiter, exploration]).map(\.isMet) == [true, true])
  }

  @Test(arguments: ["for limit = 3 peak_running = 3", "for limit: peak_running = 3"])
  func `conditions that cannot be read are refused`(_ text: String) {
    #expect(throws: ExpectationError.self) { try Check(text, sentence: "", line: 1) }
  }

  // MARK: Predictions

  private func prediction(
    _ form: Prediction.Form,
    answer: Prediction.Answer = .figure(Metric("makespan"), conditions: []),
    tolerance: Double = 0
  ) -> Prediction {
    Prediction(question: "?", form: form, answer: answer, tolerance: tolerance, line: 1)
  }

  @Test func `a guess is read by the form asked for`() {
    #expect(prediction(.duration).guess(" 300ms ") == .duration(300_000_000))
    #expect(prediction(.duration).guess("300") == nil)
    #expect(prediction(.duration).guess("run 4") == nil)
    #expect(prediction(.count).guess("3") == .count(3))
    #expect(prediction(.count).guess("3ms") == nil)
    #expect(prediction(.rate).guess("30") == .rate(30))
    #expect(prediction(.share).guess("5") == .percent(5))
    #expect(prediction(.share).guess("0.5") == .percent(50))
    #expect(prediction(.share).guess("1.5") == .percent(1.5))
    #expect(prediction(.share).guess("0.5%") == .percent(0.5))
    #expect(prediction(.number).guess("1.5") == .number(1.5))
    let choice = prediction(.choice(["inside", "before", "in both"]))
    #expect(choice.guess("Before") == .word("before"))
    #expect(choice.guess("bef") == .word("before"))
    #expect(choice.guess("in") == nil)
    #expect(choice.guess("after") == nil)
  }

  @Test func `a guess is compared with the learner's own run`() throws {
    let guess = MetricValue.duration(18_000_000)
    let evidence = [run("limiter", limit: 3, peak: 3)]
    let exact = try #require(prediction(.duration).comparison(of: guess, with: evidence))
    #expect(exact.got == .duration(20_000_000))
    #expect(!exact.isRight)
    let near = prediction(.duration, tolerance: 10).comparison(of: guess, with: evidence)
    #expect(near?.isRight == true)
    #expect(prediction(.duration).comparison(of: guess, with: [exploration]) == nil)
  }

  @Test func `a guess at a word is compared with the word`() {
    let choice = prediction(.choice(["yes", "no"]), answer: .value(.word("no")))
    #expect(choice.comparison(of: .word("no"), with: [])?.isRight == true)
    #expect(choice.comparison(of: .word("yes"), with: [])?.isRight == false)
  }
}
