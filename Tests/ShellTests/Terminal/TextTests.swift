import Basics
import TestSupport
import Testing

@testable import Shell

@Suite(.watched) struct `UTF-8 assembler` {
  private func assemble(_ bytes: some Sequence<UInt8>) -> String {
    var assembler = UTF8Assembler()
    var scalars = String.UnicodeScalarView()
    for byte in bytes {
      if let scalar = assembler.feed(byte) { scalars.append(scalar) }
    }
    return String(scalars)
  }

  @Test func `every character comes out as it went in`() {
    var assembler = UTF8Assembler()
    var wrong = 0
    for value in 0...0x10FFFF as ClosedRange<UInt32> {
      guard let scalar = Unicode.Scalar(value) else { continue }
      var out: Unicode.Scalar?
      for byte in UTF8.encode(scalar).map({ Array($0) }) ?? [] {
        if out != nil { wrong += 1 }
        out = assembler.feed(byte)
      }
      if out != scalar { wrong += 1 }
    }
    #expect(wrong == 0)
  }

  @Test func `damage costs the damaged character only`() {
    #expect(assemble([0xE2, 0x96] + Array("a▒".utf8)) == "a▒")
    #expect(assemble([0x80, 0xBF] + Array("é".utf8)) == "é")
    #expect(assemble([0xFF, 0xC0, 0xC1, 0xF5] + Array("x".utf8)) == "x")
  }

  @Test func `overlong forms, surrogates and numbers beyond Unicode are none`() {
    for bytes: [UInt8] in [
      [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xED, 0xA0, 0x80],
      [0xF4, 0x90, 0x80, 0x80],
    ] {
      #expect(assemble(bytes + [0x61]) == "a")
    }
  }
}

@Suite(.watched) struct `Cell width` {
  @Test func `letters take one cell, wide ones two, marks and sequences none`() {
    #expect(CellWidth.of("abc") == 3)
    #expect(CellWidth.of("█▒·~") == 4)
    #expect(CellWidth.of("漢字") == 4)
    #expect(CellWidth.of("e\u{301}") == 1)
    #expect(CellWidth.of("\u{1B}[1;31mred\u{1B}[0m") == 3)
    #expect(CellWidth.of("") == 0)
  }

  @Test func `a cut text is never wider than asked, and keeps its colours`() {
    let text = "\u{1B}[1mab漢\u{1B}[0mcé字d"
    for width in 0...12 {
      let cut = CellWidth.truncate(text, to: width)
      #expect(CellWidth.of(cut) <= width)
      #expect(cut.hasPrefix("\u{1B}[1m"))
      #expect(cut.contains("\u{1B}[0m"))
    }
    #expect(CellWidth.truncate(text, to: 12) == text)
    // A wide character is not halved, and nothing after it takes its place.
    #expect(CellWidth.truncate("a漢b", to: 2) == "a")
  }

  @Test func `a sequence without its end swallows the rest and no more`() {
    #expect(CellWidth.of("ab\u{1B}[12") == 2)
    #expect(CellWidth.of("ab\u{1B}") == 2)
  }
}

@Suite(.watched) struct `Line layout` {
  private func end(of text: String, columns: Int) -> LineLayout.Position {
    var layout = LineLayout(columns: columns) { CellWidth.of($0) }
    layout.add(text.unicodeScalars)
    return layout.position
  }

  @Test func `plain text fills rows`() {
    for columns in 2...12 {
      for count in 0...40 {
        let position = end(of: String(repeating: "x", count: count), columns: columns)
        #expect(position == LineLayout.Position(row: count / columns, column: count % columns))
      }
    }
  }

  @Test func `a wide character that does not fit goes to the next row`() {
    #expect(end(of: "abc漢", columns: 4) == LineLayout.Position(row: 1, column: 2))
    #expect(end(of: "ab漢", columns: 4) == LineLayout.Position(row: 1, column: 0))
  }

  @Test func `control characters take two cells, a tab goes to the next eight`() {
    #expect(end(of: "a\u{2}b", columns: 80).column == 4)
    #expect(end(of: "a\tb", columns: 80).column == 9)
    #expect(end(of: "12345678\t", columns: 80).column == 16)
  }

  @Test func `a line break begins a row, as in the display of a search`() {
    #expect(end(of: "abc\nbck:x", columns: 80) == LineLayout.Position(row: 1, column: 5))
  }
}

@Suite(.watched) struct `Prompt for libedit` {
  private func marked(_ text: String) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: Prompt.marked(text))
    return String(view)
  }

  @Test func `sequences are enclosed in markers`() {
    #expect(marked("a> ") == "a> \0")
    #expect(marked("\u{1B}[1ma\u{1B}[0m> ") == "\u{1}\u{1B}[1m\u{1}a\u{1}\u{1B}[0m\u{1}> \0")
  }

  @Test func `sequences in a row share one pair of markers`() {
    #expect(marked("\u{1B}[1m\u{1B}[31ma ") == "\u{1}\u{1B}[1m\u{1B}[31m\u{1}a \0")
  }

  @Test func `a sequence at the end gets a space to hang on`() {
    #expect(marked("a>\u{1B}[0m") == "a>\u{1}\u{1B}[0m\u{1} \0")
    #expect(Prompt.visible("a>\u{1B}[0m").count == 3)
  }
}

@Suite(.watched) struct `Pasted text` {
  private func typed(_ text: String) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: Paste.typed(text.unicodeScalars))
    return String(view)
  }

  @Test func `line ends stay`() {
    #expect(typed("a\rb\nc") == "a\nb\nc")
  }

  @Test func `tabs are spaces, control characters are nothing`() {
    #expect(typed("a\tb\u{3}\u{4}\u{1B}[A\u{7F}c") == "a b[Ac")
    // Those of the second set too: a terminal may take one for the start of a command.
    #expect(typed("a\u{9B}31mb") == "a31mb")
  }

  @Test func `what only Unicode calls a line end is a space`() {
    #expect(typed("a\u{2028}b\u{2029}c\u{85}d") == "a b c d")
  }
}
