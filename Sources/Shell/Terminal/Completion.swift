/// What could stand at the cursor.
package struct Completion: Sendable, Equatable {
  package struct Candidate: Sendable, Equatable {
    /// What replaces the range when this is the one.
    package var text: String
    /// Said beside it when the candidates are listed.
    package var description: String?
    /// Added after it when it is the only one: a space after a finished word, nothing after `limit=`.
    package var ending: String

    package init(_ text: String, description: String? = nil, ending: String = " ") {
      self.text = text
      self.description = description
      self.ending = ending
    }
  }

  /// The part of the line, up to the cursor, that the candidates would replace.
  package var replacing: Range<String.Index>
  package var candidates: [Candidate]

  package init(replacing: Range<String.Index>, candidates: [Candidate]) {
    self.replacing = replacing
    self.candidates = candidates
  }
}

/// Says what could stand at the cursor of a line.
///
/// Called on the editor's thread while a person waits for the Tab key to answer: it must be quick,
/// and must not wait for anything.
package typealias Completer =
  @Sendable (_ line: String, _ cursor: String.Index) -> Completion

/// What the Tab key does.
enum CompletionAction: Equatable {
  /// Nothing fits: beep.
  case nothing
  /// Replaces `range` of the line.
  case replace(Range<String.Index>, with: String)
  /// Nothing more can be said for certain: show what there is.
  case list([Completion.Candidate])

  /// One candidate is put in whole; several, as far as they agree; and where they agree on no more
  /// than what is there, they are listed.
  static func decide(line: String, cursor: String.Index, completion: Completion) -> Self {
    let range = completion.replacing
    guard let first = completion.candidates.first else { return .nothing }
    let present = line[range]
    if completion.candidates.count == 1 {
      let ending = line[cursor...].hasPrefix(first.ending) ? "" : first.ending
      let whole = first.text + ending
      return whole == present ? .nothing : .replace(range, with: whole)
    }
    let common = completion.candidates.dropFirst().reduce(first.text) { common, candidate in
      String(zip(common, candidate.text).prefix { $0 == $1 }.map { $0.0 })
    }
    // Candidates that fit otherwise than by their beginning must not take away what was typed.
    guard common.count > present.count, common.lowercased().hasPrefix(present.lowercased()) else {
      return .list(completion.candidates)
    }
    return .replace(range, with: common)
  }
}
