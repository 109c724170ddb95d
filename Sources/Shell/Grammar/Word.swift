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

/// Cuts a line into commands and words.
///
/// Words are parted by spaces; double quotes keep spaces together and `\"` stands for a quote in
/// them; `;` and line ends part commands; `#` where a word would start begins a comment.
package enum Lexer {
  /// The commands of a line; commands without a word are left out.
  package static func commands(in line: String) throws(ShellError) -> [[Word]] {
    var commands: [[Word]] = [[]]
    var word: (text: String, start: Int)?
    var quote: Int?
    var escaped = false
    var inComment = false
    var offset = 0

    func endWord() {
      if let ended = word {
        commands[commands.count - 1].append(Word(ended.text, at: ended.start..<offset))
      }
      word = nil
    }

    for character in line {
      defer { offset += 1 }
      if inComment {
        if character.isNewline {
          inComment = false
          commands.append([])
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
        commands.append([])
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
    return commands.filter { !$0.isEmpty }
  }
}

extension Lexer {
  /// The words of the last command of a line that is still being typed, and the one being typed:
  /// empty behind a blank.
  ///
  /// A quote may still be open.
  static func beginning(of line: String) -> (words: [String], current: Word) {
    let nothing = Word("", at: line.count..<line.count)
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
