import Dispatch
import ExplorableSynchronization
import Foundation
import Grading

// Batches that are wrong in what becomes of an end: of a list's, while others wait for theirs; of a file's, for another
// list; of a fetch that nobody waits for.

/// What is wrong with the end of a list.
protocol EndFlaw: SendableMetatype {
  /// Whether a permit more is there while a `whenAll` runs.
  static var lends: Bool { get }
  /// Whether an empty list ends on the gate.
  static var endsEmptyAtGate: Bool { get }
  /// How many ends may be told at once.
  static var ends: Int { get }
  /// Whether a file that another list has on its way is not fetched.
  static var joins: Bool { get }
  /// How many permits there are of a limit.
  static func permits(_ limit: Int) -> Int
}

extension EndFlaw {
  static var lends: Bool { false }
  static var endsEmptyAtGate: Bool { false }
  static var ends: Int { .max }
  static var joins: Bool { false }
  static func permits(_ limit: Int) -> Int { limit }
}

enum SoundEnd: EndFlaw {}

enum LendsAtTheEnd: EndFlaw {
  static let lends = true
}

enum EndsEmptyAtGate: EndFlaw {
  static let endsEmptyAtGate = true
}

enum TwoEndsAtOnce: EndFlaw {
  static let ends = 2
}

enum ThreeEndsAtOnce: EndFlaw {
  static let ends = 3
}

enum JoinsAnotherList: EndFlaw {
  static let joins = true
}

enum EightPermits: EndFlaw {
  static func permits(_ limit: Int) -> Int { min(limit, 8) }
}

final class Ending<F: EndFlaw>: LearnerBatch {
  private let queue = DispatchQueue(label: "downloads", attributes: .concurrent)
  private let gate = DispatchQueue(label: "gate")
  private let permits: DispatchSemaphore
  private let ends = OperationQueue()
  private struct Fetching {
    /// Kept, so that no other list's group is where this one was.
    var list: DispatchGroup
    var end = DispatchGroup()
  }
  private let underWay = Mutex<[Int: Fetching]>([:])

  init(limit: Int) {
    permits = DispatchSemaphore(value: F.permits(limit))
    if F.ends < .max { ends.maxConcurrentOperationCount = F.ends }
  }

  func download(
    _ files: [Int],
    _ fetch: @escaping @Sendable (Int) -> Void,
    whenAll: @escaping @Sendable () -> Void
  ) {
    if F.endsEmptyAtGate, files.isEmpty { return gate.async(execute: whenAll) }
    let group = DispatchGroup()
    for file in files {
      gate.async(group: group) { [self] in
        permits.wait()
        if let other = join(file, of: group) {
          permits.signal()
          group.enter()
          return other.notify(queue: queue) { group.leave() }
        }
        queue.async(group: group) { [self] in
          fetch(file)
          underWay.withLock { $0.removeValue(forKey: file) }?.end.leave()
          permits.signal()
        }
      }
    }
    group.notify(queue: queue) { [self] in
      if F.lends { permits.signal() }
      if F.ends < .max { ends.addOperation(whenAll) } else { whenAll() }
      if F.lends { permits.wait() }
    }
  }

  /// The end of a file that another list has on its way.
  private func join(_ file: Int, of list: DispatchGroup) -> DispatchGroup? {
    guard F.joins else { return nil }
    return underWay.withLock { underWay in
      if let other = underWay[file] {
        return other.list === list ? nil : other.end
      }
      let fetching = Fetching(list: list)
      fetching.end.enter()
      underWay[file] = fetching
      return nil
    }
  }
}

/// What becomes of a fetch when the last who waited for it has left.
protocol LeavingFlaw: SendableMetatype {
  /// Whether it is cancelled.
  static var cancels: Bool { get }
  /// Whether it is forgotten.
  static var forgets: Bool { get }
}

enum LeavesIt: LeavingFlaw {
  static let cancels = false
  static let forgets = false
}

enum CancelsIt: LeavingFlaw {
  static let cancels = true
  static let forgets = true
}

enum ForgetsIt: LeavingFlaw {
  static let cancels = false
  static let forgets = true
}

/// Who is cancelled leaves at once.
actor LeftAlone<F: LeavingFlaw>: LearnerImageCache {
  private struct Flight {
    var number: Int
    var waiters: [Int: CheckedContinuation<[UInt8], any Error>] = [:]
    var task: Task<Void, Never>?
  }

  private let fetch: @Sendable (String) async throws -> [UInt8]
  private var images: [String: [UInt8]] = [:]
  private var flights: [String: Flight] = [:]
  private var numbers = 0

  init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

  func image(_ name: String) async throws -> [UInt8] {
    if let image = images[name] { return image }
    numbers += 1
    let number = numbers
    let leave: @Sendable () async -> Void = { await self.leave(name, number) }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
        if flights[name] == nil { begin(name, number) }
        flights[name]?.waiters[number] = continuation
      }
    } onCancel: {
      Task { await leave() }
    }
  }

  private func begin(_ name: String, _ number: Int) {
    let land: @Sendable () async -> Void = { await self.land(name, number) }
    flights[name] = Flight(number: number, task: Task { await land() })
  }

  private func land(_ name: String, _ number: Int) async {
    let result: Result<[UInt8], any Error>
    do { result = .success(try await fetch(name)) } catch { result = .failure(error) }
    guard flights[name]?.number == number, let flight = flights.removeValue(forKey: name) else {
      return
    }
    if case .success(let image) = result { images[name] = image }
    for waiter in flight.waiters.values { waiter.resume(with: result) }
  }

  private func leave(_ name: String, _ number: Int) {
    guard let waiter = flights[name]?.waiters.removeValue(forKey: number) else { return }
    if flights[name]?.waiters.isEmpty == true {
      if F.cancels { flights[name]?.task?.cancel() }
      if F.forgets { flights[name] = nil }
    }
    waiter.resume(throwing: CancellationError())
  }
}

/// Fetches again what is there for so long.
actor Fresh<F: FreshFlaw>: LearnerImageCache {
  private let fetch: @Sendable (String) async throws -> [UInt8]
  private var fetches: [String: (task: Task<[UInt8], any Error>, begun: F.C.Instant)] = [:]

  init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

  func image(_ name: String) async throws -> [UInt8] {
    let now = F.now
    if let (_, begun) = fetches[name], begun.duration(to: now) > .seconds(10) {
      fetches[name] = nil
    }
    let (task, begun) = fetches[name] ?? (Task { [fetch] in try await fetch(name) }, now)
    fetches[name] = (task, begun)
    do {
      return try await task.value
    } catch {
      if fetches[name]?.task == task { fetches[name] = nil }
      throw error
    }
  }
}

/// By which clock an image grows old.
protocol FreshFlaw: SendableMetatype {
  associatedtype C: Clock<Duration>
  static var now: C.Instant { get }
}

enum ByTheContinuousClock: FreshFlaw {
  typealias C = ContinuousClock
  static var now: ContinuousClock.Instant { .now }
}

enum ByTheSuspendingClock: FreshFlaw {
  typealias C = SuspendingClock
  static var now: SuspendingClock.Instant { .now }
}
