internal import LessonBook
internal import Rendering

/// The course and what is said in it, as text and as JSON.
enum CourseText {
  static func list(_ course: Course, _ progress: LearnerProgress, _ format: TextFormat) -> String {
    let rows = course.lessons.map { lesson in
      [
        (lesson.number < 10 ? " " : "") + "\(lesson.number)", lesson.title,
        shortTime(lesson),
        state(progress.lessons[lesson.slug], lesson, format),
      ]
    }
    let next = course.lessons.first { lesson in
      progress.lessons[lesson.slug].map { !$0.isThrough(lesson) } ?? true
    }
    let advice =
      next.map { "'lesson \($0.number)' goes on." } ?? "You are through. 'reset N' begins one anew."
    let full = rows.map { ["  " + $0[0] + "  " + $0[1], $0[2], $0[3]] }
    let isNarrow = Columns.rows(full).split(separator: "\n").contains { $0.count > format.width }
    let table =
      isNarrow
      ? rows.map { row in
        Columns.wrap("\(row[0])  \(row[1])", width: format.width, indent: 4).joined(separator: "\n")
          + "\n" + (row[3].isEmpty ? "" : "    \(row[3])\n")
      }.joined()
      : Columns.rows(full).split(separator: "\n").map { line in
        line.reversed().drop { $0 == " " }.reversed() + "\n"
      }.joined()
    return table + advice + "\n"
  }

  /// "5 min": what a lesson says of its time, up to the first comma.
  private static func shortTime(_ lesson: Lesson) -> String {
    String(lesson.time.prefix { $0 != "," }).replacing(" minutes", with: " min")
  }

  private static func state(
    _ record: LessonRecord?,
    _ lesson: Lesson,
    _ format: TextFormat
  ) -> String {
    guard let record else { return "" }
    let steps = lesson.steps.count
    let passed = record.passed(of: lesson)
    let givenUp = record.givenUp(of: lesson)
    if passed == steps { return "\(format.glyphs.good) passed" }
    return givenUp > 0
      ? "\(passed) of \(steps), \(givenUp) given up" : "\(passed) of \(steps) steps"
  }

  static func json(_ course: Course, _ progress: LearnerProgress) -> String {
    course.lessons.map { lesson in
      let record = progress.lessons[lesson.slug] ?? LessonRecord()
      return JSONObject.line([
        ("lesson", .number(lesson.number)), ("slug", .string(lesson.slug)),
        ("title", .string(lesson.title)), ("steps", .number(lesson.steps.count)),
        ("passed", .number(record.passed(of: lesson))),
        ("given_up", .number(record.givenUp(of: lesson))),
      ])
    }.joined()
  }

  /// One object for each passage, with the lesson and the step it belongs to.
  static func json(_ passages: [Passage], _ visit: LessonVisit) -> String {
    let text = LessonText(width: .max)
    return passages.map { passage in
      let kind =
        switch passage {
        case .title: "title"
        case .text: "text"
        case .question: "question"
        case .met: "met"
        case .missed: "missed"
        case .comparison: "comparison"
        case .advice: "advice"
        }
      return JSONObject.line([
        ("lesson", .number(visit.lesson.number)), ("step", .string(visit.section.id)),
        ("kind", .string(kind)),
        ("text", .string(text.text([passage]).split(separator: "\n").joined(separator: "\n"))),
      ])
    }.joined()
  }
}
