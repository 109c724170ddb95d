internal import Basics
internal import Foundation
internal import LessonBook
internal import Limiters

// Lesson 5: which threads wait for the disk, and how long.

extension Grader {
  /// The thread of a task that waits is free at once.
  static func readsLetGo<Reader: LearnerReader>(_ type: Reader.Type) -> GradeBook.Question {
    letsGoAtOnce("one task after the other reads, and the disk is not ready") {
      let disk = Disk(ready: false)
      let reader = Reader(disk: disk)
      return Asking(ask: { _ = try? await reader.read($0) }, answerAll: { disk.makeReady() })
    }
  }

  /// For each reader one thread waits, the one that is in the disk: for a second each time, so it is not counted.
  static func threadsOfReads<Reader: LearnerReader>(_ type: Reader.Type) -> GradeBook.Question {
    // Many more than the threads that the pool and the library may make meanwhile.
    let count = 120 + 2 * ProcessInfo.processInfo.activeProcessorCount
    let asked =
      "\(count) readers, each of a disk of its own that is not ready, and two tasks read of each"
    return threadsThatWait(asked, most: count / 3) {
      let disks = (1...count).map { _ in Disk(ready: false) }
      let tasks = Lock<[Task<Void, Never>]>([])
      for disk in disks {
        let reader = Reader(disk: disk)
        let read: @Sendable (Int) async -> Void = { _ = try? await reader.read($0) }
        tasks.withLock { $0 += (1...2).map { block in Task { await read(block) } } }
      }
      await Moment.pass(until: count) { disks.reduce(0) { $0 + $1.mostAtOnce } }
      return {
        for disk in disks { disk.makeReady() }
        for task in tasks.withLock({ $0 }) { await task.value }
      }
    }
  }

  /// Who has its block holds no thread, while the disk still reads for others.
  static func readsOfSome<Reader: LearnerReader>(_ type: Reader.Type) -> GradeBook.Question {
    let (count, quick) = (1_100, 1_050)
    let asked =
      "\(count) tasks read, and the disk reads \(quick) blocks and takes its time with the others"
    return .task("some", asked, seconds: 30) { _ in
      let disk = Disk(ready: false)
      let reader = Reader(disk: disk)
      let told = Lock(0)
      let isStuck = Lock(false)
      // One thread, where the pool has several: one task that holds it is seen.
      let jobs = MeasuredJobs()
      OSThread("patience") {
        // Until all wait, as a rule: so who looks back sees those that do.
        for _ in 1...2_000 where jobs.endedAtRest ?? 0 < count { usleep(1_000) }
        for _ in 1...quick { disk.letOneRead() }
        let isHeld = jobs.isHeld { told.withLock { $0 } >= quick }
        isStuck.withLock { $0 = isHeld }
        disk.makeReady()
      }.detach()
      let read: @Sendable (Int) async -> Void = { block in
        _ = try? await reader.read(block)
        told.withLock { $0 += 1 }
      }
      let tasks = (1...count).map { block in
        Task(executorPreference: jobs) { await read(block) }
      }
      for task in tasks { await task.value }
      jobs.end()
      let held = isStuck.withLock { $0 }
      return GradeItem(
        "some",
        passed: !held,
        "\(asked): "
          + (held
            ? "a task whose block has been read holds its thread until others have theirs, and those in line for it get no "
              + "turn. When a task goes on, let it wait for nothing else"
            : "those who have theirs hold up nobody")
      )
    }
  }
}
