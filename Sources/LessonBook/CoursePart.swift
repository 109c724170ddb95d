/// Lessons that belong together: a sitting or two, with an end of its own.
///
/// The map of the course says which: in `README.md` a heading `### Part I: A limit`, what the part is about, and
/// the lessons it leads to. A folder whose map has no such heading is a course of one part without a name.
package struct CoursePart: Hashable, Sendable {
  /// "Part I: A limit".
  package let title: String
  /// What one has at its end.
  package let summary: String
  /// The files of its lessons, in the order in which they are taken.
  package let files: [String]

  /// The parts that a map names.
  package static func parts(in map: String) -> [CoursePart] {
    var parser = MarkdownParser(map, file: "README.md")
    var parts: [CoursePart] = []
    var open: (title: String, summary: String, files: [String])?
    func close() {
      if let open {
        parts.append(CoursePart(title: open.title, summary: open.summary, files: open.files))
      }
    }
    for block in parser.parse() {
      switch block.content {
      case .heading(3, let title) where title.hasPrefix("Part "):
        close()
        open = (title, "", [])
      case .heading:
        close()
        open = nil
      case .paragraph(let text) where open?.summary.isEmpty == true && open?.files.isEmpty == true:
        open?.summary = text
      case .table(let rows):
        open?.files += rows.flatMap(LessonLint.targets).filter { LessonParser.name(of: $0) != nil }
      default: break
      }
    }
    close()
    return parts
  }
}

extension Course {
  /// The part that a lesson belongs to; nil where the map has no parts.
  package func part(of lesson: Lesson) -> CoursePart? {
    parts.first { $0.files.contains(lesson.file) }
  }

  /// The lessons in the order in which they are taken: as the parts have them, and then what is in none.
  package var way: [Lesson] {
    let inParts = parts.flatMap(\.files).compactMap { file in lessons.first { $0.file == file } }
    return inParts + lessons.filter { lesson in !inParts.contains { $0.slug == lesson.slug } }
  }

  /// The lesson that a learner takes after another: the next of the way that they are not through, or else the first;
  /// nil where they are through all others.
  package func lesson(after lesson: Lesson, for progress: LearnerProgress) -> Lesson? {
    let place = way.firstIndex { $0.slug == lesson.slug } ?? way.startIndex
    return (way[place...].dropFirst() + way[..<place]).first { other in
      progress.lessons[other.slug]?.isThrough(other) != true
    }
  }
}
