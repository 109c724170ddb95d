/// What was wrong with a command, and what would be right.
///
/// The command changed nothing, but for a line of several choices in a game: those before the wrong one are taken.
package struct ShellError: Error, Hashable, Sendable {
  /// One line: what is wrong, with the values, and what to do.
  package var message: String
  /// The characters of the line it is about, if it is about a part of it.
  package var range: Range<Int>?

  package init(_ message: String, at range: Range<Int>? = nil) {
    self.message = message
    self.range = range
  }

  init(_ message: String, at word: Word) { self.init(message, at: word.range) }
}
