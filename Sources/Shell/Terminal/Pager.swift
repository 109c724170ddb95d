internal import Basics
import Glibc

/// Shows a text that is longer than the window a page at a time.
///
/// What was shown stays on the screen, as if it had all been written at once: it is there to scroll
/// back to. For terminals whose cursor moves, between two lines being edited; the thread that calls
/// waits for the keys.
package enum Pager {
  /// Where a person is in a text: lines in, decisions out.
  struct Pages {
    /// The rows that each line takes in a window of so many columns.
    let lines: [(text: Substring, rows: Int)]
    /// The rows there are for text: one is the pager's own.
    let room: Int
    private let columns: Int
    private let endsInLineFeed: Bool
    private(set) var shown = 0

    init(_ text: String, size: TerminalSize) {
      let columns = max(1, size.columns)
      self.columns = columns
      endsInLineFeed = text.hasSuffix("\n")
      let text = endsInLineFeed ? text.dropLast() : text[...]
      lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
        ($0, max(1, (CellWidth.of(String($0)) + columns - 1) / columns))
      }
      room = max(1, size.rows - 1)
    }

    /// Whether all of it can be seen at once, the line behind it included.
    var fits: Bool {
      lines.reduce(0) { $0 + $1.rows } <= room + (endsInLineFeed ? 0 : 1)
    }

    var isOver: Bool { shown == lines.count }

    /// The lines that fill so many rows, at least one if any is left.
    mutating func take(rows: Int) -> String {
      guard !isOver else { return "" }
      let start = shown
      var taken = 0
      while shown < lines.count, shown == start || taken + lines[shown].rows <= rows {
        taken += lines[shown].rows
        shown += 1
      }
      let text = lines[start..<shown].map(\.text).joined(separator: "\n")
      return isOver && !endsInLineFeed ? text : text + "\n"
    }

    /// The lines that fill the window; a last one that would be left over comes too.
    mutating func page() -> String {
      let text = take(rows: room)
      let left = lines[shown...].prefix(2)
      return left.count == 1 && left.allSatisfy { $0.rows == 1 } ? text + take(rows: 1) : text
    }

    /// What a key does.
    enum Step: Equatable {
      case show(String)
      /// No more of the text.
      case leave
      /// The rest of the text, and the key begins the next line.
      case goOn(String)
    }

    /// Takes the keys that the status names, and no others: who types on is writing the next line.
    ///
    /// `isAlone` says that nothing has come behind the key, as it has in a line that was pasted.
    mutating func press(_ key: UInt8, isAlone: Bool = true) -> Step {
      switch Character(UnicodeScalar(key)) {
      case "q" where isAlone, "Q" where isAlone, "\u{4}": .leave
      case "\n", "\r": .show(take(rows: 1))
      case " ": .show(page())
      default: .goOn(take(rows: .max))
      }
    }

    /// What the keys do, as far as there is room for it: how to leave, in any case.
    var status: String {
      let place = "-- \(shown) of \(lines.count)"
      let texts = [
        "\(place) lines. Space: a page, Enter: a line, q: no more, or type on",
        "\(place) lines. Space, Enter, q: no more",
      ]
      return texts.first { $0.count < columns } ?? "\(place). q: no more"
    }
  }

  /// Writes the text; where it is longer than the window and nothing was typed ahead, page by page.
  package static func show(_ text: String, size: TerminalSize, write: (String) -> Void) {
    var pages = Pages(text, size: size)
    guard !pages.fits, isatty(STDIN_FILENO) == 1, TypedAhead.shared.isEmpty,
      !hasInput(within: 0, nil)
    else { return write(text) }
    let inbox = LiveInbox()
    let claim = Signals.shared.claim { event in
      inbox.add { news in
        if event == .interrupt { news.interrupted = true }
        if event == .resumed { news.resumed = true }
      }
    }
    TerminalMode.shared.enterQuiet(STDIN_FILENO)
    defer {
      TerminalMode.shared.leaveQuiet()
      claim.release()
    }
    write(pages.page())
    while !pages.isOver {
      write("\u{1B}[7m\(pages.status.prefix(max(1, size.columns - 1)))\u{1B}[0m")
      let key = nextKey(inbox)
      write("\r\u{1B}[K")
      switch key {
      case .none: return
      case .resumed: continue
      case .key(let key):
        switch pages.press(key, isAlone: !hasInput(within: 0, nil)) {
        case .show(let more): write(more)
        case .leave: return
        case .goOn(let rest):
          TypedAhead.shared.leave(key)
          write(rest)
        }
      }
    }
  }

  private enum Input {
    case key(UInt8)
    /// Another program had the terminal: the status is gone from the last row.
    case resumed
    /// Ctrl-C, or the terminal is gone.
    case none
  }

  private static func nextKey(_ inbox: LiveInbox) -> Input {
    while true {
      let isKey = hasInput(within: -1, inbox)
      let news = inbox.take()
      if news.interrupted { return .none }
      if news.resumed { return .resumed }
      guard isKey else { continue }
      var key: UInt8 = 0
      switch read(STDIN_FILENO, &key, 1) {
      case 1: return .key(key)
      case -1 where errno == EINTR || errno == EAGAIN: continue
      default: return .none
      }
    }
  }

  /// Waits for a key or news, but not for longer than so many milliseconds; -1 for as long as it takes.
  private static func hasInput(within milliseconds: Int32, _ inbox: LiveInbox?) -> Bool {
    var waiting = [
      pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
      pollfd(fd: inbox?.wakeDescriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    return poll(&waiting, nfds_t(waiting.count), milliseconds) > 0 && waiting[0].revents != 0
  }
}
