internal import Foundation
internal import GradeReport
internal import LessonBook
internal import Rendering

extension Command {
  static let exercise = Command(
    "exercise",
    [Parameter("DO", .choice(["start", "grade", "again"]), optional: true)],
    keys: [Keys.seed],
    summary: "write Swift in a lesson: get the starting file, have it built and graded",
    details: """
      'exercise' puts the starting file of the lesson's step where you can edit it, and says where. \
      'exercise grade' builds it against this package, explores it, and shows the schedule that breaks \
      it; runs it on workloads drawn from a seed, which 'seed=' repeats; and has a storm of tasks at it \
      on real threads, which needs two processors and takes half a minute. 'exercise again' starts over; \
      what you had is kept beside it.
      """,
    examples: ["lesson 7; exercise"]
  ) { session, arguments in
    guard let visit = session.classroom.visit, let desk = session.classroom.desk else {
      throw Session.noLesson(arguments)
    }
    if visit.section.exercise == nil,
      let place = visit.lesson.sections.firstIndex(where: { $0.exercise != nil })
    {
      let title = visit.lesson.sections[place].title
      return session.say([
        .advice("Not on this page: '\(title)' is page \(place + 1) of this lesson.")
      ])
    }
    guard let exercise = visit.section.exercise, let harness = ExerciseHarness.all[exercise.harness]
    else {
      if let section = visit.lesson.sections.first(where: { $0.exercise != nil }) {
        let place = "The exercise of this lesson is under '\(section.title)'. 'next' goes on."
        return session.say([.advice(place)])
      }
      throw ShellError("this lesson has no exercise in Swift. 'next' goes on", at: arguments.name)
    }
    let words = ["start", "grade", "again"]
    let verb = try arguments.place(0, as: "what to do", form: "start, grade or again") { text in
      words.first { !text.isEmpty && $0.hasPrefix(text) }
    }
    let file = session.classroom.exerciseFile(of: visit, named: harness.type)
    switch verb {
    case "grade": return try await session.grade(exercise, harness, file, desk, arguments)
    case "again": return try session.startExercise(exercise, file, anew: true, arguments)
    default: return try session.startExercise(exercise, file, anew: false, arguments)
    }
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
    var kept = ""
    do {
      try files.createDirectory(
        atPath: (file as NSString).deletingLastPathComponent,
        withIntermediateDirectories: true
      )
      if anew, files.fileExists(atPath: file) {
        let names = (1...10_000).lazy.map { "\(file).\($0)" }
        let place = names.first { !files.fileExists(atPath: $0) } ?? file + ".old"
        try files.moveItem(atPath: file, toPath: place)
        kept = " What you had is kept as \(place)."
      }
      if !files.fileExists(atPath: file) {
        let text = exercise.start.joined(separator: "\n") + "\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
      }
    } catch {
      throw ShellError(
        "the starting file cannot be written to \(file): \(error.localizedDescription)",
        at: arguments.name
      )
    }
    return say([.advice("Your file: \(file)"), .advice("Edit it, then 'exercise grade'.\(kept)")])
  }

  fileprivate func grade(
    _ exercise: Exercise,
    _ harness: ExerciseHarness,
    _ file: String,
    _ desk: ExerciseDesk,
    _ arguments: Arguments
  ) async throws -> Outcome {
    guard let code = try? String(contentsOfFile: file, encoding: .utf8) else {
      throw ShellError("there is no file to grade yet. 'exercise' starts one", at: arguments.name)
    }
    if !json { output.write("building \(file) …\n") }
    let seed = try arguments.value(Keys.seed, Keys.parseSeed)
    let outcome = try await desk.grade(code, by: harness, seed: seed, interruption)
    note(GradeMetrics(harness: exercise.harness, outcome))
    var passages: [Passage] = []
    switch outcome {
    case .doesNotBuild(let errors):
      passages = [.missed("it does not build", because: "")]
      output.write(errors + "\n")
    case .graded(let items, let passed, let seed):
      for item in items {
        passages.append(
          item.passed ? .met(item.sentence) : .missed(item.sentence, because: "")
        )
      }
      if let story = items.last?.story, !story.isEmpty { output.write("\n" + story + "\n") }
      let same = seed.map { "; 'exercise grade seed=\($0)' asks the same again" } ?? ""
      passages.append(
        .advice(
          passed
            ? "All right. 'check' passes the step." : "Mend it, then 'exercise grade'\(same)."
        )
      )
    case .broken(let what, let items):
      passages = items.map { .met($0.sentence) } + [.missed("your program \(what)", because: "")]
    }
    return say(passages)
  }
}
