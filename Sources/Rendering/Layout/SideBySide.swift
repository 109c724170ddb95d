/// Two files beside each other, line by line; where there is no room for that, one below the other.
package enum SideBySide {
  package typealias File = (title: String, lines: [String])

  private enum Row {
    case same(String)
    case left(String)
    case right(String)
  }

  package static func text(_ one: File, _ other: File, _ format: TextFormat) -> String {
    let rows = rows(one.lines, other.lines)
    let room = (format.width - 3) / 2
    let longest = (one.lines + other.lines).map(\.count).max() ?? 0
    guard longest <= room else {
      let lines = rows.map { row in
        switch row {
        case .same(let line): "  \(line)"
        case .left(let line): "- \(line)"
        case .right(let line): "+ \(line)"
        }
      }
      return "- \(one.title)\n+ \(other.title)\n\n" + lines.map { $0 + "\n" }.joined()
    }
    let bar = format.glyphs.isASCII ? " | " : " │ "
    var text = Columns.left(one.title, room) + bar + other.title + "\n"
    for (left, right) in paired(rows) {
      let line = Columns.left(left ?? "", room) + (left == right ? "   " : bar) + (right ?? "")
      text += String(line.reversed().drop { $0 == " " }.reversed()) + "\n"
    }
    return text
  }

  /// What only one has stands beside what only the other has, as long as both last.
  private static func paired(_ rows: [Row]) -> [(String?, String?)] {
    var result: [(String?, String?)] = []
    var (left, right): ([String], [String]) = ([], [])
    func flush() {
      for index in 0..<max(left.count, right.count) {
        result.append(
          (
            left.indices.contains(index) ? left[index] : nil,
            right.indices.contains(index) ? right[index] : nil
          )
        )
      }
      (left, right) = ([], [])
    }
    for row in rows {
      switch row {
      case .left(let line): left.append(line)
      case .right(let line): right.append(line)
      case .same(let line):
        flush()
        result.append((line, line))
      }
    }
    flush()
    return result
  }

  /// The lines of both in one order, those that both have once.
  private static func rows(_ one: [String], _ other: [String]) -> [Row] {
    let difference = other.difference(from: one)
    var removed: Set<Int> = []
    var inserted: Set<Int> = []
    for change in difference {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): inserted.insert(offset)
      }
    }
    var rows: [Row] = []
    var (left, right) = (0, 0)
    while left < one.count || right < other.count {
      if left < one.count, removed.contains(left) {
        rows.append(.left(one[left]))
        left += 1
      } else if right < other.count, inserted.contains(right) {
        rows.append(.right(other[right]))
        right += 1
      } else {
        rows.append(.same(one[left]))
        (left, right) = (left + 1, right + 1)
      }
    }
    return rows
  }
}
