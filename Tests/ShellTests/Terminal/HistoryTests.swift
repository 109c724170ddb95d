import Basics
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Shell

@Suite(.watched) struct `Remembering lines` {
  @Test func `blank lines, lines that begin with a space and repetitions are not remembered`() {
    var history = History()
    let typed = ["run", "run", " secret", "", "   ", "run", "events", "run"]
    #expect(typed.filter { history.remembers($0) } == ["run", "events", "run"])
  }
}

@Suite(.watched) struct `History file` {
  private let folder = TemporaryFolder()

  private func file(_ name: String = "history", limit: Int = 100) -> HistoryFile {
    HistoryFile(path: "\(folder.path)/\(name)", limit: limit)
  }

  @Test func `what is appended is loaded, in order`() throws {
    for entry in ["one", "two ▒", "three"] { try file("new/folder/history").append(entry) }
    #expect(try file("new/folder/history").load().entries == ["one", "two ▒", "three"])
    #expect(
      try folder.read("new/folder/history") == "\(HistoryFile.header)\none\ntwo ▒\nthree\n"
    )
  }

  @Test func `a file that is not there is an empty history`() throws {
    #expect(try file().load() == HistoryFile.Content())
  }

  @Test func `a file cut short anywhere loads and goes on`() throws {
    let whole = Array("\(HistoryFile.header)\nfirst\nsécond ▒\n".utf8)
    for length in 0...whole.count {
      try folder.write(Array(whole[..<length]), to: "history")
      try file().append("last")
      #expect(try file().load().entries.last == "last")
      #expect(try folder.read("history").hasSuffix("\nlast\n"))
    }
  }

  @Test func `any bytes load`() throws {
    let bytes: [UInt8] = [0x00, 0x0A, 0x1B, 0x61, 0x80, 0xC3, 0xE2, 0xFF]
    for a in bytes {
      for b in bytes {
        for c in bytes {
          for d in bytes {
            let content = HistoryFile.parse([0x67, 0x0A, a, b, c, d, 0x0A, 0x68])
            #expect(content.entries.first == "g")
            #expect(content.entries.last == "h")
          }
        }
      }
    }
  }

  @Test func `damaged lines are left out and counted`() {
    let content = HistoryFile.parse(Array("good\n".utf8) + [0xFF, 0x0A] + Array("a\u{1B}b\n".utf8))
    #expect(content == HistoryFile.Content(entries: ["good"], damaged: 2))
  }

  @Test(arguments: ["# concurrency-lab history, version 2\nrun\n", "_HiStOrY_V2_\nrun\\0401\n"])
  func `a file of another version is left alone`(text: String) throws {
    try folder.write(text, to: "history")
    #expect {
      try file().load()
    } throws: { error in
      (error as? HistoryFile.Trouble)?.message.contains("another version") == true
    }
    #expect(try folder.read("history") == text)
  }

  @Test func `a file beyond the limit is shortened to its newest entries`() throws {
    try folder.write((1...250).map { "entry \($0)\n" }.joined(), to: "history")
    let newest = (151...250).map { "entry \($0)" }
    #expect(try file().load().entries == newest)
    #expect(
      try folder.read("history") == ([HistoryFile.header] + newest).joined(separator: "\n") + "\n"
    )
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["history"])
  }

  @Test func `a file that a link leads to is shortened, and the link stays`() throws {
    try folder.write((1...250).map { "entry \($0)\n" }.joined(), to: "real")
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder.path)/history",
      withDestinationPath: "real"
    )
    _ = try file().load()
    let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/history")
    #expect(attributes[.type] as? FileAttributeType == .typeSymbolicLink)
    #expect(try folder.read("real").hasPrefix(HistoryFile.header + "\nentry 151\n"))
  }

  @Test func `a huge file is read from its end`() throws {
    let line = String(repeating: "x", count: 999) + "\n"
    try folder.write(String(repeating: line, count: 20_000) + "last\n", to: "history")
    let entries = try file(limit: 100).load().entries
    #expect(entries.count == 100)
    #expect(entries.last == "last")
  }

  @Test(arguments: ["a folder", "a pipe", "/dev/null/history", "/dev/full"])
  func `what is no file is trouble to be told, not the end`(kind: String) throws {
    var path = "\(folder.path)/history"
    switch kind {
    case "a folder": mkdir(path, 0o700)
    case "a pipe": mkfifo(path, 0o600)
    default: path = kind
    }
    let file = HistoryFile(path: path, limit: 100)
    #expect {
      try file.append("entry")
    } throws: { error in
      (error as? HistoryFile.Trouble)?.message.contains(path) == true
    }
  }

  @Test func `a file locked by another program is given up on`() async throws {
    try folder.write("entry\n", to: "history")
    let other = open("\(folder.path)/history", O_RDWR)
    defer { close(other) }
    #expect(flock(other, LOCK_EX) == 0)
    await #expect(throws: HistoryFile.Trouble.self) {
      try await onOwnThread { [self] in try file().append("lost") }
    }
    #expect(try folder.read("history") == "entry\n")
  }

  @Test func `many writers and a reader that shortens lose nothing that fits the limit`()
    async throws
  {
    let limit = 400
    try await withThrowingTaskGroup { group in
      for writer in 0..<4 {
        group.addTask {
          try await onOwnThread { [self] in
            for number in 0..<100 {
              try file(limit: limit).append("w\(writer) \(number)")
              // Shortens whenever the file is over the limit, while the others write.
              if writer == 0 { _ = try file(limit: limit).load() }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let entries = try file(limit: limit).load().entries
    #expect(entries.count == 400)
    for writer in 0..<4 {
      #expect(
        entries.filter { $0.hasPrefix("w\(writer) ") } == (0..<100).map { "w\(writer) \($0)" }
      )
    }
  }

  @Test func `the state directory follows XDG_STATE_HOME, then HOME`() {
    func path(_ environment: [String: String]) -> String? {
      StateDirectory.path(for: "history", environment: environment)
    }
    #expect(path(["XDG_STATE_HOME": "/s", "HOME": "/h"]) == "/s/concurrency-lab/history")
    #expect(path(["HOME": "/h"]) == "/h/.local/state/concurrency-lab/history")
    #expect(
      path(["XDG_STATE_HOME": "", "HOME": "/h"]) == "/h/.local/state/concurrency-lab/history"
    )
    #expect(path(["XDG_STATE_HOME": "relative", "HOME": ""]) == nil)
  }
}

@Suite(.watched) struct `History at a terminal` {
  private let folder = TemporaryFolder()

  private func start() async throws -> PseudoTerminal {
    let terminal = try PseudoTerminal(
      builtExecutable("echo-editor"),
      environment: plainEnvironment.merging(["ECHO_EDITOR_HISTORY": "\(folder.path)/history"]) {
        $1
      },
      columns: 250
    )
    try await terminal.waitForCurrentLine("echo>")
    return terminal
  }

  private func enter(_ line: String, in terminal: PseudoTerminal) async throws {
    try await terminal.send(line + "\r")
    try await terminal.waitForText("line: \(line)\necho>")
  }

  private func leave(_ terminal: PseudoTerminal) async throws {
    try await terminal.send("\u{4}")
    #expect(try await terminal.waitForExit() == .exited(0))
  }

  @Test func `lines of one session are there in the next`() async throws {
    let first = try await start()
    try await enter("one ▒", in: first)
    try await enter(" kept secret", in: first)
    try await enter("two", in: first)
    try await enter("two", in: first)
    try await leave(first)
    let second = try await start()
    try await second.send("\u{1B}[A\u{1B}[A")
    try await second.waitForCurrentLine("echo> one ▒")
    try await second.send("\r")
    try await second.waitForText("line: one ▒")
    try await leave(second)
  }

  @Test func `two shells at once lose nothing`() async throws {
    let (one, other) = (try await start(), try await start())
    for number in 1...20 {
      try await one.send("one \(number)\r")
      try await other.send("other \(number)\r")
    }
    try await one.waitForText("line: one 20\necho>")
    try await other.waitForText("line: other 20\necho>")
    try await leave(one)
    try await leave(other)
    let kept = try folder.read("history").split(separator: "\n").map(String.init)
    #expect(kept.filter { $0.hasPrefix("one") } == (1...20).map { "one \($0)" })
    #expect(kept.filter { $0.hasPrefix("other") } == (1...20).map { "other \($0)" })
  }

  @Test func `a history that cannot be kept is a warning of one line`() async throws {
    mkdir("\(folder.path)/history", 0o700)
    let terminal = try await start()
    try await enter("one", in: terminal)
    try await enter("two", in: terminal)
    try await terminal.send("\u{1B}[A\u{1B}[A")
    try await terminal.waitForCurrentLine("echo> one")
    let warnings = terminal.transcript.split(separator: 0x0A).count {
      String(decoding: $0, as: UTF8.self).contains("warning:")
    }
    #expect(warnings == 1)
    try await terminal.send("\r")
    try await leave(terminal)
  }

  @Test func `a damaged history is a warning of one line and no hindrance`() async throws {
    try folder.write([0xFF, 0x00, 0x0A] + Array("good\nhalf a li".utf8), to: "history")
    let terminal = try await start()
    #expect(terminal.screen.lines.count { $0.hasSuffix("left out: 1") } == 1)
    try await terminal.send("\u{1B}[A\u{1B}[A")
    try await terminal.waitForCurrentLine("echo> good")
    try await terminal.send("\r")
    try await leave(terminal)
  }
}
