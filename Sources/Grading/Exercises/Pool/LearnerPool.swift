internal import Basics
package import Mechanisms
internal import Synchronization

/// What a learner writes in the exercise on continuations: a pool of numbered elements.
package protocol LearnerPool: Sendable {
  /// Makes a pool of the elements 1 to `size`; tasks wait by way of `waiting`.
  init(size: Int, waiting: Waiting)

  /// Takes an element, waiting for one if none is free.
  func take() async -> Int

  /// Gives an element back.
  func giveBack(_ element: Int)
}

/// How a learner's task waits: by a continuation that survives a second resume and reports it.
package struct Waiting: Sendable {
  let report: (@Sendable (String) -> Void)?

  /// The rest of a waiting task, to be resumed exactly once.
  package struct Waiter: Sendable {
    fileprivate let continuation: ReportedContinuation<Int>

    /// Lets the task go on with an element.
    package func resume(with element: Int) { continuation.resume(with: .success(element)) }
  }

  /// Suspends the calling task until the waiter given to `park` is resumed.
  ///
  /// `park` runs at once, on the calling task; it puts the waiter where the task that resumes it finds
  /// it, or resumes it at once.
  package func suspend(_ park: (Waiter) -> Void) async -> Int {
    do {
      return try await ReportedContinuation.wait(
        for: "a waiter",
        reportingTo: report
      ) { park(Waiter(continuation: $0)) }
    } catch {
      // A waiter is resumed with an element, never with an error.
      fatalError("a waiter was resumed with \(error)")
    }
  }
}

/// Carries tasks through a learner's pool.
package final class LearnerPoolMechanism<Pool: LearnerPool>: RunMechanism {
  package static var id: String { Catalogue.yours }

  package static var profile: MechanismProfile {
    MechanismProfile(
      order: .none,
      summary: "your pool",
      explanation: "The pool you have written."
    )
  }

  private let pool: Pool
  private let setup: MechanismSetup
  /// Which element which tasks have; the pool may lend none to two.
  private let lent = Mutex<Set<Int>>([])

  package init(_ setup: MechanismSetup) {
    self.setup = setup
    pool = Pool(size: setup.limit, waiting: Waiting(report: setup.onDoubleResume))
  }

  package func run(_ body: () async throws -> Void) async throws {
    let element = await pool.take()
    if !(1...setup.limit).contains(element) {
      setup.fault("the pool lent element \(element), and it has the elements 1 to \(setup.limit)")
    } else if !lent.withLock({ $0.insert(element).inserted }) {
      setup.fault("the pool lent element \(element) to a task while another task had it")
    }
    defer {
      lent.withLock { _ = $0.remove(element) }
      pool.giveBack(element)
    }
    try await body()
  }
}
