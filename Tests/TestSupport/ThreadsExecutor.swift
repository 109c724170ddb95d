internal import Basics
internal import Dispatch
internal import Limiters

/// A task executor with threads of its own, for tasks that a test blocks: they hold none of the few
/// threads that all async tests share.
package final class ThreadsExecutor: TaskExecutor {
  /// Its threads are as many as tests block at once, and some to spare.
  package static let shared = ThreadsExecutor(threads: 4)

  /// Many threads meet here, also under the thread sanitizer, which this lock tells of each hand-over.
  private let jobs = Lock<[UnownedJob]>([])
  private let news = DispatchSemaphore(value: 0)

  /// Has `threads` threads to the end of the program.
  package init(threads: Int) {
    for _ in 0..<threads { OSThread("blocked") { [self] in runForever() }.detach() }
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    news.signal()
  }

  private func runForever() {
    while true {
      news.wait()
      let job = jobs.withLock { $0.removeFirst() }
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
