import Basics
import TestSupport
import Testing

@testable import Shell

@Suite(.watched) struct `Completing a word` {
  /// What Tab makes of the word before `|`, which stands for the cursor; nil when it lists.
  private func tab(_ marked: String, _ candidates: Completion.Candidate...) -> String? {
    let before = marked.prefix { $0 != "|" }
    let line = String(before + marked.dropFirst(before.count + 1))
    let cursor = line.index(line.startIndex, offsetBy: before.count)
    let start = line[..<cursor].lastIndex(of: " ").map { line.index(after: $0) }
    let completion = Completion(
      replacing: (start ?? line.startIndex)..<cursor,
      candidates: candidates
    )
    switch CompletionAction.decide(line: line, cursor: cursor, completion: completion) {
    case .nothing: return line
    case .replace(let range, let text): return line.replacingCharacters(in: range, with: text)
    case .list(let listed):
      #expect(listed == candidates)
      return nil
    }
  }

  @Test func `nothing fits: nothing changes`() {
    #expect(tab("run x|") == "run x")
  }

  @Test func `the only candidate is put in whole, with its ending`() {
    #expect(tab("run li|", .init("limiter")) == "run limiter ")
    #expect(tab("run li|", .init("limit=", ending: "")) == "run limit=")
  }

  @Test func `an ending that is there already is not doubled`() {
    #expect(tab("ru| 5", .init("run")) == "run 5")
    #expect(tab("run| 5", .init("run")) == "run 5")
  }

  @Test func `several candidates are put in as far as they agree`() {
    #expect(tab("r|", .init("running"), .init("runs")) == "run")
    #expect(tab("|", .init("spawn"), .init("specimen")) == "sp")
    #expect(tab("ré|", .init("réparer"), .init("répéter")) == "rép")
  }

  @Test func `several that agree on no more are listed`() {
    #expect(tab("run|", .init("running"), .init("runs")) == nil)
    #expect(tab("|", .init("a"), .init("b")) == nil)
  }

  @Test func `candidates that fit otherwise than by their beginning take nothing away`() {
    #expect(tab("queue|", .init("fifo-queue"), .init("fifo-queue-2")) == nil)
  }

  @Test func `a candidate written with other capitals replaces what was typed`() {
    #expect(tab("READ|", .init("readme.md"), .init("readme.txt")) == "readme.")
  }
}

extension String {
  fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
    self[..<range.lowerBound] + text + self[range.upperBound...]
  }
}

@Suite(.watched) struct `Listing of candidates` {
  private func lines(
    _ candidates: [Completion.Candidate],
    columns: Int = 40,
    rows: Int = 24
  ) -> [String] {
    CandidateListing.lines(for: candidates, size: TerminalSize(columns: columns, rows: rows))
  }

  @Test func `names fill columns downwards`() {
    let names = ["a", "bb", "ccc", "d", "ee"].map { Completion.Candidate($0) }
    #expect(lines(names, columns: 16) == ["a    ccc  ee", "bb   d"])
    #expect(lines(names) == ["a    bb   ccc  d    ee"])
    #expect(lines(names, columns: 4) == ["a", "bb", "ccc", "d", "ee"])
  }

  @Test func `descriptions stand beside their names`() {
    let candidates = [
      Completion.Candidate("run", description: "spawn tasks"),
      Completion.Candidate("limiter", description: "ConcurrencyLimiter"), Completion.Candidate("x"),
    ]
    #expect(lines(candidates) == ["run      spawn tasks", "limiter  ConcurrencyLimiter", "x"])
  }

  @Test func `what is left out is counted`() {
    let names = (1...30).map { Completion.Candidate("name\($0)") }
    #expect(lines(names, columns: 10, rows: 6) == ["name1", "name2", "(28 more)"])
    #expect(
      lines(names, columns: 20, rows: 6) == ["name1   name16", "name2   name17", "(26 more)"]
    )
  }

  @Test func `no line is as wide as the window, whatever its size`() {
    let candidates = ["漢字漢字", "limit=", "a-rather-long-name"].map {
      Completion.Candidate($0, description: "said of it")
    }
    for columns in 2...60 {
      for list in [candidates, candidates.map { Completion.Candidate($0.text) }] {
        for line in lines(list, columns: columns, rows: 3) where !line.hasSuffix("more)") {
          #expect(CellWidth.of(line) < columns)
        }
      }
    }
  }
}
