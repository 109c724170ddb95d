internal import Basics
internal import Exploration
internal import Foundation
internal import LessonBook
internal import Rendering

// What has become of a lesson, as one page to keep or to hand in.

/// A learner's result in one lesson as a page for the browser.
///
/// What a step shows is told where it was passed and nowhere else: somebody else may still want to find out.
struct LessonPage {
  var lesson: Lesson
  var record: LessonRecord
  /// The learner's file for a step; nil where there is none.
  var file: (LessonSection) -> (name: String, text: String)?

  var html: String {
    let title = "Lesson \(lesson.number): \(lesson.title)"
    let styles = """
      body { font: 16px/1.5 system-ui, sans-serif; background: var(--paper); color: var(--ink);
        max-width: 46rem; margin: 0 auto; padding: 1rem }
      h2 { margin: 2rem 0 .2rem; font-size: 1.1rem }
      .state { margin: 0; color: var(--faint-ink) }
      pre { overflow-x: auto; border: 1px solid var(--grid); padding: .6rem; font-size: 14px }
      """
    return """
      \(PageHead.html(title: title, styles: styles, hasScripts: false))
      <body>
      <header>
      <h1>\(XMLText.escaped(title))</h1>
      <p>\(XMLText.escaped(lesson.question))</p>
      <p class="state">\(counts)</p>
      </header>
      <main>
      \(lesson.steps.map(section).joined(separator: "\n"))
      </main>
      </body>
      </html>

      """
  }

  private var counts: String {
    let givenUp = record.givenUp(of: lesson)
    return "\(record.passed(of: lesson)) of \(NumberText.count(lesson.steps.count, "step")) passed"
      + (givenUp > 0 ? ", \(givenUp) given up" : "")
  }

  private func section(_ step: LessonSection) -> String {
    let seen = record[step]
    var lines = [
      "<section>", "<h2>\(XMLText.escaped(step.title))</h2>",
      "<p class=\"state\">\(state(seen))</p>",
    ]
    if let prediction = step.prediction, let guess = seen.prediction, !guess.isEmpty {
      lines.append("<p>\(XMLText.escaped("\(prediction.question) Guess: \(guess)."))</p>")
    }
    if seen.passed != nil {
      let shown = step.checks.map { "<li>✓ \(XMLText.escaped($0.sentence))</li>" }
      lines.append("<ul>\(shown.joined())</ul>")
      if let file = file(step) {
        lines.append("<p>\(XMLText.escaped(file.name))</p>")
        lines.append("<pre>\(XMLText.escaped(file.text))</pre>")
      }
    }
    return (lines + ["</section>"]).joined(separator: "\n")
  }

  private func state(_ seen: SectionRecord) -> String {
    let hints = seen.hints == 0 ? "" : ", \(NumberText.count(seen.hints, "hint"))"
    if let passed = seen.passed {
      return "✓ passed on \(XMLText.escaped(String(passed.prefix(10))))\(hints)"
    }
    return (seen.gaveUp ? "given up" : "not passed yet") + hints
  }
}

extension Session {
  /// The page of the lesson under way, or else of the one taken last.
  func lessonPage(_ arguments: Arguments) throws -> String {
    let (progress, notice) = teach { $0.progress() }
    tell(notice)
    let lesson =
      if let visit = classroom.visit {
        visit.lesson
      } else {
        try classroom.course().lessons.first { $0.slug == progress.current }
      }
    guard let lesson else {
      throw ShellError("no lesson has been begun. Try: lesson 1", at: arguments.name)
    }
    let record = classroom.visit?.record ?? progress.lessons[lesson.slug] ?? LessonRecord()
    let classroom = classroom
    let page = LessonPage(lesson: lesson, record: record) { step in
      guard let exercise = step.exercise, let harness = ExerciseHarness.all[exercise.harness]
      else { return nil }
      let path = classroom.exerciseFile(of: lesson, step, named: harness.type)
      guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
      let passed = record[step].passed.flatMap { try? Date($0, strategy: .iso8601) }
      let written =
        (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
      let isChanged = passed.flatMap { passed in written.map { $0 > passed + 1 } } ?? false
      return (harness.type + ".swift" + (isChanged ? ", changed since it passed" : ""), text)
    }
    return page.html
  }
}
