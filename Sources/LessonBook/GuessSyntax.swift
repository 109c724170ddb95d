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

  /// A guess as values are written: `1 sec` as `1s`, and where something is counted `about seven tasks` as
  /// `7`.
  static func plain(_ guess: String, of form: Prediction.Form) -> String {
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
    let unit = String(text.dropFirst(number.count)).trimmed
    guard !number.isEmpty, !unit.isEmpty else { return text }
    if let known = units[unit] { return number + known }
    let isWord = unit.allSatisfy { $0.isLetter || $0 == " " }
    return form == .count && isWord && !units.values.contains(unit) ? String(number) : text
  }

  /// Whether somebody who writes this means a value of some form, and no command.
  static func isValue(_ guess: String) -> Bool {
    plain(guess, of: .count).drop { "+-.,".contains($0) }.first?.isNumber ?? false
  }
}
