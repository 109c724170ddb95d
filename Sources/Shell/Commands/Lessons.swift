internal import Foundation
internal import LessonBook
internal import Rendering

extension Command {
  static let lessons = Command(
    "lessons",
    summary: "the course, and how far you have come",
    examples: ["lessons"]
  ) { session, _ in
    let course = try session.classroom.course()
    let (progress, notice) = session.teach { $0.progress() }
    session.tell(notice)
    let outcome = session.answer(
      json: CourseText.json(course, progress),
      CourseText.list(course, progress, session.output.format)
    )
    for problem in course.problems { session.output.complain(problem.description) }
    return outcome
  }

  static let lesson = Command(
    "lesson",
    [Parameter("N", .lesson, optional: true)],
    summary: "take a lesson, from where you left it; without N, say where you are",
    details: """
      Everything the lab can do stays at hand. In a lesson: 'check' looks at what you have run, \
      'hint' and 'solution' help, 'next' goes on, 'back' looks at the page before, 'leave' comes back \
      here. Your progress is kept. Every page begins with the settings as the lab has them at first; \
      yours come back when you leave.
      """,
    examples: ["lesson 1"]
  ) { session, arguments in
    guard let word = arguments.places.first else { return try session.tellWhereabouts() }
    // 'back' would be a move of it.
    session.leaveGameThatIsOver()
    let course = try session.classroom.course()
    guard let lesson = course.lesson(word.text) else {
      throw ShellError(
        "no lesson '\(word.text)'. There are 1 to \(course.lessons.count): 'lessons' lists them",
        at: word
      )
    }
    let (progress, notice) = session.teach { $0.progress() }
    session.tell(notice)
    let visit = LessonVisit(
      lesson,
      record: progress.lessons[lesson.slug] ?? .init(),
      following: course.lesson(after: lesson, for: progress),
      othersAreThrough: course.lessons.allSatisfy { other in
        other.slug == lesson.slug || progress.lessons[other.slug]?.isThrough(other) == true
      },
      glossary: course.glossary
    )
    let own = session.classroom.ownSettings ?? session.settings
    let runs = session.runs.count
    session.teach { $0.begin(visit, own: own, after: runs) }
    session.restoreSettings()
    session.say(visit.opening())
    // That the section was seen is progress too.
    session.tell(
      session.teach {
        $0.update {
          $0.lessons[lesson.slug] = visit.record
          $0.current = lesson.slug
        }
      }
    )
    return .done
  }

  static let word = Command(
    "word",
    [Parameter("WORD", .text, optional: true, repeats: true)],
    summary: "what a word of the course means; without one, all of them",
    examples: ["word permit", "word hand-off"],
    takesAnyWords: true
  ) { session, arguments in
    let glossary = try session.classroom.course().glossary
    let asked = arguments.places.map(\.text).joined(separator: " ")
    guard !asked.isEmpty else {
      let titles = glossary.entries.map { $0.title.lowercased() }
      return session.answer(
        json: JSONObject.line([("words", .string(titles.joined(separator: "; ")))]),
        Columns.wrap(titles.joined(separator: "; "), width: session.output.format.width)
          .joined(separator: "\n") + "\n"
      )
    }
    guard let entry = glossary.entry(asked) else {
      throw ShellError(
        "'\(asked)' is not in the glossary. 'word' lists what is",
        at: arguments.places.first?.range
      )
    }
    return session.tell(entry)
  }

  static let predict = Command(
    "predict",
    [Parameter("GUESS", .text, optional: true)],
    summary: "answer the question of a lesson's step; without a guess, skip it",
    details: "At the prompt the guess alone will do while the question is open.",
    examples: ["lesson 1; predict 40"],
    takesAnyWords: true
  ) { session, arguments in
    let guess = arguments.places.map(\.text).joined(separator: " ")
    return try session.inLesson(arguments) { visit throws(ShellError) in
      if let passages = visit.predict(guess) { return passages }
      guard let prediction = visit.section.prediction else {
        throw ShellError("this step asks for no guess. 'check', 'hint' or 'next'")
      }
      throw ShellError(
        "'\(guess)' is not a guess. Write \(prediction.form.description)",
        at: arguments.places.first?.range
      )
    }
  }

  static let check = Command(
    "check",
    summary: "see whether what you have run passes the lesson's step",
    examples: ["lesson 7; run 6 limiter limit=2 work=100ms; check"]
  ) { session, arguments in
    if session.hasChangedSinceGrading {
      _ = session.say([
        .advice("Your file has changed since it was graded: 'exercise grade' again, then 'check'.")
      ])
      return .unmet
    }
    let now = Date.now.formatted(.iso8601)
    var passed = false
    let outcome = try session.inLesson(arguments) { visit in
      let result = visit.check(now: now)
      passed = result.passed
      return result.passages
    }
    return passed ? outcome : .unmet
  }

  static let hint = Command(
    "hint",
    summary: "a hint for the lesson's step; three of them, each saying more",
    examples: ["lesson 1; hint"]
  ) { session, arguments in
    try session.inLesson(arguments) { $0.hint() }
  }

  static let solution = Command(
    "solution",
    summary: "show the solution of the lesson's step; before the step is passed, ask twice",
    examples: ["lesson 1; solution; solution"]
  ) { session, arguments in
    try session.inLesson(arguments) { $0.solution() }
  }

  static let next = Command(
    "next",
    summary: "go on to the next page of the lesson",
    examples: ["lesson 7; run 6 limiter limit=2 work=100ms; check; next"]
  ) { session, arguments in
    // What is typed in a game is a move: the next page could ask for no guess.
    session.leaveGameThatIsOver()
    let isRefused = session.classroom.visit?.isOpen ?? false
    let said = try session.inLesson(arguments) { $0.next() }
    // What a script does next is meant for the page that it has not come to.
    return isRefused && !session.mayAsk ? .unmet : said
  }

  static let back = Command(
    "back",
    summary: "look at the page before",
    examples: ["lesson 1; solution; solution; next; back"]
  ) { session, arguments in
    try session.inLesson(arguments) { $0.back() }
  }

  static let leave = Command(
    "leave",
    summary: "leave the lesson; 'lesson N' comes back to the same page",
    examples: ["lesson 1; leave"]
  ) { session, arguments in
    guard let visit = session.classroom.visit else { throw Session.noLesson(arguments) }
    session.leaveLesson()
    return session.say([.advice("Left. 'lesson \(visit.lesson.number)' comes back to this page.")])
  }

  static let reset = Command(
    "reset",
    [Parameter("N", .lesson, optional: true)],
    summary: "forget your progress in a lesson, or with 'all' in every lesson",
    details: """
      Without a number, in the lesson you are in. At the prompt it asks before it forgets. A script \
      cannot be asked, and names what to forget.
      """,
    examples: ["reset 1", "reset all"]
  ) { session, arguments in
    let course = try session.classroom.course()
    let word = arguments.places.first
    let reset: Reset
    if word?.text == "all" {
      reset = .all
    } else if let lesson = word.map({ course.lesson($0.text) }) ?? session.classroom.visit?.lesson {
      reset = .lesson(lesson)
    } else {
      throw ShellError(
        word.map { "no lesson '\($0.text)'. 'lessons' lists them" }
          ?? "no lesson is under way. Write: reset N, or reset all",
        at: (word ?? arguments.name).range
      )
    }
    guard session.mayAsk else {
      guard word != nil else {
        throw ShellError(
          "a script must name what to forget. Write: reset N, or reset all",
          at: arguments.name
        )
      }
      return session.forget(reset)
    }
    session.teach { $0.resetAsked = reset }
    let (progress, notice) = session.teach { $0.progress() }
    session.tell(notice)
    return session.say([.advice(reset.question(course, progress))])
  }
}

/// What a reset forgets.
enum Reset: Sendable {
  case all
  case lesson(Lesson)

  /// What there is to lose.
  func question(_ course: Course, _ progress: LearnerProgress) -> String {
    let lessons: [Lesson]
    let place: String
    switch self {
    case .all: (lessons, place) = (course.lessons, "all lessons")
    case .lesson(let lesson): (lessons, place) = ([lesson], "lesson \(lesson.number)")
    }
    let passed = lessons.reduce(0) { $0 + (progress.lessons[$1.slug]?.passed(of: $1) ?? 0) }
    let steps = lessons.reduce(0) { $0 + $1.steps.count }
    return "This forgets your progress in \(place): \(passed) of "
      + "\(NumberText.count(steps, "step")) passed. Type 'yes' to forget it."
  }
}

extension Session {
  /// Whether the answer to the page's exercise is another than the one that this session has graded.
  fileprivate var hasChangedSinceGrading: Bool {
    guard let graded = classroom.graded, let visit = classroom.visit,
      let exercise = visit.section.exercise, let harness = ExerciseHarness.all[exercise.harness],
      classroom.exerciseFile(of: visit, named: harness.type) == graded.file
    else { return false }
    return (try? String(contentsOfFile: graded.file, encoding: .utf8)) != graded.code
  }

  static func noLesson(_ arguments: Arguments) -> ShellError {
    ShellError(
      "no lesson is under way. 'lesson 1' begins the first, 'lessons' lists all",
      at: arguments.name
    )
  }

  /// Says where in the course the learner is, and what is next.
  fileprivate func tellWhereabouts() throws -> Outcome {
    if let visit = classroom.visit { return say(visit.whereabouts) }
    let course = try classroom.course()
    let (progress, notice) = teach { $0.progress() }
    tell(notice)
    let current = course.lessons.first { $0.slug == progress.current }
    let next = progress.lesson(toGoOnIn: course.way)
    var sentences: [String] = []
    if let current, let record = progress.lessons[current.slug] {
      sentences.append(
        "Last you were in lesson \(current.number), \(current.title): \(record.passed(of: current)) of "
          + "\(NumberText.count(current.steps.count, "step")) passed."
      )
    }
    sentences.append(
      next.map { next in
        let part = course.part(of: next).map { " (\($0.title))" } ?? ""
        let verb = progress.lessons.isEmpty ? "begins" : "goes on"
        return "'lesson \(next.number)' \(verb): \(next.title)\(part)."
      } ?? "You are through. 'lessons' shows the course."
    )
    return answer(
      json: JSONObject.line([
        ("lesson", .number(current?.number ?? 0)), ("next", .number(next?.number ?? 0)),
      ]),
      Columns.wrap(sentences.joined(separator: " "), width: output.format.width)
        .joined(separator: "\n") + "\n"
    )
  }

  /// Tells a word of the glossary.
  fileprivate func tell(_ entry: Glossary.Entry) -> Outcome {
    let format = output.format
    let text = LessonText(
      width: format.width,
      ascii: format.glyphs.isASCII,
      colour: format.style == .colour
    )
    let meaning = text.text([.text(entry.blocks)])
    return answer(
      json: JSONObject.line([
        ("word", .string(entry.title)),
        ("text", .string(meaning.trimmingCharacters(in: .whitespacesAndNewlines))),
      ]),
      text.text([.title(entry.title), .text(entry.blocks)])
    )
  }

  /// Does something in the lesson under way, says what comes of it, and keeps the progress.
  func inLesson(
    _ arguments: Arguments,
    _ body: (inout LessonVisit) throws(ShellError) -> [Passage]
  ) throws(ShellError) -> Outcome {
    let before = classroom.visit?.place
    let done = teach { classroom in
      classroom.inLesson { visit in Result { () throws(ShellError) in try body(&visit) } }
    }
    guard let (result, notice) = done else { throw Self.noLesson(arguments) }
    tell(notice)
    if classroom.visit?.place != before { restoreSettings() }
    return say(try result.get())
  }

  /// Gives a page the settings that its text was written for: what was set for the last one does not
  /// leak into it.
  func restoreSettings() {
    guard let own = classroom.ownSettings else { return }
    var settings = Settings(seed: own.seed)
    (settings.describe, settings.pager) = (self.settings.describe, self.settings.pager)
    settings.origins = self.settings.origins.filter {
      ["describe", "pager", "seed"].contains($0.key)
    }
    change(to: settings)
  }

  /// Leaves the lesson under way, to the settings that there were before it.
  func leaveLesson() {
    if let own = classroom.ownSettings { change(to: own) }
    teach { $0.leave() }
  }

  /// Forgets progress, and leaves a lesson whose progress is gone.
  @discardableResult
  func forget(_ reset: Reset) -> Outcome {
    let advice: String
    switch reset {
    case .all:
      tell(teach { $0.update { $0.lessons = [:] } })
      leaveLesson()
      advice = "Forgotten: your progress in all lessons."
    case .lesson(let lesson):
      tell(teach { $0.update { $0.lessons[lesson.slug] = nil } })
      if classroom.visit?.lesson.slug == lesson.slug { leaveLesson() }
      let number = lesson.number
      advice = "Forgotten: your progress in lesson \(number). 'lesson \(number)' begins it."
    }
    return say([.advice(advice)])
  }

  @discardableResult
  func say(_ passages: [Passage], inPages: Bool = true) -> Outcome {
    let format = output.format
    let text = LessonText(
      width: format.width,
      ascii: format.glyphs.isASCII,
      colour: format.style == .colour
    )
    let json = classroom.visit.map { CourseText.json(passages, $0) } ?? ""
    if inPages || self.json { return answer(json: json, text.text(passages)) }
    output.write(text.text(passages))
    return .done
  }

  func tell(_ notice: String?) {
    if let notice { output.complain(notice) }
  }

  /// Takes a line typed after a reset has asked: yes forgets, anything else does not.
  ///
  /// - Returns: false if the line is to be carried out as any other.
  func takesAsAnswer(_ line: String) -> Bool {
    guard let reset = classroom.resetAsked else { return false }
    teach { $0.resetAsked = nil }
    let answer = line.trimmingCharacters(in: .whitespaces).lowercased()
    if ["yes", "y"].contains(answer) {
      forget(reset)
      return true
    }
    say([.advice("Nothing is forgotten.")])
    return ["no", "n", ""].contains(answer)
  }

  /// Takes a line typed while a lesson's question is open for the answer, if it can be one, or its first command.
  ///
  /// - Returns: what of the line is to be carried out as any other, at its place in the line; nil if nothing is
  ///   left of it.
  func takingGuess(from line: String, at place: Place) -> String? {
    guard let end = line.firstIndex(of: ";") else {
      return takesAsGuess(line, at: place) ? nil : line
    }
    let first = String(line[..<end])
    guard first.contains(where: { !$0.isWhitespace }), takesAsGuess(first, at: place) else {
      return line
    }
    let rest = line[line.index(after: end)...]
    guard classroom.visit?.isAsking == false, rest.contains(where: { !$0.isWhitespace }) else {
      return nil
    }
    return String(repeating: " ", count: line.count - rest.count) + rest
  }

  private func takesAsGuess(_ line: String, at place: Place) -> Bool {
    // In a game a number is a move.
    guard game == nil, classroom.visit?.isAsking == true else { return false }
    let text = line.trimmingCharacters(in: .whitespaces)
    if let (word, number) = classroom.visit?.strangeWord(in: text) {
      complain(about: word, of: number, in: line, at: place)
      return true
    }
    guard !CommandTable.commands.contains(where: { $0.name == text }),
      let done = teach({ $0.inLesson { $0.predict(text) } })
    else { return false }
    guard let passages = done.value ?? classroom.visit?.refusal(of: text) else { return false }
    tell(done.notice)
    say(passages)
    return true
  }

  /// Points at a word in which nothing is counted.
  private func complain(about word: String, of number: String, in line: String, at place: Place) {
    let found = line.range(of: word, options: [.caseInsensitive, .backwards])
    let range = found.map { found in
      let start = line.distance(from: line.startIndex, to: found.lowerBound)
      return start..<start + word.count
    }
    fail(
      ShellError("nothing is counted in '\(word)' here. Did you mean \(number)?", at: range),
      in: line,
      at: place
    )
  }
}
