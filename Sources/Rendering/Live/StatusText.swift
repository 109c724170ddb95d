internal import Mechanisms

/// Where the tasks of a run that is under way stand, as text.
package enum StatusText {
  package static func text(
    _ board: LiveBoard,
    now: Int64,
    isSuspended: Bool = false,
    _ format: TextFormat
  ) -> String {
    var groups: [(name: String, tasks: [Int])] = [
      ("running", []), ("blocked", []), ("waiting", []), ("ended", []), ("to come", []),
    ]
    for (index, state) in board.states.enumerated() {
      switch state {
      case .running: groups[0].tasks.append(index + 1)
      case .blocked: groups[1].tasks.append(index + 1)
      case .waiting: groups[2].tasks.append(index + 1)
      case .ended: groups[3].tasks.append(index + 1)
      case .pending: groups[4].tasks.append(index + 1)
      }
    }
    let rows = groups.filter { !$0.tasks.isEmpty }.map { group in
      [
        "  " + group.name, NumberText.grouped(group.tasks.count),
        names(group.tasks, amongst: board.plan.count, width: format.width - 20),
      ]
    }
    let suspended = isSuspended ? ", suspended: 'resume' has it admit again" : ""
    return "at \(DurationText.text(now))\(suspended)\n" + Columns.rows(rows)
  }

  /// The names, neighbours as `t03-t07`, and how many did not fit.
  private static func names(_ numbers: [Int], amongst count: Int, width: Int) -> String {
    var spans: [ClosedRange<Int>] = []
    for number in numbers {
      if let last = spans.last, last.upperBound == number - 1 {
        spans[spans.count - 1] = last.lowerBound...number
      } else {
        spans.append(number...number)
      }
    }
    var text = ""
    for span in spans {
      let low = TaskID(span.lowerBound).label(amongst: count)
      let piece = span.count == 1 ? low : low + "-" + TaskID(span.upperBound).label(amongst: count)
      if !text.isEmpty, text.count + piece.count + 1 > max(12, width) { return text + " ..." }
      text += (text.isEmpty ? "" : " ") + piece
    }
    return text
  }
}
