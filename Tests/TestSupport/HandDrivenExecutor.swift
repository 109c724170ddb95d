internal import Synchronization

/// A task executor that runs nothing by itself: a test decides when, one job at a time.
///
/// Start tasks with `Task(executorPreference:)`; their child tasks and the default actors they call
/// stay on it. A test made of steps has one interleaving: the one it was written for.
package final class HandDrivenExecutor: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// How many jobs are ready to run.
  package var ready: Int { jobs.withLock { $0.count } }

  /// Runs the job that has been ready longest; false if none is.
  @discardableResult
  package func runOne() -> Bool {
    guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
    job.runSynchronously(on: asUnownedTaskExecutor())
    return true
  }

  /// Runs jobs, newest first, until only the one that has been ready longest is left.
  ///
  /// Whatever that job would do, everybody else does theirs before.
  package func runAllButOldest() {
    while let job = jobs.withLock({ $0.count > 1 ? $0.removeLast() : nil }) {
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  /// Runs jobs, those that become ready meanwhile too, until none is ready; returns how many ran.
  @discardableResult
  package func runAll() -> Int {
    var count = 0
    while runOne() { count += 1 }
    return count
  }
}
