internal import Basics
internal import Mechanisms

/// The words of one command, sorted into places and keys, with typed ways to read them.
///
/// Every reading that fails throws a `ShellError` that names the word, where it stands and what
/// would be right.
package struct Arguments: Sendable {
  package let command: Command
  /// The command's own word.
  let name: Word
  /// The words without a key, in order.
  private(set) var places: [Word]
  /// The values by the full name of their key.
  private(set) var values: [String: Word]

  /// Sorts the words that follow the command's name.
  ///
  /// - Throws: `ShellError` for an unknown, ambiguous or repeated key, or a word too many.
  init(_ command: Command, name: Word, words: some Sequence<Word>) throws(ShellError) {
    self.command = command
    self.name = name
    var places: [Word] = []
    var values: [String: Word] = [:]
    var words = Array(words)[...]
    while let word = words.popFirst() {
      // `of 3` is another way to write `run=3`.
      if word.text == "of", command.keys.contains(where: { $0.name == Keys.ofRun.name }),
        values[Keys.ofRun.name] == nil, let value = words.popFirst()
      {
        values[Keys.ofRun.name] = value
        continue
      }
      if !command.takesAnyWords, word.text.hasPrefix("="), !command.keys.isEmpty {
        throw ShellError(
          "a key, '=' and the value are one word, as in \(command.keys[0].name)=…",
          at: word
        )
      }
      guard !command.takesAnyWords, let (key, value) = word.keyAndValue else {
        places.append(word)
        continue
      }
      let full = try Self.resolve(key, of: command)
      guard values.updateValue(value, forKey: full) == nil else {
        throw ShellError("'\(full)=' is given twice. Keep one", at: key)
      }
    }
    let takesMore = command.takesAnyWords || command.parameters.contains { $0.repeats }
    self.places = places
    self.values = values
    if !takesMore, places.count > command.parameters.count {
      let names = command.keys.map(\.name)
      // A wrong name among the words that have a place is the first thing wrong.
      if takesMechanism {
        for word in places.prefix(command.parameters.count)
        where !word.isNumeral && !HelpText.knows(word.text) && !names.contains(word.text) {
          _ = try Names.mechanism(word)
        }
      }
      // `tasks 2` where `tasks=2` was meant.
      if let key = places.dropLast().first(where: { names.contains($0.text) }) {
        throw surplus(key)
      }
      throw surplus(places[command.parameters.count])
    }
  }

  /// The same without the value of a key.
  func without(_ key: Key) -> Arguments {
    var rest = self
    rest.values[key.name] = nil
    return rest
  }

  /// The same, with the key taken out of words that are otherwise left as they stand.
  func taking(_ key: Key) throws(ShellError) -> Arguments {
    var rest = self
    rest.places.removeAll()
    for word in places {
      guard let (name, value) = word.keyAndValue, name.text == key.name else {
        rest.places.append(word)
        continue
      }
      guard rest.values.updateValue(value, forKey: key.name) == nil else {
        throw ShellError("'\(key.name)=' is given twice. Keep one", at: name)
      }
    }
    return rest
  }

  private var takesMechanism: Bool {
    command.parameters.contains { $0.kind == .specimenOrMechanism }
  }

  /// The error for a word too many: with what was probably meant, where that can be told.
  func surplus(_ word: Word) -> ShellError {
    let rest = places.drop { $0 != word }.dropFirst()
    var advice = "Write: \(command.usage)"
    let key = try? Self.resolve(word, of: command)
    if let key, let value = rest.first {
      advice = "Did you mean \(key)=\(value.text)?"
    } else if let key, Catalogue.entry(word.text) == nil {
      // It may begin the name of a mechanism too, as 'limit' does.
      advice = "A value is written \(key)=…"
    } else if takesMechanism, (try? Names.mechanism(word)) != nil {
      advice = "'\(command.name)' takes one mechanism"
      if let count = places.first(where: \.isNumeral), command.name == "run" {
        let names = places.filter { !$0.isNumeral }.map(\.text).joined(separator: " ")
        advice += ". Did you mean: compare \(count.text) \(names)"
      }
    }
    return ShellError("'\(word.text)' is one word too many. \(advice)", at: word)
  }

  /// Takes two words without '=' as a key and its value: `limit 4` for `limit=4`.
  mutating func take(value: Word, for key: Word) throws(ShellError) {
    values[try Self.resolve(key, of: command)] = value
    places.removeAll()
  }

  private static func resolve(_ key: Word, of command: Command) throws(ShellError) -> String {
    let names = command.keys.map(\.name)
    if names.contains(key.text) { return key.text }
    let matches = names.filter { $0.hasPrefix(key.text) }
    if matches.count == 1 { return matches[0] }
    if matches.count > 1 {
      throw ShellError(
        "'\(key.text)' could be \(ListText.all(matches, "or")). Write more of it",
        at: key
      )
    }
    if names.isEmpty { throw ShellError("'\(command.name)' takes no keys", at: key) }
    let question = NearMatch.question(for: key.text, in: names)
    throw ShellError(
      "'\(command.name)' has no key '\(key.text)'.\(question) 'help \(command.name)' lists them",
      at: key
    )
  }

  /// The value of a key, read by `parse`; nil where the key is not given.
  func value<Value>(
    _ key: Key,
    _ parse: (String) -> Value?
  ) throws(ShellError) -> Value? {
    guard let word = values[key.name] else { return nil }
    return try read(word, as: "\(key.name)=", form: key.form, key.candidates, parse)
  }

  /// The word at a place, read by `parse`; nil where there is none.
  func place<Value>(
    _ index: Int,
    as what: String,
    form: String,
    candidates: [String] = [],
    _ parse: (String) -> Value?
  ) throws(ShellError) -> Value? {
    guard places.indices.contains(index) else { return nil }
    return try read(places[index], as: what, form: form, candidates, parse)
  }

  private func read<Value>(
    _ word: Word,
    as what: String,
    form: String,
    _ candidates: [String],
    _ parse: (String) -> Value?
  ) throws(ShellError) -> Value {
    if let value = parse(word.text) { return value }
    if word.text.isEmpty { throw ShellError("\(what) has no value. Write \(form)", at: word) }
    // Of numbers, none is nearer than another.
    let names = candidates.filter { $0.first?.isLetter == true }
    let question = NearMatch.question(for: word.text, in: names)
    throw ShellError("\(what) cannot be '\(word.text)'.\(question) Write \(form)", at: word)
  }

  /// The error for a key that was named without a value.
  func missingValue(of word: Word) throws(ShellError) -> ShellError {
    let name = try Self.resolve(word, of: command)
    let form = command.keys.first { $0.name == name }?.form ?? ""
    return ShellError("\(name) has no value. Write \(form)", at: word)
  }

  /// The error where no word is a number of tasks: about one that is no mechanism either, if there is one.
  func missingCount(_ isMechanism: (Word) -> Bool) -> ShellError {
    guard let stranger = places.first(where: { !isMechanism($0) }) else {
      return missing("the number of tasks")
    }
    return ShellError(
      "'\(stranger.text)' is neither a number of tasks nor a mechanism. Write: \(command.usage)",
      at: stranger
    )
  }

  /// The error for a word that should have been there; `list` is the command that tells what it can be.
  func missing(_ what: String, listedBy list: String? = nil) -> ShellError {
    let choice = list.map { ". '\($0)' lists all" } ?? ""
    return ShellError("\(what) is missing. Write: \(command.usage)\(choice)", at: name)
  }
}
