import Foundation
import LessonBook
import Shell
import TestSupport
import Testing

/// The lessons of this package.
@Suite(.watched) struct CourseTests {
  private static let folder = packageFolder + "/Lessons"

  @Test
  func `the lessons have no flaw that reading can find`() async throws {
    let problems = try await LessonAudit(folder: Self.folder).problems(rehearsing: [])
    #expect(problems.map(\.description) == [])
  }

  @Test
  func `each lesson has a picture that the lab draws, for light and for dark`() throws {
    let course = try Course(folder: Self.folder)
    for lesson in course.lessons.prefix(17) {
      #expect(!lesson.pictures.isEmpty, "\(lesson.title)")
      for picture in lesson.pictures {
        let file = URL(fileURLWithPath: Self.folder).appending(path: picture.file)
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.contains("prefers-color-scheme: dark") && text.contains(">time, "))
      }
    }
  }

  /// Those that say the same on every machine and explore little; the others, and what is built, are for the
  /// program itself: `lab --check-lessons`.
  @Test(arguments: [1, 6, 7, 8, 10, 11, 12, 14, 15])
  func `a lesson's transcripts and steps hold, taken as a learner would`(_ number: Int) async throws
  {
    let audit = try LessonAudit(folder: Self.folder, numbers: [number])
    let problems = await audit.problems(rehearsing: [.transcripts, .steps])
    #expect(problems.map(\.description) == [])
  }
}
