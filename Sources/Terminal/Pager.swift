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
    private(set) var shown = 0

    init(_ text: String, size: TerminalSize) {
      let columns = max(1, size.columns)
      lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
        ($0, max(1, (CellWidth.of(String($0)) + columns - 1) / columns))
      }
      room = max(1, size.rows - 1)
    }

    /// Whether all of it can be seen at once, the line behind it included.
    var fits: Bool { lines.reduce(0) { $0 + $1.rows } <= room + 1 }

    var isOver: Bool { shown == lines.count }

    /// The lines that fill so many rows, at least one.
    mutating func take(rows: Int) -> String {
      let start = shown
      var taken = 0
      while shown < lines.count, shown == start || taken + lines[shown].rows <= rows {
        taken += lines[shown].rows
        shown += 1
      }
      let text = lines[start..<shown].map(\.text).joined(separator: "\n")
      return isOver ? text : text + "\n"
    }

    /// What a key brings; nil for no more of the text.
    mutating func press(_ key: UInt8) -> String? {
      switch Character(UnicodeScalar(key)) {
      case "q", "Q": nil
      case "\n", "\r", "j": take(rows: 1)
      case "a", "G": take(rows: .max)
      case " ", "f": take(rows: room)
      default: ""
      }
    }

    var status: String {
      "-- \(shown) of \(lines.count - 1) lines. Space: a page, Enter: a line, a: all, q: no more"
    }
  }

  /// Writes the text; where it is longer than the window and nothing was typed ahead, page by page.
  package static func show(_ text: String, size: TerminalSize, write: (String) -> Void) {
    var pages = Pages(text, size: size)
    guard !pages.fits, isatty(STDIN_FILENO) == 1, !hasInput(within: 0, nil) else {
      return write(text)
    }
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
    write(pages.take(rows: pages.room))
    while !pages.isOver {
      write("\u{1B}[7m\(pages.status.prefix(max(1, size.columns - 1)))\u{1B}[0m")
      let key = nextKey(inbox)
      write("\r\u{1B}[K")
      guard let key, let more = pages.press(key) else { return }
      if !more.isEmpty { write(more) }
    }
  }

  /// The next key; nil after Ctrl-C, or when the terminal is gone.
  private static func nextKey(_ inbox: LiveInbox) -> UInt8? {
    while true {
      let isKey = hasInput(within: -1, inbox)
      let news = inbox.take()
      if news.interrupted { return nil }
      if news.resumed { return 0 }
      guard isKey else { continue }
      var key: UInt8 = 0
      switch read(STDIN_FILENO, &key, 1) {
      case 1: return key
      case -1 where errno == EINTR || errno == EAGAIN: continue
      default: return nil
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
