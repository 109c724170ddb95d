internal import Mechanisms

/// *Does the choice of limiter matter once the work is real?*: in words, from the figures of a run.
package struct RealWorkAnswer {
  private let summary: Summary
  private let cells: [Int]

  package init(_ summary: Summary) {
    self.summary = summary
    cells = summary.plan.entries.indices.filter { index in
      let entry = summary.plan.entries[index]
      let kind = entry.cell.serviceKind.flatMap { ServiceKind(rawValue: $0) }
      return kind?.isReal == true && entry.reference != nil
    }
  }

  /// One limiter in one cell, against the reference.
  private struct Limiter {
    var name: String
    var line: Summary.Line
    var comparison: Summary.Comparison

    var isDecided: Bool { [.faster, .slower].contains(comparison.verdict) }

    /// How many times as long the slower of the two takes.
    var distance: Double { comparison.ratio.map { max($0.value, 1 / $0.value) } ?? 1 }
  }

  /// The limiters of a cell but the reference; what does not limit is none.
  private func limiters(_ index: Int) -> [Limiter] {
    let entry = summary.plan.entries[index]
    return entry.compared.compactMap { contestant in
      guard let headline = entry.headline,
        let line = summary.line(index, contestant, headline),
        let comparison = line.comparison, comparison.exclusion == nil,
        let name = entry.contestants[contestant].name, name != NoLimitMechanism.id
      else { return nil }
      return Limiter(name: name, line: line, comparison: comparison)
    }
  }

  /// The answer, and a line for each cell; empty where the run did no real work.
  package var sentences: [String] {
    let all = cells.flatMap(limiters)
    guard !all.isEmpty else { return [] }
    let decided = all.filter(\.isDecided)
    let open = all.count { $0.comparison.verdict == .undecided }
    var answer =
      if open == all.count {
        "This run cannot say whether the choice matters."
      } else if decided.isEmpty {
        "The choice makes no difference that this run can tell, in any of \(all.count) comparisons."
      } else {
        "The choice makes a difference in \(decided.count) of \(all.count) comparisons"
          + (decided.map(\.distance).max().map { ", at most \(Quantity.digits($0)) to 1." } ?? ".")
      }
    if let bare = bareSpread {
      answer +=
        " With an empty body and nobody waiting, the dearest limiter takes \(Quantity.digits(bare)) "
        + "times as long as the cheapest."
    }
    return [answer] + cells.map(sentence)
  }

  private func sentence(_ index: Int) -> String {
    let entry = summary.plan.entries[index]
    let limiters = limiters(index)
    let reference = entry.contestants.indices.first { entry.reference(of: $0) == nil }
    var text = entry.cell.words
    if let reference, let headline = entry.headline,
      let line = summary.line(index, reference, headline)
    {
      text +=
        ": \(entry.reference ?? "") takes "
        + "\(Quantity.text(line.median, unit: headline.metric.unit)) each"
    }
    let differing = limiters.filter(\.isDecided).map {
      "\($0.name) is \($0.comparison.verdict.rawValue), "
        + "\($0.comparison.ratio.map { Quantity.digits($0.value) } ?? "?") to 1"
    }
    text +=
      differing.isEmpty
      ? "; no limiter is told apart from it" : "; " + differing.joined(separator: ", ")
    let none = entry.contestants.firstIndex { $0.mechanism == NoLimitMechanism.id }
    if let none, let peak = summary.line(index, none, Headline(.peakRequests, "max")) {
      text +=
        "; without a limit the server had \(Quantity.text(peak.median, unit: "count")) requests at once"
    }
    return text + "."
  }

  /// How far apart the limiters are where there is nothing but them.
  private var bareSpread: Double? {
    let figures = summary.plan.entries.indices.flatMap { index -> [Double] in
      let entry = summary.plan.entries[index]
      guard entry.cell.workload == Uncontended().id, let headline = entry.headline else {
        return []
      }
      return entry.compared.compactMap { contestant in
        let id = entry.contestants[contestant].mechanism
        guard Contestants.mechanisms.contains(where: { $0.id == id && $0.profile.limit != .none }),
          entry.contestants[contestant].executor != .lanes,
          let line = summary.line(index, contestant, headline)
        else { return nil }
        // Paired, as everywhere: the reference's ratio to itself is 1.
        return line.comparison == nil ? 1 : line.comparison?.ratio?.value
      }
    }
    guard let least = figures.min(), let most = figures.max(), least > 0, most > least else {
      return nil
    }
    return most / least
  }
}
