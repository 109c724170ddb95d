/// How many cells of the screen a text takes.
///
/// The terminal decides, and no two agree on everything; this follows the common ground: control
/// sequences and combining marks take nothing, East Asian wide characters and emoji two cells, all
/// else one.
package enum CellWidth {
  package static func of(_ scalar: Unicode.Scalar) -> Int {
    let value = scalar.value
    if value < 0x300 {
      return value < 0x20 || (0x7F..<0xA0).contains(value) ? 0 : 1
    }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: return wide.contains { $0.contains(value) } ? 2 : 1
    }
  }

  /// The cells `text` takes on one line; `ESC [ … letter` sequences take none.
  package static func of(_ text: String) -> Int {
    pieces(of: text).reduce(0) { $0 + $1.width }
  }

  /// `text` cut to at most `width` cells.
  ///
  /// Sequences that set colours are all kept, also those after the cut, so that a colour never
  /// leaks into what follows.
  package static func truncate(_ text: String, to width: Int) -> String {
    var used = 0
    var full = false
    var result = String.UnicodeScalarView()
    for piece in pieces(of: text) {
      if piece.isSequence {
        result.append(contentsOf: piece.scalars)
      } else if !full, used + piece.width <= width {
        used += piece.width
        result.append(contentsOf: piece.scalars)
      } else {
        full = true
      }
    }
    return String(result)
  }

  package struct Piece {
    package var scalars: Substring.UnicodeScalarView
    package var width: Int
    package var isSequence: Bool
  }

  /// The scalars of a text, one a piece, and its control sequences, each in one piece.
  package static func pieces(of text: String) -> [Piece] {
    let scalars = text.unicodeScalars
    var result: [Piece] = []
    result.reserveCapacity(scalars.count)
    var index = scalars.startIndex
    while index < scalars.endIndex {
      let start = index
      scalars.formIndex(after: &index)
      guard scalars[start] == "\u{1B}", index < scalars.endIndex, scalars[index] == "[" else {
        result.append(
          Piece(scalars: scalars[start..<index], width: of(scalars[start]), isSequence: false)
        )
        continue
      }
      scalars.formIndex(after: &index)
      while index < scalars.endIndex, !(0x40...0x7E).contains(scalars[index].value) {
        scalars.formIndex(after: &index)
      }
      if index < scalars.endIndex { scalars.formIndex(after: &index) }
      result.append(Piece(scalars: scalars[start..<index], width: 0, isSequence: true))
    }
    return result
  }

  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x231A...0x231B, 0x23E9...0x23EC, 0x2614...0x2615, 0x2648...0x2653,
    0x26AA...0x26AB, 0x26BD...0x26BE, 0x2705...0x2705, 0x270A...0x270B, 0x2728...0x2728,
    0x274C...0x274C, 0x2753...0x2755, 0x2795...0x2797, 0x2B1B...0x2B1C, 0x2E80...0x303E,
    0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF, 0xA960...0xA97F,
    0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
    0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x1FA70...0x1FAFF,
    0x20000...0x3FFFD,
  ]
}
