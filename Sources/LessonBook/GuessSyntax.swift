/// How people write the answers to a lesson's questions.
enum GuessSyntax {
  /// What says that a number is not meant exactly: no guess is.
  private static let vague = ["about ", "around ", "roughly ", "maybe ", "~", "≈"]

  private static let numbers = [
    "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
  ]

  private static let units = [
    "nsec": "ns", "nanosecond": "ns", "nanoseconds": "ns",
    "usec": "us", "microsecond": "us", "microseconds": "us",
    "msec": "ms", "msecs": "ms", "millisecond": "ms", "milliseconds": "ms",
    "sec": "s", "secs": "s", "second": "s", "seconds": "s",
    "min": "m", "mins": "m", "minute": "m", "minutes": "m",
    "percent": "%", "per cent": "%",
    "/sec": "/s", "/second": "/s", "per s": "/s", "per sec": "/s", "per second": "/s",
    "a second": "/s",
  ]

  /// What is counted in lessons, and what people write around it; beside the words of the question.
  private static let counted: Set = [
    "task", "thread", "permit", "worker", "operation", "step", "schedule", "request", "connection",
    "image", "time", "at", "once", "of", "them", "in", "all", "the", "or", "so", "only", "exactly",
    "more", "than", "not",
  ]

  /// A guess as values are written: `1 sec` as `1s`, and where something is counted `about seven tasks` as
  /// `7`.
  static func plain(
    _ guess: String,
    of form: Prediction.Form,
    asking question: String = ""
  ) -> String {
    let (text, number, unit) = parts(of: guess)
    guard !number.isEmpty, !unit.isEmpty else { return text }
    if let known = units[unit] { return number + known }
    guard form == .count, isWords(unit) else { return text }
    return strangeWord(in: unit, asking: question) == nil ? number : text
  }

  /// The word behind a number in which nothing is counted where this is asked, as in `3 ducks`, and the number.
  static func strangeWord(
    behindNumberIn guess: String,
    asking question: String
  ) -> (word: String, number: String)? {
    let (_, number, unit) = parts(of: guess)
    guard !number.isEmpty, units[unit] == nil, isWords(unit) else { return nil }
    return strangeWord(in: unit, asking: question).map { ($0, number) }
  }

  /// Whether what stands behind a number is words rather than a unit.
  private static func isWords(_ unit: String) -> Bool {
    !unit.isEmpty && unit.allSatisfy { $0.isLetter || $0 == " " } && !units.values.contains(unit)
  }

  private static func strangeWord(in unit: String, asking question: String) -> String? {
    func stem(_ word: Substring) -> String {
      word.hasSuffix("s") ? String(word.dropLast()) : String(word)
    }
    let asked = Set(question.lowercased().split { !$0.isLetter }.map(stem))
    let words = unit.split(separator: " ")
    return words.first { !counted.contains(stem($0)) && !asked.contains(stem($0)) }.map {
      String($0)
    }
  }

  /// A guess without what says that it is not meant exactly, its number and what stands behind that.
  private static func parts(of guess: String) -> (text: String, number: String, unit: String) {
    var text = guess.trimmed.lowercased()
    for word in vague where text.hasPrefix(word) {
      text = String(text.dropFirst(word.count)).trimmed
    }
    while let last = text.last, ".!?".contains(last) { text = String(text.dropLast()).trimmed }
    let word = text.prefix { $0.isLetter }
    if let number = numbers.firstIndex(of: String(word)) {
      text = "\(number)" + text.dropFirst(word.count)
    }
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    return (text, String(number), String(text.dropFirst(number.count)).trimmed)
  }

  /// Whether somebody who writes this means a value of some form, and no command.
  static func isValue(_ guess: String) -> Bool {
    let text = plain(guess, of: .count)
    return text.drop { "+-.,".contains($0) }.first?.isNumber ?? false
      || ["yes", "no", "y", "n", "few", "half", "most"].contains(text.lowercased())
  }
}
