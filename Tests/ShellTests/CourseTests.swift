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

  /// Those that say the same on every machine; the others, and what is built, are for the program
  /// itself: `lab --check-lessons`.
  @Test(arguments: [1] + Array(6...16))
  func `a lesson's transcripts and steps hold, taken as a learner would`(_ number: Int) async throws
  {
    let audit = try LessonAudit(folder: Self.folder, numbers: [number])
    let problems = await audit.problems(rehearsing: [.transcripts, .steps])
    #expect(problems.map(\.description) == [])
  }
}
