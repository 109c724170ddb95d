import Foundation
import TestSupport
import Testing

@testable import Shell

@Suite(.watched) struct ExportTests {
  @Test(arguments: [
    ("run.json", "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["), ("run.svg", "<svg "),
    ("run.html", "<!doctype html>"),
    ("run.csv", "task,"), ("run.jsonl", "{\"schema\":\"lab-run/1\""),
    ("run.txt format=csv", "task,"),
  ])
  func `the ending says the format`(_ words: String, _ beginning: String) async throws {
    let scratch = try ScratchFolder()
    let lab = Lab()
    await lab.run("run 12 limiter limit=3")
    #expect(await lab.outcome(of: "export \(scratch.path)/\(words)") == .done)
    let name = words.components(separatedBy: " ")[0]
    let text = try String(contentsOfFile: scratch.path + "/" + name, encoding: .utf8)
    #expect(text.lowercased().hasPrefix(beginning.lowercased()), "\(text.prefix(40))")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: scratch.path) == [name],
      "nothing else is left behind"
    )
    #expect(lab.output.takeText().contains("\(text.utf8.count)".suffix(3)))
  }

  @Test
  func `a comparison is exported as one page, with a row and a picture for each run`() async throws
  {
    let scratch = try ScratchFolder()
    let lab = Lab()
    #expect(await lab.outcome(of: "export \(scratch.path)/comparison.html") == .failed)
    let said = await lab.run(
      "compare 12 limiter pool none limit=3; export \(scratch.path)/comparison.html"
    )
    #expect(said.contains("HTML page of a comparison"))
    let page = try String(contentsOfFile: scratch.path + "/comparison.html", encoding: .utf8)
    for name in ["limiter", "pool", "none"] {
      #expect(page.contains("<tr><th scope=\"row\">\(name)</th><td>"), "\(name)")
    }
    #expect(page.components(separatedBy: "<img src=\"data:image/svg+xml;base64,").count == 4)
    #expect(page.contains("none keeps no limit: 12 at once"), "the sentences are there too")
    #expect(!page.contains("http://") && !page.contains("https://"))
  }

  @Test(arguments: [
    "endgame.html", "my-game.html format=html", "run-comparison.html run=1", "game.html format=csv",
  ])
  func `a run that is asked for is exported under any name`(_ words: String) async throws {
    let scratch = try ScratchFolder()
    let lab = Lab()
    await lab.run("run 3; compare 3 limiter pool")
    #expect(await lab.outcome(of: "export \(scratch.path)/\(words)") == .done)
    let said = lab.output.takeText()
    #expect(said.contains("CSV") || said.contains(", HTML page\n"), "\(said)")
  }

  @Test
  func `a file that exists is replaced only when forced, and what fails leaves it alone`()
    async throws
  {
    let scratch = try ScratchFolder()
    let file = try scratch.file("run.csv", "precious")
    let lab = Lab()
    await lab.run("run 3")
    #expect(await lab.outcome(of: "export \(file)") == .failed)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "precious")
    #expect(await lab.outcome(of: "export \(file) force") == .done)
    #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("task,"))
    #expect(await lab.outcome(of: "export \(scratch.path) format=csv force") == .failed)
    #expect(
      lab.output.takeComplaints().last
        == "test:1: '\(scratch.path)' cannot be written: it is a folder."
    )
  }

  @Test
  func `a CSV is a table of the tasks, as the help says`() async throws {
    let scratch = try ScratchFolder()
    let lab = Lab()
    let help = await lab.run("help export").split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
    #expect(help.contains(".csv a table with a row for each task; .jsonl the events"))
    await lab.run("run 3; export \(scratch.path)/run.csv")
    let rows = try String(contentsOfFile: scratch.path + "/run.csv", encoding: .utf8)
      .split(separator: "\n").dropFirst()
    #expect(rows.map { $0.prefix { $0 != "," } } == ["t01", "t02", "t03"])
  }

  @Test
  func `a link stays a link, and a device stays a device`() async throws {
    let scratch = try ScratchFolder()
    let file = try scratch.file("real.csv", "old")
    let link = scratch.path + "/link.csv"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
    let lab = Lab()
    await lab.run("run 3")
    #expect(await lab.outcome(of: "export \(link) force") == .done)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == file)
    #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("task,"))
    #expect(await lab.outcome(of: "export /dev/null format=csv") == .done)
    #expect(await lab.outcome(of: "export /dev/full format=csv force") == .failed)
    #expect(
      lab.output.takeComplaints() == ["test:1: '/dev/full' cannot be written: the disk is full."]
    )
    for device in ["/dev/null", "/dev/full"] {
      let type = try FileManager.default.attributesOfItem(atPath: device)[.type]
      #expect(type as? FileAttributeType == .typeCharacterSpecial)
    }
  }
}
