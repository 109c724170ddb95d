internal import Experiments
internal import LessonBook
internal import Mechanisms
internal import Rendering

/// What a newcomer sees first.
package enum Banner {
  package static func text(_ display: Display) -> String {
    let separator = display.ascii ? " - " : " · "
    let title = [
      "concurrency lab", "how many at once?", "\(Catalogue.mechanisms.count) mechanisms",
    ].joined(separator: separator)
    let commands = [
      ["  run 12 limiter limit=3 work=100ms", "twelve tasks through a gate of three"],
      ["  explain limiter", "what it is and what it promises"],
      ["  lesson 1", "the course"],
      ["  help", "everything else"],
    ]
    return title + "\n" + Columns.rows(commands)
  }
}
