import LessonBook
import TestSupport
import Testing

@testable import Shell

/// What is made of the answers of programs that share the questions of an exercise.
@Suite(.watched) struct `A grading that programs share` {
  private enum Answer: CaseIterable {
    case passes, fails
    /// The program ends at it.
    case ends
  }

  /// Two programs in the middle of a grading.
  private struct Scene {
    let answers: [Answer]
    var grading = SharedGrading(2)
    var taken = 0

    init(_ answers: [Answer]) {
      self.answers = answers
      for program in 0...1 { takeNext(program) }
    }

    mutating func takeNext(_ program: Int) {
      taken += 1
      let number = taken - 1
      guard number < answers.count else { return end(program, GradeLine(passed: true)) }
      grading.programs[program].lines.append(GradeLine(asking: "\(number)", question: number))
    }

    mutating func end(_ program: Int, _ line: GradeLine?) {
      if var line {
        line.questions = answers.count
        grading.programs[program].lines.append(line)
      }
      grading.programs[program].hasEnded = true
    }

    mutating func answer(_ program: Int) {
      guard let number = grading.programs[program].lines.last?.question else { return }
      let passes = answers[number] == .passes
      guard answers[number] != .ends else { return end(program, nil) }
      grading.programs[program].lines.append(
        GradeLine(item: GradeItem("\(number)", passed: passes, ""), question: number)
      )
      if passes { return takeNext(program) }
      taken += answers.count
      end(program, GradeLine(passed: false))
    }

    /// How it can end, whoever answers first.
    var endings: [SharedGrading] {
      let programs = (0...1).filter { !grading.programs[$0].hasEnded }
      guard !programs.isEmpty else { return [grading] }
      return programs.flatMap { program in
        var scenes = [self]
        scenes[0].answer(program)
        if grading.isNeedless(program) {
          scenes.append(self)
          scenes[1].end(program, nil)
        }
        return scenes.flatMap(\.endings)
      }
    }
  }

  private func all(_ count: Int) -> [[Answer]] {
    guard count > 0 else { return [[]] }
    return all(count - 1).flatMap { fewer in Answer.allCases.map { fewer + [$0] } }
  }

  @Test func `is what one program finds that asks them all, in every order of up to five`() {
    var endings = 0
    for answers in (1...5).flatMap(all) {
      let first = answers.firstIndex { $0 != .passes }
      let kind = first.map { answers[$0] }
      // Of one at which the program ends there is no item.
      let items = (0..<(first.map { kind == .fails ? $0 + 1 : $0 } ?? answers.count))
        .map { GradeItem("\($0)", passed: answers[$0] == .passes, "") }
      for grading in Scene(answers).endings {
        endings += 1
        #expect(grading.items == items, "\(answers)")
        #expect((grading.broken != nil) == (kind == .ends), "\(answers)")
        #expect(grading.passed == (first == nil), "\(answers)")
      }
    }
    #expect(endings > 1_000)
  }

  @Test func `does not pass before every question was answered`() {
    var scene = Scene([.passes, .passes, .passes])
    for program in [0, 1, 0] {
      #expect(!scene.grading.passed)
      #expect(scene.grading.broken == nil)
      scene.answer(program)
    }
    #expect(scene.grading.passed)
    // As if an answer were lost.
    scene.grading.programs[1].lines.removeAll { $0.item != nil }
    #expect(!scene.grading.passed)
  }

  @Test func `ends what comes behind a failure, and nothing before it`() {
    var scene = Scene([.passes, .fails, .passes])
    #expect(scene.grading.asking?.asking == "1")
    scene.answer(1)
    #expect(!scene.grading.isNeedless(0))
    scene = Scene([.fails, .passes, .passes])
    scene.answer(0)
    #expect(scene.grading.isNeedless(1))
  }
}
