internal import Basics
internal import CExplorable
internal import ExplorableSynchronization

/// Whom a step enters, asks about or cancels, where the operation alone does not say it.
enum StepSubject: Hashable {
  /// An actor, or an executor of somebody's own, by its address and what it is: `actor Cache`.
  case actor(UInt, what: String)
  case task(Int)
  /// A task that is not known yet, by its serial number.
  case unknownTask(UInt64)
  /// All tasks of a group.
  case group
  /// The task whose step it is.
  case itself

  /// What the calling thread, which stands before the operation, is about; nil where that is not known.
  static func noted(
    _ kind: SynchronizationOperation.Kind?,
    in executor: ExplorationExecutor
  ) -> StepSubject? {
    let subject = subject_of_point()
    switch kind {
    case .hop: return actor(at: subject)
    case .check, .cancel:
      if subject == 0 { return .itself }
      if subject == SUBJECT_GROUP { return .group }
      return executor.agent(ofTaskAt: subject).map { .task($0) }
        ?? .unknownTask(UnownedJob(address: subject).taskSerial)
    default: return nil
    }
  }

  /// The actor at the address, which must exist.
  ///
  /// Sound because the identity of a serial executor is an object, which `SerialExecutor` asks for.
  static func actor(at address: UInt) -> StepSubject? {
    guard let pointer = UnsafeRawPointer(bitPattern: address) else { return nil }
    let object = Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
    if object is MainActor || object is MainActorStandIn {
      return .actor(0, what: "the main actor")
    }
    let noun = object is any Actor ? "actor" : "executor"
    return .actor(address, what: "\(noun) \(type(of: object))")
  }

  /// The same, where the task may have become known by its number since.
  func known(by serials: [UInt64]) -> StepSubject? {
    guard case .unknownTask(let serial) = self else { return self }
    return serials.firstIndex(of: serial).map { .task($0) }
  }

  /// What the step does: `enters actor Cache`, `cancels task 3`.
  ///
  /// - Parameters:
  ///   - kind: what the step begins with; nil for the turn of an actor.
  ///   - names: of the actors of all steps that are told.
  /// - Returns: the words; nil where the operation alone says it.
  func text(of kind: SynchronizationOperation.Kind?, _ names: ActorNames) -> String? {
    switch (kind, self) {
    case (.hop, .actor(let address, let what)):
      "enters \(names.name(of: what, at: address))"
    case (nil, .actor(let address, let what)):
      "takes its turn on \(names.name(of: what, at: address))"
    case (.check, .task(let agent)): "looks whether task \(agent) is cancelled"
    case (.check, .itself): "looks whether it is cancelled"
    case (.check, .group): "looks whether its group is cancelled"
    case (.cancel, .task(let agent)): "cancels task \(agent)"
    case (.cancel, .group): "cancels all tasks of a group"
    default: nil
    }
  }
}

/// Numbers the actors of each type, in the order in which steps come to them.
struct ActorNames {
  private var numbers: [String: [UInt: Int]] = [:]

  mutating func add(_ subject: StepSubject?) {
    guard case .actor(let address, let what) = subject else { return }
    let alike = numbers[what] ?? [:]
    if alike[address] == nil { numbers[what, default: [:]][address] = alike.count + 1 }
  }

  /// `actor Cache`, or `actor Cache 2` where there are several of that type.
  func name(of what: String, at address: UInt) -> String {
    guard let alike = numbers[what], alike.count > 1, let number = alike[address] else {
      return what
    }
    return "\(what) \(number)"
  }
}
