internal import Basics
internal import ExplorableSynchronization

// A worker's own jobs first, the last one in before the others: an executor that makes every limiter look free.
//
// What a job makes ready goes on top of its worker's own list, and the worker takes from the top: the data is
// still in the cache, and nobody else touches the list. What comes from outside waits in a list for all.
//
// What is wrong with it: it has a slot for the task just woken, as it were, and no budget for it. A task that
// yields goes on top and is the next to run: it runs to its end, and the tasks below it wait until then, or
// for ever. Each worker runs its tasks one after the other, so no more of them meet at a limiter than there
// are workers: measured on this executor, all limiters are fast, and no visit has waited where
// there are as many permits as workers.
//
// The fix: a task that yields goes to the back, and the slot of the task just woken has a budget. See
// Sources/WorkStealing/Turns.swift.

/// Wrong on purpose: a task that yields goes on at once, however many others are ready.
package final class UnfairExecutor: TaskExecutor {
  private struct State {
    /// What each worker's jobs have made ready, by its thread.
    var own: [UInt: [UnownedJob]] = [:]
    var outside: [UnownedJob] = []
    var hasEnded = false
  }

  private let state = Mutex(State())
  /// Counts the jobs from outside, and at the end the threads.
  private let news = ThreadSemaphore()
  private let workers: Int

  /// Starts the threads.
  package init(workers: Int) {
    self.workers = workers
    for number in 1...workers { OSThread("unfair-\(number)") { [self] in run() }.detach() }
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isFromOutside = state.withLock { state in
      if state.own[OSThread.current]?.append(job) != nil { return false }
      state.outside.append(job)
      return true
    }
    if isFromOutside { news.post() }
  }

  /// Ends the threads; call it when no task prefers this executor any more.
  package func shutdown() {
    state.withLock { $0.hasEnded = true }
    for _ in 0..<workers { news.post() }
  }

  private func run() {
    let thread = OSThread.current
    state.withLock { $0.own[thread] = [] }
    while true {
      // Here is the defect: without end, and from the end at which its own jobs come in.
      while let job = state.withLock({ $0.own[thread]?.popLast() }) {
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
      news.wait()
      let (job, hasEnded) = state.withLock { ($0.outside.popLast(), $0.hasEnded) }
      if let job {
        job.runSynchronously(on: asUnownedTaskExecutor())
      } else if hasEnded {
        return
      }
    }
  }
}
