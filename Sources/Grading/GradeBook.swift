internal import Foundation
package import GradeReport

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
