internal import Foundation

/// The plots of a run: pure functions of its summary, its forks and its histograms.
package struct RunPlots {
  package struct Plot: Sendable {
    package var file: String
    /// One line for the report: how to read it.
    package var caption: String
    package var svg: String
    /// The workload it belongs to.
    package var workload: String
  }

  private let files: RunFiles
  private let figures: ForkFigures
  private var plan: Plan { files.plan }
  private var summary: Summary { files.summary }

  package init(_ files: RunFiles) {
    self.files = files
    figures = ForkFigures(files.records, files.summary.distances)
  }

  /// Only those for which the run has figures.
  package var all: [Plot] { all(spectrum: nil) }

  /// The same, with a picture of the distributions where the records do not have them.
  func all(spectrum: String?) -> [Plot] {
    let drawn = spectra()
    let kept = drawn.isEmpty ? spectrum.map { [Self.spectrum($0)] } ?? [] : drawn
    return ratios() + latencyAgainstUtilisation() + kept
      + costAgainstWaiters() + memory() + threads()
  }

  // MARK: Rows

  /// How many times the reference's figure; shaded what counts as the same.
  private func ratios() -> [Plot] {
    let workloads = BenchWorkloads.all.map(\.id)
    return workloads.compactMap { workload in
      let panels = entries(of: workload).compactMap { index, entry in
        var drawn = panel(index, entry, band: Self.margin) {
          (contestant, headline) in
          guard let line = summary.line(index, contestant, headline) else { return nil }
          if entry.reference(of: contestant) == nil {
            return (values: [], middle: 1, interval: nil, note: "reference")
          }
          guard let comparison = line.comparison, let ratio = comparison.ratio else { return nil }
          return (
            values: [], middle: ratio.value, interval: ratio.interval,
            note:
              "\(Quantity.digits(ratio.value))  \(comparison.verdict.word(forUnit: headline.metric.unit))"
          )
        }
        // Each cell has its own: an ordered queue is measured at limit 1 only.
        if let title = drawn?.title, let reference = entry.reference {
          drawn?.title = (title.isEmpty ? "" : title + " · ") + "reference \(reference)"
        }
        return drawn
      }
      guard !panels.isEmpty, let headline = BenchWorkloads.named(workload)?.headline else {
        return nil
      }
      // Of the machine's parts and of single calls there is nothing to compare.
      guard BenchWorkloads.named(workload)?.measuresMechanisms == true else { return nil }
      let middle =
        BenchWorkloads.named(workload)?.isPaired == true
        ? "ratio in the same process, round by round" : "ratio, process by process"
      let isOnLanes = entries(of: workload).contains { entry in
        entry.1.contestants.contains { $0.executor == .lanes }
      }
      let plot = RowPlot(
        title: "\(workload): ratio to the reference",
        subtitle:
          "\(headline.metric.id), \(headline.stat) · ring: \(middle), bar: 95 % interval, "
          + "shaded: the same within 3 %",
        axisLabel: headline.metric.better == .higher
          ? "times the reference's (more is better)" : "times the reference's (less is better)",
        unit: "times",
        spacing: .logarithmic,
        panels: panels,
        mark: 1,
        sharesAxis: true
      )
      return Plot(
        file: "ratios-\(workload).svg",
        caption:
          "Left of the shaded band is better than the reference, right of it worse. The verdict beside it is "
          + "corrected for all comparisons of the question."
          + (isOnLanes ? " On lanes, the reference is the same mechanism on the global pool." : ""),
        svg: plot.svg,
        workload: workload
      )
    }
  }

  private static let margin = Interval(
    low: 1 / (1 + PairedComparison.margin),
    high: 1 + PairedComparison.margin
  )

  private typealias RowFigures = (
    values: [Double], middle: Double, interval: Interval?, note: String
  )

  private func panel(
    _ index: Int,
    _ entry: Plan.Entry,
    band: Interval? = nil,
    _ row: (Int, Headline) -> RowFigures?
  ) -> RowPlot.Panel? {
    guard let headline = entry.headline else { return nil }
    let rows = entry.compared
      .compactMap { contestant -> (RowPlot.Row, Double)? in
        guard let figures = row(contestant, headline) else { return nil }
        let name = entry.contestants[contestant].name ?? entry.cell.workload
        return (
          RowPlot.Row(
            name: name,
            style: Palette.style(of: entry.contestants[contestant].mechanism),
            mechanism: entry.contestants[contestant].mechanism,
            values: figures.values,
            middle: figures.middle,
            interval: figures.interval,
            note: figures.note
          ), figures.middle
        )
      }.sorted { $0.1 < $1.1 }.map(\.0)
    let title = entry.cell.name.split(separator: " ").dropFirst().joined(separator: "  ")
    return rows.isEmpty ? nil : RowPlot.Panel(title: title, rows: rows, band: band)
  }

  // MARK: Curves

  /// Mean wait over utilisation, with what theory says, for each limit and kind of service.
  private func latencyAgainstUtilisation() -> [Plot] {
    struct Group: Hashable {
      var limit: Int
      var shape: String
      var kind: String?
    }
    let byGroup = Dictionary(grouping: entries(of: "open-loop")) { _, entry in
      Group(
        limit: entry.cell.limit ?? 0,
        shape: entry.cell.serviceDistribution ?? "",
        kind: entry.cell.serviceKind
      )
    }
    let groups = byGroup.filter { $0.value.count >= 2 }
      .sorted { ($0.key.limit, $0.key.shape) < ($1.key.limit, $1.key.shape) }
    return groups.compactMap { group, entries -> Plot? in
      let headline = Headline(.waiting, "mean")
      var curves = curves(over: entries, headline) { $0.utilisation }
      // Nothing waits for a permit where there is none.
      curves.removeAll { $0.name == "none" }
      guard !curves.isEmpty, let meanService = entries.first?.1.cell.service else { return nil }
      let servers = max(1, group.limit)
      let variation = ServiceShape(rawValue: group.shape) == .fixed ? 0.0 : 1.0
      let utilisations = entries.compactMap(\.1.cell.utilisation)
      let (first, last) = (utilisations.min() ?? 0.5, utilisations.max() ?? 0.95)
      let theory = (0...60).compactMap { step -> (x: Double, y: Double)? in
        let utilisation = first + (last - first) * Double(step) / 60
        return ErlangQueue(servers: servers, utilisation: utilisation)
          .meanWait(squaredVariation: variation)
          .map { (utilisation, $0 * Double(meanService)) }
      }
      curves.append(
        LinePlot.Curve(
          name: "recursion",
          style: nil,
          points: recursion(over: entries),
          hasMarkers: false
        )
      )
      curves.append(
        LinePlot.Curve(name: "Erlang", style: nil, points: theory, hasMarkers: false)
      )
      let service = Quantity.text(Double(meanService), unit: "ns")
      let plot = LinePlot(
        title: "Waiting time against utilisation, limit \(group.limit)",
        subtitle:
          "mean wait from the intended arrival, Poisson arrivals, \(group.shape) service of "
          + service,
        x: Axis(
          "utilisation asked for (arrival rate × service time ÷ limit)",
          unit: "count",
          spacing: .linear,
          covering: utilisations
        ),
        y: Axis(
          "mean wait",
          unit: "ns",
          spacing: .logarithmic,
          covering: curves.ys
        ),
        curves: curves
      )
      return Plot(
        file: "latency-limit-\(group.limit)-\(group.shape)\(group.kind.map { "-" + $0 } ?? "").svg",
        caption:
          "Erlang's formula is what an endless run would average. A short run has its own luck with "
          + "arrivals, the same for every mechanism; the recursion is what a perfect limiter would have "
          + "made of just these arrivals and service times, so only the distance from it is a "
          + "limiter's own.",
        svg: plot.svg,
        workload: "open-loop"
      )
    }
  }

  /// The oracle's mean wait for the tasks of the reference.
  private func recursion(over entries: [(Int, Plan.Entry)]) -> [(x: Double, y: Double)] {
    entries.compactMap { index, entry in
      guard let utilisation = entry.cell.utilisation,
        let reference = entry.contestants.firstIndex(where: {
          $0.mechanism == entry.reference && !$0.isAgain
        }),
        let line = summary.line(index, reference, Headline(.oracleWait, "mean"))
      else { return nil }
      return (utilisation, line.median)
    }
  }

  /// The whole distribution of the response, the tail stretched out.
  private func spectra() -> [Plot] {
    let candidates = entries(of: "open-loop").filter { ($0.1.cell.utilisation ?? 0) <= 0.9 }
    guard
      let (index, entry) = candidates.max(by: {
        ($0.1.cell.utilisation ?? 0, -$0.0) < ($1.1.cell.utilisation ?? 0, -$1.0)
      })
    else { return [] }
    let curves = entry.compared
      .compactMap { contestant -> LinePlot.Curve? in
        let key = MergedHistograms.Key(
          entry: index,
          contestant: contestant,
          metric: Metric.response.id
        )
        let steps = files.histograms.spectrum(key).filter { $0.percentile < 100 }
        guard !steps.isEmpty else { return nil }
        var curve = LinePlot.Curve.of(
          entry.contestants[contestant],
          steps.map { ($0.percentile / 100, Double($0.value)) }
        )
        curve.hasMarkers = false
        return curve
      }
    guard !curves.isEmpty else { return [] }
    let plot = LinePlot(
      title: "Percentile spectrum of the response",
      subtitle: entry.cell.name + " · all forks together",
      x: Axis(
        "share of tasks that responded within",
        unit: "count",
        spacing: .nines,
        covering: curves.xs
      ),
      y: Axis(
        "response",
        unit: "ns",
        spacing: .logarithmic,
        covering: curves.ys
      ),
      curves: curves
    )
    return [Self.spectrum(plot.svg)]
  }

  static let spectrumFile = "percentiles.svg"

  private static func spectrum(_ svg: String) -> Plot {
    Plot(
      file: spectrumFile,
      caption: "Read it from the right: one task in a hundred took longer than the height at 99 %.",
      svg: svg,
      workload: "open-loop"
    )
  }

  private func costAgainstWaiters() -> [Plot] {
    let entries = entries(of: "cancel-random").filter { $0.1.cell.cancelFraction == 1 }
    return growth(
      entries,
      Headline(.leaveTime, "mean"),
      Plot(
        file: "cancellation.svg",
        caption:
          "A flat line means that cancelling all n waiters takes time linear in n; a rising one "
          + "means that each cancellation searches the queue. Only mechanisms whose waiters leave at "
          + "once are here.",
        svg: "",
        workload: "cancel-random"
      ),
      title: "Cost of cancelling one of n waiters, in random order",
      xLabel: "tasks waiting",
      yLabel: "time for each",
      unit: "ns"
    )
  }

  private func memory() -> [Plot] {
    growth(
      entries(of: "memory"),
      Headline(.heapPerWaiter, "mean"),
      Plot(
        file: "memory.svg",
        caption:
          "Heap in use for each waiting task: the task, its stack of async frames, and what the "
          + "mechanism keeps about it.",
        svg: "",
        workload: "memory"
      ),
      title: "Memory of one of n waiters",
      xLabel: "tasks waiting",
      yLabel: "heap for each",
      unit: "bytes"
    )
  }

  /// A figure over the number of tasks, both logarithmic; nothing with fewer than two sizes.
  private func growth(
    _ entries: [(Int, Plan.Entry)],
    _ headline: Headline,
    _ plot: Plot,
    title: String,
    xLabel: String,
    yLabel: String,
    unit: String
  ) -> [Plot] {
    let curves = curves(over: entries, headline) { $0.tasks.map(Double.init) }
      .filter { $0.points.count >= 2 }
    guard !curves.isEmpty else { return [] }
    let drawn = LinePlot(
      title: title,
      subtitle: "median over forks, whiskers: interval of at least 95 %",
      x: Axis(
        xLabel,
        unit: "count",
        spacing: .logarithmic,
        covering: curves.xs
      ),
      y: Axis(
        yLabel,
        unit: unit,
        spacing: .logarithmic,
        covering: curves.ys
      ),
      curves: curves
    )
    var plot = plot
    plot.svg = drawn.svg
    return [plot]
  }

  /// Threads over the time of one trial, one curve a mechanism.
  private func threads() -> [Plot] {
    entries(of: "threads").compactMap { index, entry in
      let record = files.records.first { $0.entry == index }
      let curves = (record?.trials ?? []).sorted { $0.contestant < $1.contestant }
        .filter { !entry.contestants[$0.contestant].isAgain }
        .compactMap { trial -> LinePlot.Curve? in
          guard let series = trial.report.series.first else { return nil }
          var curve = LinePlot.Curve.of(
            entry.contestants[trial.contestant],
            series.changes.map { (Double($0.time), $0.value) }
          )
          (curve.hasMarkers, curve.isStepped) = (false, true)
          return curve
        }
      guard !curves.isEmpty else { return nil }
      let plot = LinePlot(
        title: "Threads over time, limit \(entry.cell.limit ?? 0)",
        subtitle:
          "\(entry.cell.tasks ?? 0) tasks of \(Quantity.text(Double(entry.cell.service ?? 0), unit: "ns"))"
          + " at once; the first fork",
        x: Axis(
          "time since the start",
          unit: "ns",
          spacing: .linear,
          covering: curves.xs
        ),
        y: Axis(
          "threads of the process",
          unit: "count",
          spacing: .linear,
          covering: [0] + curves.ys
        ),
        curves: curves
      )
      return Plot(
        file: "threads-limit-\(entry.cell.limit ?? 0).svg",
        caption:
          "Blocking work needs a thread for each running body, and GCD's pool grows slowly: until "
          + "it has grown, fewer run than the limit allows. Suspending work needs no more than one for each "
          + "core beside those that the process has anyway.",
        svg: plot.svg,
        workload: "threads"
      )
    }
  }

  private func curves(
    over entries: [(Int, Plan.Entry)],
    _ headline: Headline,
    at position: (Cell) -> Double?
  ) -> [LinePlot.Curve] {
    var curves: [String: LinePlot.Curve] = [:]
    var order: [String] = []
    for (index, entry) in entries {
      guard let x = position(entry.cell) else { continue }
      for (contestant, who) in entry.contestants.enumerated() where !who.isAgain {
        guard let mechanism = who.name, let line = summary.line(index, contestant, headline)
        else { continue }
        if curves[mechanism] == nil {
          order.append(mechanism)
          curves[mechanism] = .of(who, [])
        }
        curves[mechanism]?.points.append((x, line.median))
        curves[mechanism]?.intervals.append(line.interval)
      }
    }
    return order.compactMap { curves[$0] }
  }

  private func entries(of workload: String) -> [(Int, Plan.Entry)] {
    plan.entries.enumerated().filter { $0.element.cell.workload == workload }
      .map { ($0.offset, $0.element) }
  }
}

extension Headline {
  /// For people, `hand off, p50`; the name may break at its spaces.
  var label: String { "\(metric.id.replacingOccurrences(of: "_", with: " ")), \(stat)" }
}
