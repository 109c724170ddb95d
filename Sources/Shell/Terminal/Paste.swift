/// A paste that the terminal says is one, between two marks.
///
/// Pasted text is text: a tab in it does not ask for completion, and no control character in it moves
/// anything. Line ends stay, so that the lines of a pasted block are read one after the other.
enum Paste {
  static let start = "\u{1B}[200~"
  static let end = "\u{1B}[201~"
  static let ask = "\u{1B}[?2004h"
  static let askNoMore = "\u{1B}[?2004l"

  /// The characters as a person would have typed them.
  static func typed(_ pasted: some Sequence<Unicode.Scalar>) -> [Unicode.Scalar] {
    pasted.compactMap { scalar in
      switch scalar {
      case "\r", "\n": "\n"
      // A tab asks for completion; the others are line ends to Unicode, and none to the shell.
      case "\t", "\u{85}", "\u{2028}", "\u{2029}": " "
      case _ where scalar.properties.generalCategory == .control: nil
      default: scalar
      }
    }
  }
}
