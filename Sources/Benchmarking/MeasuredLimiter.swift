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
///   func run<Value>(
///     _ body: nonisolated(nonsending) () async throws -> Value
///   ) async throws -> Value {
///     try await semaphore.acquire()
///     defer { semaphore.release() }
///     return try await body()
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
/// `swift run -c release Program --mechanism limiter mine` then measures both in the same processes, round
/// after round, and writes the run folder and its report to `Results/` of the package that the program is in.
///
/// What is measured is the call as users write it: the bench's loops become part of the limiter's module and are
/// compiled for its type. Where the limiter's own package is another, mark its `run` as `@inlinable`, or measure
/// what its users have without.
///
/// To move an adapter that was written for a `run` of bodies that return nothing: make `run` generic over
/// `Value`, and return what the body returns. A `pass(times:_:)` of one's own goes: what it did, the loops
/// ``pass(times:)`` and ``passYielding(times:)`` do.
public protocol MeasuredLimiter: Sendable {
  /// What the tables call it: ASCII letters, digits and dashes, no dash first, and no name that the bench knows already.
  static var name: String { get }

  /// Whether tasks are admitted in the order in which they came; false unless said.
  ///
  /// Of one that does, the waiting times in an open loop are held against what first come, first served
  /// makes of the same arrivals. Tasks that overtake are counted, and are no violation.
  static var keepsOrder: Bool { get }

  /// Whether a task that is cancelled while it waits leaves at once; true unless said.
  ///
  /// One that does not keeps its place, and its body must not run when its turn comes.
  static var leavesWhenCancelled: Bool { get }

  /// Whether it admits one at a time, whatever the limit; false unless said.
  ///
  /// A lock or a serial queue does. It is measured where the limit is 1, and nowhere else.
  static var isSerial: Bool { get }

  /// Makes a limiter.
  ///
  /// - Parameter limit: how many bodies may run at once, at least 1.
  init(limit: Int)

  /// Runs a body once on the calling task, as soon as one of the permits is free.
  ///
  /// - Throws: What the body throws, passed on; or, without having run it, any error if the task was
  ///   cancelled while it waited.
  func run<Value>(_ body: () async throws -> Value) async throws -> Value

  /// Passes so many times, one pass after the other, with an empty body.
  ///
  /// There is no need to write it. The bench times it, and its code becomes part of the module of the
  /// limiter, so that no call through this protocol is measured.
  func pass(times: Int) async

  /// The same with a body that suspends once.
  func passYielding(times: Int) async
}

extension MeasuredLimiter {
  /// Not in order, unless the limiter says so.
  public static var keepsOrder: Bool { false }
  /// At once, unless the limiter says otherwise.
  public static var leavesWhenCancelled: Bool { true }
  /// As many as the limit says, unless the limiter says otherwise.
  public static var isSerial: Bool { false }

  /// One pass after the other; what goes wrong in one is its own affair.
  @inlinable
  public func pass(times: Int) async {
    for _ in 0..<times { try? await run {} }
  }

  /// One pass after the other, each across a suspension.
  @inlinable
  public func passYielding(times: Int) async {
    for _ in 0..<times { try? await run { await Task.yield() } }
  }
}

extension MeasuredLimiter {
  /// The limiter as the bench knows mechanisms.
  static var entry: CatalogueEntry {
    CatalogueEntry(
      id: name,
      MechanismProfile(
        limit: isSerial ? .one : .any,
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

  func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    for _ in 0..<times { try? await limiter.run { await body.onTask() } }
  }

  func measure(_ times: Int, _ body: MeasuredBody) async {
    switch body {
    case .empty: await limiter.pass(times: times)
    case .yielding: await limiter.passYielding(times: times)
    // Its sixty-four additions take so long that a call more does not matter.
    case .adding(let sum): await visits(times, AddingBody(sum))
    }
  }

  @concurrent func passes(_ times: Int) async { await limiter.pass(times: times) }
}
