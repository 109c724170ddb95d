/// What a text is drawn for: how much room there is, which characters, which colours.
package struct TextFormat: Hashable, Sendable {
  /// Columns; made with fewer than 20, it has 20.
  package var width: Int
  /// Lines a view may take; nil for as many as it needs.
  package var height: Int?
  /// Rows a picture has at most, where no height says so; nil for as many as it needs.
  package var mostRows: Int?
  package var glyphs: GlyphSet
  package var style: Style

  package init(
    width: Int = 80,
    height: Int? = nil,
    mostRows: Int? = nil,
    glyphs: GlyphSet = .unicode,
    style: Style = .plain
  ) {
    self.width = max(20, width)
    self.height = height
    self.mostRows = mostRows
    self.glyphs = glyphs
    self.style = style
  }
}

/// What a view draws with; each `Character` is a single column wide.
package struct GlyphSet: Hashable, Sendable {
  package var waiting: Character
  package var running: Character
  /// A thread that is held and does nothing.
  package var blocked: Character
  package var suspended: Character
  package var cancelled: Character
  package var ready: Character
  package var stolen: Character
  package var slot: Character
  package var failed: Character
  package var finished: Character
  /// The levels of a bar over time, lowest first.
  package var levels: [Character]
  /// The last cell of a horizontal bar, filled by eighths, or by halves or not at all.
  package var partialBars: [Character]
  /// Marks what is meant, such as the current line.
  package var mark: String
  package var ellipsis: String
  package var separator: String
  package var good: String
  package var bad: String
  package var isASCII: Bool

  package static let unicode = GlyphSet(
    waiting: "·",
    running: "█",
    blocked: "▒",
    suspended: "~",
    cancelled: "x",
    ready: "░",
    stolen: "<",
    slot: "^",
    failed: "!",
    finished: "|",
    levels: Array("▁▂▃▄▅▆▇█"),
    partialBars: Array("▏▎▍▌▋▊▉"),
    mark: "▸",
    ellipsis: "…",
    separator: " · ",
    good: "✓",
    bad: "✗",
    isASCII: false
  )

  package static let ascii = GlyphSet(
    waiting: ".",
    running: "#",
    blocked: "=",
    suspended: "~",
    cancelled: "x",
    ready: ":",
    stolen: "<",
    slot: "^",
    failed: "!",
    finished: "|",
    levels: Array(".:-=+*#@"),
    partialBars: [],
    mark: ">",
    ellipsis: "...",
    separator: ", ",
    good: "ok",
    bad: "wrong",
    isASCII: true
  )
}

/// Whether a text carries colour; never the only carrier of what it says.
package enum Style: Hashable, Sendable {
  case plain
  /// The sixteen colours every terminal has, which its own theme keeps readable on light and dark.
  case colour

  /// What a piece of text is, which decides its colour.
  package enum Role: Hashable, Sendable {
    case ordinary
    case waiting
    case running
    case blocked
    case suspended
    case ready
    case stolen
    case slot
    case cancelled
    case failed
    case finished
    case heading
    case faint
    case good
    case bad
  }

  package func paint(_ text: String, _ role: Role) -> String {
    guard self == .colour, !text.isEmpty, let code = role.code else { return text }
    return "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }
}

extension Style.Role {
  /// The parameters of the terminal's "select graphic rendition".
  fileprivate var code: String? {
    switch self {
    case .ordinary: nil
    case .waiting, .faint: "2"
    case .running, .good: "32"
    case .blocked: "33"
    case .suspended: "36"
    case .ready, .slot: "34"
    case .stolen: "33"
    case .cancelled: "35"
    case .failed, .bad: "1;31"
    case .finished, .heading: "1"
    }
  }
}
