/// What a learner's code has printed: how many lines, and the last few of them.
struct PrintedLines: Hashable, Sendable {
  private(set) var count = 0
  private(set) var last: [Substring] = []

  /// So many are shown, and so much of each.
  private static let (mostLines, mostCharacters) = (12, 200)

  mutating func add(_ line: Substring) {
    count += 1
    last.append(line.prefix(Self.mostCharacters))
    // Not one by one: of an array it is all that moves.
    if last.count >= 2 * Self.mostLines { last.removeFirst(last.count - Self.mostLines) }
  }

  /// Some lines to show before what was refused; nothing if nothing was printed.
  var text: String? {
    guard count > 0 else { return nil }
    let shown = last.suffix(Self.mostLines)
    let which = count > shown.count ? " (the last \(shown.count) of \(count) lines)" : ""
    return "Your code printed, when what has the ✗ below was asked\(which):\n"
      + shown.map { "  | \($0)\n" }.joined()
  }
}
