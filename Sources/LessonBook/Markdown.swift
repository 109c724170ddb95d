// The Markdown that lessons are written in.
//
// Not all of Markdown: headings, paragraphs, lists, tables, fenced code, folds
// (`<details><summary>…`), and comments of the form `<!-- key: value -->`, which a code host does
// not show and which tell the lab what it needs to know. Anything else is a paragraph.

/// A piece of a Markdown file and the line it starts on.
package struct MarkdownBlock: Hashable, Sendable {
  package indirect enum Content: Hashable, Sendable {
    case heading(level: Int, String)
    case paragraph(String)
    /// The items, each with its line, and whether they are numbered.
    case list([Item], numbered: Bool)
    /// Lines that stand as they are.
    case table([String])
    case fence(info: String, [String])
    case fold(summary: String, [MarkdownBlock])
    case directive(key: String, value: String)
  }

  package struct Item: Hashable, Sendable {
    package let text: String
    package let line: Int
  }

  package let content: Content
  /// From 1.
  package let line: Int

  package init(_ content: Content, line: Int) {
    self.content = content
    self.line = line
  }
}

/// Something wrong with a lesson: where, what, and what to do.
package struct LessonProblem: Error, Hashable, Sendable, CustomStringConvertible {
  package let file: String
  package let line: Int
  /// What is wrong and what would be right.
  package let message: String

  package init(file: String, line: Int, _ message: String) {
    self.file = file
    self.line = line
    self.message = message
  }

  package var description: String { "\(file):\(line): \(message)" }
}

/// Cuts Markdown into blocks.
package struct MarkdownParser {
  private let file: String
  private let lines: [String]
  private var index = 0
  package private(set) var problems: [LessonProblem] = []

  package init(_ text: String, file: String) {
    self.file = file
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.last == "\r" ? String(line.dropLast()) : String(line)
    }
  }

  package mutating func parse() -> [MarkdownBlock] { blocks(until: nil) }

  /// Blocks up to the line that begins with `end`, which is taken too.
  private mutating func blocks(until end: String?) -> [MarkdownBlock] {
    let opening = index
    var blocks: [MarkdownBlock] = []
    while index < lines.count {
      let line = lines[index].trimmed
      if let end, line.hasPrefix(end) {
        index += 1
        return blocks
      }
      if line.isEmpty {
        index += 1
      } else {
        let start = index + 1
        blocks.append(MarkdownBlock(block(startingWith: line), line: start))
      }
    }
    if let end { complain(at: opening, "this fold is never closed; add a line '\(end)'") }
    return blocks
  }

  private mutating func complain(at index: Int, _ message: String) {
    problems.append(LessonProblem(file: file, line: index + 1, message))
  }

  private mutating func block(startingWith line: String) -> MarkdownBlock.Content {
    if line.hasPrefix("```") { return fence(line) }
    if line.hasPrefix("<!--") { return directive() }
    if line.hasPrefix("<details>") { return fold(line) }
    let level = line.prefix { $0 == "#" }.count
    if level > 0, line.dropFirst(level).first == " " {
      index += 1
      return .heading(level: level, String(line.dropFirst(level)).trimmed)
    }
    if line.hasPrefix("|") { return .table(takeLines { $0.hasPrefix("|") }) }
    if Self.itemText(line) != nil { return list() }
    let paragraph = takeLines { !$0.isEmpty && !Self.startsBlock($0) }
    return .paragraph(paragraph.joined(separator: " "))
  }

  private mutating func takeLines(_ belongs: (String) -> Bool) -> [String] {
    // The first line belongs by being there: a lone `#` is a paragraph like any other.
    var taken: [String] = []
    while index < lines.count {
      let line = lines[index].trimmed
      guard taken.isEmpty || belongs(line) else { break }
      taken.append(line)
      index += 1
    }
    return taken
  }

  private static func startsBlock(_ line: String) -> Bool {
    line.hasPrefix("```") || line.hasPrefix("<!--") || line.hasPrefix("<details>")
      || line.hasPrefix("</details>") || line.hasPrefix("# ") || line.hasPrefix("##")
      || line.hasPrefix("|") || itemText(line) != nil
  }

  /// What follows `- ` or `1. `; nil for a line that is not an item.
  private static func itemText(_ line: String) -> (text: String, numbered: Bool)? {
    if line.hasPrefix("- ") { return (String(line.dropFirst(2)).trimmed, false) }
    let digits = line.prefix { $0.isASCII && $0.isNumber }
    guard !digits.isEmpty, digits.count < 3, line.dropFirst(digits.count).hasPrefix(". ") else {
      return nil
    }
    return (String(line.dropFirst(digits.count + 2)).trimmed, true)
  }

  private mutating func list() -> MarkdownBlock.Content {
    var items: [MarkdownBlock.Item] = []
    var numbered = false
    while index < lines.count {
      let line = lines[index].trimmed
      if let item = Self.itemText(line) {
        items.append(MarkdownBlock.Item(text: item.text, line: index + 1))
        numbered = item.numbered
      } else if let last = items.last, !line.isEmpty, !Self.startsBlock(line) {
        items[items.count - 1] = MarkdownBlock.Item(text: last.text + " " + line, line: last.line)
      } else {
        break
      }
      index += 1
    }
    return .list(items, numbered: numbered)
  }

  private mutating func fence(_ opening: String) -> MarkdownBlock.Content {
    let start = index
    let info = String(opening.drop { $0 == "`" }).trimmed
    let indent = lines[index].prefix { $0 == " " }.count
    var body: [String] = []
    index += 1
    while index < lines.count, lines[index].trimmed != "```" {
      body.append(String(lines[index].dropFirst(min(indent, lines[index].leadingSpaces))))
      index += 1
    }
    if index == lines.count { complain(at: start, "this block is never closed; add a line '```'") }
    index = min(index + 1, lines.count)
    return .fence(info: info, body)
  }

  private mutating func directive() -> MarkdownBlock.Content {
    let start = index
    var text = ""
    while index < lines.count {
      let line = lines[index].trimmed
      text += (text.isEmpty ? "" : "\n") + line
      index += 1
      if line.hasSuffix("-->") { break }
    }
    guard text.hasSuffix("-->"), text.count >= 7 else {
      complain(at: start, "this comment is never closed; end it with '-->'")
      return .directive(key: "", value: "")
    }
    let body = String(text.dropFirst(4).dropLast(3)).trimmed
    guard let colon = body.firstIndex(of: ":") else { return .directive(key: "", value: body) }
    return .directive(
      key: String(body[..<colon]).trimmed,
      value: String(body[body.index(after: colon)...]).trimmed
    )
  }

  private mutating func fold(_ opening: String) -> MarkdownBlock.Content {
    let start = index
    guard let from = opening.firstRange(of: "<summary>"),
      let to = opening.firstRange(of: "</summary>"), from.upperBound <= to.lowerBound
    else {
      complain(at: start, "a fold starts with <details><summary>its title</summary>")
      index += 1
      return .paragraph(opening)
    }
    let summary = String(opening[from.upperBound..<to.lowerBound]).trimmed
    let rest = String(opening[to.upperBound...])
    if let end = rest.firstRange(of: "</details>") {
      index += 1
      let text = String(rest[..<end.lowerBound]).trimmed
      return .fold(
        summary: summary,
        text.isEmpty ? [] : [MarkdownBlock(.paragraph(text), line: start + 1)]
      )
    }
    index += 1
    var inner = blocks(until: "</details>")
    if !rest.trimmed.isEmpty {
      inner.insert(MarkdownBlock(.paragraph(rest.trimmed), line: start + 1), at: 0)
    }
    return .fold(summary: summary, inner)
  }
}

extension String {
  var leadingSpaces: Int { prefix { $0 == " " }.count }
}
