internal import Basics
internal import Mechanisms

/// Looks names up, and says what would be right when there is none.
enum Names {
  /// What of that name is to be explored: a mechanism, or what a learner has written.
  static func explored(_ word: Word) throws(ShellError) -> CatalogueEntry {
    if word.text == Catalogue.yours, let yours = Catalogue.entry(word.text) { return yours }
    let entry = try mechanism(word)
    guard entry.platform == nil else {
      throw ShellError(
        "\(entry.id) is a model of threads, with no code of its own to explore. Use 'run'",
        at: word
      )
    }
    return entry
  }

  /// The mechanism of that name, or the only one that begins with it.
  static func mechanism(_ word: Word) throws(ShellError) -> CatalogueEntry {
    if word.text == Catalogue.yours {
      throw ShellError(
        "what you write in an exercise is explored, not run: 'explore yours', 'step yours'",
        at: word
      )
    }
    if let exact = Catalogue.entry(word.text) ?? .model(named: word.text) { return exact }
    let matches = Catalogue.mechanisms.filter { $0.id.hasPrefix(word.text) }
    if matches.count == 1, !word.text.isEmpty { return matches[0] }
    if matches.count > 1, !word.text.isEmpty {
      let names = ListText.all(matches.map(\.id), "or")
      throw ShellError("'\(word.text)' could be \(names). Write more of it", at: word)
    }
    let specimens = Catalogue.specimens.map(\.id)
    let near = NearMatch.best(for: word.text, in: Catalogue.mechanisms.map(\.id) + specimens)
    let meant = near ?? specimen(meantBy: word.text, among: specimens)
    let question = meant.map { " Did you mean '\($0)'?" } ?? ""
    let isSpecimen = word.text.hasPrefix("specimen") || meant.map(specimens.contains) == true
    let list =
      isSpecimen
      ? "'mechanisms --specimens' lists all."
      : "'mechanisms' lists all \(Numeral.text(Catalogue.mechanisms.count))."
    throw ShellError("no mechanism '\(word.text)'.\(question) \(list)", at: word)
  }

  /// The specimen of which the first part of the name is missing, or the last.
  private static func specimen(meantBy text: String, among specimens: [String]) -> String? {
    let prefix = "specimen-"
    let begun = specimens.filter { $0.hasPrefix(text) }
    if begun.count == 1, text.hasPrefix(prefix) { return begun[0] }
    let short = specimens.map { String($0.dropFirst(prefix.count)) }
    return NearMatch.best(for: text, in: short).map { prefix + $0 }
  }
}

/// Small whole numbers in words.
enum Numeral {
  static let words = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    "twenty",
  ]

  static func text(_ number: Int) -> String {
    words.indices.contains(number) ? words[number] : String(number)
  }

  /// The sentence to append to an error about a number in words: " Did you mean 12?", or nothing.
  static func question(for text: String) -> String {
    words.firstIndex(of: text.lowercased()).map { " Did you mean \($0)?" } ?? ""
  }
}
