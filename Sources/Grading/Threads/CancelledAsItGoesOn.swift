internal import Basics
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Cancels a task in the very moment in which its continuation is resumed, and tells whether the cancellation waits
/// until the resuming is over.
///
/// The runtime queues the task on its executor before `resume` returns. There the cancellation comes, on another
/// thread. Where it has to wait for the one that resumes, that one holds a lock which the cancellation handler takes.
/// Were the cancellation a little earlier, the runtime would hold the task's own lock for it, `resume` would wait for
/// that one, and both would wait for ever.
final class CancelledAsItGoesOn: TaskExecutor {
  private let thread = DispatchQueue(label: "cancelled as it goes on")
  private let cancellation = Mutex<(@Sendable () -> Void)?>(nil)
  private let jobs = Atomic(0)
  private let isHeld = Atomic(false)

  /// How many jobs have been begun and ended.
  var ended: Int { jobs.load(ordering: .acquiring) }

  /// Whether the cancellation had to wait.
  var hadToWait: Bool { isHeld.load(ordering: .acquiring) }

  /// Has the task of this executor be cancelled when it is to go on next.
  func plan(_ cancel: @escaping @Sendable () -> Void) { cancellation.withLock { $0 = cancel } }

  func enqueue(_ job: consuming ExecutorJob) {
    if let cancel = cancellation.withLock({ $0.take() }) { look(at: cancel) }
    let job = UnownedJob(job)
    thread.async {
      job.runSynchronously(on: self.asUnownedTaskExecutor())
      self.jobs.add(1, ordering: .acquiringAndReleasing)
    }
  }

  /// Lets another thread cancel, and waits until it has or sleeps.
  private func look(at cancel: @escaping @Sendable () -> Void) {
    let name = Mutex<Substring?>(nil)
    let isDone = Atomic(false)
    OSThread("cancels") {
      let words = KernelFile.line("/proc/thread-self/stat")?.split(separator: " ")
      name.withLock { $0 = words?.first ?? "" }
      cancel()
      isDone.store(true, ordering: .releasing)
    }.detach()
    var asleep = 0
    while !isDone.load(ordering: .acquiring), asleep < Self.enough {
      usleep(1_000)
      guard let name = name.withLock({ $0 }) else { continue }
      // The name in parentheses may hold anything; the state is the letter behind it.
      let state = KernelFile.line("/proc/self/task/\(name)/stat")?.split(separator: ")").last
      asleep = state?.drop { $0 == " " }.first == "S" ? asleep + 1 : 0
    }
    if asleep == Self.enough { isHeld.store(true, ordering: .releasing) }
  }

  /// So many looks in a row see the thread asleep if it waits for what nobody gives it.
  private static let enough = 200
}
