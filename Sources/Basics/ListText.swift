/// Lists in sentences.
package enum ListText {
  /// "a", "a and b", "a, b and c".
  package static func all(_ words: [String], _ conjunction: String = "and") -> String {
    guard words.count > 1, let last = words.last else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " \(conjunction) " + last
  }

  /// The first `shown`, and how many are left out: "a, b and 7 more".
  package static func first(_ shown: Int, of words: [String]) -> String {
    let names = words.prefix(shown).joined(separator: ", ")
    return words.count > shown ? "\(names) and \(words.count - shown) more" : names
  }

  /// All of up to four; of more, the first three and how many are left out.
  package static func some(_ words: [String]) -> String {
    words.count > 4 ? first(3, of: words) : all(words)
  }
}
