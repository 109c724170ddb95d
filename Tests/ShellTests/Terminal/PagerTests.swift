import TestSupport
import Testing

@testable import Shell

/// A long text, a page at a time.
@Suite(.watched) struct PagerTests {
  private let text = (1...30).map { "line \($0)\n" }.joined()

  private func pages(_ text: String, columns: Int = 20, rows: Int = 10) -> Pager.Pages {
    Pager.Pages(text, size: TerminalSize(columns: columns, rows: rows))
  }

  @Test
  func `all of a text comes once, whatever the keys`() {
    for keys in ["     ", "\r\r   ", "  r", "3"] {
      var pages = pages(text)
      var shown = pages.take(rows: pages.room)
      for key in keys.utf8 {
        switch pages.press(key) {
        case .show(let more), .goOn(let more): shown += more
        case .leave: break
        }
      }
      #expect(pages.isOver, "\(keys)")
      #expect(shown == text, "\(keys)")
    }
  }

  @Test
  func `a page is as high as the window without the pager's own row, and q ends it`() {
    var pages = pages(text, columns: 80)
    #expect(pages.take(rows: pages.room) == (1...9).map { "line \($0)\n" }.joined())
    #expect(pages.press(UInt8(ascii: "\r")) == .show("line 10\n"))
    #expect(pages.status.contains("10 of 30 lines"))
    #expect(pages.press(UInt8(ascii: "q")) == .leave)
    #expect(pages.press(UInt8(ascii: "q"), isAlone: false) == .goOn(rest(from: 11)))
  }

  @Test(arguments: [80, 64, 40, 24])
  func `how to leave is said in a window of any width`(columns: Int) {
    let pages = pages(text, columns: columns)
    #expect(pages.status.count < columns && pages.status.contains("q: no more"), "\(pages.status)")
  }

  @Test
  func `nobody is asked for a key for the sake of one more line`() {
    var pages = pages((1...10).map { "line \($0)\n" }.joined())
    #expect(pages.page() == (1...10).map { "line \($0)\n" }.joined())
    #expect(pages.isOver)
    var longer = self.pages((1...11).map { "line \($0)\n" }.joined())
    #expect(longer.page() == (1...9).map { "line \($0)\n" }.joined())
  }

  @Test
  func `a key that is none of the pager's shows the rest and begins the next line`() {
    for key in "3rajfGx\u{1B}\t".utf8 {
      var pages = pages(text)
      _ = pages.take(rows: pages.room)
      #expect(pages.press(key) == .goOn(rest(from: 10)), "\(key)")
      #expect(pages.isOver)
    }
  }

  /// Nothing is asked for where nothing is left.
  @Test
  func `the last line is the end, whether a line feed follows it or not`() {
    for ending in ["", "\n"] {
      var pages = pages((1...10).map { "line \($0)" }.joined(separator: "\n") + ending)
      #expect(pages.fits == ending.isEmpty)
      _ = pages.take(rows: pages.room)
      #expect(!pages.isOver)
      #expect(pages.press(UInt8(ascii: "\r")) == .show("line 10" + ending))
      #expect(pages.isOver)
    }
  }

  private func rest(from line: Int) -> String {
    (line...30).map { "line \($0)\n" }.joined()
  }

  @Test
  func `a line wider than the window counts for the rows it takes`() {
    #expect(pages(String(repeating: "x\n", count: 9)).fits)
    #expect(!pages(String(repeating: "x\n", count: 10)).fits)
    #expect(!pages(String(repeating: "x", count: 201)).fits)
    var wide = pages(String(repeating: String(repeating: "x", count: 40) + "\n", count: 9))
    #expect(wide.take(rows: wide.room).split(separator: "\n").count == 4)
  }

  @Test
  func `a line higher than the window is shown all the same`() {
    var pages = pages(String(repeating: "x", count: 1_000) + "\nend\n")
    #expect(pages.take(rows: pages.room).count == 1_001)
    #expect(pages.take(rows: pages.room) == "end\n")
    #expect(pages.isOver)
  }

  @Test(
    arguments: [
      (["HOME": "/home/ada"], "/home/ada/.config/concurrency-lab/rc"),
      (["HOME": "/home/ada", "XDG_CONFIG_HOME": "/etc/ada"], "/etc/ada/concurrency-lab/rc"),
      (["HOME": "/home/ada", "XDG_CONFIG_HOME": "ada"], "/home/ada/.config/concurrency-lab/rc"),
      ([:], nil),
    ] as [([String: String], String?)]
  )
  func `the start file is where the person's other settings are`(
    _ environment: [String: String],
    _ path: String?
  ) {
    #expect(StateDirectory.startFile(environment: environment) == path)
  }
}
