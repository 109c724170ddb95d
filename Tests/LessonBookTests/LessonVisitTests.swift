import Foundation
import TestSupport
import Testing

@testable import LessonBook

@Suite(.watched) struct LessonVisitTests {
  private let lesson: Lesson
  private let right = MetricTable([
    "mechanism": .word("limiter"), "makespan": .duration(20_000_000), "peak_running": .count(2),
  ])
  private let wrong = MetricTable([
    "mechanism": .word("limiter"), "makespan": .duration(30_000_000), "peak_running": .count(2),
  ])

  init() throws { lesson = try #require(SampleLesson.parse().lesson) }

  private func advice(_ passages: [Passage]) -> String {
    passages.compactMap { if case .advice(let text) = $0 { text } else { nil } }
      .joined(separator: " ")
  }

  @Test func `a lesson from its first page to its last`() throws {
    var visit = LessonVisit(lesson)
    #expect(visit.isAsking)
    #expect(visit.opening().contains { if case .question = $0 { true } else { false } })
    #expect(visit.predict("18ms") != nil)
    #expect(!visit.isAsking)
    visit.note(right)
    let (passages, passed) = visit.check(now: "2026-01-01T00:00:00Z")
    #expect(passed)
    #expect(passages.first == .comparison("you guessed 18 ms; it is 20 ms", isRight: false))
    #expect(passages.contains(.met("never more than two at once")))
    #expect(passages.contains(.text(lesson.sections[0].explanation)))
    #expect(visit.record[visit.section].passed == "2026-01-01T00:00:00Z")
    _ = visit.next()
    #expect(visit.section.id == "the-code")
    _ = visit.next()
    #expect(visit.section.id == "own-gate")
    visit.note(MetricTable(["passed": .word("yes")]))
    #expect(visit.check(now: "later").passed)
    #expect(visit.record.isThrough(lesson))
    _ = visit.next()
    #expect(visit.section.id == "where-to-read-more")
    #expect(advice(visit.next()).contains("last page"))
  }

  @Test func `a page lists the words of the glossary that no page before it has`() {
    let glossary = Glossary("## Permit\n\nLets one in.\n\n## Round\n\nAs many as permits.\n")
    func words(_ passages: [Passage]) -> [[String]] {
      passages.compactMap { if case .words(let words) = $0 { words } else { nil } }
    }
    var visit = LessonVisit(lesson, glossary: glossary)
    #expect(words(visit.opening()) == [["permit"]])
    visit.note(right)
    _ = visit.check(now: "now")
    #expect(words(visit.next()) == [])
    #expect(words(LessonVisit(lesson).opening()) == [])
  }

  @Test func `who comes back to a step sees what was met, and where they are`() throws {
    var visit = LessonVisit(lesson)
    _ = visit.predict("")
    visit.note(wrong)
    #expect(!visit.check(now: "now").passed)
    let again = LessonVisit(lesson, record: visit.record)
    #expect(again.opening().contains(.met("never more than two at once (met before)")))
    #expect(
      !again.opening().contains {
        $0 == .met("four tasks through two permits are two rounds (met before)")
      }
    )
    let place = advice(again.whereabouts)
    #expect(place.contains("Page 1 of"))
    #expect(place.contains("0 of 2 steps passed"))
  }

  @Test func `a wrong guess, or none, does not block`() {
    var visit = LessonVisit(lesson)
    #expect(visit.predict("a parsec") == nil)
    #expect(visit.isAsking)
    #expect(visit.reminder?.contains("a duration, such as 15ms") == true)
    #expect(visit.predict("") != nil)
    #expect(!visit.isAsking)
    #expect(visit.reminder == nil)
    visit.note(right)
    #expect(visit.check(now: "now").passed)
  }

  @Test func `a check may be asked for before the guess`() {
    var visit = LessonVisit(lesson)
    visit.note(right)
    #expect(visit.check(now: "now").passed)
    #expect(!visit.isAsking)
  }

  @Test func `an answer that is known beforehand is told only with the passing`() throws {
    let text = SampleLesson.text.replacing(
      "<!-- answer: makespan -->",
      with: "<!-- answer: \"20ms\" -->"
    )
    var visit = LessonVisit(try #require(SampleLesson.parse(text).lesson))
    _ = visit.predict("18ms")
    func isCompared(_ passages: [Passage]) -> Bool {
      passages.contains { if case .comparison = $0 { true } else { false } }
    }
    #expect(!isCompared(visit.check(now: "now").passages))
    visit.note(wrong)
    #expect(!isCompared(visit.check(now: "now").passages))
    visit.note(right)
    #expect(isCompared(visit.check(now: "now").passages))
  }

  @Test func `a guess that is close is told the value`() throws {
    let text = SampleLesson.text.replacing("answer: makespan", with: "answer: makespan ~20%")
    var visit = LessonVisit(try #require(SampleLesson.parse(text).lesson))
    _ = visit.predict("18ms")
    visit.note(right)
    #expect(
      visit.check(now: "now").passages.first
        == .comparison("you guessed 18 ms, which is close: it is 20 ms", isRight: true)
    )
  }

  @Test func `of a file the latest grading counts, also on a later visit`() {
    let passed = MetricTable(["passed": .word("yes")])
    let failed = MetricTable(["passed": .word("no")])
    var visit = LessonVisit(lesson, record: recordAtOwnGate())
    visit.note(passed)
    visit.keepEvidence()
    var again = LessonVisit(lesson, record: visit.record)
    #expect(again.check(now: "now").passed, "graded before the lesson was left")
    again.note(failed)
    #expect(!again.check(now: "now").passed, "graded once more")
    again.note(passed)
    #expect(again.check(now: "now").passed)
  }

  @Test func `what the book says comes next is left out, and the end of the way is told`() throws {
    let text =
      SampleLesson.text
      + "\n\nNext: [Lesson 2: Another](02-another.md)\n"
    let lesson = try #require(SampleLesson.parse(text).lesson)
    var record = LessonRecord()
    for step in lesson.steps { record[step].passed = "then" }
    record.current = lesson.sections.last?.id
    let visit = LessonVisit(lesson, record: record, othersAreThrough: true)
    let texts = visit.opening().compactMap {
      if case .text(let blocks) = $0 { blocks } else { nil }
    }
    #expect(!"\(texts)".contains("Next:"))
    #expect("\(texts)".contains("A book"))
    #expect(advice(visit.whereabouts).contains("You are through the whole course."))
    let early = LessonVisit(lesson, record: record)
    #expect(!advice(early.whereabouts).contains("through the whole course"))
  }

  @Test func `a missed check says why and keeps the step open`() {
    var visit = LessonVisit(lesson)
    #expect(!visit.check(now: "now").passed)
    visit.note(wrong)
    let (passages, passed) = visit.check(now: "now")
    #expect(!passed)
    #expect(
      passages.first == .missed("1 of 2: not yet", because: "in your run makespan is 30 ms")
    )
    #expect(advice(visit.next()).contains("not passed yet"))
    #expect(visit.place == 0)
  }

  @Test func `what is wrong with several checks is said once`() {
    var visit = LessonVisit(lesson)
    let because = "you have not run anything since this page began that shows it"
    #expect(
      visit.check(now: "now").passages.first == .missed("1 to 2 of 2: not yet", because: because)
    )
  }

  @Test(
    arguments: [
      ("300 ms", "300 ms"), ("1 sec", "1 s"), ("about 0.3 seconds", "300 ms"),
      ("2 minutes.", "120 s"),
      ("~15ms", "15 ms"), ("7 msec", "7 ms"), ("0", "0 ns"),
    ]
  )
  func `a duration may be written as people write it`(_ guess: String, _ read: String) {
    var visit = LessonVisit(lesson)
    #expect(
      visit.predict(guess)?.first
        == .advice("Your guess: \(read). Run it, then 'check'. Stuck: 'hint'.")
    )
  }

  @Test(
    arguments: [
      (.count, "about seven", .count(7)), (.count, "12 tasks", .count(12)),
      (.count, "7?", .count(7)), (.count, "7 at once", .count(7)), (.count, "3 ducks", nil),
      (.count, "three tasks and ducks", nil),
      (.count, "7 ms", nil), (.count, "7.5", nil), (.rate, "30 per second", .rate(30)),
      (.rate, "30/sec", .rate(30)), (.share, "5 percent", .percent(5)),
      (.number, "~ 1.5", .number(1.5)),
      (.choice(["yes", "no"]), "y", .word("yes")), (.duration, "3 parsecs", nil),
    ] as [(Prediction.Form, String, MetricValue?)]
  )
  func `a guess of each form is understood in several`(
    _ form: Prediction.Form,
    _ guess: String,
    _ value: MetricValue?
  ) {
    let prediction = Prediction(
      question: "",
      form: form,
      answer: .value(.count(1)),
      tolerance: 0,
      line: 1
    )
    #expect(prediction.guess(guess) == value)
  }

  @Test func `a value of another form is answered with the form that is asked for`() {
    var visit = LessonVisit(lesson)
    for guess in ["300", "7 tasks", "about 20", "-3ms", "30/s", "no", "Yes", "few"] {
      #expect(visit.predict(guess) == nil)
      let refusal = visit.refusal(of: guess).map { advice($0) } ?? ""
      #expect(refusal.contains("'\(guess)' is not what is asked for"))
      #expect(refusal.contains("a duration, such as 15ms"))
    }
    for command in ["run 12", "check", "soon", "1s-none"] where visit.predict(command) == nil {
      #expect(visit.refusal(of: command) == nil || command == "1s-none")
    }
    #expect(visit.predict("skip")?.isEmpty == false)
    #expect(!visit.isAsking)
    #expect(visit.refusal(of: "300") == nil)
  }

  @Test func `who comes back finds what the last check has seen`() throws {
    var visit = LessonVisit(lesson)
    visit.note(MetricTable(["mechanism": .word("pool"), "peak_running": .count(2)]))
    visit.note(wrong)
    #expect(!visit.check(now: "now").passed)
    // As it is kept in a file.
    let kept = try JSONDecoder().decode(
      LessonRecord.self,
      from: JSONEncoder().encode(visit.record)
    )
    var again = LessonVisit(lesson, record: kept)
    #expect(again.check(now: "later").passages == visit.check(now: "later").passages)
    #expect(again.check(now: "later").passages.contains(.met("never more than two at once")))
    again.note(MetricTable(["makespan": .duration(20_000_000)]))
    #expect(again.check(now: "later").passed)
    // Passed is passed, and what passed it is still seen.
    _ = again.next()
    _ = again.back()
    #expect(again.check(now: "later").passed)
  }

  @Test func `hints come one by one, then all again`() {
    var visit = LessonVisit(lesson)
    #expect(visit.hint().first == .title("Hint 1 of 3"))
    #expect(visit.hint().first == .title("Hint 2 of 3"))
    #expect(visit.hint().first == .title("Hint 3 of 3"))
    #expect(visit.hint().count == 4)
    #expect(visit.record[visit.section].hints == 3)
  }

  @Test func `giving up takes two askings, is recorded, and lets the learner go on`() {
    var visit = LessonVisit(lesson)
    #expect(advice(visit.solution()).contains("3 hints are left"))
    #expect(!visit.record[visit.section].gaveUp)
    #expect(visit.solution().first == .title("Solution"))
    #expect(visit.record[visit.section].gaveUp)
    #expect(visit.record.givenUp(of: lesson) == 1)
    visit.note(right)
    #expect(visit.check(now: "now").passed)
    #expect(visit.record.givenUp(of: lesson) == 0)
  }

  @Test func `after giving up next goes on`() {
    var visit = LessonVisit(lesson)
    _ = visit.solution()
    _ = visit.solution()
    _ = visit.next()
    #expect(visit.place == 1)
  }

  @Test func `after passing, the solution is shown at once and is no giving up`() {
    var visit = LessonVisit(lesson)
    visit.note(right)
    _ = visit.check(now: "now")
    #expect(visit.solution().first == .title("Solution"))
    #expect(!visit.record[visit.section].gaveUp)
  }

  @Test func `a page without a check has nothing to check, hint or solve`() {
    var visit = LessonVisit(lesson)
    _ = visit.solution()
    _ = visit.solution()
    _ = visit.next()
    #expect(advice(visit.check(now: "now").passages).hasPrefix("Nothing to check"))
    #expect(advice(visit.hint()).hasPrefix("No hints"))
    #expect(advice(visit.solution()).hasPrefix("Nothing to solve"))
    #expect(visit.predict("3") == nil)
  }

  // MARK: Coming back

  private func recordAtOwnGate() -> LessonRecord {
    var visit = LessonVisit(lesson)
    _ = visit.predict("20ms")
    visit.note(right)
    _ = visit.check(now: "now")
    _ = visit.next()
    _ = visit.next()
    return visit.record
  }

  @Test func `coming back goes on at the same section`() {
    let visit = LessonVisit(lesson, record: recordAtOwnGate())
    #expect(visit.section.id == "own-gate")
    #expect(visit.record == recordAtOwnGate())
  }

  @Test func `a section that moved, or has another title, is found by its id`() {
    var changed = lesson
    changed.sections.swapAt(0, 2)
    changed.sections[0].title = "Something else"
    let visit = LessonVisit(changed, record: recordAtOwnGate())
    #expect(visit.section.id == "own-gate")
    #expect(visit.place == 0)
  }

  @Test func `a section that is gone leaves the learner at the first step still to do`() {
    var changed = lesson
    changed.sections[2].id = "another-gate"
    let visit = LessonVisit(changed, record: recordAtOwnGate())
    #expect(visit.section.id == "another-gate")
    changed.sections.remove(at: 2)
    #expect(LessonVisit(changed, record: recordAtOwnGate()).section.id == "where-to-read-more")
  }

  @Test func `a guess made earlier is kept and not asked for again`() {
    var visit = LessonVisit(lesson)
    _ = visit.predict("20ms")
    let again = LessonVisit(lesson, record: visit.record)
    #expect(!again.isAsking)
    #expect(advice(again.opening()).contains("Your guess: 20ms"))
  }
}
