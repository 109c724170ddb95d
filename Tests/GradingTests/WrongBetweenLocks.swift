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
