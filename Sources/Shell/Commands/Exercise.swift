internal import Basics
internal import Foundation
internal import LessonBook
internal import Rendering

extension Command {
  static let exercise = Command(
    "exercise",
    [
      Parameter("DO", .choice(ExerciseVerb.allCases.map(\.rawValue)), optional: true),
      Parameter("PATH", .file, optional: true),
    ],
    keys: [Keys.seed],
    summary: "write Swift in a lesson: get the starting file, have it built and graded",
    details: """
      'exercise' puts the starting file of the lesson's step where you can edit it, and says where. \
      'exercise grade' builds it against this package, explores it, and shows the schedule that breaks \
      it; runs it on workloads drawn from a seed, which 'seed=' repeats; and sends it many rounds of tasks \
      on real threads, which needs two processors and takes some seconds. 'exercise grade FILE' grades another \
      file, on any page of the lesson; 'check' asks for yours. What your code prints is shown where it is \
      refused. 'exercise watch' grades whenever you save your \
      file, until it passes or Ctrl-C. 'exercise again' starts over; what you had is kept beside it. Once \
      the step is passed, 'exercise compare' shows your file beside the solution, and 'exercise puzzle' \
      a wrong answer: what goes wrong there, and when? 'exercise reveal' tells what, 'exercise grade puzzle' \
      how. In lessons 9 and 16 'exercise take FOLDER' makes a package of your limiter: your file, tests that \
      explore it, and a bench.
      """,
    examples: ["lesson 7; exercise"]
  ) { session, arguments in
    guard let visit = session.classroom.visit, let desk = session.classroom.desk else {
      throw Session.noLesson(arguments)
    }
    let names = ExerciseVerb.allCases.map(\.rawValue)
    // Any file is graded on any page of the lesson: who does it brings no progress along.
    let gradesFile =
      arguments.places.count > 1 && "grade".hasPrefix(arguments.places[0].text)
      && arguments.places[1].text != ExerciseVerb.puzzle.rawValue
    let place = visit.lesson.sections.firstIndex { $0.exercise != nil }
    if visit.section.exercise == nil, !gradesFile, let place {
      let title = visit.lesson.sections[place].title
      let way = place < visit.place ? "back" : "next"
      let said = session.say([
        .advice(
          "Not on this page: '\(title)' is page \(place + 1) of this lesson. '\(way)' leads there, step by step."
        )
      ])
      // A script that grades must not take this for a pass.
      let grades = arguments.places.first.map { "grade".hasPrefix($0.text) } ?? false
      return grades && !session.mayAsk ? .unmet : said
    }
    guard
      let exercise = visit.section.exercise
        ?? place.flatMap({ visit.lesson.sections[$0].exercise }),
      let harness = ExerciseHarness.all[exercise.harness]
    else {
      throw ShellError("this lesson has no exercise in Swift. 'next' goes on", at: arguments.name)
    }
    let form = ListText.all(names, "or")
    let verb = try arguments.place(0, as: "what to do", form: form, candidates: names) { text in
      ExerciseVerb.allCases.first { !text.isEmpty && $0.rawValue.hasPrefix(text) }
    }
    if verb != .take, verb != .grade, arguments.places.count > 1 {
      let word = arguments.places[1]
      throw ShellError(
        "'\(word.text)' is one word too many: 'grade' takes a file, 'take' a folder",
        at: word
      )
    }
    let file = session.classroom.exerciseFile(of: visit, named: harness.type)
    switch verb {
    case .grade:
      if arguments.places.count > 1 {
        let other = try session.otherAnswer(arguments.places[1], to: exercise, arguments)
        return try await session.show(other, harness, desk, arguments).outcome
      }
      return try await session.grade(exercise, harness, file, desk, arguments).outcome
    case .watch: return try await session.watch(exercise, harness, file, desk, arguments)
    case .again: return try session.startExercise(exercise, file, anew: true, arguments)
    case .compare: return try session.compareExercise(exercise, file, arguments)
    case .puzzle: return try session.puzzle(exercise, arguments)
    case .reveal: return try session.revealPuzzle(exercise, arguments)
    case .take: return try session.take(harness, file, desk, arguments)
    case .start, nil: return try session.startExercise(exercise, file, anew: false, arguments)
    }
  }
}

/// What one can do with an exercise.
private enum ExerciseVerb: String, CaseIterable {
  case start
  case grade
  case watch
  case again
  case compare
  case puzzle
  case reveal
  case take
}

/// Swift that is graded.
private struct AnswerToGrade {
  /// What it is called on the screen.
  let name: String
  let code: String
  /// Whether it is the file of the learner, which the step asks for.
  let isLearners: Bool

  /// What there is to do next.
  func advice(passed: Bool, seed: UInt64?) -> String {
    guard isLearners else {
      let verdict = passed ? "All right" : "Refused"
      return "\(verdict): \(name). 'check' asks for your own file."
    }
    if passed {
      return
        "All right. 'check' passes the step; 'exercise compare' then shows the solution beside yours."
    }
    let same = seed.map { "; 'exercise grade seed=\($0)' asks the same again" } ?? ""
    return "Mend it, then 'exercise grade'\(same)."
  }
}

extension Session {
  fileprivate func startExercise(
    _ exercise: Exercise,
    _ file: String,
    anew: Bool,
    _ arguments: Arguments
  ) throws(ShellError) -> Outcome {
    let files = FileManager.default
    var kept: [Passage] = []
    do {
      try files.createDirectory(
        atPath: (file as NSString).deletingLastPathComponent,
        withIntermediateDirectories: true
      )
      if anew, files.fileExists(atPath: file) {
        let names = (1...10_000).lazy.map { "\(file).\($0)" }
        let place = names.first { !files.fileExists(atPath: $0) } ?? file + ".old"
        try files.moveItem(atPath: file, toPath: place)
        kept = [.file("What you had is kept as", path: place)]
      }
      if !files.fileExists(atPath: file) {
        let text = exercise.start.joined(separator: "\n") + "\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
      }
    } catch {
      throw ShellError(
        "the starting file cannot be written to \(file): \(WholeFile.reason(error))",
        at: arguments.name
      )
    }
    return say(
      [.file("Your file:", path: file)] + kept + [.advice("Edit it, then 'exercise grade'.")]
    )
  }

  fileprivate func grade(
    _ exercise: Exercise,
    _ harness: ExerciseHarness,
    _ file: String,
    _ desk: ExerciseDesk,
    _ arguments: Arguments
  ) async throws -> (outcome: Outcome, passed: Bool) {
    guard let code = try? String(contentsOfFile: file, encoding: .utf8) else {
      throw ShellError("there is no file to grade yet. 'exercise' starts one", at: arguments.name)
    }
    let answer = AnswerToGrade(name: file, code: code, isLearners: true)
    return try await show(answer, harness, desk, arguments) { grading in
      note(GradeMetrics(harness: exercise.harness, grading))
      teach { $0.graded = (file, code) }
      // Who leaves before the check, and comes back, has not to grade again.
      tell(teach { $0.inLesson { $0.keepEvidence() } }?.notice)
    }
  }

  /// An answer that is not the learner's file: the puzzle shown last, or any other file.
  fileprivate func otherAnswer(
    _ word: Word,
    to exercise: Exercise,
    _ arguments: Arguments
  ) throws(ShellError) -> AnswerToGrade {
    if word.text == ExerciseVerb.puzzle.rawValue {
      let (number, puzzle) = try puzzleShownLast(exercise, arguments)
      let code = puzzle.code.map { $0 + "\n" }.joined()
      return AnswerToGrade(name: "wrong answer \(number + 1)", code: code, isLearners: false)
    }
    let path = (word.text as NSString).expandingTildeInPath
    do {
      return AnswerToGrade(name: word.text, code: try WholeFile.text(of: path), isLearners: false)
    } catch {
      let reason = WholeFile.reason(error, reading: path)
      throw ShellError("'\(word.text)' cannot be read: \(reason)", at: word)
    }
  }

  /// Has an answer graded, gives the grading away to be kept, and shows what came of it.
  fileprivate func show(
    _ answer: AnswerToGrade,
    _ harness: ExerciseHarness,
    _ desk: ExerciseDesk,
    _ arguments: Arguments,
    keep: (ExerciseDesk.Outcome) -> Void = { _ in }
  ) async throws -> (outcome: Outcome, passed: Bool) {
    let (file, code) = (answer.name, answer.code)
    if !json {
      let isShort = "building \(file) …".count <= output.display.width
      output.write(isShort || !isTyped ? "building \(file) …\n" : "building\n\(file) …\n")
    }
    let seed = try arguments.value(Keys.seed, Keys.parseSeed)
    let grading = try await telling { progress in
      try await desk.grade(code, by: harness, seed: seed, telling: progress, interruption)
    }
    keep(grading)
    var passages: [Passage] = []
    var hasPassed = false
    switch grading {
    case .doesNotBuild(let errors):
      passages = [.missed("it does not build", because: json ? errors : "")]
      if !json { output.write(errors + "\n") }
    case .graded(let items, let passed, let seed, let printed):
      hasPassed = passed
      for item in items {
        passages.append(
          item.passed
            ? .met(item.sentence) : .missed(item.sentence, because: json ? item.story : "")
        )
      }
      if !json, let story = items.last?.story, !story.isEmpty {
        output.write("\n" + Columns.reflowed(story, width: output.display.width) + "\n")
      }
      show(printed)
      passages.append(.advice(answer.advice(passed: passed, seed: seed)))
      if passed, Self.hasWeakOrders(code) {
        passages.append(
          .advice(
            "Not asked: the atomics have orders weaker than sequentially consistent, as '.relaxed' is. What these allow on "
              + "other processors no schedule here shows."
          )
        )
      }
    case .broken(let what, let items, let printed):
      show(printed)
      passages =
        items.map { $0.passed ? .met($0.sentence) : .missed($0.sentence, because: "") } + [
          .missed("\(answer.isLearners ? "your program" : "the program") \(what)", because: ""),
          .advice(answer.advice(passed: false, seed: nil)),
        ]
    }
    // Not page by page: the verdict comes last.
    let outcome = say(passages, inPages: false)
    return (hasPassed ? outcome : .unmet, hasPassed)
  }

  private func show(_ printed: PrintedLines) {
    guard !json, let text = printed.text else { return }
    output.write("\n" + Columns.reflowed(text, width: output.display.width) + "\n")
  }

  /// Tells every second how long which part of a grading has taken, where that can be told in place.
  private func telling<Value>(
    of body: (GradingProgress) async throws -> Value
  ) async rethrows -> Value {
    let progress = GradingProgress()
    let isTold = !json && output.canShowFrames
    async let _ = Self.tell(of: progress, on: isTold ? output : nil)
    // What is said next, an error too, begins on a line of its own.
    defer { if isTold { output.writeTransient("") } }
    return try await body(progress)
  }

  private static func tell(of progress: GradingProgress, on output: (any ShellOutput)?) async {
    while let output, (try? await Task.sleep(for: .seconds(1))) != nil {
      output.writeTransient(progress.text)
    }
  }

  /// Grades whenever the file is saved, until it passes or Ctrl-C comes.
  fileprivate func watch(
    _ exercise: Exercise,
    _ harness: ExerciseHarness,
    _ file: String,
    _ desk: ExerciseDesk,
    _ arguments: Arguments
  ) async throws -> Outcome {
    var graded: String?
    while !interruption.hasCome {
      let code = try? String(contentsOfFile: file, encoding: .utf8)
      // An editor may take the file away for a moment while it saves it.
      if graded == nil || (code != nil && code != graded) {
        let (outcome, passed) = try await grade(exercise, harness, file, desk, arguments)
        if passed { return outcome }
        graded = code
        if output.canShowFrames { output.writeTransient("waiting for you to save; Ctrl-C ends it") }
      }
      try await Task.sleep(for: .milliseconds(200))
    }
    return answer(json: "", "no longer watching\n")
  }

  /// That the solution is no secret any more.
  private func requireDone(_ arguments: Arguments) throws(ShellError) {
    guard let visit = classroom.visit, !visit.isOpen else {
      throw ShellError(
        "this comes once the step is passed, or given up. 'exercise grade', then 'check'",
        at: arguments.name
      )
    }
  }

  /// Whether code names an order of atomics that allows reorderings; what stands behind `//` is no code.
  static func hasWeakOrders(_ code: String) -> Bool {
    code.split(separator: "\n").contains { line in
      let code = line.prefix(upTo: line.firstRange(of: "//")?.lowerBound ?? line.endIndex)
      return code.contains(/\.(relaxed|acquiring|releasing|acquiringAndReleasing)\b/)
    }
  }

  fileprivate func compareExercise(
    _ exercise: Exercise,
    _ file: String,
    _ arguments: Arguments
  ) throws(ShellError) -> Outcome {
    try requireDone(arguments)
    guard let code = try? String(contentsOfFile: file, encoding: .utf8) else {
      throw ShellError("there is no file of yours to compare", at: arguments.name)
    }
    var yours = code.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if yours.last == "" { yours.removeLast() }
    if yours == exercise.solution {
      return say([.advice("Your file and the solution are the same, line by line.")])
    }
    return answer(
      json: "",
      SideBySide.text(("yours", yours), ("the solution", exercise.solution), output.format)
    )
  }

  /// Shows a wrong answer that others gave; each time the next.
  fileprivate func puzzle(_ exercise: Exercise, _ arguments: Arguments) throws(ShellError)
    -> Outcome
  {
    try requireDone(arguments)
    guard !exercise.nearMisses.isEmpty else {
      return say([.advice("This exercise has no puzzle.")])
    }
    let number = teach { $0.nextPuzzle(of: exercise.nearMisses.count) }
    let code = exercise.nearMisses[number].code.map { $0 + "\n" }.joined()
    return answer(
      json: "",
      code
        + "\nwrong answer \(number + 1) of \(exercise.nearMisses.count): what goes wrong here, and "
        + "when? 'exercise reveal' tells what, 'exercise grade puzzle' how.\n"
    )
  }

  fileprivate func revealPuzzle(
    _ exercise: Exercise,
    _ arguments: Arguments
  ) throws(ShellError) -> Outcome {
    let (number, puzzle) = try puzzleShownLast(exercise, arguments)
    let text = puzzle.title.split(separator: ": ", maxSplits: 1).last.map(String.init)
    return say([
      .advice(
        "Wrong answer \(number + 1): \(text ?? puzzle.title). 'exercise grade puzzle' shows where it goes wrong."
      )
    ])
  }

  private func puzzleShownLast(
    _ exercise: Exercise,
    _ arguments: Arguments
  ) throws(ShellError) -> (number: Int, puzzle: NearMiss) {
    try requireDone(arguments)
    guard let number = classroom.puzzle, exercise.nearMisses.indices.contains(number) else {
      throw ShellError("there is no puzzle to reveal yet. 'exercise puzzle'", at: arguments.name)
    }
    return (number, exercise.nearMisses[number])
  }

  /// Makes a package of the learner's limiter.
  fileprivate func take(
    _ harness: ExerciseHarness,
    _ file: String,
    _ desk: ExerciseDesk,
    _ arguments: Arguments
  ) throws(ShellError) -> Outcome {
    guard harness.asksCancellation else {
      throw ShellError(
        "only the limiters of lessons 9 and 16 are made a package of",
        at: arguments.name
      )
    }
    guard arguments.places.count > 1 else { throw arguments.missing("the folder") }
    let folder = arguments.places[1]
    guard let code = try? String(contentsOfFile: file, encoding: .utf8) else {
      throw ShellError(
        "there is no file of yours to take. 'exercise' starts one",
        at: arguments.name
      )
    }
    let url = URL(fileURLWithPath: (folder.text as NSString).expandingTildeInPath)
    guard !FileManager.default.fileExists(atPath: url.path) else {
      throw ShellError("'\(folder.text)' exists. Name a folder that does not", at: folder)
    }
    let package = TakenPackage(
      name: url.lastPathComponent,
      root: URL(fileURLWithPath: desk.root).standardizedFileURL.path,
      code: code
    )
    do {
      try package.write(to: url.path)
    } catch {
      throw ShellError(
        "the package cannot be written to \(folder.text): \(WholeFile.reason(error))",
        at: folder
      )
    }
    let hasPassed = classroom.visit.map { $0.record[$0.section].passed != nil } ?? false
    return say(
      [
        .file("Your package:", path: url.path),
        .advice("In it: 'swift test', then 'swift package explore'; its README.md says more."),
      ]
        + (hasPassed
          ? []
          : [.advice("Your limiter has not passed here yet: 'exercise grade' says what fails.")])
    )
  }
}
