internal import Mechanisms

/// Looks names up, and says what would be right when there is none.
enum Names {
  /// The mechanism of that name, or the only one that begins with it.
  static func mechanism(_ word: Word) throws(ShellError) -> CatalogueEntry {
    if let exact = Catalogue.entry(word.text) { return exact }
    let matches = Catalogue.mechanisms.filter { $0.id.hasPrefix(word.text) }
    if matches.count == 1, !word.text.isEmpty { return matches[0] }
    if matches.count > 1, !word.text.isEmpty {
      let names = Arguments.list(matches.map(\.id), "or")
      throw ShellError("'\(word.text)' could be \(names). Write more of it", at: word)
    }
    let all = Catalogue.mechanisms + Catalogue.specimens
    let question = NearMatch.question(for: word.text, in: all.map(\.id))
    throw ShellError(
      "no mechanism '\(word.text)'.\(question) 'mechanisms' lists all \(numeral(all: Catalogue.mechanisms.count)).",
      at: word
    )
  }

  private static func numeral(all count: Int) -> String {
    let words = [
      "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ]
    return words.indices.contains(count) ? words[count] : String(count)
  }
}
