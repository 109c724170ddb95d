import Basics
import Benchmarking
import Foundation
import FoundationXML
import Mechanisms
import TestSupport
import Testing

/// A run that was never run, with figures for everything that is drawn.
struct ImaginedRun {
  let plan: Plan
  let records: [BlockRecord]
  let files: RunFiles

  /// `distance` is how far apart the processors were in the blocks of a cell, by its place in the plan.
  init(
    _ selection: Selection = Selection(scale: .standard),
    distance: (_ entry: Int) -> ProcessorDistance? = { _ in nil }
  ) throws {
    plan = try Plan(selection)
    let plan = plan
    var records = plan.records { trial, report in
      var generator = SplitMix64(seed: UInt64(trial.index * 100 + trial.place))
      let name = trial.contestant.mechanism ?? ""
      let cost = Double(100 + 40 * name.utf8.count) * (1 + 0.02 * generator.nextUnit())
      // A figure is reported once; the response is below, with its distribution.
      for metric in Metric.all where metric.id != Metric.response.id {
        report.add(metric, "mean", cost)
        // All figures of all metrics take a debug build seconds.
        guard metric.id == trial.entry.headline?.metric.id else { continue }
        report.add(metric, "p50", cost * 0.9)
        report.add(metric, "p99", cost * 3)
      }
      report.add(.makespan, "max", cost)
      let isLimited = name != "none"
      report.add(.peakRequests, "max", isLimited ? Double(trial.entry.cell.limit ?? 1) : cost)
      report.add(.recovery, "total", cost)
      report.add(.response, of: (1...100).map { Int64(cost) * $0 })
      report.serviceKind = trial.entry.cell.serviceKind ?? "suspend"
      if trial.fork == 1, trial.block.entry == plan.stampedEntry {
        report.stamps = [Stamps(intended: 0, arrival: 1, admission: 2, departure: 3)]
      }
      report.series = [
        Series(metric: Metric.peakThreads.id, times: [0, 5, 9, 12], values: [4, 4, 5, 5])
      ]
    }
    for (index, block) in plan.blocks().enumerated() {
      records[index].distance = distance(block.entry)
    }
    self.records = records
    files = RunFiles(
      runID: "2026-11-20-default-1",
      plan: plan,
      records: records,
      summary: Summary(plan: plan, records: records)
    )
  }

  var environment: EnvironmentRecord {
    EnvironmentRecord(
      runID: "2026-11-20-default-1",
      command: ["bench", "--filter", "a<b & c"],
      seed: plan.seed,
      forks: plan.forks.upperBound,
      toolchain: "Swift version 6.3.1"
    )
  }
}

@Suite(.watched) struct `The report and the plots` {
  /// Made once: the bootstrap takes a while in a debug build.
  private static let imagined = Result {
    let run = try ImaginedRun(
      Selection(forks: 6, mechanisms: ["operation-queue", "limiter", "none"])
    )
    let files = try run.files.all(run.environment).map { ($0.name, $0.text) }
    return (run, Dictionary(uniqueKeysWithValues: files))
  }

  /// Its tables by their names, but for the one that is as long as all others together.
  private static let tables = Result {
    try imagined.get().1.filter { $0.key.contains(".csv") && $0.key != "rounds.csv.gz" }
      .mapValues(CSV.records)
  }

  private let run: ImaginedRun
  private let all: [String: String]

  init() throws { (run, all) = try Self.imagined.get() }

  @Test func `every kind of plot is drawn`() {
    let drawn = all.keys.filter { $0.hasSuffix(".svg") }
    for prefix in [
      "ratios-", "latency-", "percentiles", "cancellation", "memory",
      "threads-",
    ] {
      #expect(drawn.contains { $0.hasPrefix(prefix) }, "\(prefix)")
    }
  }

  @Test func `every plot is well-formed and names the mechanisms it shows`() throws {
    for (name, text) in all where name.hasSuffix(".svg") {
      let parser = XMLParser(data: Data(text.utf8))
      #expect(parser.parse(), "\(name): \(String(describing: parser.parserError))")
      // Without a limiter is what the executors alone are measured with.
      let names = text.contains(">limiter</text>") || text.contains(">none on lanes</text>")
      #expect(names, "\(name)")
      let hasNoNumber = text.contains("nan") || text.contains("inf\"")
      #expect(!hasNoNumber, "\(name)")
      // For programs that are no browsers.
      let (variables, withoutLiteral) = StandaloneStyles.variables(in: text)
      #expect(variables > 10 && withoutLiteral.isEmpty, "\(name): \(withoutLiteral)")
    }
  }

  @Test func `a plot is as wide as its longest text needs`() throws {
    for (name, text) in all where name.hasSuffix(".svg") {
      let box = try #require(text.firstMatch(of: /viewBox="(-?[0-9.]+) 0 ([0-9.]+)/)).output
      let left = try #require(Double(box.1))
      let right = try left + #require(Double(box.2))
      for match in text.matches(of: /<text x="([0-9.]+)"[^>]*text-anchor="(\w+)"[^>]*>([^<]*)</) {
        // No letter of these is wider in the mean, however wide the font.
        let width = Double(match.output.3.count) * 6.8
        let x = try #require(Double(match.output.1))
        let share =
          switch match.output.2 {
          case "start": 0.0
          case "middle": 0.5
          default: 1.0
          }
        let start = x - width * share
        #expect(start >= left && start + width <= right, "\(name): \(match.output.3)")
      }
    }
  }

  @Test func `the report needs nothing from elsewhere`() throws {
    let report = try #require(all["report.html"])
    for reference in ["src=", "<link", "url(", "@import", "fetch(", "XMLHttp", "import("] {
      #expect(!report.contains(reference), "\(reference)")
    }
    // A regular expression takes seconds for so much text.
    let addresses = report.components(separatedBy: "http").dropFirst()
      .map { "http" + $0.prefix { $0 != "\"" } }
      .filter { $0.hasPrefix("http://") || $0.hasPrefix("https://") }
    #expect(Set(addresses) == ["http://www.w3.org/2000/svg"])
  }

  @Test func `the report answers, section by section, and its contents lead there`() throws {
    let report = try #require(all["report.html"])
    for heading in [
      "Which should I use?", "Can it be believed?", "In short", "Once the work is real",
      "How to read it",
      "Where theory disagrees", "How to do it again", "What the figures mean",
    ] {
      #expect(report.contains("<h2>\(heading)</h2>"), "\(heading)")
    }
    for workload in BenchWorkloads.all where workload.measuresMechanisms {
      #expect(report.contains("id=\"w-\(workload.id)\""), "\(workload.id)")
    }
    let links = Set(report.matches(of: /href="#([^"]+)"/).map { String($0.output.1) })
    #expect(links.count > 20)
    for link in links {
      #expect(report.ranges(of: "id=\"\(link)\"").count == 1, "\(link)")
    }
  }

  @Test func `the contents of a small run lead only to what it has`() throws {
    let small = try ImaginedRun(Selection(scale: .ci, forks: 2, filter: "hand-off.*limiter"))
    let report = small.files.report(small.environment)
    let links = Set(report.matches(of: /href="#([^"]+)"/).map { String($0.output.1) })
    #expect(links.filter { !report.contains("id=\"\($0)\"") } == [])
  }

  @Test func `of a cell of another distance, a part's too, the report has a link that leads to it`()
    throws
  {
    let near = ProcessorDistance(before: 80, after: 80)
    let far = ProcessorDistance(before: 400, after: 400)
    // Each of these cells in turn, whether a mechanism's or a part's.
    let selection = Selection(
      scale: .ci,
      forks: 6,
      filter: "hand-off.*limiter|baseline-(lock|yield)"
    )
    for other in try Plan(selection).entries.indices {
      let run = try ImaginedRun(selection) { $0 == other ? far : near }
      let report = run.files.report(run.environment)
      let sentence = try #require(report.firstMatch(of: /Made of other blocks: <a href="#([^"]+)"/))
      #expect(report.ranges(of: "id=\"\(sentence.output.1)\"").count == 1, "cell \(other)")
    }
  }

  /// What a section of a report holds.
  private func section(_ id: String, of report: String) throws -> String {
    let start = try #require(report.range(of: "<section id=\"\(id)\""), "\(id)")
    let end = try #require(report[start.upperBound...].range(of: "</section>"))
    return String(report[start.lowerBound..<end.lowerBound])
  }

  @Test func `without intervals nobody is named best, and the report says why`() throws {
    let few = try ImaginedRun(
      Selection(scale: .ci, mechanisms: ["limiter", "pool", "task-group"], filter: "uncontended")
    )
    let report = few.files.report(few.environment)
    let short = try section("short", of: report)
    #expect(!short.contains("<span class=\"name"), "\(short)")
    #expect(short.contains("nobody: fewer than 6 forks"))
    #expect(report.contains("<span class=\"answer\"></span>"))
    #expect(!report.contains("<span class=\"answer\"><span"))
  }

  @Test func `where suspended bodies overlap the table says who does not limit them`() throws {
    let found = try found("image-cache-distinct limit=1 ", limits: [1]) { _, _ in }
    #expect(!found.report.contains("does not limit this"))
    let all = try ImaginedRun(
      Selection(scale: .standard, forks: 2, limits: [1], filter: "image-cache-distinct limit=1 ")
    )
    let report = all.files.report(all.environment)
    #expect(report.ranges(of: "does not limit this").count == 2)
  }

  /// What a run found whose limiter costs a tenth of the others, and what `report` adds.
  private func found(
    _ filter: String,
    limits: [Int]? = nil,
    _ report: (Contestant, inout TrialReport) -> Void
  ) throws -> (plan: Plan, summary: Summary, report: String) {
    let plan = try Plan(
      Selection(
        limits: limits,
        mechanisms: ["limiter", "pool", "task-group", "none"],
        filter: filter
      )
    )
    let records = plan.records { trial, said in
      var generator = SplitMix64(seed: UInt64(trial.index * 100 + trial.place))
      let cost = trial.contestant.mechanism == "limiter" ? 300.0 : 3_000
      if let headline = trial.entry.headline {
        said.add(headline.metric, headline.stat, cost * (1 + 0.02 * generator.nextUnit()))
      }
      report(trial.contestant, &said)
    }
    let summary = Summary(plan: plan, records: records)
    let files = RunFiles(runID: "r", plan: plan, records: records, summary: summary)
    return (plan, summary, files.report(run.environment))
  }

  @Test(arguments: ["contended-empty", "hand-off limit=1", "fairness limit=4"])
  func `where hardly anybody waited for the reference nobody is best, and there is no verdict`(
    cell: String
  ) throws {
    let found = try found(cell) { who, report in
      if who.mechanism != "none" {
        report.add(.waited, "mean", who.mechanism == "limiter" ? 0.5 : 99)
      }
    }
    let short = try section("short", of: found.report)
    #expect(short.contains("nobody: only 0.500 % of limiter&#39;s visits waited"), "\(short)")
    #expect(!short.contains("<span class=\"name"), "\(short)")
    #expect(!found.report.contains("<span class=\"answer\"><span"))
    let verdicts = found.summary.lines.compactMap { line in
      let who = found.plan.entries[line.entry].contestants[line.contestant]
      return who.executor == .lanes || who.isAgain ? nil : line.comparison?.verdict
    }
    #expect(Set(verdicts) == [.incomparable])
    let reading = try section("reading", of: found.report)
    #expect(reading.contains("<code>\(found.plan.entries[0].cell.workload)</code>"))
  }

  @Test func `who was seen above its limit is ranked nowhere, and the report says who it was`()
    throws
  {
    let found = try found("image-cache-distinct limit=1 ", limits: [1]) { who, report in
      // Faster by nothing but the limit that it does not keep.
      let peaks = ["pool": 20.0, "none": 64, "limiter": 1, "task-group": 1]
      report.add(.peakRequests, "max", peaks[who.mechanism ?? ""])
      if who.mechanism == "pool" {
        for index in report.measures.indices where report.measures[index].value > 2_000 {
          report.measures[index].value /= 100
        }
      }
    }
    let short = try section("short", of: found.report)
    #expect(short.contains(">limiter</span>") && !short.contains(">pool</span>"), "\(short)")
    let order = try #require(found.summary.ranking(0)).map {
      found.plan.entries[0].contestants[$0.contestant].mechanism
    }
    #expect(
      order == ["limiter", "task-group", "none", "pool"]
        || order == ["limiter", "none", "task-group", "pool"]
    )
    let believed = try section("believed", of: found.report)
    #expect(believed.contains("never above a limit that is promised"))
    #expect(believed.contains("pool</span> with 20 at once in"), "\(believed)")
    #expect(found.report.contains("no comparison: ran above the limit"))
    #expect(!RealWorkAnswer(found.summary).sentences.contains { $0.contains("pool") })
  }

  @Test func `who is slower than the reference is tied with nobody`() throws {
    // Path by path, though the paths' own spread is far wider than the difference.
    let plan = try Plan(
      Selection(scale: .quick, mechanisms: ["limiter", "pool"], filter: "open-loop limit=2")
    )
    var generator = SplitMix64(seed: 9)
    let paths = (0...plan.forks.upperBound).map { _ in 1 + 9 * generator.nextUnit() }
    let records = plan.records { trial, report in
      let factor = trial.contestant.mechanism == "pool" ? 1.1 : 1
      let noise = 1 + 0.01 * (2 * generator.nextUnit() - 1)
      report.add(.stretch, "mean", paths[trial.fork] * factor * noise)
    }
    let summary = Summary(plan: plan, records: records)
    #expect(summary.lines.contains { $0.comparison?.verdict == .slower })
    let files = RunFiles(runID: "r", plan: plan, records: records, summary: summary)
    let report = files.report(run.environment)
    let short = try section("short", of: report)
    #expect(short.contains(">limiter</span>") && !short.contains(">pool</span>"), "\(short)")
    #expect(
      try section("believed", of: report)
        .contains("never above a limit that is promised, every task")
    )
  }

  /// *In short* of a run in which each contestant costs what `cost` says, and a little more or less.
  private func short(
    _ filter: String,
    _ mechanisms: [String],
    noise: Double = 0.002,
    _ cost: (Contestant) -> Double
  ) throws -> String {
    let plan = try Plan(Selection(forks: 16, mechanisms: mechanisms, filter: filter))
    var generator = SplitMix64(seed: 5)
    let records = plan.records { trial, report in
      guard let headline = trial.entry.headline else { return }
      let factor = 1 + noise * (2 * generator.nextUnit() - 1)
      report.add(headline.metric, headline.stat, cost(trial.contestant) * factor)
      report.add(.waited, "mean", 99)
    }
    let summary = Summary(plan: plan, records: records)
    let files = RunFiles(runID: "r", plan: plan, records: records, summary: summary)
    return try section("short", of: files.report(run.environment))
  }

  @Test func `who is skipped at its turn is not the best of those that are cancelled`() throws {
    let told = try short("cancel-random", ["limiter", "gcd-semaphore", "pool"]) {
      $0.mechanism == "gcd-semaphore" ? 100 : $0.mechanism == "pool" ? 500 : 1_000
    }
    #expect(told.contains(">pool</span>"), "\(told)")
    #expect(!told.contains(">gcd-semaphore"), "\(told)")
  }

  @Test func `who runs on lanes is compared with itself, and not the best of a cell`() throws {
    let told = try short("contended-yield limit=4", ["limiter", "pool"]) {
      $0.executor == .lanes ? 100 : $0.mechanism == "pool" ? 500 : 1_000
    }
    #expect(told.contains(">pool</span>"), "\(told)")
    #expect(!told.contains("lanes</span>"), "\(told)")
  }

  @Test func `where nobody is told apart from the reference all are tied with it`() throws {
    let told = try short("contended-yield limit=4", ["limiter", "pool", "gcd-gate"], noise: 0.2) {
      $0.mechanism == "limiter" ? 1_010 : 1_000
    }
    for name in ["limiter", "pool", "gcd-gate"] {
      #expect(told.contains(">\(name)</span>"), "\(told)")
    }
  }

  @Test func `one decided to be faster comes before one that was faster by chance`() throws {
    var turn = 0
    let told = try short("contended-yield limit=4", ["limiter", "pool", "gcd-gate"]) { who in
      turn += 1
      // Below the pool in the median, and all over the place.
      if who.mechanism == "gcd-gate" { return turn.isMultiple(of: 3) ? 9_000 : 700 }
      return who.mechanism == "pool" ? 800 : 1_000
    }
    let pool = try #require(told.range(of: ">pool</span>"))
    let gate = told.range(of: ">gcd-gate</span>")
    #expect(gate.map { pool.lowerBound < $0.lowerBound } ?? true, "\(told)")
    #expect(!told.contains(">limiter</span>"), "\(told)")
  }

  @Test(
    .long,
    arguments: [
      Selection(
        forks: 7,
        mechanisms: ["operation-queue", "limiter", "none"],
        filter: "uncontended|open-loop|threads|cancel-random|contended-yield|image-cache"
      ),
      // Without a mechanism, and twice.
      Selection(forks: 7, filter: "baseline-clock|call-run"),
    ]
  ) func `a run read back from its folder gives the same summary, report and plots`(
    _ selection: Selection
  ) async throws {
    let run = try ImaginedRun(selection)
    var records = run.records
    records[1].trials[0].report.violations = ["a permit is missing"]
    // The processors were moved: those blocks do not count.
    for index in records.indices {
      let nanoseconds = records[index].fork == 3 ? 400.0 : 80
      records[index].distance = ProcessorDistance(before: nanoseconds, after: nanoseconds + 1)
    }
    // What share a process have rounds.
    for index in records.indices where run.plan.entries[records[index].entry].isPaired {
      for place in records[index].trials.indices {
        let once = records[index].trials[place].report.measures
        records[index].trials[place].report.measures = once.flatMap { measure in
          (1...3).map { round in
            var measure = measure
            measure.repetition = round
            measure.value *= 1 + 0.01 * Double(round)
            return measure
          }
        }
      }
    }
    let files = RunFiles(
      runID: run.environment.runID,
      plan: run.plan,
      records: records,
      summary: Summary(plan: run.plan, records: records)
    )
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("republished-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let written = try files.all(run.environment)
    for file in written {
      let isDerived = file.name == "summary.csv" || file.name == "report.html"
      let text = isDerived ? "" : file.text
      let isPacked = file.name.hasSuffix(Compression.suffix)
      let name = isPacked ? String(file.name.dropLast(Compression.suffix.count)) : file.name
      try text.write(to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
      if isPacked { try await Compression.pack([name], in: folder.path) }
    }
    let names = try await PublishedRun(folder: folder.path, plan: run.plan).rewrite()
    #expect(names.contains("summary.csv"))
    #expect(names.contains("percentiles.svg") == (selection.mechanisms != nil))
    #expect(!names.contains("results.csv"))
    // What is packed is what was read.
    for file in written where !file.name.hasSuffix(Compression.suffix) {
      let now = try String(contentsOf: folder.appendingPathComponent(file.name), encoding: .utf8)
      #expect(now == file.text, "\(file.name) differs")
    }
  }

  @Test func `every cell is compared with its own reference, and the report and the plots name it`()
    throws
  {
    // At limit 1 an ordered queue is the first of them; at others it is not measured.
    let mixed = try ImaginedRun(
      Selection(
        scale: .quick,
        forks: 6,
        limits: [1, 2],
        mechanisms: ["fifo-queue", "pool", "task-group"],
        filter: "contended-yield"
      )
    )
    #expect(mixed.plan.entries.map(\.reference) == ["fifo-queue", "pool"])
    let files = try mixed.files.all(mixed.environment)
    let report = try #require(files.first { $0.name == "report.html" }?.text)
    let short = try section("short", of: report)
    #expect(short.contains("<td class=\"n\">fifo-queue, "))
    #expect(short.contains("<td class=\"n\">pool, "))
    #expect(!short.contains("'s</th>"))
    let plot = try #require(files.first { $0.name == "ratios-contended-yield.svg" }?.text)
    #expect(plot.contains(" · reference fifo-queue</text>"))
    #expect(plot.contains(" · reference pool</text>"))
    #expect(plot.contains(": ratio to the reference</text>"))
  }

  @Test func `a figure over paths says that it is one, with the interval that it has`() throws {
    let report = try #require(all["report.html"])
    let paths = try section("w-open-loop", of: report)
    #expect(paths.contains("<th>99 %</th>"))
    #expect(!paths.contains("<th>96 %</th>"))
    // Of six forks the interval from the first to the last covers that much.
    let medians = try section("w-uncontended", of: report)
    #expect(medians.contains("<th>96 %</th>"))
    #expect(!medians.contains("<th>99 %</th>"))
    let plot = try #require(all["ratios-open-loop.svg"])
    #expect(plot.contains("ring: ratio, process by process"))
    #expect(
      try #require(all["ratios-uncontended.svg"]).contains("in the same process, round by round")
    )
  }

  @Test func `every cell folds open to its figures and its forks, under a question in words`()
    throws
  {
    let report = try #require(all["report.html"])
    let cells = report.matches(of: /<details class="cell" id="cell-[0-9]+"><summary>([^<]+)/)
    let compared = run.plan.entries.filter {
      BenchWorkloads.named($0.cell.workload)?.measuresMechanisms == true
    }
    #expect(cells.count == compared.count)
    for cell in cells {
      let words = cell.output.1
      #expect(words.contains(" "), "\(words)")
      #expect(!words.contains("="), "\(words)")
    }
    #expect(Set(cells.map(\.output.1)).count == cells.count)
    #expect(report.contains("best mechanism"))
    #expect(!report.contains("best limit"))
    #expect(report.utf8.count < 3_000_000)
  }

  @Test func `a column or a figure of the first process alone is marked beside one of all`() throws
  {
    let plan = try Plan(
      Selection(scale: .quick, mechanisms: ["limiter", "pool"], filter: "open-loop limit=2")
    )
    let records = plan.records { trial, report in
      report.add(.stretch, "mean", 1 + Double(trial.place + trial.fork) / 100)
      report.add(.response, "mean", 1_000)
      if trial.fork == 1 { report.add(.processorTime, "mean", 500) }
      if trial.fork == 1 || trial.contestant.mechanism == "limiter" {
        report.add(.waiting, "mean", trial.contestant.mechanism == "pool" ? 777 : 300)
      }
    }
    let files = RunFiles(
      runID: "r",
      plan: plan,
      records: records,
      summary: Summary(plan: plan, records: records)
    )
    let mark = /<th class="n">[^†]*?( <abbr title="of the first process only">†<\/abbr>)?<\/th>/
    let section = try section("w-open-loop", of: files.report(run.environment))
    #expect(
      section.contains(
        "<td class=\"n\">777 ns <abbr title=\"of the first process only\">†</abbr></td>"
      )
    )
    #expect(section.contains("<td class=\"n\">300 ns</td>"))
    let heads = section.matches(of: mark)
      .map { (words: String($0.output.0), isMarked: $0.output.1 != nil) }
    #expect(heads.contains { $0.words.contains("cpu time") && $0.isMarked }, "\(heads)")
    #expect(heads.contains { $0.words.contains("response") && !$0.isMarked }, "\(heads)")
    #expect(!heads.contains { $0.words.contains("response") && $0.isMarked }, "\(heads)")
  }

  @Test
  func `the guide takes its costs from the run, and has a row of features for each mechanism`() {
    let guide = Guide(run.files.summary)
    let limiter = Guide.needs[0]
    #expect(Guide.needs.count == 6)
    #expect(guide.costs(limiter).count == 3)
    let report = all["report.html"] ?? ""
    for cost in guide.costs(limiter) { #expect(report.contains("<b>\(cost.figure)</b>")) }
    for entry in Catalogue.mechanisms {
      let row = Guide.features(of: entry)
      #expect(row.count == Guide.features.count)
      #expect(report.contains("<td>\(row[1])</td>"))
    }
    // Those that the run did not measure say so.
    #expect(report.contains("not measured in this run"))
  }

  @Test func `whether the choice matters is answered from the figures of real work`() throws {
    func sentences(_ filter: String, forks: Int) throws -> [String] {
      let selection = Selection(
        forks: forks,
        mechanisms: ["operation-queue", "limiter", "pool", "none"],
        filter: filter
      )
      return RealWorkAnswer(try ImaginedRun(selection).files.summary).sentences
    }
    // What is imagined of a mechanism costs by the length of its name.
    let work = "image-cache-distinct limit=4"
    let told = try sentences("uncontended|\(work)", forks: 10)
    #expect(told.count == 2)
    #expect(told[0].contains("a difference in 2 of 2 comparisons, at most 1.8"), "\(told[0])")
    #expect(told[0].contains("the dearest limiter takes 2.68"), "\(told[0])")
    #expect(told[1].contains("operation-queue is slower, 1.8"), "\(told[1])")
    #expect(told[1].contains("pool is faster, 0.6"), "\(told[1])")
    #expect(told[1].contains("without a limit the server had"))
    #expect(try sentences(work, forks: 1)[0].contains("cannot say whether"))
    #expect(
      try sentences("\(work).*(limiter|none)", forks: 10) == []
    )
    #expect(try sentences("uncontended", forks: 3) == [])
  }

  @Test func `what the user typed is escaped`() throws {
    let report = try #require(all["report.html"])
    #expect(report.contains("a&lt;b &amp; c"))
    #expect(!report.contains("a<b"))
  }

  @Test func `the spectrum of a latency rises to the last value`() {
    for key in run.files.histograms.keys {
      let steps = run.files.histograms.spectrum(key)
      #expect(steps.map(\.count) == steps.map(\.count).sorted())
      #expect(steps.last?.count == steps.last?.total)
      #expect(steps.last?.percentile == 100)
    }
  }

  @Test func `every table has the columns its header says`() throws {
    for (name, table) in try Self.tables.get() {
      #expect(table.count > 1, "\(name)")
      #expect(table.allSatisfy { $0.count == table[0].count }, "\(name)")
    }
  }

  /// What `pandas.merge` would do on the columns that say what was measured.
  @Test func `the tables join on their keys, and no key is a number with a point`() throws {
    let tables = try Self.tables.get()
    func keys(_ name: String) throws -> Set<[String]> {
      let table = try #require(tables[name])
      let places = try RunFiles.keyColumns.map {
        try #require(table[0].firstIndex(of: $0), "\($0)")
      }
      for column in ["limit", "tasks", "service_ns", "processors"] {
        let place = try #require(table[0].firstIndex(of: column))
        #expect(table.dropFirst().allSatisfy { $0[place].isEmpty || Int($0[place]) != nil })
      }
      return Set(table.dropFirst().map { row in places.map { row[$0] } })
    }
    let summary = try #require(tables["summary.csv"])
    let names = try (RunFiles.keyColumns + ["metric", "stat"]).map {
      try #require(summary[0].firstIndex(of: $0))
    }
    let figures = summary.dropFirst().map { row in names.map { row[$0] } }
    let twice = Dictionary(grouping: figures) { $0 }.filter { $1.count > 1 }.keys
    #expect(twice.count == 0, "\(Array(twice.prefix(3)))")
    let measured = try keys("results.csv")
    #expect(try keys("summary.csv") == measured)
    for name in ["histograms.csv.gz", "series.csv.gz", "stamps.csv.gz"] {
      let some = try keys(name)
      #expect(!some.isEmpty && some.isSubset(of: measured), "\(name)")
    }
    let kinds = summary.dropFirst().map { $0[7] }
    #expect(kinds.allSatisfy { !$0.isEmpty })
  }

  @Test func `the buckets of a histogram hold every value once and are the same in every run`()
    throws
  {
    for key in run.files.histograms.keys {
      let buckets = run.files.histograms.buckets(key)
      guard let total = run.files.histograms.spectrum(key).last?.total,
        buckets.reduce(0, { $0 + $1.count }) == total
      else {
        Issue.record("\(key)")
        return
      }
    }
    var next: UInt64 = 0
    while next < 100_000 {
      let bucket = MergedHistograms.bucket(of: next)
      #expect(bucket.lowerBound == next)
      #expect(MergedHistograms.bucket(of: bucket.upperBound) == bucket)
      #expect(bucket.count <= max(1, Int(next) / 8))
      next = bucket.upperBound + 1
    }
  }

  /// The format's grammar: a configuration line, or a name, a count, and pairs of value and unit.
  @Test func `the Go benchmark file has a line a fork in the format's grammar`() throws {
    let text = try #require(all["benchmarks.txt.gz"])
    let lines = text.split(separator: "\n")
    let results = lines.filter { $0.hasPrefix("Benchmark") }
    // The second half of the reference is nobody to compare with.
    let compared = run.plan.entries.map { $0.compared.count * $0.forks }.reduce(0, +)
    #expect(results.count == compared)
    for line in results {
      #expect(line.wholeMatch(of: /Benchmark[A-Z]\S* 1 [0-9.e+-]+ \S+/) != nil, "\(line)")
    }
    for line in lines where !line.hasPrefix("Benchmark") {
      #expect(line.wholeMatch(of: /[a-z]+: .+/) != nil, "\(line)")
    }
  }
}

@Suite(.watched) struct `Quantities for people` {
  @Test(arguments: [
    (0.0, "ns", "0 ns"), (71.34, "ns", "71.3 ns"), (3_410.0, "ns", "3.41 us"),
    (999.7, "ns", "1.00 us"), (2_000_000.0, "ns", "2.00 ms"), (12.0e9, "ns", "12.0 s"),
    (2_955.0, "bytes", "2.96 kB"), (1_234_567.0, "per_s", "1.23 M/s"), (0.5, "percent", "0.500 %"),
    (17.0, "count", "17"), (8.0, "count", "8"), (0.0004, "count", "0.0004"),
    (0.000021, "count", "0.00002"),
  ])
  func `three digits and the unit that keeps them short`(
    value: Double,
    unit: String,
    text: String
  ) {
    #expect(Quantity.text(value, unit: unit) == text)
  }
}

@Suite(.watched) struct `The comparison with a baseline` {
  /// `results.csv` of an imagined run in which the mechanism `slowed` costs `factor` times as much.
  private func results(
    seed: UInt64,
    slowed: String = "",
    factor: Double = 1,
    forks: Int? = nil
  ) throws -> String {
    let plan = try Plan(
      Selection(
        scale: .quick,
        forks: forks,
        filter: "uncontended.* (limiter|pool|task-group)$|call-permit"
          + "|baseline-(loop|clock|lock|yield|spawn)"
      )
    )
    var generator = SplitMix64(seed: seed)
    // The machine of one run is not quite that of another.
    let machine = 1 + 0.04 * (2 * generator.nextUnit() - 1)
    let records = plan.records { trial, report in
      let who = trial.contestant.mechanism
      let noise = 1 + 0.03 * (2 * generator.nextUnit() - 1)
      report.add(
        .timePerOperation,
        "mean",
        100 * machine * noise * (who == slowed || trial.entry.cell.workload == slowed ? factor : 1)
      )
    }
    let summary = Summary(plan: plan, records: records)
    return RunFiles(runID: "r", plan: plan, records: records, summary: summary).results()
  }

  private func comparison(_ seed: UInt64, slowed: String, factor: Double, forks: Int? = nil) throws
    -> BaselineComparison
  {
    BaselineComparison(
      baseline: try PublishedFigures(csv: results(seed: seed, forks: forks)),
      current: try PublishedFigures(
        csv: results(seed: ~seed, slowed: slowed, factor: factor, forks: forks)
      ),
      seed: 1
    )
  }

  @Test func `a tenfold regression is undecided with three forks and a regression with ten`()
    throws
  {
    let few = try comparison(5, slowed: "pool", factor: 10, forks: 3)
    #expect(few.regressions.isEmpty)
    let enough = try comparison(5, slowed: "pool", factor: 10, forks: 10)
    #expect(enough.regressions.map(\.key.parts[1]) == ["pool"])
  }

  @Test func `one figure is told in the singular`() throws {
    let runs = try (results(seed: 1), results(seed: 2))
    func figures(_ results: String, _ mechanisms: [String]) throws -> PublishedFigures {
      let records = CSV.records(results)
      let column = try #require(records[0].firstIndex(of: "mechanism"))
      let kept = records.dropFirst().filter { mechanisms.contains($0[column]) }
      return try PublishedFigures(csv: CSV.text(header: records[0], Array(kept)))
    }
    func text(_ now: [String], _ then: [String]) throws -> String {
      BaselineComparison(
        baseline: try figures(runs.0, then),
        current: try figures(runs.1, now),
        seed: 1
      ).text
    }
    let all = BaselineComparison(
      baseline: try figures(runs.0, ["pool"]),
      current: try figures(runs.1, ["pool"]),
      seed: 1
    )
    try #require(all.lines.count == 1)
    #expect(all.text.contains("against the baseline, 1 figure compared\n"))
    let one = try text(["pool", "limiter"], ["pool"])
    #expect(one.contains(" · 1 figure is in one of the runs only"), "\(one)")
    let both = try text(["pool", "limiter"], ["pool", "limiter"])
    #expect(both.contains("2 figures compared\n"))
  }

  @Test func `a run of the first schema, without executors, is compared with one on the pool`()
    throws
  {
    let now = try results(seed: 1)
    let records = CSV.records(now)
    let earlier = CSV.text(
      header: Array(records[0].dropLast(4)),
      records.dropFirst().map { row in
        ["bench-results/1"] + row.dropFirst().dropLast(4)
      }
    )
    let comparison = BaselineComparison(
      baseline: try PublishedFigures(csv: earlier),
      current: try PublishedFigures(csv: now),
      seed: 1
    )
    #expect(comparison.lines.count == 4)
    #expect(comparison.unmatched == 0)
  }

  @Test(arguments: 1...10)
  func `a mechanism made a fifth slower is the one regression`(seed: UInt64) throws {
    let comparison = try comparison(seed, slowed: "pool", factor: 1.25)
    #expect(comparison.regressions.map(\.key.parts[1]) == ["pool"])
    #expect(comparison.improvements.isEmpty)
    #expect(comparison.text.contains("pool"))
  }

  @Test func `code of ours without a mechanism is judged, and is not taken for the machine`() throws
  {
    let comparison = try comparison(4, slowed: "call-permit", factor: 2)
    #expect(comparison.regressions.map(\.key.parts[0]) == ["call-permit"])
    let judged = Set(comparison.lines.map(\.key.parts[0]))
    #expect(judged == ["call-permit", "uncontended"])
    let drift = try #require(comparison.machineDrift)
    #expect((0.9...1.1).contains(drift))
  }

  @Test(arguments: 1...10)
  func `unchanged code is no regression, ten times out of ten`(seed: UInt64) throws {
    let comparison = try comparison(seed, slowed: "", factor: 1)
    #expect(comparison.regressions.isEmpty)
    #expect(comparison.improvements.isEmpty)
    #expect(comparison.unmatched == 0)
  }

  @Test func `a mechanism made a fifth faster is an improvement`() throws {
    #expect(
      try comparison(3, slowed: "limiter", factor: 0.75).improvements.map(\.key.parts[1])
        == ["limiter"]
    )
  }

  @Test func `more memory is worse, not slower`() throws {
    let plan = try Plan(
      Selection(forks: 10, mechanisms: ["limiter", "pool", "task-group"], filter: "memory")
    )
    func figures(_ seed: UInt64, pool: Double) throws -> PublishedFigures {
      var generator = SplitMix64(seed: seed)
      let records = plan.records { trial, report in
        let who = trial.contestant.mechanism
        report.add(
          .heapPerWaiter,
          "mean",
          (who == "pool" ? pool : 500) * (1 + 0.01 * generator.nextUnit())
        )
      }
      let summary = Summary(plan: plan, records: records)
      let files = RunFiles(runID: "r", plan: plan, records: records, summary: summary)
      return try PublishedFigures(csv: files.results())
    }
    func text(_ pool: Double) throws -> String {
      BaselineComparison(
        baseline: try figures(1, pool: 500),
        current: try figures(2, pool: pool),
        seed: 1
      ).text
    }
    let (more, less) = (try text(900), try text(250))
    #expect(more.contains("  more\n") && !more.contains("slower"), "\(more)")
    #expect(less.contains("  less\n") && !less.contains("faster"), "\(less)")
  }

  @Test func `invalid rows take no part`() throws {
    let text = try results(seed: 1).replacingOccurrences(of: ",true,", with: ",false,")
    #expect(try PublishedFigures(csv: text).keys.isEmpty)
  }

  @Test func `another schema and another file are refused with what they are`() throws {
    let other = try results(seed: 1).replacingOccurrences(
      of: ResultRow.schema,
      with: "bench-results/9"
    )
    #expect(throws: PublishedFigures.Failure.self) { try PublishedFigures(csv: other) }
    let error = #expect(throws: PublishedFigures.Failure.self) {
      try PublishedFigures(csv: "a,b\r\n1,2\r\n")
    }
    #expect(error.map { "\($0)" }?.contains("workload") == true)
  }
}
