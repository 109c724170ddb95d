import Basics
import TestSupport
import Testing

@testable import Exploration

@Suite(.watched) struct ScheduleTextTests {
  @Test func `a schedule is one line with repetitions folded`() {
    let choices = [
      Choice(.run, 1), Choice(.run, 1), Choice(.cancel, 2), Choice(.turn, 1),
      Choice(.turn, 3, ordinal: 2),
      Choice(.run, 12), Choice(.run, 12), Choice(.run, 12),
    ]
    let schedule = Schedule(fingerprint: "limiter-2-1-any", choices: choices)
    #expect(schedule.description == "v1:limiter-2-1-any:1*2,c2,a1,a3.2,12*3")
  }

  @Test func `what was written is read back, whatever it was`() throws {
    var random = SplitMix64(seed: 1)
    for _ in 0..<2000 {
      let kinds: [Choice.Kind] = [.run, .turn, .cancel]
      let choices = (0..<random.next(below: 12)).map { _ in
        let kind = kinds[random.next(below: 3)]
        let ordinal = kind == .turn ? random.next(below: 3) : 0
        return Choice(kind, random.next(below: 3) + 1, ordinal: ordinal)
      }
      let schedule = Schedule(fingerprint: "s", choices: choices)
      #expect(try Schedule(parsing: schedule.description) == schedule)
    }
  }

  @Test(
    arguments: [
      "", "v1", "v1:", "v1:x", "v1::1", "v1:x:1:2", "v2:x:1", "v1:x:,", "v1:x:1,", "v1:x:-1",
      "v1:x:+1",
      "v1:x:1*", "v1:x:1*0", "v1:x:1*-2", "v1:x:1*9999999", "v1:x:1*2*3", "v1:x:d1", "v1:x:c",
      "v1:x:a",
      "v1:x:a1.", "v1:x:a1.2.3", "v1:x: 1", "v1:x:٣", "v1:x:1234567",
    ]
  )
  func `what is not a schedule is refused`(text: String) {
    #expect(throws: ScheduleError.self) { _ = try Schedule(parsing: text) }
  }

  @Test func `mangled schedules are refused or read, and never trap`() {
    var random = SplitMix64(seed: 2)
    let letters = Array("v1:limiter,c2a3.*-0 9\u{e9}")
    for _ in 0..<20_000 {
      var text = Array("v1:limiter-2:1*2,c2,a1.1,2")
      for _ in 0...random.next(below: 4) {
        let place = random.next(below: text.count)
        switch random.next(below: 3) {
        case 0: text[place] = letters[random.next(below: letters.count)]
        case 1: text.remove(at: place)
        default: text.insert(letters[random.next(below: letters.count)], at: place)
        }
      }
      if let schedule = try? Schedule(parsing: String(text)) {
        #expect((try? Schedule(parsing: schedule.description)) == schedule)
      }
    }
  }

  @Test func `another version and another scenario are named`() throws {
    #expect(throws: ScheduleError.otherVersion("v7")) { _ = try Schedule(parsing: "v7:x:1") }
    let scenario = Scenario.semaphore(.none, tasks: 2, limit: 1, cancellable: false)
    let schedule = try Schedule(parsing: "v1:pool-2-1-any:1,2")
    let error = ScheduleError.otherScenario(
      schedule: "pool-2-1-any",
      scenario: "semaphore-none-2-1-none"
    )
    #expect(throws: error) { _ = try Replay(of: schedule, in: scenario) }
    #expect(error.description.contains("'pool-2-1-any'"))
    #expect(error.description.contains("'semaphore-none-2-1-none'"))
  }

  @Test func `a step that is not possible is refused with what is`() throws {
    let scenario = Scenario.semaphore(.none, tasks: 2, limit: 1, cancellable: false)
    let schedule = Schedule(
      fingerprint: scenario.name,
      choices: [Choice(.run, 1), Choice(.cancel, 1)]
    )
    let error = ScheduleError.notPossible(
      step: 2,
      choice: Choice(.cancel, 1),
      options: [Choice(.run, 2), Choice(.run, 1)]
    )
    #expect(throws: error) { _ = try Replay(of: schedule, in: scenario) }
    #expect(
      error.description.hasPrefix(
        "step 2 of the schedule is 'c1', but what can happen there is 2 or 1"
      )
    )
  }
}
