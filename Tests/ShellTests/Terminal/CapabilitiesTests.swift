import TestSupport
import Testing

@testable import Shell

@Suite(.watched) struct `Terminal capabilities` {
  private func capabilities(
    _ environment: [String: String] = ["TERM": "xterm", "LANG": "en_US.UTF-8"],
    options: TerminalCapabilities.Options = .init(),
    output: Bool = true,
    error: Bool = true,
    size: TerminalSize? = TerminalSize(columns: 100, rows: 30)
  ) -> TerminalCapabilities {
    TerminalCapabilities(
      environment: environment,
      options: options,
      readings: .init(
        inputIsTerminal: true,
        outputIsTerminal: output,
        errorIsTerminal: error,
        size: size
      )
    )
  }

  @Test func `a common terminal can do everything`() {
    let all = capabilities()
    #expect(all.color && all.errorColor && all.unicode && all.movesCursor && all.isInteractive)
    #expect(all.size == TerminalSize(columns: 100, rows: 30))
  }

  @Test func `a pipe gets neither colour nor moving cursors, the other stream keeps its colour`() {
    let piped = capabilities(output: false, size: nil)
    #expect(!piped.color && !piped.movesCursor && !piped.isInteractive)
    #expect(piped.errorColor)
    #expect(piped.size == TerminalSize(columns: 80, rows: 24))
    #expect(!capabilities(error: false).errorColor)
  }

  @Test func `a size in the environment counts, up to what anybody can look at`() {
    let wide = capabilities(["TERM": "xterm", "COLUMNS": "\(Int.max)", "LINES": "100000"])
    #expect(wide.size == TerminalSize(columns: 10_000, rows: 10_000))
    let odd = capabilities(["TERM": "xterm", "COLUMNS": "0", "LINES": "many"])
    #expect(odd.size == TerminalSize(columns: 100, rows: 30))
  }

  @Test(arguments: [["TERM": "dumb"], ["TERM": ""], [:]])
  func `a dumb terminal, or none named, gets neither`(environment: [String: String]) {
    let dumb = capabilities(environment)
    #expect(!dumb.color && !dumb.movesCursor)
    #expect(dumb.isInteractive)
  }

  @Test func `NO_COLOR counts when it is not empty, whatever it says`() {
    #expect(!capabilities(["TERM": "xterm", "NO_COLOR": "0"]).color)
    #expect(capabilities(["TERM": "xterm", "NO_COLOR": ""]).color)
    let option = capabilities(options: .init(noColor: true))
    #expect(!option.color && !option.errorColor)
  }

  @Test(
    arguments: [
      (["LANG": "C.UTF-8"], true), (["LANG": "de_DE.utf8"], true), (["LANG": "C"], false),
      ([:], false), (["LC_ALL": "C", "LANG": "C.UTF-8"], false),
      (["LC_ALL": "", "LANG": "C.UTF-8"], true),
      (["LC_CTYPE": "en_US.UTF-8", "LANG": "C"], true),
      (["LC_ALL": "en_US.ISO-8859-1", "LC_CTYPE": "en_US.UTF-8"], false),
    ] as [([String: String], Bool)]
  )
  func `the locale decides on glyphs, the first variable set first`(
    environment: [String: String],
    unicode: Bool
  ) {
    #expect(capabilities(environment).unicode == unicode)
    #expect(!capabilities(environment, options: .init(ascii: true)).unicode)
  }

  @Test func `the width is the option's, then COLUMNS', then the window's`() {
    let environment = ["COLUMNS": "40", "LINES": "10"]
    #expect(capabilities(environment).size == TerminalSize(columns: 40, rows: 10))
    #expect(capabilities(environment, options: .init(width: 60)).size.columns == 60)
    for nonsense in ["", "0", "-3", "wide"] {
      #expect(capabilities(["COLUMNS": nonsense]).size.columns == 100)
    }
  }
}
