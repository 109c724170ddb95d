import Dispatch
import LessonBook

@testable import Grading

/// How a downloader gives permits back, and what it knows of lists.
protocol PermitFlaw: SendableMetatype {
  /// Whether who is woken takes the permit when it goes on, which is free until then.
  static var takesLate: Bool { get }
  /// Whether it looks under one lock who waits, and sets the permit free under another.
  static var freesLater: Bool { get }
  /// Whether the fetches are cancelled with the list.
  static var cancels: Bool { get }
  /// Whether a file of a list that is over is not fetched again.
  static var remembers: Bool { get }
}

extension PermitFlaw {
  static var takesLate: Bool { false }
  static var freesLater: Bool { false }
  static var cancels: Bool { false }
  static var remembers: Bool { false }
}

enum SoundPermits: PermitFlaw {}

enum TakesLate: PermitFlaw {
  static let takesLate = true
}

enum FreesLater: PermitFlaw {
  static let freesLater = true
}

enum CancelsFetches: PermitFlaw {
  static let cancels = true
}

enum RemembersFiles: PermitFlaw {
  static let remembers = true
}

/// Downloads with permits of its own, and no queue.
final class Permits<F: PermitFlaw>: LearnerDownloader {
  private struct State {
    var free: Int
    var line: [CheckedContinuation<Bool, Never>] = []
    var fetched: Set<Int> = []
  }

  private let state: LearnerMutex<State>

  init(limit: Int) { state = LearnerMutex(State(free: limit)) }

  func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
    let known = F.remembers ? state.withLock { $0.fetched } : []
    let fetchAll: @Sendable () async -> Void = { [self] in
      await withDiscardingTaskGroup { group in
        for file in files where !known.contains(file) {
          group.addTask {
            await self.take()
            await fetch(file)
            self.giveBack()
          }
        }
      }
    }
    if F.cancels { await fetchAll() } else { await Task { await fetchAll() }.value }
    if F.remembers { state.withLock { $0.fetched.formUnion(files) } }
  }

  private func take() async {
    let mustTake = await withCheckedContinuation { waiter in
      let isFree = state.withLock { state in
        guard state.free > 0 else {
          state.line.append(waiter)
          return false
        }
        state.free -= 1
        return true
      }
      if isFree { waiter.resume(returning: false) }
    }
    if mustTake { state.withLock { $0.free -= 1 } }
  }

  private func giveBack() {
    let next = state.withLock { state in
      if F.takesLate || state.line.isEmpty && !F.freesLater { state.free += 1 }
      return state.line.isEmpty ? nil : state.line.removeFirst()
    }
    if next == nil, F.freesLater { state.withLock { $0.free += 1 } }
    next?.resume(returning: F.takesLate)
  }
}

/// How a batch counts the files of a list.
enum Counting: Sendable {
  case right
  /// Looks under one lock, and writes under another.
  case inTwoSteps
  /// Counts a file when it is sent.
  case asSent
  /// Tells of the end before the permit is given back.
  case holdingThePermit
  /// Tells of it under the lock.
  case underTheLock
  /// Looks for who waits under one lock, and sets the permit free under another.
  case freeingLater
}

protocol CountFlaw: SendableMetatype {
  static var counting: Counting { get }
}

enum SoundCount: CountFlaw {
  static let counting = Counting.right
}

enum CountsInTwoSteps: CountFlaw {
  static let counting = Counting.inTwoSteps
}

enum CountsAsSent: CountFlaw {
  static let counting = Counting.asSent
}

enum TellsHoldingThePermit: CountFlaw {
  static let counting = Counting.holdingThePermit
}

enum TellsUnderTheLock: CountFlaw {
  static let counting = Counting.underTheLock
}

enum FreesThePermitLater: CountFlaw {
  static let counting = Counting.freeingLater
}

/// Counts permits and files itself, and a file without a permit has no thread.
final class CountingBatch<F: CountFlaw>: LearnerBatch {
  private typealias Job = @Sendable () -> Void

  private let queue = DispatchQueue(label: "downloads", attributes: .concurrent)
  private let state: LearnerMutex<(free: Int, pending: [Job])>
  private let telling = DispatchSemaphore(value: 1)

  private final class Left: Sendable {
    let count: LearnerMutex<Int>

    init(_ count: Int) { self.count = LearnerMutex(count) }
  }

  init(limit: Int) { state = LearnerMutex((limit, [])) }

  func download(
    _ files: [Int],
    _ fetch: @escaping @Sendable (Int) -> Void,
    whenAll: @escaping @Sendable () -> Void
  ) {
    guard !files.isEmpty else { return queue.async(execute: whenAll) }
    if F.counting == .underTheLock { telling.wait() }
    defer { if F.counting == .underTheLock { telling.signal() } }
    let left = Left(F.counting == .asSent ? 0 : files.count)
    for file in files {
      if F.counting == .asSent { left.count.withLock { $0 += 1 } }
      submit { [self] in
        fetch(file)
        if F.counting != .holdingThePermit { startNext() }
        if isLast(left) {
          if F.counting == .underTheLock { telling.wait() }
          whenAll()
          if F.counting == .underTheLock { telling.signal() }
        }
        if F.counting == .holdingThePermit { startNext() }
      }
    }
  }

  private func isLast(_ left: Left) -> Bool {
    if F.counting == .inTwoSteps {
      let now = left.count.withLock { $0 } - 1
      left.count.withLock { $0 = now }
      return now == 0
    }
    return left.count.withLock { count in
      count -= 1
      return count == 0
    }
  }

  private func submit(_ job: @escaping Job) {
    let isFree = state.withLock { state in
      guard state.free > 0 else {
        state.pending.append(job)
        return false
      }
      state.free -= 1
      return true
    }
    if isFree { queue.async(execute: job) }
  }

  private func startNext() {
    let next = state.withLock { state in
      if state.pending.isEmpty, F.counting != .freeingLater { state.free += 1 }
      return state.pending.isEmpty ? nil : state.pending.removeFirst()
    }
    if next == nil, F.counting == .freeingLater { state.withLock { $0.free += 1 } }
    if let next { queue.async(execute: next) }
  }
}

/// Whether who waits is looked for under one lock, and taken out of the line under another.
protocol TakingFlaw: SendableMetatype {
  static var isInTwoSteps: Bool { get }
}

enum FindsFirst: TakingFlaw {
  static let isInTwoSteps = true
}

enum TakesAtOnce: TakingFlaw {
  static let isInTwoSteps = false
}

/// Keeps who waits in a line.
final class FindsThenTakes<F: TakingFlaw>: LearnerClient {
  private struct State {
    var next = 0
    var line: [(number: Int, waiter: CheckedContinuation<Int, any Error>)] = []
  }

  private let server: CallingServer
  private let state = LearnerMutex(State())

  init(server: CallingServer) { self.server = server }

  func answer(to question: Int) async throws -> Int {
    try await withCheckedThrowingContinuation { waiter in
      let number = state.withLock { state in
        state.next += 1
        state.line.append((state.next, waiter))
        return state.next
      }
      server.ask(question) { self.take(number)?.resume(with: $0) }
    }
  }

  private func take(_ number: Int) -> CheckedContinuation<Int, any Error>? {
    let found = state.withLock { state in state.line.firstIndex { $0.number == number } }
    return state.withLock { state in
      guard let found else { return nil }
      let place =
        F.isInTwoSteps
        ? min(found, state.line.count - 1) : state.line.firstIndex { $0.number == number } ?? 0
      return state.line.remove(at: place).waiter
    }
  }
}
