internal import Basics
internal import Foundation
internal import Mechanisms
internal import Statistics
internal import Trials

/// `report.html`: one self-contained page that says what was asked, what won, by how much, how sure,
/// where theory disagrees, and how to do it again.
struct HTMLReport {
  private let files: RunFiles
  private let environment: EnvironmentRecord
  private let drawing: RunPlots
  /// All of what `drawing` draws.
  private let plots: [RunPlots.Plot]
  private var plan: Plan { files.plan }
  private var summary: Summary { files.summary }

  init(
    _ files: RunFiles,
    _ environment: EnvironmentRecord,
    _ drawing: RunPlots,
    plots: [RunPlots.Plot]
  ) {
    self.files = files
    self.environment = environment
    self.drawing = drawing
    self.plots = plots
  }

  var text: String {
    let sections = [
      guide, validity, answers, realWork, reading, controls, questions, theory, reproduction,
      glossary,
    ].joined(separator: "\n")
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(escaped(files.runID))</title>
      <style>\(Palette.styleSheet)
      \(String(decoding: PackageResources.Report_css, as: UTF8.self))</style>
      </head>
      <body>
      <main>
      \(head)
      \(contents(of: sections))
      \(sections)
      </main>
      <script>\(String(decoding: PackageResources.Report_js, as: UTF8.self))</script>
      </body>
      </html>

      """
  }

  // MARK: Sections

  private var head: String {
    """
    <header>
    <h1>How many at once? <small>\(escaped(files.runID))</small></h1>
    <p>\(escaped(PlanText(plan).headline.replacingOccurrences(of: ", about", with: ", planned for")))</p>
    <p class="soft">\(escaped([
      environment.processor, environment.processorsOnline.map { "\($0) processors" },
      environment.kernel, environment.toolchain, environment.date,
    ].compactMap { $0 }.joined(separator: " · ")))</p>
    </header>
    """
  }

  /// Links to the parts that there are: a small run has no theory.
  private func contents(of sections: String) -> String {
    let parts =
      [
        ("which", "Which should I use?"), ("believed", "Can it be believed?"),
        ("short", "In short"), ("real", "Once the work is real"), ("reading", "How to read it"),
      ]
      + workloads.map { (anchor($0.id), $0.id) }
      + [
        ("theory", "Where theory disagrees"), ("again", "How to do it again"),
        ("glossary", "What the figures mean"),
      ]
    let links = parts.filter { sections.contains("id=\"\($0.0)\"") }.map {
      "<a href=\"#\($0)\">\(escaped($1))</a>"
    }
    return "<nav aria-label=\"Contents\">\(links.joined(separator: " "))</nav>"
  }

  /// The workloads that the run has cells of.
  private var workloads: [any BenchWorkload] {
    let measured = Set(plan.entries.map(\.cell.workload))
    return BenchWorkloads.all.filter { $0.measuresMechanisms && measured.contains($0.id) }
  }

  private var guide: String {
    let guide = Guide(summary)
    let needs = Guide.needs.map { need in
      let costs = guide.costs(need).map { "\(escaped($0.words)): <b>\(escaped($0.figure))</b>" }
      return """
        <tr data-m="\(need.mechanism)"><td class="wide">\(escaped(need.need))</td>\
        <td>\(name(need.mechanism))</td>\
        <td class="wide">\(escaped(need.reason))</td>\
        <td class="wide">\(costs.isEmpty ? "not measured in this run" : costs.joined(separator: "<br>"))</td>\
        <td class="wide">\(escaped(need.trap))</td></tr>
        """
    }
    let grid = Contestants.mechanisms.map { entry in
      let cells = Guide.features(of: entry).dropFirst().map { "<td>\(escaped($0))</td>" }
      return "<tr data-m=\"\(entry.id)\"><td>\(name(entry.id))</td>\(cells.joined())</tr>"
    }
    return """
      <section id="which"><h2>Which should I use?</h2>
      <div class="scroll"><table><thead><tr><th>you have</th><th>take</th><th>because</th>\
      <th>it costs, in this run</th><th>beware</th></tr></thead>
      <tbody>\(needs.joined(separator: "\n"))</tbody></table></div>
      <h3>What each can do</h3>
      <div class="scroll"><table><thead><tr>\(Guide.features.map { "<th>\(escaped($0))</th>" }.joined())\
      </tr></thead><tbody>\(grid.joined(separator: "\n"))</tbody></table></div>
      </section>
      """
  }

  private var validity: String {
    var lines: [String] = []
    if !environment.optimised {
      lines.append("<b>This was a debug build.</b> The figures say little about optimised code.")
    }
    if summary.violations.isEmpty {
      let above = aboveLimit
      let limit =
        above.isEmpty ? "never above the limit" : "never above the limit where that is promised"
      lines.append(
        "Every promise was kept in every trial: \(limit), every task exactly once, all permits back."
      )
      if !above.isEmpty {
        lines.append(
          "<b>Above their limit</b>, which they do not promise of bodies that suspend, were "
            + above.joined(separator: "; ") + ". These are ranked nowhere."
        )
      }
    } else {
      lines.append(
        "<b>Promises were broken:</b> "
          + summary.violations.map(escaped).joined(separator: "; ")
          + ". The figures of those trials do not count."
      )
    }
    lines.append(
      "\(summary.droppedBlocks) of \(summary.blocks) blocks were dropped because other "
        + "processes or the hypervisor disturbed them."
    )
    if !summary.tooNoisy.isEmpty {
      let names = summary.tooNoisy.map { escaped(plan.entries[$0].cell.name) }
      let which = names.count == plan.entries.count ? "every cell" : names.joined(separator: "; ")
      lines.append(
        "<b>Too noisy to say</b>, more than half of the forks being disturbed: \(which)."
      )
    }
    let pairs = summary.pairs
    if pairs.all > 0 {
      let typical = summary.noise.values.first?.typical ?? 0
      lines.append(
        "The same code measured twice agreed with itself in \(pairs.agreeing) of the \(pairs.all) "
          + "cells whose figures vary; the typical distance was \(Quantity.digits(typical * 100)) %. "
          + "Differences within a cell's own distance, or the typical one, are called inconclusive."
      )
    }
    let undecidable = summary.lines.count { $0.comparison?.verdict == .undecidable }
    if undecidable > 0 {
      lines.append(
        "<b>\(undecidable) comparisons are undecidable:</b> \(plan.forks) forks cannot tell even a "
          + "large difference from chance."
      )
    }
    let kind = summary.isValid ? "good" : "bad"
    return "<section id=\"believed\" class=\"box \(kind)\"><h2>Can it be believed?</h2><ul>"
      + lines.map { "<li>\($0)</li>" }.joined() + "</ul></section>"
  }

  /// Who was seen above its limit, where, and how far.
  private var aboveLimit: [String] {
    plan.entries.indices.flatMap { index in
      let entry = plan.entries[index]
      return entry.compared.compactMap { contestant -> String? in
        guard case .aboveLimit(let seen) = summary.exclusion(index, contestant) else { return nil }
        return "\(name(entry.contestants[contestant])) with \(seen) at once in "
          + "<a href=\"#\(anchor(index))\">\(escaped(entry.cell.words))</a>"
      }
    }
  }

  /// The whole run on one screen: for each cell who was best, and how the reference did.
  private var answers: String {
    let rows = plan.entries.indices.compactMap { index -> String? in
      let entry = plan.entries[index]
      guard let referred = entry.reference, let headline = entry.headline,
        let best = best(index), let own = reference(of: index)
      else { return nil }
      let unit = headline.metric.unit
      let reference = summary.line(index, own, headline)
      let names: String
      let figure: String
      switch best {
      case .nobody(let reason):
        names = "<span class=\"soft\">nobody: \(escaped(reason))</span>"
        figure = ""
      case .tied(let lines):
        names = lines.map { name(entry.contestants[$0.contestant]) }.joined(separator: " = ")
        figure = Quantity.text(lines[0].median, unit: unit)
      }
      return """
        <tr><td class="wide"><a href="#\(anchor(index))">\(escaped(entry.cell.words))</a></td>\
        <td>\(escaped(headline.label))</td>\
        <td class="wide">\(names)</td>\
        <td class="n">\(figure)</td>\
        <td class="n">\(escaped(referred))\
        \(reference.map { ", " + Quantity.text($0.median, unit: unit) } ?? "")</td></tr>
        """
    }
    guard !rows.isEmpty else { return "" }
    return """
      <section id="short"><h2>In short</h2>
      <p>Mechanisms joined by = are tied: their intervals overlap, so this run does not tell which of \
      them is best. Nobody is named where the first has no interval: it may be first by chance. Left out is \
      who limits nothing, who was seen above its limit, who is slower than the reference, and where the question is \
      about waiting, who hardly waited; if that is the reference, there is nothing to compare with. \
      \(Self.threadMark) marks those whose waiting tasks each hold a thread.</p>
      <div class="scroll"><table><thead><tr><th>question</th><th>figure</th><th>best mechanism</th>\
      <th class="n">best figure</th><th class="n">reference</th></tr></thead>
      <tbody>\(rows.joined(separator: "\n"))</tbody></table></div>
      </section>
      """
  }

  private var realWork: String {
    let sentences = RealWorkAnswer(summary).sentences
    guard let answer = sentences.first else { return "" }
    return """
      <section id="real"><h2>Once the work is real</h2>
      <p>Does the choice of limiter matter? \(escaped(answer))</p>
      <ul>\(sentences.dropFirst().map { "<li>\(escaped($0))</li>" }.joined(separator: "\n"))</ul>
      <p>A mechanism whose waiting requests each hold a thread is left out where requests go over HTTP: \
      URLSession delivers its answers on the threads that they hold.</p>
      </section>
      """
  }

  /// Who was best in a cell.
  private enum Best {
    /// The first and those tied with it.
    case tied([Summary.Line])
    case nobody(because: String)
  }

  /// The contestant of a cell that the others are compared with.
  private func reference(of index: Int) -> Int? {
    let entry = plan.entries[index]
    return entry.contestants.indices.first { entry.reference(of: $0) == nil }
  }

  /// Who was best in a cell; nil where there are no two to compare.
  ///
  /// No limit is not a way to limit, nor is the floor: they are what the others are measured against.
  private func best(_ index: Int) -> Best? {
    let entry = plan.entries[index]
    guard let ranking = summary.ranking(index), ranking.count > 1 else { return nil }
    if let own = reference(of: index), let why = summary.exclusion(index, own) {
      let who = entry.contestants[own].name ?? ""
      switch why {
      case .hardlyWaited(let percent):
        return .nobody(because: "only \(Quantity.digits(percent)) % of \(who)'s visits waited")
      case .aboveLimit(let seen):
        return .nobody(because: "of \(who) \(seen) ran at once")
      }
    }
    let limiting = ranking.filter { line in
      let who = entry.contestants[line.contestant]
      return who.limits && Contestants.mechanisms.contains { $0.id == who.mechanism }
    }
    // Executors are compared without a limiter.
    let lines = (limiting.isEmpty ? ranking : limiting).filter { line in
      summary.exclusion(index, line.contestant) == nil && line.comparison?.verdict != .slower
    }
    guard let first = lines.first else { return .nobody(because: "nobody is comparable") }
    guard let own = first.interval else {
      return .nobody(because: first.reasonForNoInterval ?? "no interval")
    }
    return .tied(
      lines.filter { line in
        // Of one without an interval there is only the figure to go by.
        let other = line.interval ?? Interval(low: line.median, high: line.median)
        return line.contestant == first.contestant || own.low <= other.high && other.low <= own.high
      }
    )
  }

  private var reading: String {
    """
    <section id="reading"><h2>How to read it</h2>
    <p>Every trial ran in a process of its own, \(plan.forks) for each row; the mechanisms of one \
    question ran next to each other in time, in random order. A figure is the median over the \
    processes. The brackets hold the median of all such processes with 95 % confidence. The ratio \
    compares with the reference, and on lanes, the work-stealing executor, with the same mechanism on \
    Swift's own pool; its bar is a 99 % bootstrap interval. <b>Faster</b> and <b>slower</b> are said \
    only if a rank test, corrected for all \(comparisons) comparisons of the run, finds a difference, \
    and the whole bar lies outside the shaded band, which is what the reference shows against itself. \
    Otherwise the verdict is <b>inconclusive</b>, which does not mean equal. It is <b>undecidable</b> \
    where so few processes could not have shown any difference.</p>
    <p>Where tasks come by a clock, every process draws arrivals and service times of its own, the same \
    for all mechanisms next to it. There a figure is the mean over these paths, its interval, at 99 %, \
    covers the luck of the draw as well as the machine, and mechanisms are compared path by path: the \
    ratio is the geometric mean of the paths' ratios, its bar is that of Student's t at 99 %, and \
    Student's test stands for the rank test.</p>
    <p><b>Waited</b> is the share of visits that found no free permit. \(waitingRule)Where the processes fall into two groups, both are shown, because \
    the median may lie between them where none was.</p>
    </section>
    """
  }

  /// Where too few waited there is no comparison; empty in a run without such questions.
  private var waitingRule: String {
    let asked = workloads.filter(\.needsWaiting).map { "<code>\(escaped($0.id))</code>" }
    guard !asked.isEmpty else { return "" }
    return "Where the question is about waiting, in \(ListText.all(asked)), and less than "
      + "\(Quantity.digits(Summary.leastWaitedPercent)) % waited, there is <b>no comparison</b>: a limiter "
      + "that nobody waits for looks free. "
  }

  private var comparisons: Int {
    summary.lines.count { line in
      line.comparison != nil && !plan.entries[line.entry].contestants[line.contestant].isAgain
    }
  }

  private var controls: String {
    let measured = Set(plan.entries.flatMap { $0.contestants.compactMap(\.mechanism) })
    let known = Contestants.mechanisms.map(\.id).filter(measured.contains)
    let names = known + measured.subtracting(known).sorted()
    let chips = names.map { id in
      "<button type=\"button\" data-m=\"\(escaped(id))\" aria-pressed=\"true\" "
        + "class=\"\(Palette.style(of: id))\">\(escaped(id))</button>"
    }
    return """
      <div class="chips" role="group" aria-label="Mechanisms to show">\(chips.joined(separator: " "))
      <button type="button" id="unfold">unfold all</button> \
      <button type="button" id="fold">fold all</button></div>
      """
  }

  private var questions: String {
    baselines
      + workloads.map { workload -> String in
        let indices = plan.entries.indices.filter { plan.entries[$0].cell.workload == workload.id }
        let drawings = plots.filter { $0.workload == workload.id && !$0.file.hasPrefix("forks-") }
          .map { figure($0.svg, $0.caption) }
        return """
          <section id="\(anchor(workload.id))"><h2>\(escaped(workload.id))</h2>
          <p>\(escaped(workload.question))</p>
          \(indices.map(cell).joined(separator: "\n"))
          <details class="cell"><summary>All of it drawn</summary>\(drawings.joined(separator: "\n"))</details>
          </section>
          """
      }.joined(separator: "\n")
  }

  /// One cell, folded: the question in words and who was best; inside, the figures and every fork.
  private func cell(_ index: Int) -> String {
    let entry = plan.entries[index]
    var answer = ""
    if case .tied(let lines) = best(index), let headline = entry.headline {
      answer =
        lines.map { name(entry.contestants[$0.contestant]) }.joined(separator: " = ")
        + " " + Quantity.text(lines[0].median, unit: headline.metric.unit)
    }
    let forks = drawing.forks(of: index)
    return """
      <details class="cell" id="\(anchor(index))"><summary>\(escaped(entry.cell.words)) \
      <span class="answer">\(answer)</span></summary>
      \(table(index))
      \(forks.map { figure($0, RunPlots.forksCaption) } ?? "")
      </details>
      """
  }

  /// The page has the drawings' style once.
  private func figure(_ svg: String, _ caption: String) -> String {
    "<figure>\(svg.replacingOccurrences(of: SVG.styleElement, with: ""))"
      + "<figcaption>\(escaped(caption))</figcaption></figure>"
  }

  /// The baselines in one table: what limiters are made of.
  private var baselines: String {
    let rows = plan.entries.indices.compactMap { index -> String? in
      guard let workload = BenchWorkloads.named(plan.entries[index].cell.workload),
        !workload.measuresMechanisms, let headline = workload.headline,
        let line = summary.line(index, 0, headline)
      else { return nil }
      let allocations = summary.line(index, 0, Headline(.allocations, "mean"))?.median
      return """
        <tr><td>\(escaped(workload.id))</td><td class="wide">\(escaped(workload.question))</td>\
        <td class="n strong">\(Quantity.text(line.median, unit: headline.metric.unit))</td>\
        <td class="soft">\(interval(line, unit: headline.metric.unit))</td>\
        <td class="n">\(allocations.map(Quantity.digits) ?? "")</td>\
        <td class="n soft">\(line.forks)</td></tr>
        """
    }
    guard !rows.isEmpty else { return "" }
    return """
      <section id="parts"><h2>What limiters are made of</h2>
      <p>The cost of a limiter is what it takes beyond these.</p>
      <div class="scroll"><table><thead><tr><th></th><th></th><th class="n">once</th><th>95 %</th>\
      <th class="n">allocations</th><th class="n">forks</th></tr></thead>
      <tbody>\(rows.joined(separator: "\n"))</tbody></table></div></section>

      """
  }

  /// One cell: a row a mechanism, best first, with the figures that explain the headline.
  private func table(_ index: Int) -> String {
    let entry = plan.entries[index]
    guard let ranking = summary.ranking(index), !ranking.isEmpty,
      let headline = plan.entries[index].headline
    else {
      return "<p class=\"soft\">\(escaped(entry.cell.name)): no valid figures.</p>"
    }
    let extras = Self.extras(of: entry.cell.workload).filter { extra in
      extra != headline && ranking.contains { summary.line(index, $0.contestant, extra) != nil }
    }
    let isCompared = entry.reference != nil
    let rows = ranking.map { line -> String in
      let who = entry.contestants[line.contestant].mechanism
      let unit = headline.metric.unit
      var cells = ["<td>\(name(entry.contestants[line.contestant]))</td>"]
      let modes = line.modes.map { "\(Quantity.text($0.median, unit: unit)) in \($0.forks)" }
      cells.append(
        "<td class=\"n strong\">\(Quantity.text(line.median, unit: unit))"
          + (modes.isEmpty ? "" : "<br><small>\(modes.joined(separator: ", ")) forks</small>")
          + "</td>"
      )
      cells.append("<td class=\"soft\">\(interval(line, unit: unit))</td>")
      if isCompared {
        let isReference = entry.reference(of: line.contestant) == nil
        let ratio = line.comparison?.ratio.map { Quantity.digits($0.value) }
        cells.append("<td class=\"n\">\(isReference ? "1" : ratio ?? "")</td>")
        cells.append("<td>\(isReference ? "reference" : verdict(line, headline))</td>")
      }
      for extra in extras {
        let value = summary.line(index, line.contestant, extra)?.median
        cells.append(
          "<td class=\"n\">\(value.map { Quantity.text($0, unit: extra.metric.unit) } ?? "")</td>"
        )
      }
      cells.append("<td class=\"n soft\">\(line.forks)</td>")
      return "<tr data-m=\"\(escaped(who ?? ""))\">\(cells.joined())</tr>"
    }
    var heads = [
      "<th></th>", "<th class=\"n\">\(label(headline))</th>",
      "<th>\(ranking[0].confidence) %</th>",
    ]
    if isCompared { heads += ["<th class=\"n\">ratio</th>", "<th>verdict</th>"] }
    heads += extras.map { "<th class=\"n\">\(label($0))</th>" }
    heads.append("<th class=\"n\">forks</th>")
    let noise =
      summary.noise[index].map { " · A/A noise ±\(Quantity.digits($0.band * 100)) %" } ?? ""
    let parameters = entry.cell.name.split(separator: " ").dropFirst().joined(separator: ", ")
    return """
      <p class="soft">\(escaped(parameters))\(noise)</p>
      <div class="scroll"><table><thead><tr>\(heads.joined())</tr></thead>
      <tbody>\(rows.joined(separator: "\n"))</tbody></table></div>
      """
  }

  private var theory: String {
    let wait = Headline(.waiting, "mean")
    let rows = plan.entries.indices.flatMap { index -> [String] in
      let entry = plan.entries[index]
      return entry.compared.compactMap {
        contestant -> String? in
        guard let oracle = summary.line(index, contestant, Headline(.oracleWait, "mean")),
          let measured = summary.line(index, contestant, wait)
        else { return nil }
        let erlang = summary.line(index, contestant, Headline(.erlangWait, "mean"))
        let residual = summary.line(index, contestant, Headline(.residualWait, "mean"))
        let share = oracle.median > 0 ? (residual?.median ?? 0) / oracle.median * 100 : nil
        let who = entry.contestants[contestant].mechanism
        return """
          <tr data-m="\(escaped(who ?? ""))"><td>\(escaped(entry.cell.name))</td>\
          <td>\(name(entry.contestants[contestant]))</td>\
          <td class="n strong">\(Quantity.text(measured.median, unit: "ns"))</td>\
          <td class="n">\(Quantity.text(oracle.median, unit: "ns"))</td>\
          <td class="n">\(residual.map { Quantity.text($0.median, unit: "ns") } ?? "")</td>\
          <td class="n\(abs(share ?? 0) > 10 ? " far" : "")">\(share.map { Quantity.digits($0) + " %" } ?? "")</td>\
          <td class="n">\(erlang.map { Quantity.text($0.median, unit: "ns") } ?? "")</td></tr>
          """
      }
    }
    guard !rows.isEmpty else { return "" }
    return """
      <section id="theory"><h2>Where theory disagrees</h2>
      <p>The recursion says how long a perfect first-come-first-served limiter would have made these very \
      tasks wait, given when they came and how long they really served. What is measured beyond it is \
      the limiter's and the runtime's own cost; where it is more than a tenth, it is marked. Mechanisms \
      that keep another order have another oracle and are not here: they are compared over the paths. \
      Erlang's formula knows only averages, so a short run may well lie far from it.</p>
      <div class="scroll"><table><thead><tr><th>cell</th><th></th><th class="n">mean wait</th>\
      <th class="n">recursion</th><th class="n">beyond it</th><th class="n">share</th>\
      <th class="n">Erlang</th></tr></thead>
      <tbody>\(rows.joined(separator: "\n"))</tbody></table></div>
      </section>
      """
  }

  private var reproduction: String {
    let arguments = environment.command.dropFirst().map(Self.quoted).joined(separator: " ")
    let facts: [(String, String?)] = [
      ("command", "swift run bench \(arguments)"), ("seed", String(environment.seed)),
      ("program", environment.executableFingerprint),
      ("optimised", environment.optimised ? "yes" : "no"),
      ("toolchain", environment.toolchain), ("system", environment.operatingSystem),
      ("kernel", environment.kernel), ("C library", environment.cLibrary),
      ("processor", environment.processor),
      ("processors online", environment.processorsOnline.map { String($0) }),
      ("processor quota", environment.processorQuota), ("governor", environment.governor),
      ("clock source", environment.clockSource),
      ("memory", environment.memoryBytes.map { Quantity.text(Double($0), unit: "bytes") }),
      ("load at the start", environment.loadAverage), ("machine", environment.virtualisation),
    ]
    let rows = facts.compactMap { name, value in
      value.map { "<tr><th>\(escaped(name))</th><td>\(escaped($0))</td></tr>" }
    }
    return """
      <section id="again"><h2>How to do it again</h2>
      <div class="scroll"><table class="facts">\(rows.joined())</table></div>
      <p>The tasks are drawn from the seed and are the same for every mechanism and every run with it. To \
      compare a run of your own with this one: <code>swift run bench --baseline Results/\
      \(escaped(files.runID))</code>. Every measured value is in <code>results.csv</code>, those that do \
      not count included and marked.</p>
      </section>
      """
  }

  private var glossary: String {
    let used = Set(summary.lines.map(\.metric))
    let rows = Metric.all.filter { used.contains($0.id) }.map {
      "<tr><th>\($0.id)</th><td>\($0.unit)</td><td>\(escaped($0.meaning))</td></tr>"
    }
    return """
      <section id="glossary"><h2>What the figures mean</h2>
      <div class="scroll"><table class="facts">\(rows.joined(separator: "\n"))</table></div></section>
      """
  }

  // MARK: Parts

  /// What else is worth seeing beside the headline.
  private static func extras(of workload: String) -> [Headline] {
    switch workload {
    case "uncontended":
      [
        Headline(.allocations, "mean"), Headline(.bytesAllocated, "mean"),
        Headline(.processorTime, "mean"), Headline(.contextSwitches, "mean"),
      ]
    case "hand-off", "across-priorities", "cancel-others", "contended-empty", "contended-yield",
      "contended-critical-section", "scaling":
      [
        Headline(.waited, "mean"), Headline(.handOff, "p50"), Headline(.handOff, "p99"),
        Headline(.timePerOperation, "mean"), Headline(.waiting, "p99"),
        Headline(.processorTime, "mean"), Headline(.allocations, "mean"),
        Headline(.bytesAllocated, "mean"),
      ]
    case "fan-out": [Headline(.processorTime, "mean"), Headline(.peakMemory, "max")]
    case "open-loop":
      [
        Headline(.waited, "mean"), Headline(.response, "p99"),
        Headline(.uncorrectedResponse, "p99"), Headline(.waiting, "mean"),
        Headline(.handOff, "mean"), Headline(.processorTime, "mean"), Headline(.lateness, "mean"),
      ]
    case "overload":
      [
        Headline(.peakPresent, "max"), Headline(.response, "p99"),
        Headline(.uncorrectedResponse, "p99"),
      ]
    case "cancel-random", "cancel-head", "cancel-tail":
      [
        Headline(.leaveTime, "mean"), Headline(.permitsLeft, "total"),
        Headline(.lateWakeUps, "total"),
      ]
    case "fairness":
      [
        Headline(.waited, "mean"), Headline(.overtakings, "mean"),
        Headline(.timesOvertaken, "p99"), Headline(.longestOvertakenWait, "max"),
        Headline(.fairness, "mean"),
      ]
    case "memory":
      [
        Headline(.residentPerWaiter, "mean"), Headline(.heapAfterDrain, "mean"),
        Headline(.peakThreads, "max"),
      ]
    case "wake-up": [Headline(.wakeUp, "p99")]
    case "threads": [Headline(.peakThreads, "max"), Headline(.peakRunning, "max")]
    default: [Headline(.processorTime, "mean"), Headline(.allocations, "mean")]
    }
  }

  private func interval(_ line: Summary.Line, unit: String) -> String {
    line.interval.map { Quantity.text($0, unit: unit) } ?? escaped(line.reasonForNoInterval ?? "")
  }

  private func verdict(_ line: Summary.Line, _ headline: Headline) -> String {
    guard let comparison = line.comparison else { return "" }
    let words = escaped(comparison.words(forUnit: headline.metric.unit))
    return "<span class=\"\(comparison.verdict.rawValue)\">\(words)</span>"
  }

  private func label(_ headline: Headline) -> String { escaped(headline.label) }

  /// The name of a mechanism in its colour, marked where each waiting task holds a thread.
  private func name(_ id: String, onLanes: Bool = false) -> String {
    let holds = Contestants.entry(id)?.profile.waiting == .blocksThread
    return "<span class=\"name \(Palette.style(of: id))\">\(escaped(id))</span>"
      + (onLanes ? " on lanes" : "") + (holds ? " \(Self.threadMark)" : "")
  }

  private func name(_ contestant: Contestant) -> String {
    contestant.mechanism.map { name($0, onLanes: contestant.executor == .lanes) } ?? "the machine"
  }

  private static let threadMark =
    "<abbr title=\"each waiting task holds a thread\">■</abbr>"

  /// As a shell needs it.
  private static func quoted(_ argument: String) -> String {
    if argument.wholeMatch(of: /[A-Za-z0-9_.,:=%@\/+-]+/) != nil { return argument }
    return "'" + argument.replacingOccurrences(of: "'", with: "'\\''") + "'"
  }

  private func anchor(_ workload: String) -> String { "w-\(workload)" }
  private func anchor(_ index: Int) -> String { "cell-\(index + 1)" }
  private func escaped(_ text: String) -> String { XMLText.escaped(text) }
}
