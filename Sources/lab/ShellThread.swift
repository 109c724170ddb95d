internal import Basics
import Dispatch
import Synchronization

/// The thread on which the shell does its work.
///
/// Tasks usually share the threads of the cooperative pool, and a run on the wall clock may block
/// every one of them: some mechanisms are here to show just that. A prompt that answers meanwhile
/// needs a thread that no run can take.
final class ShellThread: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])
  private let news = DispatchSemaphore(value: 0)

  init() {
    OSThread("shell") { [self] in
      while true {
        news.wait()
        let job = jobs.withLock { $0.removeFirst() }
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }.detach()
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    news.signal()
  }
}
