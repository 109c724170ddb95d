internal import Foundation
internal import Glibc
internal import LessonBook

/// Which question comes next, where several grading programs share those of an exercise.
///
/// They share a file, in which each byte is a question that one of them has taken. Where the environment names none, a
/// program takes them all.
struct TakenQuestions {
  private let file: Int32?
  private var ownCount = 0

  init(_ path: String? = ProcessInfo.processInfo.environment[GradeLine.takenVariable]) {
    file = path.map { path in
      let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
      guard file >= 0 else {
        fatalError("\(path) cannot be opened: \(String(cString: strerror(errno)))")
      }
      return file
    }
  }

  /// Takes the first question that nobody has taken.
  ///
  /// - Returns: its number, the first being 0; nil if none is left.
  mutating func next(of count: Int) -> Int? {
    ownCount += 1
    let number = file == nil ? ownCount : append(1)
    return number <= count ? number - 1 : nil
  }

  /// Takes what is left.
  func takeAll(_ count: Int) { if file != nil { append(count) } }

  /// Appends bytes.
  ///
  /// - Returns: where in the file they end: the kernel appends and moves our offset in one step.
  @discardableResult
  private func append(_ count: Int) -> Int {
    guard let file else { return 0 }
    let written = write(file, [UInt8](repeating: 0, count: count), count)
    guard written == count else {
      fatalError("a question that is taken cannot be noted: \(String(cString: strerror(errno)))")
    }
    return lseek(file, 0, SEEK_CUR)
  }
}
