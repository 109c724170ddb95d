internal import Basics
internal import Glibc
internal import Synchronization

/// Runs the jobs of tasks on a thread of its own, and says what they took of it.
///
/// A job that holds its thread for a moment, whether it sleeps there or looks again and again, is told by what it
/// takes: no other program makes a thread take more of either.
final class MeasuredJobs: TaskExecutor {
  /// What jobs took of the thread.
  struct Taken: Sendable {
    /// How often the thread slept in the middle of one.
    var sleeps = 0
    /// Of the processor, in nanoseconds.
    var time: Int64 = 0
  }

  private struct State {
    var line: [UnownedJob] = []
    var made = 0
    var ended = 0
    var taken = Taken()
  }

  private let state = Mutex(State())
  private let place = Mutex<KernelThread?>(nil)
  private let ready = ThreadSemaphore()

  /// - Parameter aroundJob: is given each job to run.
  init(aroundJob: @escaping @Sendable (_ job: () -> Void) -> Void = { $0() }) {
    OSThread("measured") { [self] in
      let place = KernelThread.here
      self.place.withLock { $0 = place }
      while let job = next() {
        let (sleeps, time) = (place.sleeps, MachineClock.threadTime())
        aroundJob { job.runSynchronously(on: asUnownedTaskExecutor()) }
        let taken = MachineClock.threadTime() - time
        let slept = place.sleeps - sleeps
        state.withLock { state in
          state.ended += 1
          state.taken.time += taken
          state.taken.sleeps += slept
        }
      }
    }.detach()
  }

  /// What has been taken since it was asked for last.
  func take() -> Taken {
    state.withLock { state in
      defer { state.taken = Taken() }
      return state.taken
    }
  }

  /// How many jobs have ended; nil while one runs or is in line.
  var endedAtRest: Int? { state.withLock { $0.made == $0.ended ? $0.ended : nil } }

  /// Whether a job sleeps on the thread, and so keeps it from others, before something is so.
  ///
  /// Holds the calling thread until that is known.
  func isHeld(before isSo: () -> Bool) -> Bool {
    var (seen, asleep) = (0, 0)
    while asleep < Self.enough {
      if isSo() { return false }
      usleep(1_000)
      // A thread that is to run a job is not asleep, whether it has a processor or not.
      let (made, ended) = state.withLock { ($0.made, $0.ended) }
      let isAsleep = place.withLock { $0 }?.isAsleep == true
      asleep = made > ended && ended == seen && isAsleep ? asleep + 1 : 0
      seen = ended
    }
    return true
  }

  /// So many looks in a row see the thread asleep if a job waits there for what does not come.
  private static let enough = 200

  /// Ends the thread when nothing is left to run; every task must have ended.
  func end() { ready.post() }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { state in
      state.made += 1
      state.line.append(job)
    }
    ready.post()
  }

  /// Waits for the next job; nil is the end.
  private func next() -> UnownedJob? {
    ready.wait()
    return state.withLock { $0.line.isEmpty ? nil : $0.line.removeFirst() }
  }
}
