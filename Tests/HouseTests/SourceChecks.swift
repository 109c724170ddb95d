// Rules about lines that the compiler and the formatter cannot hold.

enum SourceChecks {
  /// Ways round the compiler's checks without a proof beside them.
  ///
  /// A proof is a comment directly above the line, or above the declaration the line is part of, or
  /// directly below it as the first thing in its braces, that says what makes it safe.
  static func unprovenEscapes(in file: SourceFile) -> [Finding] {
    // Most files have none: one look at the whole text says so.
    guard escapes.contains(where: file.text.holds) else { return [] }
    return file.lines.indices.compactMap { index in
      guard let escape = escape(in: file.lines[index]) else { return nil }
      let comment = commentAbove(index, in: file.lines) + commentBelow(index, in: file.lines)
      guard !proves(comment) else { return nil }
      return Finding(
        path: file.path,
        line: index + 1,
        message:
          "\(escape) without a proof; say in a comment directly above (or first in the braces) "
          + "what makes it safe: which lock, which order, why only once"
      )
    }
  }

  /// Notes of work not done.
  static func leftovers(in file: SourceFile) -> [Finding] {
    guard marks.contains(where: file.text.holds) else { return [] }
    return file.lines.indices.compactMap { index in
      let words = file.lines[index].split { !$0.isLetter }
      guard let mark = words.first(where: { marks.contains(String($0)) }) else { return nil }
      return Finding(
        path: file.path,
        line: index + 1,
        message: "\(mark) marks work that was not done; do it or file it"
      )
    }
  }

  // In pieces, so that this file passes its own check.
  private static let marks: Set = ["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"]

  private static let escapes = [
    "@unchecked Sendable", "nonisolated(unsafe)", "withUnsafeContinuation",
    "withUnsafeThrowingContinuation",
  ]

  private static func escape(in line: String) -> String? {
    isComment(line) ? nil : escapes.first { line.holds($0) }
  }

  /// What a proof talks of; a comment that speaks of none of these is about something else.
  private static func proves(_ comment: String) -> Bool {
    let comment = comment.lowercased()
    return ["safe", "lock", "once", "only", "never", "valid"].contains { comment.contains($0) }
  }

  private static func commentAbove(_ index: Int, in lines: [String]) -> String {
    var above = index - 1
    // A declaration may begin a few lines earlier: its attributes, its name, its supertypes.
    while above >= 0, index - above <= 4, !isComment(lines[above]), !endsCode(lines[above]) {
      above -= 1
    }
    var comment: [String] = []
    while above >= 0, isComment(lines[above]) {
      comment.append(lines[above])
      above -= 1
    }
    return comment.joined(separator: "\n")
  }

  private static func commentBelow(_ index: Int, in lines: [String]) -> String {
    lines[(index + 1)...].prefix(while: isComment).joined(separator: "\n")
  }

  private static func isComment(_ line: String) -> Bool {
    line.trimmingPrefix { $0 == " " }.hasPrefix("//")
  }

  /// Whether the line closes what came before, so that a comment above it is about something else.
  private static func endsCode(_ line: String) -> Bool {
    let code = line.trimmingPrefix { $0 == " " }
    return code.isEmpty || code.hasPrefix("}")
  }
}
