internal import Mechanisms

/// A limiter of one's own, for the bench to measure beside those of this package.
///
/// A program whose `main` is one line has all of the bench:
///
/// ```swift
/// import Benchmarking
///
/// struct Mine: MeasuredLimiter {
///   static let name = "mine"
///   private let semaphore: MySemaphore
///
///   init(limit: Int) { semaphore = MySemaphore(limit) }
///
///   func run(_ body: nonisolated(nonsending) () async throws -> Void) async throws {
///     try await semaphore.acquire()
///     defer { semaphore.release() }
///     try await body()
///   }
/// }
///
/// @main struct Program {
///   static func main() async { await Bench.main(measuring: [Mine.self]) }
/// }
/// ```
///
/// `nonisolated(nonsending)` says that the body runs where its caller is; a package that enables the upcoming
/// feature `NonisolatedNonsendingByDefault` can leave it out.
///
/// `swift run -c release Program --mechanism limiter mine` then measures both, each trial in a process of its
/// own, and writes the run folder and its report to `Results/` of the package that the program is in.
public protocol MeasuredLimiter: Sendable {
  /// What the tables call it: letters, digits and dashes, and no name that the bench knows already.
  static var name: String { get }

  /// Whether tasks are admitted in the order in which they came; false unless said.
  ///
  /// Of one that does, the waiting times in an open loop are held against what first come, first served
  /// makes of the same arrivals; no single task that overtakes is reported.
  static var keepsOrder: Bool { get }

  /// Whether a task that is cancelled while it waits leaves at once; true unless said.
  ///
  /// One that does not keeps its place, and its body must not run when its turn comes.
  static var leavesWhenCancelled: Bool { get }

  /// Makes a limiter.
  ///
  /// - Parameter limit: how many bodies may run at once, at least 1.
  init(limit: Int)

  /// Runs a body once on the calling task, as soon as one of the permits is free.
  ///
  /// - Throws: What the body throws, passed on; or, without having run it, any error if the task was
  ///   cancelled while it waited.
  func run(_ body: () async throws -> Void) async throws

  /// Passes so many times, one pass after the other.
  ///
  /// There is no need to write it. The bench times it, and its code becomes part of the module of the
  /// limiter, so that no call through this protocol is measured.
  func pass(times: Int, _ body: @Sendable () -> Void) async
}

extension MeasuredLimiter {
  /// Not in order, unless the limiter says so.
  public static var keepsOrder: Bool { false }
  /// At once, unless the limiter says otherwise.
  public static var leavesWhenCancelled: Bool { true }

  /// One pass after the other; what goes wrong in one is its own affair.
  @inlinable
  public func pass(times: Int, _ body: @Sendable () -> Void) async {
    for _ in 0..<times { try? await run { body() } }
  }
}

extension MeasuredLimiter {
  /// The limiter as the bench knows mechanisms.
  static var entry: CatalogueEntry {
    CatalogueEntry(
      id: name,
      MechanismProfile(
        order: keepsOrder ? .fifo : .none,
        cancellation: leavesWhenCancelled ? .leavesAtOnce : .skippedAtItsTurn,
        summary: "a limiter of your own, \(Self.self)",
        explanation: "It is in the package that the program was built in."
      ),
      make: { OwnMechanism<Self>($0) }
    )
  }
}

/// Carries tasks through a limiter that the program brought along.
private struct OwnMechanism<Limiter: MeasuredLimiter>: RunMechanism {
  static var id: String { Limiter.name }
  static var profile: MechanismProfile { Limiter.entry.profile }

  private let limiter: Limiter

  init(_ setup: MechanismSetup) { limiter = Limiter(limit: setup.limit) }

  func run(_ body: () async throws -> Void) async throws { try await limiter.run(body) }

  func pass(times: Int, _ body: @escaping @Sendable () -> Void) async {
    await limiter.pass(times: times, body)
  }
}
