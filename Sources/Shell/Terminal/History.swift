/// What is remembered of the lines typed, decided apart from where it is kept.
struct History {
  private(set) var last: String?

  /// Whether `line` is to be remembered: not when it is empty, not when it begins with a space (the
  /// usual way of saying so), and not when it repeats the one before.
  mutating func remembers(_ line: String) -> Bool {
    guard let first = line.unicodeScalars.first, first != " ", line != last,
      !line.allSatisfy(\.isWhitespace)
    else { return false }
    last = line
    return true
  }
}
