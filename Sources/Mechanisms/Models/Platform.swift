// OperationQueue and GCD own their threads, so they run on the wall clock, and how they get threads differs
// from one platform to the next. A model of them runs in virtual time: what a platform documents, and what
// was measured of it, about when a block is given a thread. Every view of such a run says "model", since
// its mechanism is called `operation-queue@apple-model`.

/// A platform whose queues are modelled.
package enum Platform: String, CaseIterable, Hashable, Sendable {
  /// Threads that block are replaced at once, up to 64 threads.
  ///
  /// Source: Apple, WWDC 2015, *Building Responsive and Efficient Apps with GCD*, on thread explosion; the
  /// limit is what `sysctl kern.wq_max_constrained_threads` says there. Nothing of it was measured here.
  case apple
  /// As many threads as processors, and once a second one more if blocks wait.
  ///
  /// While no thread runs there may be up to 255; while some run, but fewer than there are processors, up to twice
  /// the processors; while as many run as there are processors, none is added.
  ///
  /// Source: swift-corelibs-libdispatch, src/event/workqueue.c, `_dispatch_workq_monitor_pools`. Measured: 100
  /// blocking blocks of 100 ms at limit 8 on two processors take 3.2 s, as they do in the model.
  case linux

  /// Whose queues they are: "Linux".
  fileprivate var owner: String {
    switch self {
    case .apple: "an Apple system"
    case .linux: "Linux"
    }
  }

  /// What the model of a mechanism is called.
  func name(of id: String) -> String { "\(id)@\(rawValue)-model" }
}

extension CatalogueEntry {
  /// The platform that this is a model of; nil where it is the real thing.
  package var platform: Platform? { Platform.allCases.first { id.hasSuffix($0.name(of: "")) } }

  /// A model of the mechanism in virtual time; nil where it has none.
  package func model(of platform: Platform) -> CatalogueEntry? {
    let models = [
      CatalogueEntry(OperationQueueModel.self), CatalogueEntry(GCDSemaphoreModel.self),
      CatalogueEntry(GCDGateModel.self),
    ]
    guard var model = models.first(where: { $0.id == id }) else { return nil }
    model.id = platform.name(of: id)
    model.profile.clock = .any
    model.profile.summary = "a model of \(id), with the threads of \(platform.owner)"
    model.profile.explanation =
      "This is a model, in virtual time: 'help clocks' says what it leaves out.\n\n"
      + model.profile.explanation
    model.profile.realOnlyReason = nil
    // A model ends when its last task does, and says nothing of its own.
    model.profile.completionSignal = nil
    for control in [MechanismProfile.Control.barrier, .notification] {
      model.profile.controls.remove(control)
      model.profile.lacks[control] = "it is a model, which knows blocks, semaphores and operations"
    }
    return model
  }

  /// The model of that name.
  package static func model(named name: String) -> CatalogueEntry? {
    for platform in Platform.allCases where name.hasSuffix(platform.name(of: "")) {
      let id = String(name.dropLast(platform.name(of: "").count))
      return Catalogue.mechanisms.first { $0.id == id }?.model(of: platform)
    }
    return nil
  }
}

/// The thread that a modelled block runs on, for the trace: the scheduler's workers are not what is modelled.
package enum ModelledThread {
  @TaskLocal package static var number: Int?
}
