import Basics
import TestSupport
import Testing

@testable import Exploration

@Suite(.watched) struct ScheduleTextTests {
  @Test func `a schedule is one line with repetitions folded`() {
    let choices = [
      Choice(.run, 1), Choice(.run, 1), Choice(.cancel, 2), Choice(.turn, 1),
      Choice(.turn, 3, ordinal: 2), Choice(.wake, 2), Choice(.limit, 4),
      Choice(.run, 12), Choice(.run, 12), Choice(.run, 12),
    ]
    let schedule = Schedule(scenario: "limiter-2-1-any", fingerprint: 0x2B, choices: choices)
    #expect(schedule.description == "v3:limiter-2-1-any:2b:1*2,c2,a1,a3.2,w2,l4,12*3")
  }

  @Test func `what was written is read back, whatever it was`() throws {
    var random = SplitMix64(seed: 1)
    for _ in 0..<2000 {
      let kinds: [Choice.Kind] = [.run, .turn, .cancel, .wake, .limit]
      let choices = (0..<random.next(below: 12)).map { _ in
        let kind = kinds[random.next(below: kinds.count)]
        let ordinal = kind == .turn ? random.next(below: 3) : 0
        return Choice(kind, random.next(below: 3) + 1, ordinal: ordinal)
      }
      let schedule = Schedule(scenario: "s", fingerprint: random.next(), choices: choices)
      #expect(try Schedule(parsing: schedule.description) == schedule)
    }
  }

  @Test(
    arguments: [
      "", "v3", "v3:", "v3:x", "v3:x:1", "v3::0:1", "v3:x:0:1:2", "v3:x::1",
      "v3:x:123456789:1",
      "v3:x:g:1", "v1:x:1", "v3:x:0:,", "v3:x:0:1,", "v3:x:0:-1", "v3:x:0:+1", "v3:x:0:1*",
      "v3:x:0:1*0",
      "v3:x:0:1*-2", "v3:x:0:1*9999999", "v3:x:0:1*2*3", "v3:x:0:d1", "v3:x:0:c", "v3:x:0:w",
      "v3:x:0:l",
      "v3:x:0:a", "v3:x:0:a1.", "v3:x:0:a1.2.3", "v3:x:0: 1", "v3:x:0:٣", "v3:x:0:1234567",
    ]
  )
  func `what is not a schedule is refused`(text: String) {
    #expect(throws: ScheduleError.self) { _ = try Schedule(parsing: text) }
  }

  @Test func `mangled schedules are refused or read, and never trap`() {
    var random = SplitMix64(seed: 2)
    let letters = Array("v3:limiter,c2a3.w*-0 9\u{e9}")
    for _ in 0..<20_000 {
      var text = Array("v3:limiter-2:8c:1*2,c2,a1.1,2")
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
    let schedule = try Schedule(parsing: "v3:pool-2-1-any:0:1,2")
    let error = ScheduleError.otherScenario(
      schedule: "pool-2-1-any",
      scenario: "semaphore-none-2-1-none"
    )
    #expect(throws: error) { _ = try Replay(of: schedule, in: scenario) }
    #expect(error.description.contains("'pool-2-1-any'"))
    #expect(error.description.contains("'semaphore-none-2-1-none'"))
  }

  @Test func `a schedule that leads to something else than when it was recorded is refused`() throws
  {
    let scenario = Scenario.semaphore(.none, tasks: 2, limit: 1, cancellable: false)
    let choices = [Choice(.run, 1), Choice(.run, 2)]
    var schedule = Schedule(scenario: scenario.name, choices: choices)
    let replay = try Replay(of: schedule, in: scenario)
    schedule.fingerprint = Schedule.folded(replay.fingerprint)
    #expect(try Replay(of: schedule, in: scenario).steps == replay.steps)
    // The same choices are possible in other code, where the second task is let in at once.
    var other = Scenario.semaphore(.none, tasks: 2, limit: 2, cancellable: false)
    other.fingerprint = { _ in scenario.name }
    #expect(throws: ScheduleError.otherRun) { _ = try Replay(of: schedule, in: other) }
  }

  @Test func `a step that is not possible is refused with what is`() throws {
    let scenario = Scenario.semaphore(.none, tasks: 2, limit: 1, cancellable: false)
    let schedule = Schedule(
      scenario: scenario.name,
      choices: [Choice(.run, 1), Choice(.cancel, 1)]
    )
    let error = ScheduleError.notPossible(
      step: 2,
      choice: Choice(.cancel, 1),
      options: [Choice(.run, 2), Choice(.wake, 1)]
    )
    #expect(throws: error) { _ = try Replay(of: schedule, in: scenario) }
    #expect(
      error.description.hasPrefix(
        "step 2 of the schedule is 'c1', but what can happen there is 2 or w1"
      )
    )
  }
}
