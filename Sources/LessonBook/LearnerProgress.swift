/// How far a learner has come, lesson by lesson.
///
/// Lessons are known by their slug and sections by their id, never by number or title, so that a
/// lesson whose text or place changes keeps its progress.
package struct LearnerProgress: Hashable, Sendable, Codable {
  package static let schema = "lab-progress/1"

  package var schema = Self.schema
  package var lessons: [String: LessonRecord] = [:]
  /// The slug of the lesson that was taken last.
  package var current: String?

  package init() {}

  /// The lesson to go on with: the one taken last, or else the first behind it that is not done with,
  /// or before it; nil where all are.
  package func lesson(toGoOnIn lessons: [Lesson]) -> Lesson? {
    let start = lessons.firstIndex { $0.slug == current } ?? 0
    return (lessons[start...] + lessons[..<start]).first { lesson in
      self.lessons[lesson.slug].map { !$0.isThrough(lesson) } ?? true
    }
  }
}

/// How far a learner has come in one lesson.
package struct LessonRecord: Hashable, Sendable, Codable {
  /// The section the learner is at.
  package var current: String?
  /// The sections the learner has seen, by id.
  package var sections: [String: SectionRecord] = [:]

  package init() {}

  package subscript(section: LessonSection) -> SectionRecord {
    get { sections[section.id] ?? SectionRecord() }
    set { sections[section.id] = newValue }
  }

  /// How many of the lesson's steps are passed.
  package func passed(of lesson: Lesson) -> Int {
    lesson.steps.count { self[$0].passed != nil }
  }

  /// How many of the lesson's steps the learner gave up and did not pass later.
  package func givenUp(of lesson: Lesson) -> Int {
    lesson.steps.count { self[$0].gaveUp && self[$0].passed == nil }
  }

  /// Whether nothing is left to do: every step passed or given up.
  package func isThrough(_ lesson: Lesson) -> Bool {
    passed(of: lesson) + givenUp(of: lesson) == lesson.steps.count
  }
}

/// What a learner did in one section.
package struct SectionRecord: Hashable, Sendable, Codable {
  /// The guess, as it was written; an empty one was skipped.
  package var prediction: String?
  /// How many hints were asked for.
  package var hints = 0
  /// Whether the solution was looked at before the check passed.
  package var gaveUp = false
  /// When the check passed, as an ISO 8601 date and time.
  package var passed: String?
  /// Of what the learner has run, the figures that the last check was decided by.
  package var runs: [MetricTable]?

  package init() {}

  package init(from decoder: any Decoder) throws {
    // Written by hand as often as by the lab: what is left out has its default.
    let container = try decoder.container(keyedBy: CodingKeys.self)
    prediction = try container.decodeIfPresent(String.self, forKey: .prediction)
    hints = try container.decodeIfPresent(Int.self, forKey: .hints) ?? 0
    gaveUp = try container.decodeIfPresent(Bool.self, forKey: .gaveUp) ?? false
    passed = try container.decodeIfPresent(String.self, forKey: .passed)
    // Kept by another version perhaps: runs can be made again, and the rest of the file is worth more.
    runs = try? container.decodeIfPresent([MetricTable].self, forKey: .runs)
  }
}
