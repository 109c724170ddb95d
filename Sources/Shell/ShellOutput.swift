internal import Rendering

/// Where a session's words go, and what the place can show.
package protocol ShellOutput: AnyObject, Sendable {
  /// Text for standard output, line ends included.
  func write(_ text: String)

  /// The same, for a text that is read from its beginning: where it is longer than the window, a page
  /// at a time.
  func writePages(_ text: String)

  /// A line for standard error, line end not included.
  func complain(_ line: String)

  /// A line for standard error that says how far something long has come; where nobody waits for it,
  /// nothing.
  func tellProgress(_ line: String)

  /// Nothing more can be written to standard output.
  var isClosed: Bool { get }

  /// That is so, and not because the reader has left: the status tells it, whatever else happens.
  var isCutShort: Bool { get }

  /// Whether frames can be shown in place.
  var canShowFrames: Bool { get }

  /// Shows frames, at most 20 a second, until the last or until the person leaves; then takes them away.
  ///
  /// In place, or on the whole screen, which shows then what it showed before.
  /// `onKeys` is given what came in one reading, and says whether the person wants to leave.
  func showFrames(
    _ frame: @escaping @Sendable (Display) -> Frame,
    onWholeScreen: Bool,
    onKeys: @escaping @Sendable ([UInt8]) -> Bool
  ) async -> FrameEnding

  /// Leaves keys that were typed while frames were shown to the prompt that comes next.
  func leaveForPrompt(_ keys: [UInt8])

  /// Shows a line that the next output replaces.
  ///
  /// Only called where frames can be shown.
  func writeTransient(_ line: String)

  /// Gives the terminal to another program, as it was found, or takes it back.
  func lendTerminal(_ isLent: Bool)

  /// Empties the screen, where there is one.
  func clear()

  /// The lines a person has typed, oldest first, from earlier sessions too.
  var history: [String] { get }

  /// What the place can show now; a window may have been resized since the last asking.
  var display: Display { get }
}

extension ShellOutput {
  package var isCutShort: Bool { false }

  package func leaveForPrompt(_ keys: [UInt8]) {}

  package func lendTerminal(_ isLent: Bool) {}

  package func tellProgress(_ line: String) { complain(line) }
}

/// One picture of a live view.
package struct Frame: Hashable, Sendable {
  package var lines: [String]
  /// There is nothing more to wait for.
  package var isLast: Bool

  package init(lines: [String], isLast: Bool) {
    self.lines = lines
    self.isLast = isLast
  }
}

/// How a live view ended.
package enum FrameEnding: Hashable, Sendable {
  /// The last frame was shown.
  case finished
  /// The person pressed q; what was shown goes on.
  case left
  /// Ctrl-C.
  case interrupted
}

/// How much room there is to draw, and with what.
package struct Display: Hashable, Sendable {
  /// In columns.
  package var width: Int
  /// In rows; nil where pictures may be as high as they like.
  package var height: Int?
  /// How many rows a picture has at most, where no height says so; nil for as many as it needs.
  package var mostRows: Int?
  /// ASCII characters only.
  package var ascii: Bool
  package var colour: Bool

  package init(
    width: Int = 80,
    height: Int? = nil,
    mostRows: Int? = nil,
    ascii: Bool = false,
    colour: Bool = false
  ) {
    self.width = width
    self.height = height
    self.mostRows = mostRows
    self.ascii = ascii
    self.colour = colour
  }
}

extension Display {
  /// The display as the views take it.
  var format: TextFormat {
    TextFormat(
      width: width,
      height: height,
      mostRows: mostRows,
      glyphs: ascii ? .ascii : .unicode,
      style: colour ? .colour : .plain
    )
  }
}

/// What a place does that is no terminal: nothing moves there, and nobody types.
extension ShellOutput {
  package var canShowFrames: Bool { false }

  package func showFrames(
    _ frame: @escaping @Sendable (Display) -> Frame,
    onWholeScreen: Bool,
    onKeys: @escaping @Sendable ([UInt8]) -> Bool
  ) async -> FrameEnding {
    .finished
  }

  package func writeTransient(_ line: String) {}

  package func clear() {}

  package func writePages(_ text: String) { write(text) }

  package var history: [String] { [] }
}

extension ShellOutput {
  var format: TextFormat { display.format }
}
