internal import ArgumentParser

/// What `bench` can be told on its command line.
struct BenchOptions: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract:
      "Measures every mechanism beside the others, and writes what it found: ten minutes on two cores.",
    discussion: """
      Exit status: 0 measured; 1 a regression against the baseline; 2 wrong usage, or no \
      folder for the results can be made; 3 the results or \
      the output could not be written, or the release build failed; 4 a run was invalid: an \
      invariant broke, or, with --strict, the machine was too busy; 130 ended by Ctrl-C.
      """
  )

  @Flag(help: "Short rounds and few cells: two minutes. --dry-run says how long they take.")
  var quick = false

  @Flag(help: "Long rounds, many limits and task counts, twenty blocks: hours.")
  var full = false

  @Flag(
    help: ArgumentHelp(
      "Check validity, not speed: short rounds, three blocks, a short summary. A broken "
        + "invariant fails with status 4."
    )
  )
  var ci = false

  @Option(
    help: ArgumentHelp(
      "Measure only what this matches; see --list for what it is matched against.",
      valueName: "regex"
    )
  )
  var filter: String?

  @Option(help: ArgumentHelp("Leave out what this matches.", valueName: "regex"))
  var skip: String?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Measure only these mechanisms. Specimens may be named too, and \(Contestants.others.joined(separator: ", ")).",
      valueName: "id"
    ),
    completion: .list(Contestants.names)
  )
  var mechanism: [String] = []

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Use these limits where a workload has a choice.", valueName: "k")
  )
  var limit: [Int] = []

  @Option(
    help: ArgumentHelp(
      "How many blocks measure each cell: processes that hold all its mechanisms, or one process for each.",
      valueName: "n"
    )
  )
  var forks: Int?

  @Flag(
    help:
      "Fail with status 4 also where other processes disturbed more than half of a cell's blocks."
  )
  var strict = false

  @Option(help: ArgumentHelp("Everything random derives from it.", valueName: "n"))
  var seed: UInt64 = 1

  @Option(
    help: ArgumentHelp("Where run folders go (default: the package's Results).", valueName: "dir")
  )
  var out: String?

  @Option(
    help: ArgumentHelp(
      "Compare with this earlier run folder; a regression beyond noise ends with status 1.",
      valueName: "dir"
    )
  )
  var baseline: String?

  @Option(
    help: ArgumentHelp(
      "Measure nothing: write the summary, the report and the plots of this earlier run folder anew "
        + "from its tables, and stop.",
      valueName: "dir"
    )
  )
  var republish: String?

  @Flag(help: "Say what there is to measure, one line each, and stop.")
  var list = false

  @Flag(help: "Say what would be measured and how long it would take, and stop.")
  var dryRun = false

  @Flag(
    help: ArgumentHelp(
      "Print the summary, or what --list and --dry-run say, as JSON Lines, and nothing else, on "
        + "standard output."
    )
  )
  var json = false

  @Flag(help: "Measure a debug build as it is. Its figures say little; env.json says so.")
  var unoptimised = false

  @Option(
    help: ArgumentHelp(
      "Run one trial and print its report; how bench starts itself.",
      visibility: .private
    )
  )
  var trial: String?

  mutating func validate() throws {
    if [quick, full, ci].count(where: { $0 }) > 1 {
      throw ValidationError("--quick, --full and --ci exclude each other; choose one")
    }
    if let forks, forks > Self.mostForks {
      throw ValidationError("--forks must be at most \(Self.mostForks), not \(forks)")
    }
  }

  /// More than anybody has the time for, and few enough for trials and seconds not to overflow.
  private static let mostForks = 10_000

  var scale: Scale { quick ? .quick : full ? .full : ci ? .ci : .standard }

  var selection: Selection {
    Selection(
      scale: scale,
      seed: seed,
      forks: forks,
      limits: limit.isEmpty ? nil : limit,
      mechanisms: mechanism.isEmpty ? nil : mechanism,
      filter: filter,
      skip: skip
    )
  }
}
