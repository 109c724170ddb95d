internal import Foundation

/// One thing an exercise asks for, and whether the learner's code does it.
package struct GradeItem: Hashable, Sendable, Codable {
  /// The figure that checks name: `safety`.
  package var name: String
  package var passed: Bool
  /// What was asked and what was found, in words.
  package var sentence: String
  /// The failing schedule or run, told as the lab tells it; empty if there is none.
  package var story: String

  package init(_ name: String, passed: Bool, _ sentence: String, story: String = "") {
    self.name = name
    self.passed = passed
    self.sentence = sentence
    self.story = story
  }
}

/// What the grading program writes: one line for each item as soon as it is known, and one at the end.
///
/// A program that crashes or hangs has told what it had found until then.
package struct GradeLine: Hashable, Sendable, Codable {
  package var item: GradeItem?
  /// Every item was looked at, and all passed.
  package var passed: Bool?

  package init(item: GradeItem? = nil, passed: Bool? = nil) {
    self.item = item
    self.passed = passed
  }
}

/// Grades one learner's code, item by item, up to the first that fails.
package struct GradeBook: Sendable {
  private let items: [@Sendable () async -> GradeItem]

  init(_ items: [@Sendable () async -> GradeItem]) { self.items = items }

  /// Grades, and tells `report` of each item.
  ///
  /// - Returns: whether all passed.
  package func grade(_ report: (GradeItem) -> Void) async -> Bool {
    for item in items {
      let item = await item()
      report(item)
      if !item.passed { return false }
    }
    return true
  }

  /// Grades as a program: to standard output, a line of JSON for each item.
  package func main() async {
    let passed = await grade { Self.write(GradeLine(item: $0)) }
    Self.write(GradeLine(passed: passed))
  }

  private static func write(_ line: GradeLine) {
    guard let data = try? JSONEncoder().encode(line) else { return }
    FileHandle.standardOutput.write(data + Data("\n".utf8))
  }
}
