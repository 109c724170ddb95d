internal import LessonBook

/// What the grading programs that share the questions of an exercise have told so far.
///
/// They take the questions in order, but their answers may come in another. As if one program had asked them all, what
/// counts is the first question that fails, and all before it.
struct SharedGrading: Sendable {
  struct Program: Sendable {
    var lines: [GradeLine] = []
    var hasEnded = false
    /// Of the question that it asks, or has asked last.
    var printed = PrintedLines()

    /// The number of the question that it asks, or has asked last.
    fileprivate var asked: Int { lines.compactMap(\.question).last ?? 0 }

    /// The number of the question that fails here: by what was found, or because the program ended at it.
    fileprivate var failed: Int? {
      if let line = lines.first(where: { $0.item?.passed == false }) { return line.question }
      return hasEnded && lines.last?.passed == nil ? asked : nil
    }
  }

  var programs: [Program]

  init(_ count: Int) { programs = Array(repeating: Program(), count: count) }

  private var firstFailed: Int? { programs.compactMap(\.failed).min() }

  /// What was found, in the order of the questions, up to the first that fails.
  var items: [GradeItem] {
    let last = firstFailed ?? .max
    return programs.flatMap(\.lines)
      .filter { $0.item != nil && ($0.question ?? 0) <= last }
      .sorted { ($0.question ?? 0) < ($1.question ?? 0) }
      .compactMap(\.item)
  }

  /// What was printed when the first question was asked that fails.
  var printed: PrintedLines {
    guard let firstFailed else { return PrintedLines() }
    return programs.first { $0.failed == firstFailed }?.printed ?? PrintedLines()
  }

  /// The program that ended before it had answered the first question that fails, if one did.
  var broken: Int? {
    programs.firstIndex { program in
      program.hasEnded && program.lines.last?.passed == nil && program.failed == firstFailed
    }
  }

  /// In words what was asked when that program ended, where that is known.
  var askedLast: String? {
    broken.flatMap { programs[$0].lines.last { $0.asking != nil }?.asked }
  }

  /// Whether every question was answered, and all passed.
  var passed: Bool {
    guard firstFailed == nil, let count = programs.compactMap({ $0.lines.last?.questions }).first
    else { return false }
    return items.count == count
  }

  /// Whether nobody waits for the answer to what a program asks: a question before it has failed.
  func isNeedless(_ program: Int) -> Bool {
    firstFailed.map { $0 < programs[program].asked } ?? false
  }

  /// The line that tells of the question that was taken last.
  var asking: GradeLine? {
    programs.flatMap(\.lines).filter { $0.asking != nil }
      .max { ($0.question ?? 0) < ($1.question ?? 0) }
  }
}
