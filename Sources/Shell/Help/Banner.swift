internal import Foundation
internal import LessonBook
internal import Mechanisms
internal import Rendering

/// What a newcomer sees first.
package enum Banner {
  /// `lessons` is the folder of the lessons, if there is one.
  package static func text(_ display: Display, lessons: String?) -> String {
    let separator = display.ascii ? " - " : " · "
    var counts = NumberText.count(Catalogue.mechanisms.count, "mechanism")
    let names = lessons.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0) } ?? []
    // By their names: to read them all would keep the prompt waiting.
    let files = names.count { $0.hasSuffix(".md") && $0.first?.isNumber == true }
    if files > 0 { counts += ", " + NumberText.count(files, "lesson") }
    let title = Columns.flow(
      ["concurrency lab", "how many at once?", counts],
      separator: separator,
      width: display.width
    )
    let commands = [
      ["  run 12 limiter limit=3 work=100ms", "twelve tasks through a gate of three"],
      ["  compare 40 limit=4 work=exp:20ms", "the same work on every mechanism"],
      ["  lesson 1", "the course"],
      ["  help", "everything else"],
    ]
    // In a narrow window the commands alone: they say more than half of each sentence would.
    let isNarrow = Columns.rows(commands).split(separator: "\n").contains {
      $0.count > display.width
    }
    let rows = isNarrow ? commands.map { [$0[0]] } : commands
    return title.map { $0 + "\n" }.joined() + Columns.rows(rows)
  }
}
