// A learner in a lesson.
//
// Decisions only: each method takes what the learner did and returns what to say. The shell shows
// it, and keeps the record. Nothing here blocks the way: a guess may be wrong or left out, and a
// step that will not come right can be given up.

/// Something to say to a learner.
package enum Passage: Hashable, Sendable {
  case title(String)
  case text([LessonBlock])
  /// A question to answer before going on, and the form of the answer.
  case question(String, form: String)
  /// A check that is met.
  case met(String)
  /// A check that is not, and why.
  case missed(String, because: String)
  /// A guess beside what there was.
  case comparison(String, isRight: Bool)
  /// Words of the glossary that stand on the page.
  case words([String])
  /// What to do next.
  case advice(String)
  /// A file, and what it is.
  case file(String, path: String)
}

/// One learner's way through one lesson.
package struct LessonVisit: Sendable {
  package let lesson: Lesson
  /// The lesson after it; nil where it is the last.
  private let following: Lesson?
  /// Whether this is the only lesson of the course that was still to do, if it was.
  private let othersAreThrough: Bool
  private let glossary: Glossary
  /// What is to be kept of it.
  package private(set) var record: LessonRecord
  /// The section the learner is at, by its place.
  package private(set) var place: Int
  /// A prediction is asked for and not yet answered.
  package private(set) var isAsking = false
  /// What the learner has run since the section began, oldest first.
  private var evidence: [any MetricSource] = []
  private var wasWarned = false

  /// Begins the lesson, or goes on where `record` left it.
  ///
  /// If the section it left is not there any more, at the first step that is still to do.
  package init(
    _ lesson: Lesson,
    record: LessonRecord = LessonRecord(),
    following: Lesson? = nil,
    othersAreThrough: Bool = false,
    glossary: Glossary = Glossary()
  ) {
    self.lesson = lesson
    self.following = following
    self.othersAreThrough = othersAreThrough
    self.glossary = glossary
    self.record = record
    let left = record.current.flatMap { id in lesson.sections.firstIndex { $0.id == id } }
    let unfinished = lesson.sections.firstIndex { section in
      section.isStep && record[section].passed == nil && !record[section].gaveUp
    }
    place = record.sections.isEmpty ? 0 : left ?? unfinished ?? max(0, lesson.sections.count - 1)
    isBeginning = record.sections.isEmpty
    enter()
  }

  /// Whether nothing of the lesson was seen before this visit.
  private let isBeginning: Bool

  package var section: LessonSection { lesson.sections[place] }

  private var isLast: Bool { place == lesson.sections.count - 1 }

  /// Whether the step is still to be passed.
  package var isOpen: Bool {
    section.isStep && record[section].passed == nil && !record[section].gaveUp
  }

  private mutating func enter() {
    evidence = record[section].runs ?? []
    wasWarned = false
    record.current = section.id
    record[section] = record[section]
    isAsking = section.prediction != nil && record[section].prediction == nil && isOpen
  }

  // MARK: What the learner can do

  /// The section as it is shown on arrival.
  package func opening() -> [Passage] {
    var passages: [Passage] = []
    if place == 0 {
      passages.append(.title("Lesson \(lesson.number): \(lesson.title)"))
      passages.append(.text([.paragraph(lesson.question, line: 1)]))
      passages.append(.advice(lesson.time))
      passages.append(.text(lesson.introduction))
    } else if !isBeginning {
      passages.append(.title("Lesson \(lesson.number): \(lesson.title)"))
    }
    passages.append(.title("\(section.title) (\(place + 1) of \(lesson.sections.count))"))
    passages.append(.text(section.task.filter { !$0.namesNextLesson }))
    let words = wordsMetHere
    if !words.isEmpty { passages.append(.words(words)) }
    if let prediction = section.prediction {
      if isAsking {
        passages.append(.question(prediction.question, form: prediction.form.description))
      } else if let guess = record[section].prediction, !guess.isEmpty {
        passages.append(.advice("\(prediction.question) Your guess: \(guess)."))
      }
    }
    if record[section].passed != nil {
      passages.append(.advice("You have passed this step. 'next' goes on."))
    } else if !isAsking {
      passages += metBefore
      passages.append(.advice(whatNow))
    }
    return passages
  }

  /// What an earlier visit has shown of an open step.
  private var metBefore: [Passage] {
    guard isOpen, !evidence.isEmpty else { return [] }
    return section.checks.judge(evidence).filter(\.isMet).map {
      .met("\($0.check.sentence) (met before)")
    }
  }

  /// The words of the glossary on this page and on none before it in this lesson.
  private var wordsMetHere: [String] {
    let pages = lesson.sections.map(\.task)
    let before = (place == 0 ? [] : lesson.introduction) + pages[..<place].joined()
    let here = (place == 0 ? lesson.introduction : []) + pages[place]
    let known = Set(glossary.entries(in: Self.sentences(before)))
    return glossary.entries(in: Self.sentences(here)).filter { !known.contains($0) }.map {
      $0.title.lowercased()
    }
  }

  private static func sentences(_ blocks: [LessonBlock]) -> String {
    blocks.flatMap { block in
      if case .text(let content) = block.content { content.texts } else { [String]() }
    }
    .joined(separator: " ")
  }

  /// Where the learner stands, and what is next.
  package var whereabouts: [Passage] {
    let passed = record.passed(of: lesson)
    return [
      .title("Lesson \(lesson.number): \(lesson.title)"),
      .advice(
        "Page \(place + 1) of \(lesson.sections.count): \(section.title). \(passed) of "
          + "\(lesson.steps.count) steps passed. \(isAsking ? reminder ?? whatNow : whatNow)"
      ),
    ]
  }

  private var whatNow: String {
    if isOpen {
      return section.exercise == nil
        ? "Run it, then 'check'. Stuck: 'hint'." : "'exercise' starts it. Stuck: 'hint'."
    }
    return isLast ? "That was the last page. \(whatFollows)" : "'next' goes on."
  }

  private var whatFollows: String {
    if othersAreThrough, record.isThrough(lesson) {
      return "You are through the whole course. 'lessons' lists it."
    }
    return following.map { "'lesson \($0.number)' is the next: \($0.title)." }
      ?? "'lessons' lists the course."
  }

  /// Takes a guess; an empty one skips the question.
  ///
  /// - Returns: nil if the text is not of the form asked for: it may be a command.
  package mutating func predict(_ text: String) -> [Passage]? {
    guard let prediction = section.prediction else { return nil }
    let text = text.trimmed
    // The question says "Enter to skip", so some write the word.
    if text.isEmpty || text.lowercased() == "skip" {
      isAsking = false
      record[section].prediction = ""
      return [.advice("No guess, then. \(whatNow)")]
    }
    guard let guess = prediction.guess(text) else { return nil }
    isAsking = false
    record[section].prediction = text
    return [.advice("Your guess: \(guess). \(whatNow)")]
  }

  /// The word of a guess in which nothing is counted here, as in `3 ducks`, and its number; nil where there is none.
  package func strangeWord(in text: String) -> (word: String, number: String)? {
    guard isAsking, let prediction = section.prediction, prediction.form == .count else {
      return nil
    }
    return GuessSyntax.strangeWord(behindNumberIn: text, asking: prediction.question)
  }

  /// What to say to a guess in a form that was not asked for; nil where it is a command instead.
  package func refusal(of text: String) -> [Passage]? {
    guard isAsking, let prediction = section.prediction, GuessSyntax.isValue(text) else {
      return nil
    }
    return [
      .advice(
        "'\(text)' is not what is asked for. Write \(prediction.form.description), or press Enter to skip."
      )
    ]
  }

  /// What to say when a guess was asked for and something else came.
  package var reminder: String? {
    guard isAsking, let prediction = section.prediction else { return nil }
    return "\(prediction.question) Write \(prediction.form.description), or press Enter to skip."
  }

  /// Keeps what the learner has run as evidence for the section's check; of a file only the latest grading counts.
  package mutating func note(_ source: any MetricSource) {
    if source.isGrading { evidence.removeAll(where: \.isGrading) }
    evidence.append(source)
  }

  /// Keeps what has been shown so far for a later visit.
  package mutating func keepEvidence() {
    let kept = section.kept(of: evidence)
    record[section].runs = kept.isEmpty ? nil : kept
  }

  /// Judges what the learner has run; `now` dates the passing.
  package mutating func check(now: String) -> (passages: [Passage], passed: Bool) {
    guard section.isStep else { return ([.advice("Nothing to check here. \(whatNow)")], true) }
    let results = section.checks.judge(evidence)
    // Who comes back tomorrow has not to do again what was shown today.
    keepEvidence()
    let isPassed = results.allSatisfy(\.isMet)
    var passages = comparison(isPassed: isPassed).map { [$0] } ?? []
    let remarks = results.map { $0.remark(asking: section.prediction?.figure) }
    var number = 0
    while number < results.count {
      let first = number + 1
      number += 1
      guard let remark = remarks[first - 1] else {
        passages.append(.met(results[first - 1].check.sentence))
        continue
      }
      // What is wrong with several is said once.
      while number < results.count, remarks[number] == remark { number += 1 }
      // Not the check's sentence: it says what a right run shows, and so the answer.
      let place = first == number ? "\(first)" : "\(first) to \(number)"
      let which = results.count == 1 ? "not yet" : "\(place) of \(results.count): not yet"
      passages.append(.missed(which, because: remark))
    }
    guard isPassed else {
      let left = section.hints.count - record[section].hints
      passages.append(
        .advice(left > 0 ? "Try again; 'hint' helps." : "Try again; 'solution' shows how.")
      )
      return (passages, false)
    }
    isAsking = false
    if record[section].passed == nil { record[section].passed = now }
    passages.append(.text(section.explanation))
    passages.append(.advice(passedAdvice))
    return (passages, true)
  }

  private var passedAdvice: String {
    if record.passed(of: lesson) == lesson.steps.count {
      return isLast
        ? "Passed, and with it lesson \(lesson.number). \(whatFollows)"
        : "Passed: that was the last step of lesson \(lesson.number). 'next' reads on."
    }
    return isLast ? "Passed. 'lessons' shows what is still to do." : "Passed. 'next' goes on."
  }

  /// The guess beside what there was, where that is no secret any more: the learner's run has shown it, or
  /// the step is passed.
  private func comparison(isPassed: Bool) -> Passage? {
    guard let prediction = section.prediction, let written = record[section].prediction,
      isPassed || !prediction.isKnownBeforehand, let guess = prediction.guess(written),
      let (got, isRight) = prediction.comparison(of: guess, with: evidence)
    else { return nil }
    if !isRight { return .comparison("you guessed \(guess); it is \(got)", isRight: false) }
    let isExact = guess.description == got.description
    return .comparison(
      isExact
        ? "you guessed \(guess): right" : "you guessed \(guess), which is close: it is \(got)",
      isRight: true
    )
  }

  /// The next hint, or all of them once all were given.
  package mutating func hint() -> [Passage] {
    guard !section.hints.isEmpty else { return [.advice("No hints here. \(whatNow)")] }
    let given = record[section].hints
    guard given < section.hints.count else {
      return section.hints.flatMap { [Passage.text($0)] }
        + [.advice("These are all the hints. 'solution' shows how.")]
    }
    record[section].hints = given + 1
    return [.title("Hint \(given + 1) of \(section.hints.count)"), .text(section.hints[given])]
  }

  /// The solution; before the check has passed only at the second asking, which gives the step up.
  package mutating func solution() -> [Passage] {
    guard section.isStep else { return [.advice("Nothing to solve here. \(whatNow)")] }
    if isOpen, !wasWarned {
      wasWarned = true
      let left = section.hints.count - record[section].hints
      let hints = left > 0 ? "\(left == 1 ? "A hint is" : "\(left) hints are") left: 'hint'. " : ""
      return [.advice("\(hints)To give this step up and see the solution, 'solution' again.")]
    }
    if isOpen { record[section].gaveUp = true }
    isAsking = false
    return [.title("Solution"), .text(section.solution), .text(section.explanation)]
      + [.advice(isLast ? whatNow : "'next' goes on; 'check' still counts.")]
  }

  /// Goes on to the next section.
  package mutating func next() -> [Passage] {
    if isOpen {
      let how =
        section.exercise == nil
        ? "'check' when your run shows it" : "'exercise grade', then 'check'"
      return [
        .advice(
          "This step is not passed yet: \(how), 'hint' for help, 'solution' to give it up."
        )
      ]
    }
    if isLast { return [.advice(whatNow)] }
    place += 1
    enter()
    return opening()
  }

  /// Goes back to the section before.
  package mutating func back() -> [Passage] {
    if place == 0 { return [.advice("This is the first page. \(whatNow)")] }
    place -= 1
    enter()
    return opening()
  }
}

extension MetricSource {
  /// Whether it is what came of a learner's file.
  fileprivate var isGrading: Bool { value(of: Metric("passed")) != nil }
}

extension LessonBlock {
  /// Whether it names the lesson that comes next in the book; in the lab the way is another.
  fileprivate var namesNextLesson: Bool {
    if case .text(.paragraph(let text)) = content { text.hasPrefix("Next: [") } else { false }
  }

  static func paragraph(_ text: String, line: Int) -> LessonBlock {
    LessonBlock(.text(.paragraph(text)), line: line)
  }
}
