internal import LessonBook
internal import Rendering

/// The course and what is said in it, as text and as JSON.
enum CourseText {
  static func list(_ course: Course, _ progress: LearnerProgress, _ format: TextFormat) -> String {
    let rows: [[String]] = course.way.map { lesson in
      let number = (lesson.number < 10 ? " " : "") + "\(lesson.number)"
      let state = state(progress.lessons[lesson.slug], lesson, format)
      return [number, lesson.title, shortTime(lesson), state]
    }
    let advice =
      progress.lesson(toGoOnIn: course.way).map {
        "'lesson \($0.number)' \(progress.lessons.isEmpty ? "begins" : "goes on")."
      }
      ?? "You are through. 'reset N' begins one anew."
    let full = rows.map { ["  " + $0[0] + "  " + $0[1], $0[2], $0[3]] }
    let lines = Columns.rows(full).split(separator: "\n")
    if lines.contains(where: { $0.count > format.width }) {
      let table = rows.map { row in
        let head = Columns.wrap("\(row[0])  \(row[1])", width: format.width, indent: 4)
        return (head + (row[3].isEmpty ? [] : ["    " + row[3]])).joined(separator: "\n") + "\n"
      }
      return inParts(table, course, format) + advice + "\n"
    }
    let table = lines.map { line in String(line.reversed().drop { $0 == " " }.reversed()) + "\n" }
    return inParts(table, course, format) + advice + "\n"
  }

  /// The lessons' lines, each part's below its name and what it is about.
  private static func inParts(_ lines: [String], _ course: Course, _ format: TextFormat) -> String {
    let lessons = zip(course.way, lines)
    let titled = course.parts.map { part in
      let text = LessonText(width: format.width, ascii: format.glyphs.isASCII)
      let head = Columns.wrap(part.title, width: format.width).joined(separator: "\n") + "\n"
      let about = part.summary.isEmpty ? "" : text.text([.text([.summary(part.summary)])])
      let own = lessons.filter { part.files.contains($0.0.file) }.map(\.1).joined()
      return head + about.drop { $0 == "\n" } + own + "\n"
    }
    let others = lessons.filter { course.part(of: $0.0) == nil }.map(\.1)
    return titled.joined() + others.joined()
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
    course.way.map { lesson in
      let record = progress.lessons[lesson.slug] ?? LessonRecord()
      return JSONObject.line([
        ("lesson", .number(lesson.number)), ("slug", .string(lesson.slug)),
        ("title", .string(lesson.title)),
        ("part", .string(course.part(of: lesson)?.title ?? "")),
        ("steps", .number(lesson.steps.count)),
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
        case .words: "words"
        case .advice: "advice"
        case .file: "file"
        }
      return JSONObject.line([
        ("lesson", .number(visit.lesson.number)), ("step", .string(visit.section.id)),
        ("kind", .string(kind)),
        ("text", .string(text.text([passage]).split(separator: "\n").joined(separator: "\n"))),
      ])
    }.joined()
  }
}

extension LessonBlock {
  fileprivate static func summary(_ text: String) -> LessonBlock {
    LessonBlock(.text(.paragraph(text)), line: 1)
  }
}
