import TestSupport
import Testing

@testable import Shell

@Suite(.watched) struct LexerTests {
  private func words(_ line: String) throws -> [[String]] {
    try Lexer.commands(in: line).map { $0.map(\.text) }
  }

  @Test(
    arguments: [
      ("", []),
      ("   \t ", []),
      ("run 5", [["run", "5"]]),
      ("  run   5  ", [["run", "5"]]),
      ("run 5; stats", [["run", "5"], ["stats"]]),
      (";;run;;", [["run"]]),
      ("run 5\nstats", [["run", "5"], ["stats"]]),
      ("run 5\r\nstats", [["run", "5"], ["stats"]]),
      ("run 5 # and so on; stats", [["run", "5"]]),
      ("# nothing\nrun", [["run"]]),
      ("run a#b", [["run", "a#b"]]),
      (#"source "my file.lab""#, [["source", "my file.lab"]]),
      (#"source my" "file.lab"#, [["source", "my file.lab"]]),
      (#"source "a;b # c""#, [["source", "a;b # c"]]),
      (#"source "a\"b\\c""#, [["source", #"a"b\c"#]]),
      (#"source """#, [["source", ""]]),
      ("run 日本 é", [["run", "日本", "é"]]),
    ] as [(String, [[String]])]
  )
  func `lines are cut into commands and words`(_ line: String, _ expected: [[String]]) throws {
    #expect(try words(line) == expected)
  }

  @Test
  func `every word knows where it stands, in characters`() throws {
    let line = #"run  5 "a b" é日; x=1"#
    let commands = try Lexer.commands(in: line)
    let slices = commands.joined().map { word in
      String(Array(line)[word.range])
    }
    #expect(slices == ["run", "5", #""a b""#, "é日", "x=1"])
  }

  /// All strings of up to six of the characters that mean something.
  @Test
  func `no short line is cut wrongly: what is between the words parts them`() throws {
    var lines = [""]
    var longest = [""]
    for _ in 0..<(searchesRun ? 6 : 5) {
      longest = longest.flatMap { line in "a \";#\\\n=".map { line + String($0) } }
      lines += longest
    }
    for line in lines {
      guard let commands = try? Lexer.commands(in: line) else {
        // Only an open quote is refused: one more closes it, whatever it holds.
        #expect(line.contains("\""))
        continue
      }
      let characters = Array(line)
      var end = 0
      for word in commands.joined() {
        #expect(!word.range.isEmpty && word.range.lowerBound >= end, "\(line.debugDescription)")
        end = word.range.upperBound
        #expect(end <= characters.count)
        if !characters[word.range].contains("\"") {
          #expect(String(characters[word.range]) == word.text, "\(line.debugDescription)")
        }
      }
      #expect(!commands.contains([]), "\(line.debugDescription)")
    }
  }

  @Test(arguments: [
    ("limit=3", "limit", "3"), ("work=exp:40ms", "work", "exp:40ms"), ("a=", "a", ""),
    ("a=b=c", "a", "b=c"),
  ])
  func `a key and its value are told apart with their places`(
    _ text: String,
    _ key: String,
    _ value: String
  ) throws {
    let word = Word(text, at: 10..<10 + text.count)
    let parts = try #require(word.keyAndValue)
    #expect(parts.key == Word(key, at: 10..<10 + key.count))
    #expect(parts.value == Word(value, at: 11 + key.count..<10 + text.count))
  }

  @Test(arguments: ["=3", "3", "<=3", "a b=3", "t1=3", ""])
  func `what has no name before the sign is no key`(_ text: String) {
    #expect(Word(text, at: 0..<text.count).keyAndValue == nil)
  }
}
