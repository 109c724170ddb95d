/// Lists in sentences.
package enum ListText {
  /// "a", "a and b", "a, b and c".
  package static func all(_ words: [String], _ conjunction: String = "and") -> String {
    guard words.count > 1, let last = words.last else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " \(conjunction) " + last
  }

  /// The first `shown`, and how many are left out: "a, b and 7 more".
  package static func first(_ shown: Int, of words: [String]) -> String {
    first(shown, of: words) { $0 }
  }

  /// The same of what is put into words only where it is shown.
  private static func first<Item>(
    _ shown: Int,
    of items: [Item],
    _ word: (Item) -> String
  ) -> String {
    let names = items.prefix(shown).map(word).joined(separator: ", ")
    return items.count > shown ? "\(names) and \(items.count - shown) more" : names
  }

  /// All of up to four; of more, the first three and how many are left out.
  package static func some(_ words: [String]) -> String { some(words) { $0 } }

  /// The same of what is put into words only where it is shown.
  package static func some<Item>(_ items: [Item], _ word: (Item) -> String) -> String {
    items.count > 4 ? first(3, of: items, word) : all(items.map(word))
  }
}
