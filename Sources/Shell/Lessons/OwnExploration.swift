internal import Experiments
internal import Foundation
internal import LessonBook
internal import Mechanisms

extension Session {
  /// Where the mechanism or schedule that `word` names is explored.
  ///
  /// A learner's own is built first, and explored in the program that is built around it.
  func explorations(of word: Word) async throws -> ExplorationPlace {
    let yours = Catalogue.yours
    guard word.text == yours || word.text.contains(":\(yours)-") else { return explorations }
    guard let visit = classroom.visit, let desk = classroom.desk,
      let exercise = visit.section.exercise, let harness = ExerciseHarness.all[exercise.harness],
      harness.isExplorable
    else {
      throw ShellError(
        "'\(yours)' is the limiter, pool or account that you write in an exercise, and this page has none. "
          + "'lesson 7' has the first",
        at: word
      )
    }
    let file = classroom.exerciseFile(of: visit, named: harness.type)
    guard let code = try? String(contentsOfFile: file, encoding: .utf8) else {
      throw ShellError("there is no file of yours yet. 'exercise' starts one", at: word)
    }
    if !json, output.canShowFrames { output.writeTransient("building \(file)") }
    if let errors = try await desk.build(code, by: harness, interruption) {
      throw ExerciseFailure(description: "your file does not build:\n\(errors)")
    }
    Catalogue.add(
      yours: CatalogueEntry(
        yours: MechanismProfile(
          order: .none,
          lendsPermitsOnly: harness.grader != "account",
          summary: "what you have written",
          explanation: "Your file is \(file).",
          // What the exercise asks for, unless told otherwise.
          exposure: .init(
            harness.asksCancellation ? .cancellation : .order,
            inside: true,
            tasks: 2,
            limit: 1,
            violation: ""
          )
        )
      )
    )
    return .program(desk.program)
  }
}
