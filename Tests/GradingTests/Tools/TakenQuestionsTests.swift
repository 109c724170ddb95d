import Foundation
import LessonBook
import TestSupport
import Testing

@testable import Grading

@Suite(.watched) struct `Questions that several programs share` {
  private func taken(from path: String?, of count: Int) -> [Int] {
    var questions = TakenQuestions(path)
    var mine: [Int] = []
    while let number = questions.next(of: count) { mine.append(number) }
    return mine
  }

  @Test func `each is taken once, and in order by whoever takes them`() async {
    let path = NSTemporaryDirectory() + "taken-\(UUID())"
    defer { unlink(path) }
    let numbers = await withTaskGroup { group in
      for _ in 1...4 { group.addTask { self.taken(from: path, of: 2_000) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(numbers.allSatisfy { $0 == $0.sorted() })
    #expect(numbers.joined().sorted() == Array(0..<2_000))
  }

  @Test func `a program alone takes all, and none is left where somebody took the rest`() {
    #expect(taken(from: nil, of: 3) == [0, 1, 2])
    let path = NSTemporaryDirectory() + "taken-\(UUID())"
    defer { unlink(path) }
    var mine = TakenQuestions(path)
    #expect(mine.next(of: 3) == 0)
    mine.takeAll(3)
    #expect(taken(from: path, of: 3) == [])
  }

  @Test func `a line is one by itself, beside whatever the learner's code prints`() throws {
    let line = GradeLine(item: GradeItem("limit", passed: true, "kept"), question: 2)
    let printed = "so far" + GradeBook.text(of: line) + "and further"
    let lines = printed.split(separator: "\n").compactMap {
      try? JSONDecoder().decode(GradeLine.self, from: Data($0.utf8))
    }
    #expect(lines == [line])
  }
}
