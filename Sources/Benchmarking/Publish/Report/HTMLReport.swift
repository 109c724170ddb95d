internal import Basics
internal import Foundation
internal import Mechanisms

/// `report.html`: one self-contained page that says what was asked, what won, by how much, how sure,
/// where theory disagrees, and how to do it again.
struct HTMLReport {
  private let files: RunFiles
  private let environment: EnvironmentRecord
  private let plots: [RunPlots.Plot]
  private var plan: Plan { files.plan }
  private var summary: Summary { files.summary }

  init(
    _ files: RunFiles,
    _ environment: EnvironmentRecord,
    plots: [RunPlots.Plot]
  ) {
    self.files = files
    self.environment = environment
    self.plots = plots
  }

  var text: String {
    let sections = [
      guide, validity, answers, realWork, controls, questions, theory, reading, reproduction,
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
    <p>\(escaped(PlanText(plan).headline.replacingOccurrences(of: " · about", with: " · planned for")))</p>
    <p class="soft">\(escaped([
      environment.processor, environment.processorsOnline.map { "\($0) processors" },
      environment.kernel, environment.toolchain, environment.date,
    ].compactMap { $0 }.joined(separator: " · ")))</p>
    <p class="soft">\(escaped(conditions))</p>
    </header>
    """
  }

  /// What else ran, and whether this is all of the run.
  private var conditions: String {
    var words: [String] = []
    if let seconds = environment.seconds {
      words.append("it measured for \(Progress.duration(seconds))")
    }
    if let before = environment.loadBefore {
      words.append("other programs took \(Quantity.digits(before)) of a core before it began")
    }
    if let during = environment.loadDuring, let most = environment.loadDuringMost {
      words.append(
        "\(Quantity.digits(during)) while the median block was measured, \(Quantity.digits(most)) at most"
      )
    }
    if let interrupted = environment.interrupted { words.append("interrupted: \(interrupted)") }
    if let leftOut = environment.leftOut { words.append("left out to end in time: \(leftOut)") }
    return words.joined(separator: "; ")
  }

  /// Links to the parts that there are: a small run has no theory.
  private func contents(of sections: String) -> String {
    let parts =
      [
        ("which", "Which should I use?"), ("believed", "Can it be believed?"),
        ("short", "In short"), ("real", "Once the work is real"),
      ]
      + workloads.map { (anchor($0.id), $0.id) }
      + [
        ("theory", "Where theory disagrees"), ("reading", "How to read it"),
        ("again", "How to do it again"),
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
      <details class="cell"><summary>What each can do</summary>
      <div class="scroll"><table><thead><tr>\(Guide.features.map { "<th>\(escaped($0))</th>" }.joined())\
      </tr></thead><tbody>\(grid.joined(separator: "\n"))</tbody></table></div></details>
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
      lines.append(
        "Every promise was kept in every trial: never above a limit that is promised, every task exactly once, all "
          + "permits back where a mechanism can be asked for them. Who limits nothing promises none."
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
    let all = summary.verdicts
    func number(_ verdict: Verdict) -> Int { all[verdict] ?? 0 }
    lines.append(
      "Of \(all.values.reduce(0, +)) comparisons \(number(.faster)) are faster or better, "
        + "\(number(.slower)) slower or worse, \(number(.same)) the same within 3 %, "
        + "\(number(.undecided)) undecided; of \(number(.incomparable) + number(.aboveLimit)) there is none."
    )
    if let widest = summary.pairs.map({ abs(log($0.comparison.ratio.value)) }).max() {
      lines.append(
        "The reference, or what has none beside it, was measured twice in "
          + "\(Quantity.count(summary.pairs.count, "cell")), as if it were two: it differed from itself by "
          + "\(Quantity.digits((exp(widest) - 1) * 100)) % at most, and was "
          + "judged to differ \(Quantity.count(summary.pairs.count(where: \.isDecided), "time"))."
      )
    }
    lines.append(
      "In \(summary.disturbedBlocks) of \(summary.blocks) blocks other processes took more than "
        + "\(Quantity.digits(Disturbance.foreignThreshold)) % of the machine, or the hypervisor more than "
        + "\(Quantity.digits(Disturbance.stealThreshold)) %. They count; what they spread widens the intervals."
    )
    if let distance = summary.distances.words {
      lines.append(
        escaped(distance.prefix(1).uppercased() + distance.dropFirst())
          + ". A hypervisor may move a machine's processors while it runs; where tasks wait for each other, what they "
          + "cost depends on it more than on anything else here."
          + otherCells
      )
    }
    let kind = summary.isValid ? "good" : "bad"
    return "<section id=\"believed\" class=\"box \(kind)\"><h2>Can it be believed?</h2><ul>"
      + lines.map { "<li>\($0)</li>" }.joined() + "</ul></section>"
  }

  /// The cells that are made of blocks of another distance than the run's.
  private var otherCells: String {
    let cells = summary.distances.otherCells.map { entry, kind in
      "<a href=\"#\(anchor(entry))\">\(escaped(plan.entries[entry].cell.words))</a> (\(kind.ofCell))"
    }
    return cells.isEmpty ? "" : " Made of other blocks: " + ListText.all(cells) + "."
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
      <p>Mechanisms joined by = are tied, so this run does not tell which of them is best: where one is faster than \
      the reference, the intervals of their ratios overlap; elsewhere none is shown to differ from it by 3 % or more, \
      though it may differ for certain by less. Nobody is named \
      where the first has no interval: it may be first by chance. Left out is who limits nothing, what is measured only to hold \
      the others against it, who runs on lanes and is compared with itself, who was seen above its limit, who is \
      slower than the reference, among the cancelled who does not leave at once, and where the question is \
      about waiting, who hardly waited; if that is the reference, there is nothing to compare with. Executors are \
      compared without a limiter. Of a batch with empty bodies few run at once, whatever the limit: what is compared \
      is starting and ending its tasks. \
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
      return who.limits && isRanked(who, in: entry)
    }
    // Executors are compared without a limiter.
    let lines = (limiting.isEmpty ? ranking : limiting).filter { line in
      summary.exclusion(index, line.contestant) == nil && line.comparison?.verdict != .slower
    }
    guard let first = lines.first(where: { $0.comparison?.verdict == .faster }) ?? lines.first
    else {
      return .nobody(because: "nobody is comparable")
    }
    guard first.interval != nil else {
      return .nobody(because: first.reasonForNoInterval ?? "no interval")
    }
    // Where nobody is faster than the reference, nobody is told apart from it.
    guard first.comparison?.verdict == .faster else { return .tied(lines) }
    let own = interval(first)
    return .tied(
      [first]
        + lines.filter { line in
          let other = interval(line)
          return line.contestant != first.contestant && own.low <= other.high
            && other.low <= own.high
        }
    )
  }

  /// Whether it may be named the best: it is of the catalogue, does what is asked, and is compared with the reference.
  ///
  /// On lanes each is compared with itself on Swift's own pool.
  private func isRanked(_ who: Contestant, in entry: Plan.Entry) -> Bool {
    guard let found = Contestants.mechanisms.first(where: { $0.id == who.mechanism }) else {
      return false
    }
    let ranks = BenchWorkloads.named(entry.cell.workload)?.ranks(found.profile) ?? true
    return ranks && who.executor != .lanes
  }

  /// Where the ratio to the reference lies; the reference's own is 1.
  private func interval(_ line: Summary.Line) -> Interval {
    line.comparison?.ratio?.interval ?? Interval(low: 1, high: 1)
  }

  private var reading: String {
    """
    <section id="reading"><h2>How to read it</h2><details class="cell"><summary>unfold</summary>
    <p>A cell was measured in \(PlanText(plan).blocks), or more where others disturbed it or the processors were moved. Where the mechanisms can \
    share a process, a block is one process in which all of them, the reference twice, were measured in \
    \(plan.scale.rounds) short rounds, each time in an order drawn anew: \(escaped(names(isPaired: true))). Each round \
    gives a ratio to the reference. Elsewhere each mechanism had a process of its own, one directly after the \
    other, and a block gives one ratio: \(escaped(names(isPaired: false))). What is not compared (processor time, \
    allocations, hand-over, the time to leave) is from the first process of a cell only: such columns, and \
    such figures in other columns, are marked \(Self.firstProcessMark), and a sum with one that is not marked need not \
    come out.</p>
    <p>A figure is the median over the blocks, with an interval that says what it covers; where tasks come by a \
    clock it is the mean, since each block draws its own. The ratio is the geometric mean of the blocks' ratios, of \
    which one in eight is left out at either end, and its interval, at 95 %, is from the spread of the blocks. On lanes, the work-stealing executor, \
    the ratio is to the same mechanism on Swift's own pool.</p>
    <p><b>Faster</b> and <b>slower</b> are said where the ratio differs from 1, <b>the same</b> where it is shown to \
    differ by less than 3 % (two one-sided tests); both are corrected for all comparisons of the same question, by \
    Holm. Everything else is <b>undecided</b>, with the difference that could have been seen.</p>
    <p><b>Waited</b> is the share of visits that found no free permit. \(waitingRule)Where a mechanism does not \
    limit what a cell asks of it, because suspended bodies overlap there, the cell says so.</p>
    </details></section>
    """
  }

  /// The workloads whose mechanisms share a process, or those that do not.
  private func names(isPaired: Bool) -> String {
    let measured = Set(plan.entries.filter { $0.isPaired == isPaired }.map(\.cell.workload))
    let names = BenchWorkloads.all.map(\.id).filter(measured.contains)
    return names.isEmpty ? "none here" : ListText.all(names)
  }

  /// Where too few waited there is no comparison; empty in a run without such questions.
  private var waitingRule: String {
    let asked = workloads.filter(\.needsWaiting).map { "<code>\(escaped($0.id))</code>" }
    guard !asked.isEmpty else { return "" }
    return "Where the question is about waiting, in \(ListText.all(asked)), and less than "
      + "\(Quantity.digits(Summary.leastWaitedPercent)) % waited, there is <b>no comparison</b>: a limiter "
      + "that nobody waits for looks free. "
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
        let drawings = plots.filter { $0.workload == workload.id }
          .map { figure($0.svg, $0.caption) }
        return """
          <section id="\(anchor(workload.id))"><h2>\(escaped(workload.id))</h2>
          <p>\(escaped(workload.question))</p>
          \(drawings.first ?? "")
          \(indices.map(cell).joined(separator: "\n"))
          \(drawings.count < 2 ? "" : """
            <details class="cell"><summary>More of it drawn</summary>\
            \(drawings.dropFirst().joined(separator: "\n"))</details>
            """)
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
    return """
      <details class="cell" id="\(anchor(index))"><summary>\(escaped(entry.cell.words)) \
      <span class="answer">\(answer)</span></summary>
      \(table(index))
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
        <tr id="\(anchor(index))"><td>\(escaped(workload.id))</td>\
        <td class="wide">\(escaped(workload.question))</td>\
        <td class="n strong">\(Quantity.text(line.median, unit: headline.metric.unit))</td>\
        <td class="soft">\(interval(line, unit: headline.metric.unit))</td>\
        <td class="n">\(pair(index).map(Quantity.digits) ?? "")</td>\
        <td class="n">\(allocations.map(Quantity.digits) ?? "")</td>\
        <td class="n soft">\(line.forks)</td></tr>
        """
    }
    guard !rows.isEmpty else { return "" }
    return """
      <section id="parts"><h2>What limiters are made of</h2>
      <p>The cost of a limiter is what it takes beyond these. <i>Twice</i>: the same measured again, as a ratio.</p>
      <details class="cell"><summary>the parts</summary>
      <div class="scroll"><table><thead><tr><th></th><th></th><th class="n">once</th><th>interval</th>\
      <th class="n">twice</th><th class="n">allocations</th><th class="n">forks</th></tr></thead>
      <tbody>\(rows.joined(separator: "\n"))</tbody></table></div></details></section>

      """
  }

  /// The ratio of a cell's A/A pair.
  private func pair(_ index: Int) -> Double? {
    summary.pairs.first { $0.entry == index }?.comparison.ratio.value
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
    /// Whether it is a figure of the first process alone, where the headline is one of several.
    func isOfFirst(_ line: Summary.Line, _ extra: Headline) -> Bool {
      line.forks > 1 && (summary.line(index, line.contestant, extra)?.forks ?? 1) == 1
    }
    func isOfFirst(_ extra: Headline) -> Bool { ranking.allSatisfy { isOfFirst($0, extra) } }
    let rows = ranking.map { line -> String in
      let who = entry.contestants[line.contestant].mechanism
      let unit = headline.metric.unit
      var cells = ["<td>\(name(entry.contestants[line.contestant]))</td>"]
      cells.append("<td class=\"n strong\">\(Quantity.text(line.median, unit: unit))</td>")
      cells.append("<td class=\"soft\">\(interval(line, unit: unit))</td>")
      if isCompared {
        let isReference = entry.reference(of: line.contestant) == nil
        let ratio = line.comparison?.ratio.map { Quantity.digits($0.value) }
        cells.append("<td class=\"n\">\(isReference ? "1" : ratio ?? "")</td>")
        cells.append("<td>\(isReference ? "reference" : verdict(line, headline))</td>")
      }
      for extra in extras {
        let value = summary.line(index, line.contestant, extra)?.median
        // In a column that others have from every process the mark stands at the figure.
        let isMarked = value != nil && !isOfFirst(extra) && isOfFirst(line, extra)
        cells.append(
          "<td class=\"n\">\(value.map { Quantity.text($0, unit: extra.metric.unit) } ?? "")"
            + "\(isMarked ? " " + Self.firstProcessMark : "")</td>"
        )
      }
      cells.append("<td class=\"n soft\">\(line.forks)</td>")
      return "<tr data-m=\"\(escaped(who ?? ""))\">\(cells.joined())</tr>"
    }
    var heads = [
      "<th></th>", "<th class=\"n\">\(label(headline))</th>",
      "<th>\(ranking.compactMap(\.coverage).min().map { "\(Int($0 * 100)) %" } ?? "")</th>",
    ]
    if isCompared { heads += ["<th class=\"n\">ratio</th>", "<th>verdict</th>"] }
    heads += extras.map { extra in
      "<th class=\"n\">\(label(extra))\(isOfFirst(extra) ? " " + Self.firstProcessMark : "")</th>"
    }
    heads.append("<th class=\"n\">forks</th>")
    let noise = pair(index).map { " · A/A \(Quantity.digits($0))" } ?? ""
    let notLimiting = entry.notLimiting.map { id in
      "<tr data-m=\"\(escaped(id))\"><td>\(name(id))</td><td class=\"wide soft\" "
        + "colspan=\"\(heads.count - 1)\">does not limit this</td></tr>"
    }
    let parameters = entry.cell.name.split(separator: " ").dropFirst().joined(separator: ", ")
    return """
      <p class="soft">\(escaped(parameters))\(noise)</p>
      <div class="scroll"><table><thead><tr>\(heads.joined())</tr></thead>
      <tbody>\((rows + notLimiting).joined(separator: "\n"))</tbody></table></div>
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
          <td class="n">\(entry.cell.erlangWait.map { Quantity.text($0, unit: "ns") } ?? "")</td></tr>
          """
      }
    }
    guard !rows.isEmpty else { return "" }
    return """
      <section id="theory"><h2>Where theory disagrees</h2><details class="cell"><summary>unfold</summary>
      <p>The recursion says how long a perfect first-come-first-served limiter would have made these very \
      tasks wait, given when they came and how long they really served. What is measured beyond it is \
      the limiter's and the runtime's own cost; where it is more than a tenth, it is marked. Mechanisms \
      that keep another order have another oracle and are not here: of them only the response is compared. \
      Erlang's formula is of the utilisation that the cell asks for; it knows only averages, so a short run may well lie \
      far from it.</p>
      <div class="scroll"><table><thead><tr><th>cell</th><th></th><th class="n">mean wait</th>\
      <th class="n">recursion</th><th class="n">beyond it</th><th class="n">share</th>\
      <th class="n">Erlang</th></tr></thead>
      <tbody>\(rows.joined(separator: "\n"))</tbody></table></div></details>
      </section>
      """
  }

  /// How the program is started that measured: the bench, or one that brought limiters of its own.
  private var program: String {
    let name = environment.command.first?.split(separator: "/").last.map(String.init) ?? "bench"
    return name == "bench" ? "swift run bench" : "swift run -c release \(Self.quoted(name))"
  }

  private var reproduction: String {
    let arguments = environment.command.dropFirst().map(Self.quoted).joined(separator: " ")
    let facts: [(String, String?)] = [
      ("command", "\(program) \(arguments)"), ("seed", String(environment.seed)),
      ("commit", environment.commit), ("program", environment.executableFingerprint),
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
      <section id="again"><h2>How to do it again</h2><details class="cell"><summary>unfold</summary>
      <div class="scroll"><table class="facts">\(rows.joined())</table></div>
      <p>The tasks are drawn from the seed and are the same for every mechanism and every run with it. To \
      compare a run of your own with this one: <code>\(escaped(program)) --baseline Results/\
      \(escaped(files.runID))</code>. Every figure of every process is in <code>results.csv</code>, those that do \
      not count included and marked; the rounds are in <code>rounds.csv.gz</code>.</p>
      </details></section>
      """
  }

  private var glossary: String {
    let used = Set(summary.lines.map(\.metric))
    let rows = Metric.all.filter { used.contains($0.id) }.map {
      "<tr><th>\($0.id)</th><td>\($0.unit)</td><td>\(escaped($0.meaning))</td></tr>"
    }
    return """
      <section id="glossary"><h2>What the figures mean</h2><details class="cell"><summary>unfold</summary>
      <div class="scroll"><table class="facts">\(rows.joined(separator: "\n"))</table></div></details></section>
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
        Headline(.waited, "mean"), Headline(.response, "mean"), Headline(.response, "p99"),
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

  private static let firstProcessMark = "<abbr title=\"of the first process only\">†</abbr>"

  /// As a shell needs it.
  private static func quoted(_ argument: String) -> String {
    if argument.wholeMatch(of: /[A-Za-z0-9_.,:=%@\/+-]+/) != nil { return argument }
    return "'" + argument.replacingOccurrences(of: "'", with: "'\\''") + "'"
  }

  private func anchor(_ workload: String) -> String { "w-\(workload)" }
  private func anchor(_ index: Int) -> String { "cell-\(index + 1)" }
  private func escaped(_ text: String) -> String { XMLText.escaped(text) }
}
