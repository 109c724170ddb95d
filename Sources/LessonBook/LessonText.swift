/// Lays a lesson's passages out for a screen.
package struct LessonText: Sendable {
  package var width: Int
  package var ascii: Bool
  package var colour: Bool

  package init(width: Int, ascii: Bool = false, colour: Bool = false) {
    self.width = width
    self.ascii = ascii
    self.colour = colour
  }

  /// - Returns: Whole lines, or nothing.
  package func text(_ passages: [Passage]) -> String {
    passages.map(text).filter { !$0.isEmpty }.joined(separator: "")
  }

  private func text(_ passage: Passage) -> String {
    switch passage {
    case .title(let title):
      return "\n" + painted(wrapped(plain(title)), .bold) + "\n"
    case .text(let blocks):
      return blocks.map { text($0).map { "\n\($0)\n" } ?? "" }.joined()
    case .question(let question, let form):
      return "\n" + painted(wrapped(plain(question)), .bold)
        + "\n" + wrapped("Your guess: \(form), or Enter to skip.") + "\n"
    case .met(let sentence):
      return painted(wrapped(plain(sentence), first: ascii ? "ok  " : "✓ "), .green) + "\n"
    case .missed(let sentence, let reason):
      return painted(wrapped(plain(sentence), first: ascii ? "no  " : "✗ "), .red) + "\n"
        + (reason.isEmpty ? "" : wrapped(reason, first: "    ") + "\n")
    case .comparison(let sentence, let isRight):
      let mark = ascii ? (isRight ? "ok  " : "--  ") : (isRight ? "✓ " : "≠ ")
      return wrapped(sentence, first: mark) + "\n"
    case .words(let words):
      return "\n"
        + wrapped(
          "Words: \(words.joined(separator: ", ")). 'word \(words[0])' tells.",
          rest: "  "
        ) + "\n"
    case .advice(let sentence):
      return "\n" + wrapped(sentence) + "\n"
    case .file(let what, let path):
      // To be copied: where it does not fit it has a line of its own, and is never broken.
      let isShort = what.count + 1 + path.count <= width
      return "\n" + (isShort ? "\(what) \(path)" : "\(wrapped(what))\n\(path)") + "\n"
    }
  }

  private func text(_ block: LessonBlock) -> String? {
    switch block.content {
    case .text(let content):
      return text(content)
    case .transcript(let transcript):
      // What it printed is on the page; the learner is to see their own.
      return code(transcript.exchanges.map(\.command))
    case .commands(let commands):
      return code(commands.commands)
    case .quotation(let file, let lines):
      return wrapped("From \(file):") + "\n\n" + code(lines)
    case .code(_, let lines):
      return code(lines)
    case .figure, .picture, .claim:
      return nil
    }
  }

  private func text(_ content: MarkdownBlock.Content) -> String? {
    switch content {
    case .heading(_, let title):
      return painted(wrapped(plain(title)), .bold)
    case .paragraph(let text):
      return wrapped(plain(text))
    case .list(let items, let numbered):
      return items.enumerated().map { place, item in
        wrapped(plain(item.text), first: numbered ? "\(place + 1). " : (ascii ? "- " : "• "))
      }
      .joined(separator: "\n")
    case .table(let rows):
      return table(rows)
    case .fence(_, let lines):
      return code(lines)
    case .fold(let summary, let blocks):
      let inner = blocks.compactMap { text($0.content) }
      return ([painted(wrapped(plain(summary)), .bold)] + inner).joined(separator: "\n\n")
    case .directive:
      return nil
    }
  }

  /// Code as it stands; what does not fit goes on below, further in, and a comment as a comment.
  private func code(_ lines: [String]) -> String {
    lines.map { line in
      let indent = String(repeating: " ", count: line.leadingSpaces + 4)
      guard !line.isEmpty, line.count + 4 > width else { return line.isEmpty ? "" : "    " + line }
      guard let sign = ["/// ", "// "].first(where: { line.contains($0) }),
        let comment = line.firstRange(of: sign)
      else { return wrapped(line.trimmed, first: indent, rest: indent + "    ") }
      let text = wrapped(
        String(line[comment.upperBound...]),
        first: indent + sign,
        rest: indent + sign
      )
      let before = String(line[..<comment.lowerBound]).trimmed
      return before.isEmpty
        ? text : text + "\n" + wrapped(before, first: indent, rest: indent + "    ")
    }.joined(separator: "\n")
  }

  /// Columns as wide as their widest cell, where that fits; otherwise a line for each cell.
  private func table(_ rows: [String]) -> String {
    let cells = rows.filter { !$0.allSatisfy { "|-: ".contains($0) } }.map { row in
      row.split(separator: "|").map { plain(String($0).trimmed) }
    }
    let columns = cells.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in
      cells.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
    }
    guard widths.reduce(0, +) + 2 * columns <= width else {
      return cells.map { $0.map { wrapped($0) }.joined(separator: "\n") }.joined(separator: "\n\n")
    }
    return cells.map { row in
      row.enumerated().map { column, cell in
        cell + String(repeating: " ", count: widths[column] - cell.count)
      }
      .joined(separator: "  ").trimmedEnd
    }
    .joined(separator: "\n")
  }

  /// Without the signs that only a renderer of Markdown would need; code keeps all of its own.
  func plain(_ text: String) -> String {
    var result = ""
    var rest = text[...]
    while let character = rest.first {
      if character == "`", let end = rest.dropFirst().firstIndex(of: "`") {
        result += rest[...end]
        rest = rest[end...].dropFirst()
      } else if character == "*", let (inner, after) = Self.emphasis(rest) {
        result += plain(String(inner))
        rest = after
      } else if character == "[", let (label, target, after) = Self.link(rest) {
        result += Self.address(of: target, called: label) ?? String(label)
        rest = after
      } else {
        result.append(character)
        rest = rest.dropFirst()
      }
    }
    return ascii ? Self.transliterated(result) : result
  }

  /// What is emphasised at the start of `text` by one asterisk or two, and what follows it.
  private static func emphasis(_ text: Substring) -> (inner: Substring, rest: Substring)? {
    let sign = text.hasPrefix("**") ? "**" : "*"
    let body = text.dropFirst(sign.count)
    guard let end = body.firstRange(of: sign), let first = body.first, !first.isWhitespace,
      !body[..<end.lowerBound].isEmpty, body[body.index(before: end.lowerBound)] != " "
    else { return nil }
    return (body[..<end.lowerBound], body[end.upperBound...])
  }

  /// The label of a link at the start of `text`, where it leads, and what follows the link.
  private static func link(
    _ text: Substring
  ) -> (label: Substring, target: Substring, rest: Substring)? {
    guard let middle = text.firstRange(of: "]("),
      let end = text[middle.upperBound...].firstIndex(of: ")")
    else { return nil }
    let label = text[..<middle.lowerBound].dropFirst()
    if label.contains("[") { return nil }
    return (label, text[middle.upperBound..<end], text[text.index(after: end)...])
  }

  /// A link with its address, which a terminal does not open; a file's from the package's folder.
  ///
  /// - Returns: nil where the label says enough: in the lab one comes to a lesson by its number, and to a word by 'word'.
  private static func address(of target: Substring, called label: Substring) -> String? {
    if target.contains("://") { return "\(label) (\(target))" }
    if target.first?.isNumber ?? true || target.hasPrefix("#") || target.hasPrefix("GLOSSARY") {
      return nil
    }
    let path = target.hasPrefix("../") ? String(target.dropFirst(3)) : "Lessons/\(target)"
    return path.hasSuffix("/\(label)") ? path : "\(label) (\(path))"
  }

  private static func transliterated(_ text: String) -> String {
    let signs: [Character: String] = [
      "…": "...", "–": "-", "—": "-", "×": "x", "≤": "<=", "≥": ">=", "≠": "!=", "→": "->",
      "’": "'", "“": "\"", "”": "\"", "·": ".", "µ": "u", "λ": "lambda", "ρ": "rho",
    ]
    return text.map { signs[$0] ?? ($0.isASCII ? String($0) : "?") }.joined()
  }

  /// Breaks text at spaces so that lines fit; later lines begin with `rest`, or are indented as far as
  /// `first` is long.
  func wrapped(_ text: String, first: String = "", rest: String? = nil) -> String {
    let rest = rest ?? String(repeating: " ", count: first.count)
    var lines: [String] = []
    var begin = first
    var left = text[...]
    while true {
      let room = max(12, width - begin.count)
      guard left.count > room,
        let end = left.prefix(room + 1).lastIndex(of: " ") ?? left.firstIndex(of: " ")
      else { break }
      lines.append((begin + left[..<end]).trimmedEnd)
      left = left[end...].drop { $0 == " " }
      begin = rest
    }
    return (lines + [begin + left]).joined(separator: "\n")
  }

  private enum Paint: String {
    case bold = "1"
    case green = "32"
    case red = "31"
  }

  private func painted(_ text: String, _ paint: Paint) -> String {
    colour ? "\u{1B}[\(paint.rawValue)m\(text)\u{1B}[0m" : text
  }
}

extension String {
  fileprivate var trimmedEnd: String {
    var rest = self[...]
    while rest.last == " " { rest = rest.dropLast() }
    return String(rest)
  }
}
