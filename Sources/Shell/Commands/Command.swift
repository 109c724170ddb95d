/// A command of the lab: what it takes, what it does, how it is explained.
///
/// The table of commands is the only place where commands are known; parsing, help, completion and
/// the tests read it.
package struct Command: Sendable {
  package let name: String
  /// The words it takes, in order.
  package let parameters: [Parameter]
  /// The `key=value` pairs it takes.
  package let keys: [Key]
  /// One line.
  package let summary: String
  /// What one should know beyond the summary.
  package let details: String
  /// Lines that can be typed as they stand.
  package let examples: [String]
  /// Takes its words as they stand: `a=b` is a word like any other.
  package let takesAnyWords: Bool
  let run: @Sendable (isolated Session, Arguments) async throws -> Session.Outcome

  init(
    _ name: String,
    _ parameters: [Parameter] = [],
    keys: [Key] = [],
    summary: String,
    details: String = "",
    examples: [String],
    takesAnyWords: Bool = false,
    run: @escaping @Sendable (isolated Session, Arguments) async throws -> Session.Outcome
  ) {
    self.name = name
    self.parameters = parameters
    self.keys = keys
    self.summary = summary
    self.details = details
    self.examples = examples
    self.takesAnyWords = takesAnyWords
    self.run = run
  }

  /// The command and what it takes, as in `run N [MECH] [limit=]`.
  package var synopsis: String {
    ([name] + parameters.map(\.synopsis) + keys.map { "[\($0.name)=]" }).joined(separator: " ")
  }

  /// The same, short enough for a line that has something else to say.
  var usage: String {
    keys.count > 2
      ? ([name] + parameters.map(\.synopsis) + ["[key=value]…"]).joined(separator: " ") : synopsis
  }
}

/// A word a command takes by its place.
package struct Parameter: Sendable {
  /// What kind of word it is; decides what completes it.
  package enum Kind: Hashable, Sendable {
    case count
    case specimenOrMechanism
    case task
    case taskOrAll
    case runInBackground
    case file
    case command
    case setting
    case lesson
    case metric
    case choice([String])
    /// The words of another command, one of these.
    case line([String])
    case text
  }

  package let name: String
  package let kind: Kind
  package let isOptional: Bool
  package let repeats: Bool

  init(_ name: String, _ kind: Kind, optional: Bool = false, repeats: Bool = false) {
    self.name = name
    self.kind = kind
    self.isOptional = optional
    self.repeats = repeats
  }

  /// The run in the background that a command means, if not the latest.
  static let runInBackground = Parameter("RUN", .runInBackground, optional: true)

  var synopsis: String {
    let shown =
      if case .choice(let words) = kind { words.joined(separator: "|") } else { name }
    return (isOptional ? "[\(shown)]" : shown) + (repeats ? "…" : "")
  }
}

/// A `key=value` pair a command takes.
package struct Key: Sendable {
  package let name: String
  /// How the value is written, as in `40ms, exp:40ms`.
  package let form: String
  package let help: String
  /// Values worth offering.
  package let candidates: [String]

  init(_ name: String, form: String, help: String, candidates: [String] = []) {
    self.name = name
    self.form = form
    self.help = help
    self.candidates = candidates
  }
}
