import Foundation
import TestSupport
import Testing

@testable import Shell

/// `> FILE`, `>> FILE` and `| PROGRAM` behind a command.
@Suite(.watched) struct RedirectionTests {
  @Test(arguments: [
    ("run.json", "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["), ("run.svg", "<svg "),
    ("run.html", "<!doctype html>"), ("run.csv", "task,"),
    ("run.jsonl", "{\"schema\":\"lab-run/1\""), ("run.txt", "12 tasks of 100 ms"),
    ("run", "12 tasks of 100 ms"),
  ])
  func `the ending of the file says what of the run is written`(_ name: String, _ beginning: String)
    async throws
  {
    let scratch = try ScratchFolder()
    let lab = Lab()
    let path = "\(scratch.path)/\(name)"
    #expect(await lab.outcome(of: "run 12 limiter limit=3 > \(path)") == .done)
    let said = lab.output.takeText()
    #expect(said.hasPrefix("written: \(path), ") && said.count { $0 == "\n" } == 1, "\(said)")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.lowercased().hasPrefix(beginning.lowercased()), "\(text.prefix(60))")
    #expect(await lab.run("stats").contains("mean"), "the run is kept as any other")
  }

  @Test
  func `what a command shows is what is written, whatever was shown before`() async throws {
    let scratch = try ScratchFolder()
    let lab = Lab()
    await lab.run("run 3")
    let said = await lab.run("compare 12 limiter pool limit=3 > \(scratch.path)/both.html")
    #expect(said.hasSuffix("HTML page of a comparison of limiter and pool\n"), "\(said)")
    let first = await lab.run("timeline of 1 > \(scratch.path)/comparison.svg")
    #expect(first.hasSuffix("SVG picture of run 1: 3 tasks through limiter, limit 3\n"), "\(first)")
    #expect(await lab.outcome(of: "mechanisms > \(scratch.path)/all.svg") == .failed)
    #expect(
      lab.output.takeComplaints() == [
        "test:1: there is no SVG picture of what 'mechanisms' shows. End the file's name in .txt for its words, or in .jsonl."
      ]
    )
    await lab.run("mechanisms > \(scratch.path)/all.jsonl")
    let all = try String(contentsOfFile: scratch.path + "/all.jsonl", encoding: .utf8)
    #expect(all.hasPrefix("{\"id\":"))
  }

  @Test
  func `one sign replaces what is there, two add to it`() async throws {
    let scratch = try ScratchFolder()
    let path = try scratch.file("said.txt", "before\n")
    let lab = Lab()
    await lab.run("run 3")
    await lab.run("events t03 >> \(path)")
    let added = try String(contentsOfFile: path, encoding: .utf8)
    #expect(added.hasPrefix("before\n") && added.contains("t03  arrived"), "\(added)")
    await lab.run("why t03 >\(path)")
    let replaced = try String(contentsOfFile: path, encoding: .utf8)
    #expect(!replaced.contains("before") && replaced.hasPrefix("t03 "), "\(replaced)")
  }

  @Test(arguments: [
    ("run 3 >", "behind '>' comes the name of a file"),
    ("run 3 > a.svg b.svg", "'b.svg' comes after the file"),
    ("run 3 > /nowhere/at/all.svg", "there is no folder /nowhere/at"),
    ("run 3 > /tmp", "it is a folder"),
    ("run 3 >> more.svg", "'>>' cannot add to a file in this format"),
    ("run 3 > a.txt | cat", "what goes to a file goes to no program too"),
    ("run 3 | ", "behind '|' comes a command of your shell"),
    ("run 3 || stats", "'||' is for other shells"),
    ("run 3 && stats", "'&&' is for other shells"), ("source < file", "'<' is for other shells"),
    ("| cat", "in front of '|' comes a command of the lab"),
    ("run 3 | echo 'a", "behind '|' a quote is never closed"),
  ])
  func `what is wrong is said, and nothing is run`(_ line: String, _ message: String) async {
    let lab = Lab()
    #expect(await lab.outcome(of: line) == .failed)
    let complaints = lab.output.takeComplaints()
    #expect(complaints.count == 1 && complaints[0].contains(message), "\(complaints)")
    await lab.run("stats")
    #expect(lab.output.takeComplaints().first?.contains("no run to show yet") == true)
  }

  @Test
  func `signs that a command compares by are its own`() async {
    let lab = Lab()
    #expect(await lab.outcome(of: "run 12 limiter limit=3; expect makespan > 300ms") == .done)
    #expect(await lab.outcome(of: "expect makespan >= 500ms") == .unmet)
  }

  @Test
  func `a program reads what a command says, up to a semicolon outside its quotes`() async throws {
    let scratch = try ScratchFolder()
    let lab = Lab()
    await lab.run("run 3 limit=1")
    let told = await lab.run(
      "events | grep 't03\\|;' | head -n 1 > '\(scratch.path)/a;b' # the first\nshow | cat >\(scratch.path)/c; why t02"
    )
    #expect(told.hasPrefix("t02 "), "what goes to a program is not shown: \(told)")
    let first = try String(contentsOfFile: scratch.path + "/a;b", encoding: .utf8)
    #expect(first.hasSuffix("t03  arrived on w1\n") && first.count { $0 == "\n" } == 1, "\(first)")
    #expect(try String(contentsOfFile: scratch.path + "/c", encoding: .utf8).contains("limit"))
    #expect(lab.output.takeComplaints().isEmpty)
  }

  @Test
  func `a program named jq is given JSON Lines, others words`() async throws {
    let scratch = try ScratchFolder()
    let lab = Lab()
    await lab.run("run 3 limit=1")
    // The name is what counts; whether there is a jq on this machine does not matter.
    let jq = scratch.path + "/jq"
    try await writeScript("cat > '\(scratch.path)/lines'", to: jq)
    await lab.run(
      "events | \(jq) .task; events | cat > \(scratch.path)/words; export - format=csv | cat > \(scratch.path)/table"
    )
    let lines = try String(contentsOfFile: scratch.path + "/lines", encoding: .utf8)
    #expect(lines.hasPrefix("{\"t\":0,\"task\":\"t01\""), "\(lines.prefix(60))")
    #expect(
      try String(contentsOfFile: scratch.path + "/words", encoding: .utf8).contains("arrived on")
    )
    #expect(try String(contentsOfFile: scratch.path + "/table", encoding: .utf8).hasPrefix("task,"))
  }

  @Test(arguments: [
    ("false", "'false' ended with status 1"),
    ("kill -9 $$", "was ended by signal 9"), ("exit 7", "'exit 7' ended with status 7"),
    ("no-such-program-anywhere 2>/dev/null", "ended with status 127"),
  ])
  func `a program that fails makes the command fail, and one that leaves early does not`(
    _ program: String,
    _ message: String
  ) async {
    let lab = Lab()
    let outcome = await lab.outcome(of: "run 3; events | \(program)")
    #expect(outcome == .failed)
    let complaints = lab.output.takeComplaints()
    #expect(complaints.count == 1 && complaints[0].contains(message), "\(complaints)")
    #expect(await lab.outcome(of: "run 4000; events | head -n 1 > /dev/null") == .done)
  }

  @Test
  func `a violation is told by the status, and a failed command writes nothing`() async throws {
    let scratch = try ScratchFolder()
    let lab = Lab()
    let path = scratch.path + "/run.svg"
    let line = "run 12 specimen-published-limiter limit=3 cancel=50% work=exp:100ms"
    #expect(await lab.outcome(of: "\(line) > \(path)") == .violated)
    #expect(FileManager.default.fileExists(atPath: path))
    #expect(await lab.outcome(of: "\(line) | cat > /dev/null") == .violated)
    #expect(await lab.outcome(of: "run 12 nothing > \(scratch.path)/none.svg") == .failed)
    #expect(!FileManager.default.fileExists(atPath: scratch.path + "/none.svg"))
  }

  @Test
  func `'open' writes the page of what was shown last, and it goes with the session`() async throws
  {
    var path = ""
    do {
      let lab = Lab()
      #expect(await lab.outcome(of: "open") == .failed)
      let said = await lab.run("run 3; open")
      #expect(said.contains("HTML page of run 1: 3 tasks through limiter"), "\(said)")
      let place = try #require(said.firstRange(of: "file://"))
      path = String(said[place.upperBound...].prefix { !$0.isWhitespace })
      #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("<!doctype html>"))
      #expect(
        await lab.run("compare 3 limiter pool; open").contains("HTML page of a comparison of")
      )
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}
