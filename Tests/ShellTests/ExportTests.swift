import Foundation
import Mechanisms
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
    #expect(page.components(separatedBy: "<canvas role=\"img\" aria-label=\"").count == 4)
    #expect(page.components(separatedBy: "aria-pressed=\"true\"").count == 4, "a switch for each")
    #expect(page.contains("none keeps no limit: 12 at once"), "the sentences are there too")
    #expect(!page.contains("http://") && !page.contains("https://"))
  }

  @Test(arguments: [
    ("endgame.html", "HTML page of a comparison of limiter and pool\n"),
    ("my-game.html format=html", "HTML page of a comparison of limiter and pool\n"),
    ("run-comparison.html run=1", "HTML page of run 1: 3 tasks through limiter, limit 3\n"),
    ("game.html of pool", "HTML page of run 'pool': 3 tasks through pool, limit 3\n"),
    ("game.html run=1 format=csv", "CSV of run 1: 3 tasks through limiter, limit 3\n"),
  ])
  func `what is asked for is exported under any name`(_ words: String, _ what: String) async throws
  {
    let scratch = try ScratchFolder()
    let lab = Lab()
    await lab.run("run 3 limit=3; compare 3 limiter pool limit=3")
    #expect(await lab.outcome(of: "export \(scratch.path)/\(words)") == .done)
    let said = lab.output.takeText()
    #expect(said.hasSuffix(what), "\(said)")
  }

  @Test
  func
    `what was shown last is written, a run, a comparison or an exploration, and it is told which`()
    async throws
  {
    let scratch = try ScratchFolder()
    let lab = Lab()
    var number = 0
    /// What is told of a file, and the file; nil where none was written.
    func export(_ ending: String, _ more: String = "") async -> (said: String, file: String?) {
      number += 1
      let path = "\(scratch.path)/\(number).\(ending)"
      let said = await lab.run("export \(path)\(more)")
      return (said, try? String(contentsOfFile: path, encoding: .utf8))
    }
    await lab.run("run 12 limiter limit=3 work=100ms")
    var (said, file) = await export("svg")
    #expect(said.hasSuffix("SVG picture of run 1: 12 tasks through limiter, limit 3\n"))
    let first = file

    await lab.run("compare 6 pool none limit=2")
    (said, file) = await export("html")
    #expect(said.hasSuffix("HTML page of a comparison of pool and none\n"), "\(said)")
    #expect(file?.contains("<th scope=\"row\">pool</th>") == true)
    (said, file) = await export("csv")
    #expect(file?.split(separator: "\n").count == 13)
    #expect(file?.contains("\npool,t1,") == true || file?.contains("\npool,t01,") == true)
    (said, file) = await export("jsonl")
    #expect(file?.split(separator: "\n").count == 2)
    (said, file) = await export("svg")
    #expect(file == nil, "one picture has room for one run, and not for an older one")
    (said, file) = await export("svg", " of none")
    #expect(file?.contains("6 tasks through none") == true)

    // A view of a run makes it what was shown last.
    await lab.run("timeline")
    (said, file) = await export("svg")
    #expect(file == first)
    await lab.run("timeline of pool")
    (said, file) = await export("svg")
    #expect(said.contains("SVG picture of run 'pool': 6 tasks through pool"), "\(said)")

    await lab.run("explore limiter tasks=2 limit=1 inside=no")
    (said, file) = await export("jsonl")
    #expect(said.hasSuffix("JSON Lines of an exploration of limiter\n"), "\(said)")
    #expect(file?.contains(#""schema":"lab-exploration/2""#) == true)
    (said, file) = await export("html")
    #expect(file == nil, "nothing was found that a page could show")
    (said, file) = await export("svg")
    #expect(file == nil, "nor a picture")
    await lab.run("explore specimen-lost-wake-up")
    (said, file) = await export("html")
    #expect(said.hasSuffix("HTML page of an exploration of specimen-lost-wake-up\n"), "\(said)")
    #expect(file?.contains("Each step is one") == true)
    (said, file) = await export("svg")
    #expect(said.hasSuffix("SVG picture of an exploration of specimen-lost-wake-up\n"), "\(said)")
    #expect(
      file?.contains(">2 tasks through specimen-lost-wake-up, limit 1: lost-wake-up in ") == true
    )
    (said, file) = await export("csv")
    #expect(file == nil, "a schedule has no table of tasks")
    await lab.run("step limiter tasks=2 limit=1; 1")
    (said, file) = await export("svg")
    #expect(said.hasSuffix("SVG picture of a schedule of limiter\n"), "\(said)")
    #expect(
      file?.contains(">2 tasks through limiter, limit 1: 1 step, no promise broken</text>") == true
    )
    (said, file) = await export("jsonl")
    #expect(said.hasSuffix("JSON Lines of a schedule of limiter\n"), "\(said)")
    #expect(file?.contains(#""schema":"lab-replay/1""#) == true)

    await lab.run("done; run 2 pool limit=1; spawn 4 limiter limit=1; advance 10ms")
    (said, file) = await export("csv")
    #expect(said.contains("CSV of the run in the background: 4 tasks through limiter"), "\(said)")
    await lab.session.leave()
  }

  @Test(arguments: ["svg", "html", "jsonl"])
  func `what a puzzle hides is not in what is exported of it`(_ ending: String) async throws {
    let scratch = try ScratchFolder()
    let lab = Lab()
    let file = "\(scratch.path)/game.\(ending)"
    let said = await lab.run("puzzle seed=7; 1; export \(file)")
    #expect(said.contains("a schedule of puzzle"), "\(said)")
    let name = Puzzle(seed: 7).mechanism.id
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(text.contains("puzzle") && !text.contains(name))
    _ = await lab.run("done")
  }

  @Test
  func `a dash is standard output, and what was written is told beside it`() async {
    let lab = Lab()
    await lab.run("run 3 limiter limit=1")
    let lines = await lab.run("export -")
    #expect(lines.utf8.count == 1_292)
    #expect(lines.hasPrefix(#"{"schema":"lab-run/1""#) && lines.hasSuffix("}}\n"), "\(lines)")
    #expect(
      lab.output.takeComplaints() == [
        "written: 1,292 bytes, JSON Lines of run 1: 3 tasks through limiter, limit 1"
      ]
    )
    #expect(await lab.run("export - format=csv force").hasPrefix("task,"))
    #expect(await lab.run("export - format=svg").hasPrefix("<svg "))
    #expect(!FileManager.default.fileExists(atPath: "-"))
    let json = Lab(json: true)
    await json.run("run 3 limiter limit=1")
    #expect(await json.run("export -") == lines)
    _ = json.output.takeComplaints()
    #expect(await json.outcome(of: "export - format=svg") == .failed)
    #expect(
      json.output.takeComplaints() == [
        "test:1: with --json there are only JSON Lines on standard output. Leave format= out, or name a file."
      ]
    )
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
  func `to a person what is told of a file or a figure is broken between words`() async {
    let lab = Lab(display: Display(width: 40))
    await lab.run("run 12 limiter limit=3")
    for line in ["export /dev/null format=csv", "expect peak_running < 3"] {
      _ = await lab.session.execute(line, at: .prompt(columns: 0))
      let lines = lab.output.takeText().split(separator: "\n")
      #expect(lines.count > 1 && lines.allSatisfy { $0.count <= 40 }, "\(lines)")
      let told = await lab.run(line).split(separator: "\n")
      #expect(told.count == 1, "a script reads a line: \(told)")
    }
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
