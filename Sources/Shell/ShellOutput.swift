internal import Rendering

/// Where a session's words go, and what the place can show.
package protocol ShellOutput: AnyObject, Sendable {
  /// Text for standard output, line ends included.
  func write(_ text: String)

  /// A line for standard error, line end not included.
  func complain(_ line: String)

  /// Nobody reads standard output any more; there is no point in going on.
  var isClosed: Bool { get }

  /// What the place can show now; a window may have been resized since the last asking.
  var display: Display { get }
}

/// How much room there is to draw, and with what.
package struct Display: Hashable, Sendable {
  /// In columns.
  package var width: Int
  /// In rows; nil where pictures may be as high as they like.
  package var height: Int?
  /// ASCII characters only.
  package var ascii: Bool
  package var colour: Bool

  package init(width: Int = 80, height: Int? = nil, ascii: Bool = false, colour: Bool = false) {
    self.width = width
    self.height = height
    self.ascii = ascii
    self.colour = colour
  }
}

extension ShellOutput {
  /// The display as the views take it.
  var format: TextFormat {
    let display = display
    return TextFormat(
      width: display.width,
      height: display.height,
      glyphs: display.ascii ? .ascii : .unicode,
      style: display.colour ? .colour : .plain
    )
  }
}
