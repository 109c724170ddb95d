internal import Basics
internal import Experiments
internal import Foundation
internal import Mechanisms

/// The keys that `run`, `spawn`, `compare` and `set` share, and how each value is read.
enum Keys {
  static let limit = Key(
    "limit",
    form: "a whole number from 1 to 1000000",
    help: "how many may run at once",
    candidates: ["1", "2", "3", "4", "8", "16"]
  )
  static let work = Key(
    "work",
    form: "40ms, exp:40ms, uniform:10ms..70ms or lognormal:40ms,0.5",
    help: "how long each task serves",
    candidates: ["10ms", "100ms", "exp:20ms", "uniform:10ms..70ms", "lognormal:40ms,0.5"]
  )
  static let kind = Key(
    "kind",
    form: ListText.all(ServiceKind.allCases.map(\.rawValue), "or"),
    help:
      "how a task spends its time: suspended, blocking its thread, computing, downloading; or what "
      + "it really does: fetches an image, queries a database, copies a file over HTTP",
    candidates: ServiceKind.allCases.map(\.rawValue)
  )
  static let arrivals = Key(
    "arrivals",
    form: "together, every:10ms or poisson:200/s",
    help: "when the tasks arrive",
    candidates: ["together", "every:10ms", "poisson:200/s"]
  )
  static let cancel = Key(
    "cancel",
    form: "a share such as 10%, or tasks and times such as t03@50ms,t07@1s",
    help: "which tasks are cancelled, and when",
    candidates: ["10%", "50%", "t03@50ms"]
  )
  static let fail = Key(
    "fail",
    form: "a share from 0% to 100%",
    help: "how many tasks throw once they have served",
    candidates: ["10%", "50%"]
  )
  static let priority = Key(
    "priority",
    form: "low, medium, high or mixed",
    help: "how urgent the tasks are",
    candidates: ["low", "medium", "high", "mixed"]
  )
  static let depends = Key(
    "depends",
    form: ListText.all(Workload.Dependencies.allCases.map(\.rawValue), "or"),
    help: "which tasks wait for which others' end (operation-queue)",
    candidates: Workload.Dependencies.allCases.map(\.rawValue)
  )
  static let clock = Key(
    "clock",
    form: "auto, virtual or real",
    help: "virtual time or the wall clock",
    candidates: Experiment.ClockChoice.allCases.map(\.rawValue)
  )
  static let workers = Key(
    "workers",
    form: "a whole number from 1 to 10000",
    help: "how many workers the virtual pool has, or the lanes; how many processors a model has",
    candidates: ["1", "2", "4", "8"]
  )
  static let platform = Key(
    "platform",
    form: ListText.all(Platform.allCases.map(\.rawValue), "or"),
    help: "a model of that platform's OperationQueue and GCD, in virtual time",
    candidates: Platform.allCases.map(\.rawValue)
  )
  static let executor = Key(
    "executor",
    form: "global or lanes",
    help: "what runs the tasks on the wall clock: Swift's pool, or a work-stealing executor",
    candidates: ["global", "lanes"]
  )
  static let seed = Key(
    "seed",
    form: "a whole number from 0 to \(UInt64.max)",
    help: "everything random derives from it",
    candidates: ["1", "2", "7"]
  )
  static let capacity = Key(
    "capacity",
    form: "a whole number from 1 to 1000000",
    help:
      "how many requests the run's own server takes in at once, and refuses one more (kind=fetch, copy)",
    candidates: ["8", "20"]
  )
  static let relimit = Key(
    "relimit",
    form: "limits and times such as 6@100ms,1@1s",
    help: "limits to change to, and when",
    candidates: ["6@100ms"]
  )
  static let pause = Key(
    "pause",
    form: "a span such as 100ms..300ms",
    help: "when the queue is suspended",
    candidates: ["100ms..300ms"]
  )

  static let describe = Key(
    "describe",
    form: "on or off",
    help: "pictures are told in sentences",
    candidates: ["on", "off"]
  )

  static let pager = Key(
    "pager",
    form: "on or off",
    help: "at a terminal, what is longer than the window comes a page at a time",
    candidates: ["on", "off"]
  )

  static let memory = Key(
    "memory",
    form: "a whole number of gigabytes from 1 to 100000, such as 20",
    help: "what a run may take before a person is asked, and a script refused",
    candidates: ["8", "20"]
  )

  static let ofRun = Key(
    "run",
    form: "its number or name, or a mechanism of the last comparison",
    help: "which run, if not the last; 'of 3' says the same"
  )

  static let inBackground = Key(
    "run",
    form: "the name of a run in the background, its mechanism if it has none, or all",
    help: "which run in the background, if not the latest; 'of a', or just 'a', says the same"
  )

  /// What a workload and its mechanism are described with.
  static let workload = [
    limit, work, kind, arrivals, cancel, fail, priority, depends, clock, platform, executor,
    workers, seed, relimit, pause, capacity,
  ]

  static func parseLimit(_ text: String) -> Int? { ValueSyntax.count(text, in: 1...1_000_000) }

  /// The kind; inside, nil for `auto`, what the mechanism's users do.
  static func parseKind(_ text: String) -> ServiceKind?? {
    text == "auto" ? .some(nil) : ServiceKind(rawValue: text).map { .some($0) }
  }

  static func parseSwitch(_ text: String) -> Bool? { ["on": true, "off": false][text] }

  static func parseMemory(_ text: String) -> Int? {
    let digits = text.hasSuffix("GB") ? String(text.dropLast(2)) : text
    return ValueSyntax.count(digits, in: 1...100_000)
  }

  static func parseWorkers(_ text: String) -> Int? { ValueSyntax.count(text, in: 1...10_000) }

  static func parseExecutor(_ text: String) -> Experiment.Executor? {
    ["global": .global, "lanes": .lanes(workers: nil)][text]
  }

  static func parsePriorities(_ text: String) -> Workload.Priorities? {
    text == "mixed" ? .mixed : ServicePriority(rawValue: text).map(Workload.Priorities.all)
  }

  static func parseSeed(_ text: String) -> UInt64? {
    text.allSatisfy { $0.isASCII && $0.isNumber } ? UInt64(text) : nil
  }

  static func parseRelimit(_ text: String) -> [(at: Int64, control: Experiment.Control)]? {
    var changes: [(at: Int64, control: Experiment.Control)] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let sides = part.split(separator: "@", omittingEmptySubsequences: false).map(String.init)
      guard sides.count == 2, let limit = parseLimit(sides[0]),
        let time = ValueSyntax.duration(sides[1])
      else { return nil }
      changes.append((time, .changeLimit(limit)))
    }
    return changes
  }

  static func parsePause(_ text: String) -> [(at: Int64, control: Experiment.Control)]? {
    guard let dots = text.range(of: ".."),
      let from = ValueSyntax.duration(String(text[..<dots.lowerBound])),
      let to = ValueSyntax.duration(String(text[dots.upperBound...])), from < to
    else { return nil }
    return [(from, .suspend), (to, .resume)]
  }
}
