import Dispatch
import Exploration
import Foundation
import Synchronization

// Work that Dispatch does later, and work that it does side by side.

extension Judged {
  // MARK: A time limit

  /// Resumes who waits when the answer comes, or when the time is over, whichever is first.
  final class Answer: Sendable {
    private let waiting = Mutex<CheckedContinuation<Int, Never>?>(nil)
    private let queue = DispatchQueue(label: "answer")
    private let asksWhose: Bool

    init(asksWhose: Bool) { self.asksWhose = asksWhose }

    func wait(atMost time: DispatchTimeInterval) async -> Int {
      await withCheckedContinuation { continuation in
        waiting.withLock { $0 = continuation }
        queue.asyncAfter(deadline: .now() + time) { self.resume(continuation, with: 0) }
        DispatchQueue.global().async { self.resume(continuation, with: 1) }
      }
    }

    private func resume(_ continuation: CheckedContinuation<Int, Never>, with value: Int) {
      if asksWhose {
        waiting.withLock { waiting -> CheckedContinuation<Int, Never>? in
          defer { waiting = nil }
          return waiting
        }?.resume(returning: value)
      } else if waiting.withLock({ $0 }) != nil {
        waiting.withLock { $0 = nil }
        continuation.resume(returning: value)
      }
    }
  }

  static func waitForAnswer(asksWhose: Bool) async throws {
    let value = await Answer(asksWhose: asksWhose).wait(atMost: .seconds(1))
    try require(value < 2, "\(value)")
  }

  // MARK: Order

  static func doLater(_ delays: [Int]) async throws {
    let queue = DispatchQueue(label: "later")
    let order = Mutex<[Int]>([])
    await withCheckedContinuation { continuation in
      let group = DispatchGroup()
      for delay in delays {
        group.enter()
        queue.asyncAfter(deadline: .now() + .seconds(delay)) {
          order.withLock { $0.append(delay) }
          group.leave()
        }
      }
      group.notify(queue: queue) { continuation.resume() }
    }
    let found = order.withLock { $0 }
    try require(found == delays.sorted(), "\(found)")
  }

  // MARK: Work that is cancelled

  /// Takes back work that is to come later, where it has not run yet.
  static func takeBack(cancels: Bool) async throws {
    let queue = DispatchQueue(label: "reminder")
    let ran = Atomic(false)
    let reminder = DispatchWorkItem { ran.store(true, ordering: .relaxed) }
    queue.asyncAfter(deadline: .now() + .seconds(1), execute: reminder)
    let isInTime = queue.sync {
      if ran.load(ordering: .relaxed) { return false }
      if cancels { reminder.cancel() }
      return true
    }
    await withCheckedContinuation { continuation in
      queue.asyncAfter(deadline: .now() + .seconds(2)) { continuation.resume() }
    }
    try require(ran.load(ordering: .relaxed) != isInTime, "it ran though it was taken back")
  }

  // MARK: Side by side

  static func countSideBySide(locks: Bool) throws {
    let count = Box(0)
    let lock = NSLock()
    DispatchQueue.concurrentPerform(iterations: 3) { index in
      if locks { lock.withLock { count.value += index } } else { count.value += index }
    }
    try require(count.value == 3, "\(count.value)")
  }

  static let later: [JudgedProgram] = [
    JudgedProgram("an answer or the end of the time resumes who waits, whichever comes first") {
      try await waitForAnswer(asksWhose: true)
    },
    JudgedProgram(
      "an answer and the end of the time look in one turn, and resume in another",
      fails: .trap
    ) { try await waitForAnswer(asksWhose: false) },
    JudgedProgram("work that comes later comes in the order of its times") {
      try await doLater([1, 2])
    },
    JudgedProgram("work that is given later may come behind its time", fails: .requirement) {
      try await doLater([2, 1])
    },
    JudgedProgram("work that is cancelled before its time does not run") {
      try await takeBack(cancels: true)
    },
    JudgedProgram("work that is not cancelled before its time runs", fails: .requirement) {
      try await takeBack(cancels: false)
    },
    JudgedProgram("parts of a work add up under a lock") { try countSideBySide(locks: true) },
    JudgedProgram("parts of a work add up without a lock", fails: .race) {
      try countSideBySide(locks: false)
    },
  ]
}
