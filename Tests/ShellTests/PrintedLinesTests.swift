import Foundation
import LessonBook
import TestSupport
import Testing

@testable import Shell

/// What a learner's code prints while it is graded.
@Suite(.watched) struct `What a learner's code prints` {
  @Test func `is shown with the question that was refused, and none of it before that`()
    async throws
  {
    let folder = try ScratchFolder()
    func json(_ line: GradeLine) throws -> String {
      String(decoding: try JSONEncoder().encode(line), as: UTF8.self)
    }
    let said = [
      try json(GradeLine(asking: "first", question: 0)), "before",
      try json(GradeLine(item: GradeItem("first", passed: true, "it is"), question: 0)),
      try json(GradeLine(asking: "second", question: 1)), "{ no line of ours", "two permits",
      try json(GradeLine(item: GradeItem("second", passed: false, "it is not"), question: 1)),
      try json(GradeLine(passed: false, questions: 3)),
    ]
    let file = try folder.file("said", said.joined(separator: "\n\n") + "\n")
    let program = try folder.file("grade", "#!/bin/sh\ncat '\(file)'\n")
    chmod(program, 0o700)
    let programs = GradingPrograms(1, of: program, in: folder.path)
    _ = try await programs.ask(1, telling: GradingProgress(), Interruption())
    #expect(programs.told.items.map(\.name) == ["first", "second"])
    #expect(
      programs.told.printed.text
        == "Your code printed, when what has the ✗ below was asked:\n  | { no line of ours\n  | two permits\n"
    )
  }

  @Test func `is not shown where all passed`() {
    var grading = SharedGrading(1)
    grading.programs[0].printed.add("seen")
    #expect(grading.printed.text == nil)
  }

  @Test(arguments: [0, 1, 12, 13, 30, 1_000])
  func `is shown in part where it is long, the last lines`(count: Int) {
    var printed = PrintedLines()
    for number in 0..<count { printed.add("\(number)"[...]) }
    let shown = (0..<count).suffix(12).map { "  | \($0)\n" }.joined()
    #expect(printed.count == count)
    #expect(printed.text?.hasSuffix(shown) ?? (count == 0))
    #expect(printed.text?.contains("the last 12 of \(count) lines") ?? false == (count > 12))
  }
}
