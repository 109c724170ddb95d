package import Experiments
package import Mechanisms

/// What a command falls back on where it is told nothing: changed by `set` and `use`.
package struct Settings: Sendable {
  package var mechanism: CatalogueEntry
  package var limit = 3
  package var work = ServiceTime.fixed(100_000_000)
  /// The kind of work; nil for what the mechanism's users do.
  package var kind: ServiceKind?
  package var clock = Experiment.ClockChoice.auto
  /// How many workers the virtual pool has, or the lanes; nil for what each has by itself.
  package var workers: Int?
  package var executor = Experiment.Executor.global
  package var seed: UInt64 = 1
  /// Pictures are told in sentences.
  package var describe = false
  /// At a terminal, what is longer than the window is shown a page at a time.
  package var pager = true
  /// How many gigabytes a run may take before a person is asked, and a script refused.
  package var memory = 4
  /// Where the value of a setting comes from, by its name, unless nothing has ever set it.
  var origins: [String: String] = [:]

  package init(seed: UInt64 = 1, describe: Bool = false) {
    guard let entry = Catalogue.entry("limiter") ?? Catalogue.mechanisms.first else {
      preconditionFailure("the catalogue of mechanisms is empty")
    }
    mechanism = entry
    self.seed = seed
    self.describe = describe
    if seed != 1 { origins["seed"] = "lab --seed" }
    if describe { origins["describe"] = "lab --describe" }
  }

  /// Takes over what the keys of a command say.
  mutating func apply(_ arguments: Arguments) throws(ShellError) {
    if let limit = try arguments.value(Keys.limit, Keys.parseLimit) { self.limit = limit }
    if let work = try arguments.value(Keys.work, ValueSyntax.serviceTime) { self.work = work }
    if let kind = try arguments.value(Keys.kind, Keys.parseKind) { self.kind = kind }
    if let clock = try arguments.value(Keys.clock, Experiment.ClockChoice.init(rawValue:)) {
      self.clock = clock
    }
    if let executor = try arguments.value(Keys.executor, Keys.parseExecutor) {
      self.executor = executor
    }
    if let workers = try arguments.value(Keys.workers, Keys.parseWorkers) {
      self.workers = workers
    }
    if let seed = try arguments.value(Keys.seed, Keys.parseSeed) { self.seed = seed }
    if let describe = try arguments.value(Keys.describe, Keys.parseSwitch) {
      self.describe = describe
    }
    if let memory = try arguments.value(Keys.memory, Keys.parseMemory) { self.memory = memory }
    if let pager = try arguments.value(Keys.pager, Keys.parseSwitch) { self.pager = pager }
  }

  /// The clock a run with these settings would use.
  var resolvedClock: RunClock {
    let isReal = clock == .real || kind?.isReal == true
    return isReal || mechanism.profile.clock == .real ? .real : .virtual
  }
}
