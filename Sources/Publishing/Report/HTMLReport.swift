internal import Basics
internal import Foundation
internal import Statistics
internal import Trials

/// `report.html`: one self-contained page that says what was asked, what won, by how much, how sure,
/// where theory disagrees, and how to do it again.
struct HTMLReport {
  private let files: RunFiles
  private let environment: EnvironmentRecord
  private let plots: [RunPlots.Plot]
  private var plan: Plan { files.plan }
  private var summary: Summary { files.summary }

  init(_ files: RunFiles, _ environment: EnvironmentRecord, plots: [RunPlots.Plot]) {
    self.files = files
    self.environment = environment
    self.plots = plots
  }

  var text: String {
    """
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
    \(validity)
    \(answers)
    \(reading)
    \(questions)
    \(theory)
    \(reproduction)
    \(glossary)
    </main>
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

  private var validity: String {
    var lines: [String] = []
    if !environment.optimised {
      lines.append("<b>This was a debug build.</b> The figures say little about optimised code.")
    }
    if summary.violations.isEmpty {
      lines.append(
        "Every promise was kept in every trial: never above the limit, every task exactly "
          + "once, all permits back."
      )
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
      lines.append("<b>Too noisy to say</b>, half of the forks or more being disturbed: \(which).")
    }
    let pairs = summary.noise.values
    if !pairs.isEmpty {
      let agreeing = pairs.count(where: \.agrees)
      let typical = median(pairs.map(\.band)) ?? 0
      lines.append(
        "The same code measured twice agreed with itself in \(agreeing) of \(pairs.count) "
          + "cells; the typical distance was \(Quantity.digits(typical * 100)) %. Differences within a "
          + "cell's own distance are called inconclusive."
      )
    }
    let kind = summary.isValid ? "good" : "bad"
    return "<section class=\"box \(kind)\"><h2>Can it be believed?</h2><ul>"
      + lines.map { "<li>\($0)</li>" }.joined() + "</ul></section>"
  }

  /// The whole run on one screen: for each cell who was best, and how the reference did.
  private var answers: String {
    let rows = plan.entries.indices.compactMap { index -> String? in
      let entry = plan.entries[index]
      guard let reference = entry.reference, let ranking = summary.ranking(index),
        ranking.count > 1,
        let headline = plan.entries[index].headline
      else { return nil }
      // No limit is not a way to limit: it is what the others are measured against.
      let limiting = ranking.filter { entry.contestants[$0.contestant].mechanism != "none" }
      guard let best = limiting.first,
        let own = ranking.first(where: { entry.contestants[$0.contestant].mechanism == reference })
      else { return nil }
      let name = entry.contestants[best.contestant].mechanism ?? ""
      let unit = headline.metric.unit
      let verdict =
        if name == reference {
          rivals(ranking, entry, reference)
        } else {
          best.comparison.map { $0.verdict.word(forUnit: unit) } ?? ""
        }
      return """
        <tr><td><a href="#\(anchor(entry.cell.workload))">\(escaped(entry.cell.name))</a></td>\
        <td>\(label(headline))</td>\
        <td class="name \(Palette.style(of: name))">\(escaped(name))</td>\
        <td class="n">\(Quantity.text(best.median, unit: unit))</td>\
        <td class="n">\(Quantity.text(own.median, unit: unit))</td>\
        <td class="wide">\(escaped(verdict))</td></tr>
        """
    }
    guard !rows.isEmpty else { return "" }
    let reference = plan.entries.compactMap(\.reference).first ?? ""
    return """
      <section><h2>In short</h2>
      <div class="scroll"><table><thead><tr><th>question</th><th>figure</th><th>best limit</th>\
      <th class="n">its median</th><th class="n">\(escaped(reference))'s</th>\
      <th>against \(escaped(reference))</th></tr></thead>
      <tbody>\(rows.joined(separator: "\n"))</tbody></table></div>
      </section>
      """
  }

  /// What can be said where the reference has the best median: whom it is certainly better than.
  private func rivals(_ ranking: [Summary.Line], _ entry: Plan.Entry, _ reference: String) -> String
  {
    let close = ranking.compactMap { line -> String? in
      let who = entry.contestants[line.contestant].mechanism
      return who != "none" && line.comparison?.verdict == .inconclusive ? who : nil
    }
    return close.isEmpty ? "best of all" : "not told apart from " + close.joined(separator: ", ")
  }

  private var reading: String {
    """
    <section><h2>How to read it</h2>
    <p>Every trial ran in a process of its own, \(plan.forks) for each row; the mechanisms of one \
    question ran next to each other in time, in random order. A figure is the median over the \
    processes. The brackets hold the median of all such processes with 95 % confidence. The ratio \
    compares with the reference; its bar is a 99 % bootstrap interval. <b>Faster</b> and <b>slower</b> \
    are said only if a rank test, corrected for all \(comparisons) comparisons of the run, finds a \
    difference, and the whole bar lies outside the shaded band, which is what the reference shows \
    against itself. Otherwise the verdict is <b>inconclusive</b>, which does not mean equal.</p>
    </section>
    """
  }

  private var comparisons: Int {
    summary.lines.count { line in
      line.comparison != nil && !plan.entries[line.entry].contestants[line.contestant].isAgain
    }
  }

  private var questions: String {
    baselines
      + BenchWorkloads.all.filter(\.measuresMechanisms).compactMap { workload -> String? in
        let indices = plan.entries.indices.filter { plan.entries[$0].cell.workload == workload.id }
        guard !indices.isEmpty else { return nil }
        let tables = indices.map { table($0) }.joined(separator: "\n")
        let drawings = plots.filter { $0.workload == workload.id }.map { plot in
          "<figure>\(plot.svg)<figcaption>\(escaped(plot.caption))</figcaption></figure>"
        }.joined(separator: "\n")
        return """
          <section id="\(anchor(workload.id))"><h2>\(escaped(workload.id))</h2>
          <p>\(escaped(workload.question))</p>
          \(tables)
          \(drawings)
          </section>
          """
      }.joined(separator: "\n")
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
        <td class="soft">\(interval(line.interval, unit: headline.metric.unit))</td>\
        <td class="n">\(allocations.map(Quantity.digits) ?? "")</td>\
        <td class="n soft">\(line.forks)</td></tr>
        """
    }
    guard !rows.isEmpty else { return "" }
    return """
      <section><h2>What limiters are made of</h2>
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
      ranking.contains { summary.line(index, $0.contestant, extra) != nil }
    }
    let isCompared = entry.reference != nil
    let rows = ranking.map { line -> String in
      let who = entry.contestants[line.contestant].mechanism
      let unit = headline.metric.unit
      var cells = [
        "<td class=\"name \(Palette.style(of: who))\">\(escaped(who ?? "the machine"))</td>"
      ]
      cells.append("<td class=\"n strong\">\(Quantity.text(line.median, unit: unit))</td>")
      cells.append("<td class=\"soft\">\(interval(line.interval, unit: unit))</td>")
      if isCompared {
        let isReference = who == entry.reference
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
      return "<tr>\(cells.joined())</tr>"
    }
    var heads = [
      "<th></th>", "<th class=\"n\">\(label(headline))</th>", "<th>95 %</th>",
    ]
    if isCompared { heads += ["<th class=\"n\">ratio</th>", "<th>verdict</th>"] }
    heads += extras.map { "<th class=\"n\">\(label($0))</th>" }
    heads.append("<th class=\"n\">forks</th>")
    let noise =
      summary.noise[index].map { " · A/A noise ±\(Quantity.digits($0.band * 100)) %" } ?? ""
    let parameters = entry.cell.name.split(separator: " ").dropFirst().joined(separator: ", ")
    return """
      <h3>\(escaped(parameters.isEmpty ? entry.cell.workload : parameters))\(noise)</h3>
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
        let little = summary.line(index, contestant, Headline(.littleError, "mean"))
        let residual = summary.line(index, contestant, Headline(.residualWait, "mean"))
        let share = oracle.median > 0 ? (residual?.median ?? 0) / oracle.median * 100 : nil
        let who = entry.contestants[contestant].mechanism
        return """
          <tr><td>\(escaped(entry.cell.name))</td>\
          <td class="name \(Palette.style(of: who))">\(escaped(who ?? ""))</td>\
          <td class="n strong">\(Quantity.text(measured.median, unit: "ns"))</td>\
          <td class="n">\(Quantity.text(oracle.median, unit: "ns"))</td>\
          <td class="n">\(residual.map { Quantity.text($0.median, unit: "ns") } ?? "")</td>\
          <td class="n\(abs(share ?? 0) > 10 ? " far" : "")">\(share.map { Quantity.digits($0) + " %" } ?? "")</td>\
          <td class="n">\(erlang.map { Quantity.text($0.median, unit: "ns") } ?? "")</td>\
          <td class="n">\(little.map { Quantity.text($0.median, unit: "percent") } ?? "")</td></tr>
          """
      }
    }
    guard !rows.isEmpty else { return "" }
    return """
      <section><h2>Where theory disagrees</h2>
      <p>The recursion says how long a perfect first-come-first-served limiter would have made these very \
      tasks wait, given when they came and how long they really served. What is measured beyond it is \
      the limiter's and the runtime's own cost; where it is more than a tenth, it is marked. Erlang's \
      formula knows only averages, so a short run may well lie far from it. Little's law compares two \
      ways of counting: an error above 1 % would make the trial invalid.</p>
      <div class="scroll"><table><thead><tr><th>cell</th><th></th><th class="n">mean wait</th>\
      <th class="n">recursion</th><th class="n">beyond it</th><th class="n">share</th>\
      <th class="n">Erlang</th><th class="n">Little's error</th></tr></thead>
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
      <section><h2>How to do it again</h2>
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
      <section><h2>What the figures mean</h2>
      <div class="scroll"><table class="facts">\(rows.joined(separator: "\n"))</table></div></section>
      """
  }

  // MARK: Parts

  /// What else is worth seeing beside the headline.
  private static func extras(of workload: String) -> [Headline] {
    switch workload {
    case "uncontended":
      [
        Headline(.allocations, "mean"), Headline(.processorTime, "mean"),
        Headline(.contextSwitches, "mean"),
      ]
    case "hand-off", "contended-empty", "contended-yield", "contended-critical-section":
      [
        Headline(.handOff, "mean"), Headline(.waiting, "p99"), Headline(.processorTime, "mean"),
        Headline(.contextSwitches, "mean"),
      ]
    case "fan-out": [Headline(.processorTime, "mean"), Headline(.peakMemory, "max")]
    case "open-loop":
      [
        Headline(.response, "p99"), Headline(.uncorrectedResponse, "p99"),
        Headline(.waiting, "mean"),
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
        Headline(.overtakings, "mean"), Headline(.longestOvertakenWait, "max"),
        Headline(.fairness, "mean"),
      ]
    case "memory":
      [
        Headline(.residentPerWaiter, "mean"), Headline(.heapAfterDrain, "mean"),
        Headline(.peakThreads, "max"),
      ]
    case "threads": [Headline(.peakThreads, "max"), Headline(.peakRunning, "max")]
    default: [Headline(.processorTime, "mean"), Headline(.allocations, "mean")]
    }
  }

  private func interval(_ interval: Interval?, unit: String) -> String {
    interval.map { Quantity.text($0, unit: unit) } ?? ""
  }

  private func verdict(_ line: Summary.Line, _ headline: Headline) -> String {
    guard let verdict = line.comparison?.verdict else { return "" }
    return
      "<span class=\"\(verdict.rawValue)\">\(verdict.word(forUnit: headline.metric.unit))</span>"
  }

  /// `hand off, mean`: the metric's name may break at its spaces.
  private func label(_ headline: Headline) -> String {
    escaped("\(headline.metric.id.replacingOccurrences(of: "_", with: " ")), \(headline.stat)")
  }

  /// As a shell needs it.
  private static func quoted(_ argument: String) -> String {
    if argument.wholeMatch(of: /[A-Za-z0-9_.,:=%@\/+-]+/) != nil { return argument }
    return "'" + argument.replacingOccurrences(of: "'", with: "'\\''") + "'"
  }

  private func anchor(_ workload: String) -> String { "w-\(workload)" }
  private func escaped(_ text: String) -> String { XMLText.escaped(text) }
}
