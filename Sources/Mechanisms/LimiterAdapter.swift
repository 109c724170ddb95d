/// A mechanism whose limiter runs its body on the calling task.
///
/// Say in `run` how the limiter is entered; how tasks are carried through it follows from that.
package protocol RunMechanism: Mechanism {
  /// Runs `body` once there is a permit, and passes its error on; throws without having run it if
  /// the task was cancelled while it waited.
  func run(_ body: () async throws -> Void) async throws
}

extension RunMechanism {
  // Inlined into what callers of the protocol call: a frame less for each waiting task.
  @inline(__always)
  package func carry(_ visit: Visit) async { await visit.carry(through: run) }

  // One that is measured writes its own, which calls the limiter itself.
  @inline(__always)
  package func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    for _ in 0..<times { try? await run { await body.onTask() } }
  }

  package func batch(_ count: Int, _ body: BatchBody) async {
    // The waiting tasks are measured: they carry what they need and no more.
    let onTask = body.onTask
    await withDiscardingTaskGroup { group in
      for index in 0..<count { group.addTask { try? await self.run { await onTask(index) } } }
    }
  }
}

/// A limiter with a `run`, and what the catalogue says of it.
package protocol NamedLimiter: Sendable {
  /// What people call it: `specimen-barging`.
  static var id: String { get }
  static var profile: MechanismProfile { get }

  /// Makes a limiter with so many permits.
  init(limit: Int)

  /// Makes a limiter that needs more than the number of permits.
  static func make(_ setup: MechanismSetup) -> Self

  /// Runs `body` once there is a permit, on the calling task.
  func run<Value>(_ body: () async throws -> Value) async throws -> Value
}

extension NamedLimiter {
  package static func make(_ setup: MechanismSetup) -> Self { Self(limit: setup.limit) }
}

/// A limiter that can say at any moment how many of its permits are in use.
package protocol CountingLimiter {
  var permitsInUse: Int { get }
}

/// Carries tasks through any limiter with a `run`: a specimen, or one that a learner has written.
package struct LimiterAdapter<Limiter: NamedLimiter>: RunMechanism {
  package static var id: String { Limiter.id }
  package static var profile: MechanismProfile { Limiter.profile }

  private let limiter: Limiter
  private let setup: MechanismSetup

  package init(_ setup: MechanismSetup) {
    limiter = Limiter.make(setup)
    self.setup = setup
  }

  package func run(_ body: () async throws -> Void) async throws {
    // Where nobody asks what goes wrong, what is measured is the limiter alone.
    guard setup.onFault != nil else { return try await limiter.run(body) }
    let receipt = Receipt()
    var thrown: (any Error)?
    do {
      let value = try await limiter.run { () async throws -> Receipt in
        do { try await body() } catch {
          thrown = error
          // A caller that asked for a cancellation must see it; any other error says whose it is.
          throw error is CancellationError ? error : Failed(receipt: receipt)
        }
        return receipt
      }
      if value !== receipt { setup.fault("run returned what another task's body returned") }
    } catch {
      if let thrown, !(error is CancellationError && thrown is CancellationError) {
        guard let failed = error as? Failed else {
          setup.fault("the body threw \(type(of: thrown)), and run threw \(type(of: error))")
          throw error
        }
        if failed.receipt !== receipt { setup.fault("run threw what another task's body threw") }
        throw thrown
      }
      throw error
    }
  }

  @concurrent package func passes(_ times: Int) async {
    let limiter = limiter
    for _ in 0..<times { try? await limiter.run {} }
  }

  package func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    let limiter = limiter
    for _ in 0..<times { try? await limiter.run { await body.onTask() } }
  }

  package var permitsInUse: Int? { (limiter as? any CountingLimiter)?.permitsInUse }
}

/// What a body returns, or its error carries, so that one can tell whose it is.
private final class Receipt: Sendable {}

private struct Failed: Error { let receipt: Receipt }
