/// The words of a course, each with what it means.
package struct Glossary: Hashable, Sendable {
  package struct Entry: Hashable, Sendable {
    /// "Closed loop, open loop": as the heading has it.
    package let title: String
    /// What it means, as written.
    package let blocks: [LessonBlock]

    /// Every way to say it, in small letters.
    fileprivate var names: [String] {
      [title.lowercased()]
        + title.lowercased().components(around: ", ").flatMap { $0.components(around: " and ") }
    }
  }

  package let entries: [Entry]

  /// Reads a `GLOSSARY.md`: a heading `## Word` and what stands below it.
  package init(_ text: String = "") {
    var parser = MarkdownParser(text, file: "GLOSSARY.md")
    var entries: [Entry] = []
    for block in parser.parse() {
      if case .heading(2, let title) = block.content {
        entries.append(Entry(title: title, blocks: []))
      } else if let last = entries.popLast() {
        let more = LessonBlock(.text(block.content), line: block.line)
        entries.append(Entry(title: last.title, blocks: last.blocks + [more]))
      }
    }
    self.entries = entries
  }

  /// The entry of a word, or the only one that begins so.
  package func entry(_ word: String) -> Entry? {
    let word = word.trimmed.lowercased()
    let one = word.hasSuffix("s") ? String(word.dropLast()) : word
    if let entry = entries.first(where: { $0.names.contains(word) || $0.names.contains(one) }) {
      return entry
    }
    let begun = entries.filter { $0.names.contains { $0.hasPrefix(word) } }
    return begun.count == 1 && !word.isEmpty ? begun[0] : nil
  }

  /// What has a word of the glossary in it and means something else.
  private static let otherSenses = [
    "task group", "task groups", "processor's cache", "operations on", "operation on",
  ]

  /// The entries whose word occurs in a text, in the order of the glossary.
  ///
  /// A call's name, as in `signal()`, is not the word.
  package func entries(in text: String) -> [Entry] {
    var text = text.replacing(/\w+\(\)/, with: "").lowercased()
    text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    for other in Self.otherSenses { text = text.replacing(other, with: "") }
    text = " " + String(text.map { $0.isLetter || $0.isNumber || $0 == "-" ? $0 : " " }) + " "
    return entries.filter { entry in
      entry.names.contains { text.contains(" \($0) ") || text.contains(" \($0)s ") }
    }
  }
}

extension Course {
  /// The words of the course; none where the folder has no glossary.
  package var glossary: Glossary { Glossary(Self.text(of: folder + "/GLOSSARY.md") ?? "") }
}
