internal import ExplorableMechanisms
package import Exploration
package import Mechanisms

/// What is to be explored: one mechanism, some tasks, what may happen to them.
///
/// Has a name that says all of it, so that a schedule alone is enough to build it again.
package struct ExplorationScenario: Sendable {
  package var mechanism: CatalogueEntry
  package var tasks: Int
  package var limit: Int
  /// Cancelling any task at any step is among the choices.
  package var cancels: Bool
  /// Every body throws once it has served.
  package var fails: Bool
  /// How often each task visits, one visit after the other.
  package var visits = 1
  /// What the limit may become at any step, once; nil for a limit that stays.
  package var resize: Int?
  /// How often a task may yield with nothing happening before others go on; nil for no bound.
  package var fair: Int? = Self.defaultFair
  /// How often a waiting task may be overtaken, asked instead of the mechanism's order; nil for that.
  package var overtakingBound: Int?

  /// Whether tasks may stop inside synchronous code, before each operation on a lock or an atomic.
  package var inside: Bool

  /// What is explored unless told: what shows a specimen's defect, or two tasks that may be cancelled.
  package init(_ mechanism: CatalogueEntry) {
    let exposure = mechanism.profile.exposure
    self.mechanism = mechanism
    tasks = exposure?.tasks ?? 2
    limit = exposure?.limit ?? 1
    cancels = exposure.map { $0.trigger == .cancellation } ?? true
    fails = exposure?.trigger == .failingBodies
    inside = exposure?.inside ?? false
  }

  package static let defaultFair = 2

  /// Whether there are places to stop at inside the mechanism's synchronous code.
  package static func canStopInside(_ mechanism: CatalogueEntry) -> Bool {
    mechanism.profile.defect != nil || mechanism.id == Catalogue.yours
      || ExplorableCatalogue.has(mechanism)
  }

  /// The number of permits that counts: 1 for the ordered queues.
  package var effectiveLimit: Int? {
    switch mechanism.profile.limit {
    case .any: limit
    case .one: 1
    case .none: nil
    }
  }

  /// Says why the scenario cannot be explored.
  package func check() throws(ExperimentError) {
    if mechanism.profile.clock == .real { throw .notExplorable(mechanism) }
    if inside, !Self.canStopInside(mechanism) { throw .notExplorableInside(mechanism) }
    if resize != nil, !mechanism.profile.controls.contains(.limit) {
      throw .cannot(mechanism, .limit)
    }
  }

  /// As in schedules: `limiter-2-1-any`, with `-fail`, `-visits2`, `-resize3`, `-fair5`, `-bound3` and
  /// `-inside` behind where they apply.
  package var name: String {
    var parts = [mechanism.id, String(tasks), String(limit), cancels ? "any" : "none"]
    if fails { parts.append("fail") }
    if visits != 1 { parts.append("visits\(visits)") }
    if let resize { parts.append("resize\(resize)") }
    if fair != Self.defaultFair { parts.append("fair\(fair ?? 0)") }
    if let overtakingBound { parts.append("bound\(overtakingBound)") }
    if inside { parts.append("inside") }
    return parts.joined(separator: "-")
  }

  /// The scenario of that name; nil if it names none.
  package init?(name: String) {
    var parts = name.split(separator: "-", omittingEmptySubsequences: false)
    func number(behind word: String) -> Int? {
      guard let last = parts.last, last.hasPrefix(word),
        let number = Int(last.dropFirst(word.count))
      else { return nil }
      parts.removeLast()
      return number
    }
    inside = parts.last == "inside"
    if inside { parts.removeLast() }
    overtakingBound = number(behind: "bound")
    fair = number(behind: "fair") ?? Self.defaultFair
    if fair == 0 { fair = nil }
    resize = number(behind: "resize")
    visits = number(behind: "visits") ?? 1
    let fails = parts.last == "fail"
    if fails { parts.removeLast() }
    guard parts.count > 3, let cancels = ["any": true, "none": false][parts.removeLast()],
      let limit = Int(parts.removeLast()), let tasks = Int(parts.removeLast()),
      (1...1_000_000).contains(limit), (1...1_000).contains(tasks),
      let mechanism = Catalogue.entry(parts.joined(separator: "-"))
    else { return nil }
    self.mechanism = mechanism
    self.tasks = tasks
    self.limit = limit
    self.cancels = cancels
    self.fails = fails
  }

  /// The scenario as the explorer takes it.
  package var scenario: Scenario {
    let profile = mechanism.profile
    let isOrdered = profile.order == .fifo || profile.order == .fifoToFirstSuspension
    let deadlocks = profile.exposure?.violation == Violation.Kind.deadlock.rawValue
    var scenario = Scenario(
      tasks: tasks,
      limit: effectiveLimit,
      cancellable: cancels,
      promises: Scenario.Promises(
        order: isOrdered && overtakingBound == nil,
        workConservation: profile.lendsPermitsOnly,
        overtakingBound: overtakingBound,
        whenAllWait: deadlocks ? .deadlock : nil
      ),
      symmetric: profile.treatsTasksAlike,
      fingerprint: { [self] in
        var smaller = self
        smaller.tasks = $0.tasks
        return smaller.name
      },
      make: instance
    )
    scenario.visits = visits
    scenario.resize = resize
    scenario.fair = fair
    scenario.inside = inside
    if mechanism.id == Catalogue.yours { scenario.besides = Scenario.aroundAnswers }
    return scenario
  }

  private func instance(_ context: ScenarioContext) -> ScenarioInstance {
    let entry = inside ? ExplorableCatalogue.entry(for: mechanism) : mechanism
    let mechanism = entry.make(
      MechanismSetup(
        limit: limit,
        executor: context.executor,
        onDoubleResume: { context.noteDoubleResume($0) },
        onFault: { context.noteFault($0) }
      )
    )
    let kind = self.mechanism.profile.defaultKind
    let tracer = ScenarioTracer(context: context)
    let world = ScenarioWorld(context: context)
    return ScenarioInstance(
      body: { [fails, visits] number in
        let task = SimulatedTask(number: number, service: 1, kind: kind, fails: fails)
        for _ in 0..<visits where !Task.isCancelled || visits == 1 {
          await mechanism.carry(Visit(task, tracer: tracer, world: world))
        }
      },
      permitsInUse: { mechanism.permitsInUse },
      changeLimit: { mechanism.changeLimit(to: $0) }
    )
  }
}

/// Tells the explorer what happens to the tasks.
private struct ScenarioTracer: Tracer {
  let context: ScenarioContext

  func record(_ kind: TraceEvent.Kind, of task: TaskID) {
    let observation: Observation? =
      switch kind {
      case .arrived: .arrived
      case .admitted: .admitted
      case .holds(.connection): .holdsConnection
      case .holds(.file): .holdsFile
      case .finished: .finished
      case .failed: .failed
      case .cancelled(.waiting): .cancelledWaiting
      case .cancelled(.running): .cancelledRunning
      case .rejected: .rejected
      case .blocked, .unblocked, .answered, .error, .progress, .suspended, .resumed, .limit: nil
      }
    if let observation { context.report(observation, of: Int(task.number)) }
  }

  func noteLostResult(of task: TaskID, toldCancelled: Bool) {
    context.report(
      toldCancelled && !Task.isCancelled ? .cancelledWaiting : .lostResult,
      of: Int(task.number)
    )
  }
}

/// A world in which time is chosen, not measured: suspended work goes on when the schedule says so,
/// and work that holds its worker is done within its step.
private struct ScenarioWorld: World {
  let context: ScenarioContext

  var now: Int64 { 0 }

  func suspend(for nanoseconds: Int64) async throws { try await context.pause() }

  func leaveStartingThread() async {}

  func block(for nanoseconds: Int64) {}

  func spin(for nanoseconds: Int64) {}
}

/// As its name, which says all of it.
extension ExplorationScenario: Codable {
  package init(from decoder: any Decoder) throws {
    let name = try decoder.singleValueContainer().decode(String.self)
    guard let scenario = ExplorationScenario(name: name) else {
      throw ExplorationFailure(description: "no scenario is named '\(name)'")
    }
    self = scenario
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(name)
  }
}
