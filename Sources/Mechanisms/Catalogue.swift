internal import Synchronization

/// Every mechanism there is, one line each.
package enum Catalogue {
  /// The mechanisms, in the order in which they are taught.
  package static let mechanisms: [CatalogueEntry] = [
    CatalogueEntry(OperationQueueMechanism.self),
    CatalogueEntry(GCDSemaphoreMechanism.self),
    CatalogueEntry(GCDGateMechanism.self),
    CatalogueEntry(LimiterMechanism.self),
    CatalogueEntry(PoolMechanism.self),
    CatalogueEntry(FIFOQueueMechanism.self),
    CatalogueEntry(ActorQueueMechanism.self),
    CatalogueEntry(MainActorQueueMechanism.self),
    CatalogueEntry(TaskGroupMechanism.self),
    CatalogueEntry(NoLimitMechanism.self),
  ]

  /// The limiters that are wrong on purpose.
  package static let specimens: [CatalogueEntry] = [
    CatalogueEntry(PublishedLimiterMechanism.self),
    CatalogueEntry(DoubleResumeMechanism.self),
    CatalogueEntry(LeakedPermitMechanism.self),
    CatalogueEntry(LostWakeUpMechanism.self),
    CatalogueEntry(CheckThenActMechanism.self),
    CatalogueEntry(TwoLocksMechanism.self),
    CatalogueEntry(NoLastLookMechanism.self),
    CatalogueEntry(HeldLockMechanism.self),
    CatalogueEntry(ThrowingBodyMechanism.self),
    CatalogueEntry(StrandedWaiterMechanism.self),
    CatalogueEntry(BargingMechanism.self),
    CatalogueEntry(NestedDeadlockMechanism.self),
    CatalogueEntry(PlainTasksMechanism.self),
  ]

  /// Ways to use what is right wrongly, on the wall clock: no exploration drives them.
  package static let misuses: [CatalogueEntry] = [CatalogueEntry(OperationTaskMechanism.self)]

  /// Limiters that end their program; known by their names, and listed nowhere.
  private static let programEnders = [
    CatalogueEntry(LimiterAdapter<TrappingLimiter>.self),
    CatalogueEntry(LimiterAdapter<CheckedTwiceLimiter>.self),
    CatalogueEntry(LimiterAdapter<ResumingDeinitLimiter>.self),
    CatalogueEntry(LimiterAdapter<TrappingTooLateLimiter>.self),
    CatalogueEntry(LimiterAdapter<EndlessLoopLimiter>.self),
  ]

  /// What a learner's own is called.
  package static let yours = "yours"

  private static let learners = Mutex<CatalogueEntry?>(nil)

  /// Makes what a learner has written known in this program.
  package static func add(yours entry: CatalogueEntry) { learners.withLock { $0 = entry } }

  /// The mechanism or specimen of that name.
  package static func entry(_ id: String) -> CatalogueEntry? {
    if id == yours { return learners.withLock { $0 } }
    return (mechanisms + specimens + misuses + programEnders).first { $0.id == id }
  }
}

/// A mechanism as the catalogue knows it: its name, its promises, how to make one.
package struct CatalogueEntry: Sendable {
  package internal(set) var id: String
  package internal(set) var profile: MechanismProfile
  package let make: @Sendable (MechanismSetup) -> any Mechanism

  package init<M: Mechanism>(_ type: M.Type) {
    id = M.id
    profile = M.profile
    make = { M($0) }
  }

  /// One that is no type's own.
  package init(
    id: String,
    _ profile: MechanismProfile,
    make: @escaping @Sendable (MechanismSetup) -> any Mechanism
  ) {
    self.id = id
    self.profile = profile
    self.make = make
  }

  /// A learner's own in a program that has only its name: it is made in another, built around the file.
  package init(yours profile: MechanismProfile) {
    id = Catalogue.yours
    self.profile = profile
    make = { _ in preconditionFailure("a learner's file is run in the program built around it") }
  }
}
