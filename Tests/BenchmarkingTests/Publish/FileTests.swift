import Benchmarking
import Foundation
import TestSupport
import Testing

@Suite(.watched) struct `Comma-separated values` {
  @Test func `cells with commas, quotes and line ends are quoted`() {
    #expect(
      CSV.text(header: ["a", "b"], [["1,5", "say \"no\""], ["x\ny", "z"]])
        == "a,b\r\n\"1,5\",\"say \"\"no\"\"\"\r\n\"x\ny\",z\r\n"
    )
  }

  @Test func `what was written reads back the same`() {
    let records = [["", "a", "\"", ",", "\r\n", "é"], ["1", "", "", "", "", ""]]
    let header = ["h1", "h2", "h3", "h4", "h5", "h6"]
    #expect(CSV.records(CSV.text(header: header, records)) == [header] + records)
  }

  /// A quote with an accent is one character to Swift, but still a quote to a program that reads the file.
  @Test func `a quote or a comma with a combining mark is still a quote or a comma`() {
    let records = [["\"\u{301}", "b"], [",\u{301}", "say \"\u{301}no\""]]
    let text = CSV.text(header: ["h1", "h2"], records)
    #expect(
      text.unicodeScalars.elementsEqual(
        "h1,h2\r\n\"\"\"\u{301}\",b\r\n\",\u{301}\",\"say \"\"\u{301}no\"\"\"\r\n".unicodeScalars
      )
    )
    #expect(CSV.records(text) == [["h1", "h2"]] + records)
  }

  @Test func `whole numbers have no point and unknown ones are empty`() {
    #expect(CSV.number(3.0) == "3")
    #expect(CSV.number(0.25) == "0.25")
    #expect(CSV.number(Double.nan) == "")
    #expect(CSV.number(nil as Int?) == "")
  }
}

@Suite(.watched) struct `The run folder` {
  private func folder(_ parent: String, fingerprint: String = "f") throws -> RunFolder {
    try RunFolder(parent: parent, mode: "quick", fingerprint: fingerprint, date: "2026-11-20")
  }

  private func record(_ number: Int) -> BlockRecord {
    var report = TrialReport()
    report.add(.timePerOperation, "mean", 12.5)
    return BlockRecord(
      number: number,
      fork: number,
      entry: 0,
      trials: [BlockRecord.Entry(contestant: 0, report: report)]
    )
  }

  @Test func `a published run is there whole, packed where its name says so`() async throws {
    try await withTemporaryFolder { parent in
      let run = try folder(parent)
      #expect(run.runID == "2026-11-20-quick-1")
      #expect(try visible(parent).isEmpty)
      let path = try await run.publish([
        ("results.csv", "a\r\n"), ("env.json", "{}\n"), ("rounds.csv.gz", "b\r\n"),
      ])
      #expect(path == "\(parent)/2026-11-20-quick-1")
      #expect(try visible(path) == ["env.json", "results.csv", "rounds.csv.gz"])
      #expect(try await Compression.text(of: "\(path)/rounds.csv.gz") == "b\r\n")
      #expect(try all(parent) == ["2026-11-20-quick-1"])
    }
  }

  @Test func `an interim state can be read, and the run goes on and takes its place`() async throws
  {
    try await withTemporaryFolder { parent in
      do {
        let run = try folder(parent)
        try run.append(record(1))
        for text in ["a", "b"] {
          let path = try await run.publish([("f", text)], suffix: RunFolder.interruptedSuffix)
          #expect(try String(contentsOfFile: "\(path)/f", encoding: .utf8) == text)
        }
      }
      let resumed = try folder(parent)
      #expect(resumed.resumed == [record(1)])
      _ = try await resumed.publish([])
      #expect(try all(parent) == ["2026-11-20-quick-1"])
    }
  }

  @Test func `the next run takes the next number`() async throws {
    try await withTemporaryFolder { parent in
      _ = try await folder(parent).publish([])
      #expect(try folder(parent).runID == "2026-11-20-quick-2")
    }
  }

  @Test func `two runs under way do not share a number`() async throws {
    try await withTemporaryFolder { parent in
      let one = try folder(parent)
      let two = try folder(parent)
      #expect(one.runID != two.runID)
    }
  }

  @Test func `an interrupted run of the same plan is resumed`() async throws {
    try await withTemporaryFolder { parent in
      do {
        let run = try folder(parent)
        try run.append(record(1))
        try run.append(record(2))
      }
      #expect(RunFolder.interruptedRuns(in: parent) == ["2026-11-20-quick-1"])
      let resumed = try folder(parent)
      #expect(resumed.runID == "2026-11-20-quick-1")
      #expect(resumed.resumed == [record(1), record(2)])
    }
  }

  @Test func `an interrupted run of another plan is left alone`() async throws {
    try await withTemporaryFolder { parent in
      do { try folder(parent, fingerprint: "one").append(record(1)) }
      let other = try folder(parent, fingerprint: "other")
      #expect(other.runID == "2026-11-20-quick-2")
      #expect(other.resumed.isEmpty)
    }
  }

  @Test func `a run that is let go of can be gone on with, whoever has a copy of its open log`()
    async throws
  {
    try await withTemporaryFolder { parent in
      // As a child has until it is its own program.
      var copies: [Int32] = []
      defer { for copy in copies { close(copy) } }
      do {
        let run = try folder(parent)
        try run.append(record(1))
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
          let target = try? FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/self/fd/\(name)"
          )
          if target == "\(run.partialPath)/log", let log = Int32(name) { copies.append(dup(log)) }
        }
      }
      #expect(!copies.isEmpty)
      #expect(RunFolder.interruptedRuns(in: parent).count == 1)
      #expect(try folder(parent).resumed == [record(1)])
    }
  }

  @Test func `half a line at the end of the log is as if it had never been written`() async throws {
    try await withTemporaryFolder { parent in
      let log: String
      do {
        let run = try folder(parent)
        try run.append(record(1))
        log = "\(run.partialPath)/log"
      }
      let handle = try #require(FileHandle(forWritingAtPath: log))
      try handle.seekToEnd()
      try handle.write(contentsOf: Data(#"{"number":2,"fo"#.utf8))
      try handle.close()
      let resumed = try folder(parent)
      #expect(resumed.resumed == [record(1)])
      try resumed.append(record(2))
      let text = try String(contentsOfFile: log, encoding: .utf8)
      #expect(text.split(separator: "\n").count == 2)
    }
  }

  @Test func `a parent that is no folder is refused with its name`() async throws {
    try await withTemporaryFolder { parent in
      try "".write(toFile: "\(parent)/file", atomically: true, encoding: .utf8)
      let error = #expect(throws: RunFolderError.self) { try folder("\(parent)/file/results") }
      #expect("\(try #require(error))".contains("\(parent)/file/results"))
    }
  }

  private func visible(_ path: String) throws -> [String] {
    try all(path).filter { !$0.hasPrefix(".") }
  }

  private func all(_ path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }
}

func withTemporaryFolder(_ body: (String) async throws -> Void) async throws {
  let path = NSTemporaryDirectory() + "bench-tests-" + UUID().uuidString
  try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: path) }
  try await body(path)
}
