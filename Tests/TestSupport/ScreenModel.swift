/// What a person sees: the screen of a terminal that was sent some bytes.
///
/// Knows the part of the xterm language that line editors and live views use. What it does not know
/// it passes over, as terminals do.
package struct ScreenModel: Sendable {
  package private(set) var columns: Int
  package private(set) var rows: Int
  package private(set) var cursor = (row: 0, column: 0)
  package private(set) var cursorIsVisible = true
  /// Lines that have scrolled off the top, oldest first.
  package private(set) var scrolledOff: [String] = []
  private var cells: [[Character]]
  /// What the screen shows again when a program leaves the other one.
  private var main: (cells: [[Character]], cursor: (row: Int, column: Int))?
  package var isOther: Bool { main != nil }
  private var insertMode = false
  private var undecoded: [UInt8] = []
  private var sequence: String?

  package init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
    cells = Array(repeating: [], count: rows)
  }

  /// The rows without trailing blanks; empty rows at the bottom are left out.
  package var lines: [String] {
    var result = cells.map { Self.text(of: $0) }
    while result.last == "" { result.removeLast() }
    return result
  }

  /// All there is to see, rows scrolled off included.
  package var text: String { (scrolledOff + lines).joined(separator: "\n") }

  /// The row the cursor is in, without trailing blanks.
  package var currentLine: String { Self.text(of: cells[cursor.row]) }

  private static func text(of row: [Character]) -> String {
    var row = row[...]
    while row.last == " " { row = row.dropLast() }
    // The second cell of a wide character holds nothing.
    return String(row.filter { $0 != "\0" })
  }

  /// Keeps what is there.
  ///
  /// The plainest terminals do not reflow; most wrap anew the rows that are longer than the window now.
  package mutating func resize(columns: Int, rows: Int, reflows: Bool = false) {
    self.columns = columns
    if reflows { wrapAnew() }
    while cells.count > rows, cursor.row < cells.count - 1, cells.last == [] { cells.removeLast() }
    while cells.count > rows, cursor.row > 0 {
      scrolledOff.append(Self.text(of: cells.removeFirst()))
      cursor.row -= 1
    }
    while cells.count < rows { cells.append([]) }
    self.rows = rows
    cursor.column = min(cursor.column, columns - 1)
  }

  private mutating func wrapAnew() {
    for index in cells.indices.reversed() {
      while let last = cells[index].last, last == " " { cells[index].removeLast() }
      var pieces: [[Character]] = []
      while cells[index].count > columns {
        pieces.append(Array(cells[index].prefix(columns)))
        cells[index].removeFirst(columns)
      }
      cells.insert(contentsOf: pieces, at: index)
      if index < cursor.row { cursor.row += pieces.count }
    }
  }

  package mutating func feed(_ bytes: some Sequence<UInt8>) {
    undecoded += bytes
    // Hold back a character of which not all bytes are there.
    var complete = undecoded.count
    for back in 1...4 where back <= undecoded.count {
      let byte = undecoded[undecoded.count - back]
      guard byte & 0xC0 != 0x80 else { continue }
      let length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
      if length > back { complete = undecoded.count - back }
      break
    }
    let text = String(decoding: undecoded[..<complete], as: UTF8.self)
    undecoded.removeFirst(complete)
    for scalar in text.unicodeScalars { feed(scalar) }
  }

  private mutating func feed(_ scalar: Unicode.Scalar) {
    if var pending = sequence {
      pending.unicodeScalars.append(scalar)
      sequence = pending
      if pending.hasPrefix("["), pending.count > 1 {
        guard (0x40...0x7E).contains(scalar.value) else { return }
        sequence = nil
        control(pending.dropFirst())
      } else if !pending.hasPrefix("[") {
        sequence = nil
      }
      return
    }
    switch scalar {
    case "\u{1B}": sequence = ""
    case "\r": cursor.column = 0
    case "\n": lineFeed()
    case "\u{8}": cursor.column = max(min(cursor.column, columns - 1) - 1, 0)
    case "\t": cursor.column = min((cursor.column / 8 + 1) * 8, columns - 1)
    case _ where scalar.value < 0x20: break
    default: put(Character(scalar))
    }
  }

  private mutating func put(_ character: Character) {
    let wide = character.unicodeScalars.contains {
      (0x1100...0x115F).contains($0.value) || (0x2E80...0xFF60).contains($0.value)
        || $0.value >= 0x1F300
    }
    let width = wide ? 2 : 1
    // A full row wraps only when one more character comes.
    if cursor.column + width > columns {
      cursor.column = 0
      lineFeed()
    }
    fill(cursor.row, to: cursor.column + (insertMode ? 0 : width))
    let new = [character] + (wide ? ["\0"] : [])
    if insertMode {
      cells[cursor.row].insert(contentsOf: new, at: cursor.column)
      cells[cursor.row] = Array(cells[cursor.row].prefix(columns))
    } else {
      cells[cursor.row].replaceSubrange(cursor.column..<(cursor.column + width), with: new)
    }
    cursor.column += width
  }

  private mutating func fill(_ row: Int, to count: Int) {
    while cells[row].count < count { cells[row].append(" ") }
  }

  private mutating func lineFeed() {
    cursor.row += 1
    guard cursor.row >= rows else { return }
    cursor.row = rows - 1
    scrolledOff.append(Self.text(of: cells.removeFirst()))
    cells.append([])
  }

  private mutating func control(_ sequence: Substring) {
    guard let letter = sequence.last else { return }
    let parameters = sequence.dropLast()
    if parameters.hasPrefix("?") {
      if parameters == "?25" { cursorIsVisible = letter == "h" }
      if parameters == "?1049" { letter == "h" ? enterOther() : leaveOther() }
      return
    }
    let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false)
      .map { Int($0) ?? 0 }
    let first = numbers.first ?? 0
    let count = max(first, 1)
    let column = min(cursor.column, columns - 1)
    switch letter {
    case "A": cursor.row = max(cursor.row - count, 0)
    case "B": cursor.row = min(cursor.row + count, rows - 1)
    case "C": cursor.column = min(column + count, columns - 1)
    case "D": cursor.column = max(column - count, 0)
    case "G": cursor.column = min(count, columns) - 1
    case "H", "f":
      cursor.row = min(count, rows) - 1
      cursor.column = min(max(numbers.count > 1 ? numbers[1] : 1, 1), columns) - 1
    case "J": eraseInScreen(first)
    case "K": eraseInLine(first)
    case "P":
      let end = min(column + count, cells[cursor.row].count)
      if column < end { cells[cursor.row].removeSubrange(column..<end) }
    case "@":
      fill(cursor.row, to: column)
      cells[cursor.row].insert(contentsOf: repeatElement(" ", count: count), at: column)
      cells[cursor.row] = Array(cells[cursor.row].prefix(columns))
    case "h" where first == 4: insertMode = true
    case "l" where first == 4: insertMode = false
    default: break
    }
  }

  private mutating func enterOther() {
    guard main == nil else { return }
    main = (cells, cursor)
    cells = Array(repeating: [], count: rows)
  }

  private mutating func leaveOther() {
    guard let saved = main else { return }
    main = nil
    (cells, cursor) = saved
    resize(columns: columns, rows: rows)
  }

  private mutating func eraseInLine(_ part: Int) {
    let column = min(cursor.column, columns - 1)
    switch part {
    case 0: cells[cursor.row] = Array(cells[cursor.row].prefix(column))
    case 1:
      fill(cursor.row, to: column + 1)
      for index in 0...column { cells[cursor.row][index] = " " }
    default: cells[cursor.row] = []
    }
  }

  private mutating func eraseInScreen(_ part: Int) {
    eraseInLine(part)
    let others = part == 0 ? cursor.row + 1..<rows : part == 1 ? 0..<cursor.row : 0..<rows
    for row in others { cells[row] = [] }
  }
}
