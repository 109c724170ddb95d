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
    CatalogueEntry(ThrowingBodyMechanism.self),
    CatalogueEntry(StrandedWaiterMechanism.self),
    CatalogueEntry(BargingMechanism.self),
    CatalogueEntry(NestedDeadlockMechanism.self),
    CatalogueEntry(PlainTasksMechanism.self),
  ]

  /// Limiters that end their program; known by their names, and listed nowhere.
  private static let programEnders = [
    CatalogueEntry(LimiterAdapter<TrappingLimiter>.self),
    CatalogueEntry(LimiterAdapter<CheckedTwiceLimiter>.self),
    CatalogueEntry(LimiterAdapter<EndlessLoopLimiter>.self),
  ]

  /// The mechanism or specimen of that name.
  package static func entry(_ id: String) -> CatalogueEntry? {
    (mechanisms + specimens + programEnders).first { $0.id == id }
  }
}

/// A mechanism as the catalogue knows it: its name, its promises, how to make one.
package struct CatalogueEntry: Sendable {
  package let id: String
  package let profile: MechanismProfile
  package let make: @Sendable (MechanismSetup) -> any Mechanism

  package init<M: Mechanism>(_ type: M.Type) {
    id = M.id
    profile = M.profile
    make = { M($0) }
  }
}
