internal import Basics

/// A prompt as libedit wants it: what takes no room on the screen enclosed in markers.
///
/// libedit counts cells to know where the line begins, so colours must be told apart from text. It
/// hangs a marked part on the character after it; a part with none after it is lost, hence a space is
/// added then.
enum Prompt {
  static let marker: Unicode.Scalar = "\u{1}"

  /// The scalars for libedit, ended by a zero.
  static func marked(_ text: String) -> [Unicode.Scalar] {
    var result: [Unicode.Scalar] = []
    var hanging = false
    for piece in CellWidth.pieces(of: text) {
      if piece.isSequence {
        if hanging {
          // Two parts in a row share one pair of markers: there must be a character between pairs.
          result.removeLast()
          result += piece.scalars
        } else {
          result.append(marker)
          result += piece.scalars
        }
        result.append(marker)
        hanging = true
      } else {
        result += piece.scalars
        hanging = false
      }
    }
    if hanging { result.append(" ") }
    result.append("\0")
    return result
  }

  /// What of the prompt is seen.
  static func visible(_ text: String) -> [Unicode.Scalar] {
    let pieces = CellWidth.pieces(of: text)
    var result = pieces.filter { !$0.isSequence }.flatMap { $0.scalars }
    if let last = pieces.last, last.isSequence { result.append(" ") }
    return result
  }
}
