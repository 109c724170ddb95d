internal import Basics
internal import Dispatch
internal import Foundation
internal import Limiters
internal import Mechanisms

/// Where real work of one kind is done, for one run.
protocol Workplace: Sendable {
  init(_ setup: WorkplaceSetup) async throws

  /// Does a task's work, what is limited of it through the mechanism.
  func carry(_ task: SimulatedTask) async

  /// Ends what serves the run, and tells what was counted.
  func close() async -> [WorkFigure: Int]
}

/// What a workplace is made with.
struct WorkplaceSetup: Sendable {
  var mechanism: any Mechanism
  var limit: Int
  var seed: UInt64
  /// How many requests the run's server takes in at once; nil for as many as come.
  var serverCapacity: Int?
  var tracer: any Tracer
  var world: WallWorld
  /// A folder of the run's own, which is removed with it.
  var scratch: ScratchFolder

  var folder: URL { URL(fileURLWithPath: scratch.path, isDirectory: true) }
}

/// The workplaces of a run, each made when its first task comes.
final class RealSite: Sendable {
  private struct State {
    var places: [ServiceKind: any Workplace] = [:]
    /// Where they keep their files.
    var scratch: ScratchFolder?
    /// Why a workplace could not be made.
    var failure: String?
  }

  private let setup: @Sendable (ScratchFolder) -> WorkplaceSetup
  /// How many tasks may be at work at once, as far as that is known.
  private let atOnce: Int
  private let tracer: any Tracer
  private let state = Lock(State())

  init(
    _ mechanism: any Mechanism,
    limit: Int,
    atOnce: Int,
    seed: UInt64,
    serverCapacity: Int?,
    _ tracer: any Tracer,
    _ world: WallWorld
  ) {
    self.atOnce = atOnce
    self.tracer = tracer
    setup = {
      WorkplaceSetup(
        mechanism: mechanism,
        limit: limit,
        seed: seed,
        serverCapacity: serverCapacity,
        tracer: tracer,
        world: world,
        scratch: $0
      )
    }
  }

  var failure: String? { state.withLock { $0.failure } }

  /// Makes the workplace for that kind, if it is not there, and blocks the calling thread until it is.
  ///
  /// For the thread that starts the tasks: they then come to their workplace in order.
  func open(for kind: ServiceKind) {
    guard state.withLock({ $0.places[kind] == nil && $0.failure == nil }) else { return }
    let isDone = DispatchSemaphore(value: 0)
    Task {
      do {
        let place = try await make(kind)
        state.withLock { $0.places[kind] = place }
      } catch {
        state.withLock { $0.failure = "the real work could not begin: \(error)" }
      }
      isDone.signal()
    }
    isDone.wait()
  }

  /// Does a task's work, in the place that was opened for its kind.
  func carry(_ task: SimulatedTask) async {
    if let place = state.withLock({ $0.places[task.kind] }) {
      await place.carry(task)
    } else {
      tracer.record(.arrived, of: TaskID(task.number))
      tracer.record(.rejected, of: TaskID(task.number))
    }
  }

  /// Closes what was made, and removes what it kept; to be called when all tasks have ended.
  func close() async -> [WorkFigure: Int] {
    var figures: [WorkFigure: Int] = [:]
    let places = state.withLock { state in
      defer { (state.places, state.scratch) = ([:], nil) }
      return Array(state.places.values)
    }
    for place in places { figures.merge(await place.close()) { $1 } }
    return figures
  }

  private func make(_ kind: ServiceKind) async throws -> any Workplace {
    Descriptors.raiseLimit()
    try Descriptors.check(for: kind, atOnce: atOnce)
    // `open` makes one place at a time.
    let scratch = try state.withLock { $0.scratch } ?? ScratchFolder("lab")
    state.withLock { $0.scratch = scratch }
    let setup = setup(scratch)
    switch kind {
    case .query: return try await DatabaseWorkplace(setup)
    case .copy: return try await FileWorkplace(setup)
    default: return try await ImageWorkplace(setup)
    }
  }
}
