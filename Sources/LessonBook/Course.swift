internal import Foundation

/// The lessons of a folder, in order.
package struct Course: Sendable {
  /// The folder they are in.
  package let folder: String
  package let lessons: [Lesson]
  /// As the map has them; empty where it has none.
  package let parts: [CoursePart]
  /// What could not be understood.
  package let problems: [LessonProblem]

  /// Reads every `NN-slug.md` of a folder.
  ///
  /// - Throws: `CourseError` if there is no such folder or no lesson in it.
  package init(folder: String) throws(CourseError) {
    self.folder = folder
    guard let names = Self.files(in: folder) else {
      throw CourseError("there is no folder '\(folder)' to read lessons from")
    }
    var lessons: [Lesson] = []
    var problems: [LessonProblem] = []
    for name in names {
      guard let text = Self.text(of: folder + "/" + name) else {
        problems.append(LessonProblem(file: name, line: 1, "the file cannot be read as UTF-8"))
        continue
      }
      var parser = LessonParser(file: name)
      if let lesson = parser.parse(text), !lesson.sections.isEmpty { lessons.append(lesson) }
      problems += parser.problems
    }
    guard !lessons.isEmpty else {
      throw CourseError("there is no lesson in '\(folder)'; a lesson is a file like 01-slug.md")
    }
    self.lessons = lessons.sorted { $0.number < $1.number }
    self.problems = problems
    parts = CoursePart.parts(in: Self.text(of: folder + "/README.md") ?? "")
  }

  /// The numbers of the lessons in a folder, told from the names of their files: no lesson is read.
  package static func numbers(in folder: String) -> [Int] {
    (files(in: folder) ?? []).compactMap { LessonParser.name(of: $0)?.number }
  }

  /// The files that could be lessons, in order; nil if there is no such folder.
  private static func files(in folder: String) -> [String]? {
    try? FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      .filter { $0.first?.isNumber == true && $0.hasSuffix(".md") }
  }

  /// The lesson of that number, or the only one whose slug or title begins so.
  ///
  /// If several do, the one with exactly that slug; nil if none has it.
  package func lesson(_ name: String) -> Lesson? {
    if let number = Int(name) { return lessons.first { $0.number == number } }
    let wanted = name.lowercased()
    let matches = lessons.filter {
      $0.slug.hasPrefix(wanted) || $0.title.lowercased().hasPrefix(wanted)
    }
    return matches.count == 1 ? matches[0] : lessons.first { $0.slug == wanted }
  }

  static func text(of path: String) -> String? {
    FileManager.default.contents(atPath: path).flatMap { String(data: $0, encoding: .utf8) }
  }

  static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
}

/// Why there is no course to take.
package struct CourseError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
