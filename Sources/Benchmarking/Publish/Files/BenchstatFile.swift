/// `benchmarks.txt.gz`: the headline of each cell in the format of Go's benchmarks, a line a fork, so that
/// `benchstat <(zcat old/benchmarks.txt.gz) <(zcat new/benchmarks.txt.gz)` compares two runs; without the reference's
/// second half.
///
/// The format: https://go.dev/design/14313-benchmark-format
extension RunFiles {
  func benchstatText(_ environment: EnvironmentRecord) -> String {
    var text = "goos: linux\ngoarch: \(Self.goArchitecture(environment.architecture))\n"
    text += "pkg: ConcurrencyLab\n"
    if let processor = environment.processor { text += "cpu: \(processor)\n" }
    if let toolchain = environment.toolchain { text += "toolchain: \(toolchain)\n" }
    let figures = ForkFigures(records, summary.distances)
    for (index, entry) in plan.entries.enumerated() {
      guard let headline = entry.headline else { continue }
      for (contestant, who) in entry.contestants.enumerated() where !who.isAgain {
        let name = Self.benchmarkName(entry.cell, who)
        for value in figures[index, contestant, headline] {
          text +=
            "\(name) 1 \(CSV.number(value.rounded(digits: 6))) \(Self.benchmarkUnit(headline.metric))\n"
        }
      }
    }
    return text
  }

  /// `BenchmarkFanOut/mechanism=limiter/limit=8/tasks=1000`: no spaces, parts that benchstat can filter.
  private static func benchmarkName(_ cell: Cell, _ contestant: Contestant) -> String {
    let words = cell.workload.split(separator: "-").map {
      $0.prefix(1).uppercased() + $0.dropFirst()
    }
    var name = "Benchmark" + words.joined()
    if let label = contestant.label { name += "/mechanism=\(label)" }
    // Some cells measure a mechanism on each.
    if contestant.executor == .lanes { name += "/executor=lanes" }
    for part in cell.name.split(separator: " ").dropFirst() { name += "/\(part)" }
    return name
  }

  private static func benchmarkUnit(_ metric: Metric) -> String {
    switch metric {
    case .timePerOperation: "ns/op"
    case .heapPerWaiter: "B/op"
    default: "\(metric.id)-\(metric.unit)"
    }
  }

  private static func goArchitecture(_ name: String?) -> String {
    switch name {
    case "x86_64": "amd64"
    case "aarch64": "arm64"
    case let name: name ?? "unknown"
    }
  }
}
