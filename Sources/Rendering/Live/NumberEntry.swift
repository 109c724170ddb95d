/// A number that is typed into a live view, a key at a time.
struct NumberEntry {
  enum Reading: Equatable {
    /// It is still being typed.
    case going
    /// It was entered; nil if it is none, or nothing was typed.
    case entered(Int?)
    case left
    /// No number is meant, but a word.
    case word
  }

  private(set) var text = ""

  /// Takes a key; a letter begins a word where that `mayBeWord`.
  mutating func take(_ key: UInt8, mayBeWord: Bool) -> Reading {
    switch Character(UnicodeScalar(key)) {
    case "0"..."9": text = String((text + String(UnicodeScalar(key))).suffix(7))
    case "\u{8}", "\u{7F}": text = String(text.dropLast())
    case "\n", "\r": return .entered(Int(text).flatMap { $0 > 0 ? $0 : nil })
    case "q": return .left
    // The t of t07.
    case "t", "T": break
    case "a"..."z" where text.isEmpty && mayBeWord: return .word
    default: break
    }
    return .going
  }
}
