internal import Rendering

/// A word of a command line and where it stands, in characters from the line's start.
package struct Word: Hashable, Sendable {
  package var text: String
  package var range: Range<Int>

  package init(_ text: String, at range: Range<Int>) {
    self.text = text
    self.range = range
  }

  /// Whether it looks like a number, in digits or in words, such as "twelve" or "inf".
  var isNumeral: Bool {
    Numeral.words.contains(text.lowercased()) || Double(text) != nil
      || text.first.map { $0.isNumber || $0 == "-" || $0 == "+" } ?? false
  }

  /// The part before the first `=` and the part after it, each with its place, where there is one
  /// and the part before looks like a key.
  var keyAndValue: (key: Word, value: Word)? {
    guard let sign = text.firstIndex(of: "="), sign != text.startIndex else { return nil }
    let key = String(text[..<sign])
    guard key.allSatisfy({ $0.isASCII && ($0.isLetter || $0 == "_") }) else { return nil }
    let value = String(text[text.index(after: sign)...])
    let middle = range.lowerBound + key.count
    return (
      Word(key, at: range.lowerBound..<middle),
      Word(value, at: min(middle + 1, range.upperBound)..<range.upperBound)
    )
  }
}

/// A command of a line, and the program that is to read what it says, if one is named behind `|`.
package struct Statement: Hashable, Sendable {
  package var words: [Word] = []
  /// As it is written for the system's shell.
  package var reader: Word?
}

/// Cuts a line into commands and words.
///
/// Words are parted by spaces; double quotes keep spaces together and `\"` stands for a quote in
/// them; `;` and line ends part commands; `#` where a word would start begins a comment. Behind `|` stands a
/// command of the system's shell, whose quotes are its own.
package enum Lexer {
  /// The words of the commands of a line; commands without a word are left out.
  package static func commands(in line: String) throws(ShellError) -> [[Word]] {
    try statements(in: line).map(\.words)
  }

  /// The commands of a line; those without a word are left out.
  package static func statements(in line: String) throws(ShellError) -> [Statement] {
    var statements = [Statement()]
    var word: (text: String, start: Int)?
    var reader: ReaderText?
    var quote: Int?
    var escaped = false
    var inComment = false
    var offset = 0

    func endWord() {
      if let ended = word {
        statements[statements.count - 1].words.append(Word(ended.text, at: ended.start..<offset))
      }
      word = nil
    }
    func endReader() throws(ShellError) {
      if let ended = reader { statements[statements.count - 1].reader = try ended.word(to: offset) }
      reader = nil
    }

    for character in line {
      defer { offset += 1 }
      if inComment {
        if character.isNewline {
          inComment = false
          statements.append(Statement())
        }
      } else if reader != nil {
        switch reader?.take(character) {
        case .ends?:
          try endReader()
          statements.append(Statement())
        case .comment?:
          try endReader()
          inComment = true
        case .goesOn?, nil: break
        }
      } else if quote != nil {
        if escaped {
          word?.text.append(character)
          escaped = false
        } else if character == "\\" {
          escaped = true
        } else if character == "\"" {
          quote = nil
        } else {
          word?.text.append(character)
        }
      } else if character == "\"" {
        quote = offset
        if word == nil { word = ("", offset) }
      } else if character == ";" || character.isNewline {
        endWord()
        statements.append(Statement())
      } else if character == "|" {
        endWord()
        reader = ReaderText(start: offset)
      } else if character.isWhitespace {
        endWord()
      } else if character == "#", word == nil {
        inComment = true
      } else if word == nil {
        word = (String(character), offset)
      } else {
        word?.text.append(character)
      }
    }
    if let quote {
      throw ShellError("this quote is never closed. Add \" at the end", at: quote..<offset)
    }
    endWord()
    try endReader()
    for statement in statements where statement.words.isEmpty {
      if let reader = statement.reader {
        throw ShellError(
          "in front of '|' comes a command of the lab, as in: \(Self.example)",
          at: reader
        )
      }
    }
    return statements.filter { !$0.words.isEmpty }
  }

  fileprivate static let example = "events | grep t03"
}

/// What stands behind `|`, read with the quotes of the system's shell.
private struct ReaderText {
  enum Reading {
    case goesOn
    /// The command of the lab ends here.
    case ends
    case comment
  }

  /// Where the `|` stands.
  let start: Int
  private var text = ""
  private var quote: Character?
  private var escaped = false

  init(start: Int) { self.start = start }

  mutating func take(_ character: Character) -> Reading {
    if escaped {
      escaped = false
    } else if let open = quote {
      if character == open { quote = nil }
      escaped = character == "\\" && open == "\""
    } else if character == ";" || character.isNewline {
      return .ends
    } else if character == "#", text.last.map(\.isWhitespace) ?? true {
      return .comment
    } else if character == "'" || character == "\"" {
      quote = character
    } else {
      escaped = character == "\\"
    }
    text.append(character)
    return .goesOn
  }

  func word(to end: Int) throws(ShellError) -> Word {
    let bar = start..<start + 1
    if text.hasPrefix("|") {
      throw ShellError(
        "'||' is for other shells. A line ends at the first command that fails; '|' gives what a command says to a program, as in: \(Lexer.example)",
        at: start..<start + 2
      )
    }
    if let quote {
      throw ShellError(
        "behind '|' a quote is never closed. Add \(quote) at the end",
        at: start..<end
      )
    }
    let blanks = text.prefix { $0.isWhitespace }.count
    let command = Columns.trimmed(String(text.dropFirst(blanks)))
    guard !command.isEmpty else {
      throw ShellError("behind '|' comes a command of your shell, as in: \(Lexer.example)", at: bar)
    }
    return Word(command, at: start + 1 + blanks..<start + 1 + blanks + command.count)
  }
}

extension Lexer {
  /// The words of the last command of a line that is still being typed, and the one being typed:
  /// empty behind a blank.
  ///
  /// A quote may still be open.
  static func beginning(of line: String) -> (words: [String], current: Word) {
    let nothing = Word("", at: line.count..<line.count)
    // Of the system's commands nothing is known here.
    let isRead = try? statements(in: line + " .").last?.reader != nil
    if isRead == true { return (["|"], nothing) }
    // Whatever is open is closed for this reading: a quote, or a quote after a backslash.
    let readings = ["", "\"", "\\\""].lazy.compactMap { try? commands(in: line + $0) }
    guard let command = readings.first?.last, let last = command.last else { return ([], nothing) }
    if last.range.upperBound >= line.count { return (command.dropLast().map(\.text), last) }
    let beginsAnew = line.last { !$0.isWhitespace } == ";"
    return (beginsAnew ? [] : command.map(\.text), nothing)
  }

  /// A word as it has to be typed; one that goes on has its quote left open.
  static func quoted(_ word: String, isWhole: Bool) -> String {
    guard word.contains(where: { " \t;#\"".contains($0) }) else { return word }
    let escaped = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return "\"" + escaped + (isWhole ? "\"" : "")
  }
}
