import ExplorableSynchronization
import Foundation
import Grading
import Limiters
import TestSupport
import Testing

/// Answers whose threads look and act in two steps of an atomic, which chance hardly ever shows.
@Suite(.watched, .serialized) struct `Answers that look and act in two steps` {
  /// Takes a permit by a look and an addition.
  private final class LooksThenAdds: LearnerDownloader {
    private let limit: Int
    private let running = Atomic(0)
    private let line = Mutex<[CheckedContinuation<Void, Never>]>([])

    init(limit: Int) { self.limit = limit }

    func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
      let tasks = files.map { file in
        Task { [self] in
          if !mayRun() {
            await withCheckedContinuation { continuation in
              let isIn = line.withLock { line in
                if mayRun() { return true }
                line.append(continuation)
                return false
              }
              if isIn { continuation.resume() }
            }
          }
          await fetch(file)
          let next: CheckedContinuation<Void, Never>? = line.withLock { line in
            if !line.isEmpty { return line.removeFirst() }
            running.subtract(1, ordering: .sequentiallyConsistent)
            return nil
          }
          next?.resume()
        }
      }
      for task in tasks { await task.value }
    }

    private func mayRun() -> Bool {
      guard running.load(ordering: .sequentiallyConsistent) < limit else { return false }
      running.add(1, ordering: .sequentiallyConsistent)
      return true
    }
  }

  @Test(.long) func `a downloader that looks for a permit and then takes it is refused`() async {
    await expect(
      Grader.downloader(LooksThenAdds.self),
      "explored",
      refusedSaying: "2 were fetched at once, at a limit of 1"
    )
  }

  private final class Left: Sendable {
    let count: Atomic<Int>

    init(_ count: Int) { self.count = Atomic(count) }
  }

  /// Counts down, and then looks whether that was the last.
  private final class LowersThenLooks: LearnerBatch {
    private let queue = DispatchQueue(label: "downloads", attributes: .concurrent)
    private let gate = DispatchQueue(label: "gate")
    private let permits: DispatchSemaphore

    init(limit: Int) { permits = DispatchSemaphore(value: limit) }

    func download(
      _ files: [Int],
      _ fetch: @escaping @Sendable (Int) -> Void,
      whenAll: @escaping @Sendable () -> Void
    ) {
      if files.isEmpty { return queue.async(execute: whenAll) }
      let left = Left(files.count)
      for file in files {
        gate.async { [queue, permits] in
          permits.wait()
          queue.async {
            fetch(file)
            permits.signal()
            left.count.subtract(1, ordering: .sequentiallyConsistent)
            if left.count.load(ordering: .sequentiallyConsistent) == 0 { whenAll() }
          }
        }
      }
    }
  }

  @Test(.long) func `a batch that counts down and then looks is refused`() async {
    await expect(
      Grader.batch(LowersThenLooks.self),
      "explored",
      refusedSaying: "'whenAll' was called 2 times"
    )
  }

  /// Takes a permit by a look and an addition, on threads.
  private final class LooksThenAddsToo: LearnerBatch {
    private let queue = DispatchQueue(label: "downloads", attributes: .concurrent)
    private let limit: Int
    private let running = Atomic(0)
    private let pending = Mutex<[@Sendable () -> Void]>([])

    init(limit: Int) { self.limit = limit }

    func download(
      _ files: [Int],
      _ fetch: @escaping @Sendable (Int) -> Void,
      whenAll: @escaping @Sendable () -> Void
    ) {
      let group = DispatchGroup()
      for file in files {
        group.enter()
        submit {
          fetch(file)
          group.leave()
        }
      }
      group.notify(queue: queue, execute: whenAll)
    }

    private func mayRun() -> Bool {
      guard running.load(ordering: .sequentiallyConsistent) < limit else { return false }
      running.add(1, ordering: .sequentiallyConsistent)
      return true
    }

    private func submit(_ job: @escaping @Sendable () -> Void) {
      if mayRun() { return start(job) }
      let isIn = pending.withLock { pending in
        if mayRun() { return true }
        pending.append(job)
        return false
      }
      if isIn { start(job) }
    }

    private func start(_ job: @escaping @Sendable () -> Void) {
      queue.async { [self] in
        job()
        let next: (@Sendable () -> Void)? = pending.withLock { pending in
          if !pending.isEmpty { return pending.removeFirst() }
          running.subtract(1, ordering: .sequentiallyConsistent)
          return nil
        }
        if let next { start(next) }
      }
    }
  }

  @Test(.long) func `a batch that looks for a permit and then takes it is refused`() async {
    await expect(
      Grader.batch(LooksThenAddsToo.self),
      "explored_lists",
      refusedSaying: "2 were fetched at once, at a limit of 1"
    )
  }

  /// Counts a list down, and then looks whether that was the last of it.
  private final class LowersThenLooksToo: LearnerDownloader {
    private let gate: ConcurrencyLimiter

    init(limit: Int) { gate = ConcurrencyLimiter(concurrency: limit) }

    func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
      if files.isEmpty { return }
      let left = Left(files.count)
      await withCheckedContinuation { continuation in
        for file in files {
          Task { [gate] in
            await gate.runUncancellably { await fetch(file) }
            left.count.subtract(1, ordering: .sequentiallyConsistent)
            if left.count.load(ordering: .sequentiallyConsistent) == 0 { continuation.resume() }
          }
        }
      }
    }
  }

  @Test(.long) func `a downloader that counts a list down and then looks is refused`() async {
    await expect(
      Grader.downloader(LowersThenLooksToo.self),
      "explored_list",
      refusedSaying: "more than once"
    )
  }
}
