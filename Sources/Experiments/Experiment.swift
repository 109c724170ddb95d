internal import Basics
package import Mechanisms

/// One mechanism, one workload, one clock: everything a run needs to be asked for.
package struct Experiment: Sendable {
  /// Which clock to use; `auto` is virtual wherever the mechanism allows it.
  package enum ClockChoice: String, CaseIterable, Hashable, Sendable {
    case auto
    case virtual
    case real
  }

  /// What runs the tasks on the wall clock.
  package enum Executor: Hashable, Sendable {
    /// Swift's own pool.
    case global
    /// A work-stealing executor of the run's own; nil workers for one on each processor.
    case lanes(workers: Int?)
  }

  /// Something done to the mechanism at an instant of the run.
  package enum Control: Hashable, Sendable {
    case changeLimit(Int)
    case suspend
    case resume

    /// What the mechanism must be able to do.
    package var needed: MechanismProfile.Control {
      switch self {
      case .changeLimit: .limit
      case .suspend, .resume: .suspension
      }
    }
  }

  package var mechanism: CatalogueEntry
  package var limit: Int
  package var workload: Workload
  package var clock: ClockChoice
  /// How many workers the virtual pool has; of a modelled platform, how many processors.
  package var workers: Int
  package var executor: Executor
  /// How many requests the run's own server takes in at once, and refuses one more; nil for as many as come.
  package var serverCapacity: Int?
  /// What is done when, in nanoseconds from the start of the run.
  package var controls: [(at: Int64, control: Control)]

  /// How wide the virtual pool is unless told.
  ///
  /// Fixed, so that a virtual run is the same on every machine; a common number of cores.
  package static let defaultWorkers = 4

  /// A year in nanoseconds.
  package static let year = 365.25 * 86_400e9
  /// The most work that a run may have, and the longest that its tasks may take to arrive, in nanoseconds.
  ///
  /// A tenth of what its clock can count: the work is an average, and more may join a run.
  package static let longest = 30 * year

  package init(
    mechanism: CatalogueEntry,
    limit: Int,
    workload: Workload,
    clock: ClockChoice = .auto,
    workers: Int = Self.defaultWorkers,
    executor: Executor = .global,
    serverCapacity: Int? = nil,
    controls: [(at: Int64, control: Control)] = []
  ) {
    self.mechanism = mechanism
    self.limit = limit
    self.workload = workload
    self.clock = clock
    self.workers = workers
    self.executor = executor
    self.serverCapacity = serverCapacity
    self.controls = controls
  }

  /// The clock the run will use.
  package var resolvedClock: RunClock {
    let isReal = clock == .real || executor != .global || workload.kind.isReal
    return isReal || mechanism.profile.clock == .real ? .real : .virtual
  }

  /// How many workers were asked for; nil where nobody can choose: of lanes one for each processor, on
  /// the wall clock else the threads that the system gives.
  package var chosenWorkers: Int? {
    switch executor {
    case .lanes(let workers): workers
    case .global: resolvedClock == .virtual ? workers : nil
    }
  }

  /// Says why the experiment cannot be run as asked for, and what to do.
  package func check() throws(ExperimentError) {
    let profile = mechanism.profile
    if profile.endsProgram { throw .endsProgram(mechanism) }
    if mechanism.platform != nil, resolvedClock == .real {
      var causes: [ExperimentError.Choice] = clock == .real ? [.clock] : []
      if executor != .global { causes.append(.executor) }
      if workload.kind.isReal { causes.append(.kind) }
      throw .modelIsVirtual(mechanism, causes)
    }
    if clock == .virtual, profile.clock == .real { throw .realOnly(mechanism) }
    if serverCapacity != nil, ![.fetch, .copy].contains(workload.kind) {
      throw .noServer(workload.kind)
    }
    if clock == .virtual, workload.kind.isReal { throw .realWork(workload.kind) }
    if executor != .global {
      if profile.clock == .real { throw .ownsThreads(mechanism) }
      if clock == .virtual { throw .lanesAreReal }
    }
    if workload.expectedWork > Self.longest { throw .tooMuchWork(workload) }
    if workload.pacedArrivals > Self.longest { throw .tooLongArrivals(workload) }
    for (_, control) in controls where !profile.controls.contains(control.needed) {
      throw .cannot(mechanism, control.needed)
    }
    if workload.dependencies != .none, !profile.controls.contains(.dependencies) {
      throw .cannot(mechanism, .dependencies)
    }
  }

  /// The limit the run's log is held to, and shown with.
  package var effectiveLimit: Int? {
    switch mechanism.profile.limit {
    case .any: limit
    case .one: 1
    case .none: nil
    }
  }

  /// What the mechanism promises in this very run.
  ///
  /// A promise of order is held against a run only where its log can tell: on the wall clock two
  /// tasks admitted in order may note their admissions the other way round, being on two threads,
  /// unless one must end before the other begins. Real work is noted where its workplace takes it, on
  /// any thread. On lanes it never tells: visits begin on several
  /// workers, and one that noted its arrival first may come to the limiter second.
  package func facts(tasks: Int) -> RunFacts {
    let profile = mechanism.profile
    let kind = workload.kind
    let oneAtATime = effectiveLimit == 1
    let isOnLanes = if case .lanes = executor { true } else { false }
    let orderShows = resolvedClock == .virtual || oneAtATime && !isOnLanes && !kind.isReal
    let overlaps = profile.order == .fifoToFirstSuspension && !kind.holdsWorker
    let ordered =
      switch profile.order {
      case .priority: workload.priorities != .mixed
      case .fifo, .fifoToFirstSuspension: true
      case .none: false
      }
    let ownsThreads = profile.clock == .real || mechanism.platform != nil
    return RunFacts(
      tasks: tasks,
      limit: overlaps ? nil : effectiveLimit,
      promisesOrder: ordered && orderShows && workload.dependencies == .none,
      serviceHoldsWorker: kind.holdsWorker || ownsThreads && kind == .download
    )
  }
}

/// Why an experiment cannot be run as asked for.
package enum ExperimentError: Error, CustomStringConvertible {
  case realOnly(CatalogueEntry)
  /// It traps, or loops for ever.
  case endsProgram(CatalogueEntry)
  case notExplorable(CatalogueEntry)
  /// It has no locks or atomics of its own that an exploration could stop at.
  case notExplorableInside(CatalogueEntry)
  /// Work that is done and not simulated takes the time it takes.
  case realWork(ServiceKind)
  /// Only fetches and copies ask a server.
  case noServer(ServiceKind)
  case ownsThreads(CatalogueEntry)
  case lanesAreReal
  /// A model of a platform has no threads; with what asked for some.
  case modelIsVirtual(CatalogueEntry, [Choice])
  case cannot(CatalogueEntry, MechanismProfile.Control)
  case tooMuchWork(Workload)
  case tooLongArrivals(Workload)

  /// Something that can be chosen, by the key that chooses it.
  package enum Choice: String, Hashable, Sendable {
    case clock
    case executor
    case kind
    case platform
  }

  /// Where a choice came from, on which it depends how to undo it.
  package enum Origin: Hashable, Sendable {
    /// From a key of the very command.
    case words
    /// From what `set` has set.
    case settings
  }

  package var description: String { description { _ in .words } }

  /// Why it cannot be and what to do, where `origin` tells who chose what.
  package func description(_ origin: (Choice) -> Origin) -> String {
    func undo(_ choice: Choice) -> String {
      switch origin(choice) {
      case .words: "Leave \(choice.rawValue)= out"
      case .settings: "Write 'set \(choice.rawValue) auto' first"
      }
    }
    switch self {
    case .endsProgram(let entry):
      return
        "\(entry.id) ends the program that runs it, or never comes back, so only an exploration may "
        + "run it, in a program of its own. Write: explore \(entry.id)"
    case .realOnly(let entry):
      let model =
        entry.model(of: .linux) == nil ? "" : " take the model of it with platform=linux,"
      return "\(Self.reason(entry)) \(undo(.clock)),\(model) or use \(Self.virtual)."
    case .notExplorable(let entry):
      return "\(Self.reason(entry)) Only virtual time can be explored: use \(Self.virtual)."
    case .notExplorableInside(let entry):
      return
        "\(entry.id) has no lock or atomic that an exploration could stop at. Leave inside= out."
    case .realWork(let kind):
      return "kind=\(kind.rawValue) is real work, which takes the time it takes, so it runs on the "
        + "wall clock only. \(undo(.clock)), or simulate it: kind=suspend."
    case .noServer(let kind):
      return
        "kind=\(kind.rawValue) asks no server, so none can be full. Leave capacity= out, or let tasks "
        + "ask one: kind=fetch or kind=copy."
    case .ownsThreads(let entry):
      return "\(entry.id) has threads of its own, so no executor runs its tasks. "
        + "\(undo(.executor)), or use \(Self.virtual)."
    case .modelIsVirtual(let entry, let causes):
      var undone: [String] = []
      for cause in causes.map(undo) where !undone.contains(cause) { undone.append(cause) }
      let real = entry.id.prefix { $0 != "@" }
      let other = origin(.platform) == .words ? "leave platform= out" : "use \(real)"
      return "\(entry.id) is a model, which runs in virtual time and does no real work. "
        + "\(ListText.all(undone)), or run the real one: \(other)."
    case .lanesAreReal:
      return "executor=lanes has real threads, so it runs on the wall clock. \(undo(.clock))."
    case .tooMuchWork(let workload):
      let each = DurationText.text(Int64(workload.service.mean.rounded()))
      return "\(workload.count) tasks of \(each) each on average are "
        + "\(Self.years(workload.expectedWork)) years of work, and a run may have at most "
        + "\(Self.years(Experiment.longest)). Give it fewer tasks or a shorter work=."
    case .tooLongArrivals(let workload):
      let gap = DurationText.text(
        Int64((workload.pacedArrivals / Double(workload.count - 1)).rounded())
      )
      return "\(workload.count) tasks, one every \(gap), arrive over "
        + "\(Self.years(workload.pacedArrivals)) years, and a run may have at most "
        + "\(Self.years(Experiment.longest)). Give it fewer tasks or a shorter arrivals=."
    case .cannot(let entry, let control):
      let able = Catalogue.mechanisms.filter { $0.profile.controls.contains(control) }.map(\.id)
      let what =
        switch control {
        case .limit: "cannot change its limit while it runs"
        case .suspension: "cannot be suspended"
        case .dependencies: "knows no dependencies between tasks"
        case .priorities: "knows no priorities"
        case .barrier: "knows no barriers"
        case .notification: "tells nobody when all is done"
        }
      let why = entry.profile.lacks[control].map { ": \($0)" } ?? ""
      return "\(entry.id) \(what)\(why). Use \(ListText.all(able, "or"))."
    }
  }

  private static func years(_ nanoseconds: Double) -> Int {
    Int((nanoseconds / Experiment.year).rounded())
  }

  private static func reason(_ entry: CatalogueEntry) -> String {
    entry.profile.realOnlyReason ?? "\(entry.id) runs on the wall clock only."
  }

  /// The mechanisms that run in virtual time.
  private static var virtual: String {
    Catalogue.mechanisms.filter { $0.profile.clock == .any }.map(\.id).joined(separator: ", ")
  }
}
