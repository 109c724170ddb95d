internal import Basics
internal import Glibc
internal import Synchronization

/// Stops a thread anywhere for a moment, again and again, so that others come in between.
///
/// Where there is but one processor, a scheduler seldom takes it from a thread that has more to do, and so hardly ever
/// between two instructions that belong together.
enum ThreadStalls {
  /// Runs `body` on the calling thread, which is stopped meanwhile.
  ///
  /// For one thread of the program at a time.
  static func during(_ body: () -> Void) {
    guard let timer = timer() else { return body() }
    left.store(mostStalls, ordering: .relaxed)
    current.store(timer, ordering: .relaxed)
    next()
    body()
    // What comes from here on stops nothing, and is followed by nothing.
    left.store(0, ordering: .relaxed)
    timer_delete(UnsafeMutableRawPointer(bitPattern: timer))
  }

  /// A timer whose signal the calling thread gets; nil if the system has none left.
  private static func timer() -> Int? {
    guard let thread = pid_t(KernelThread.here.thread) else { return nil }
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in ThreadStalls.stall() }
    // What waits in the system goes on waiting.
    action.sa_flags = SA_RESTART
    sigaction(SIGURG, &action, nil)
    var event = sigevent()
    event.sigev_notify = Int32(SIGEV_THREAD_ID)
    event.sigev_signo = SIGURG
    event._sigev_un._tid = thread
    var made: timer_t?
    guard timer_create(CLOCK_MONOTONIC, &event, &made) == 0 else { return nil }
    // The first timer of a program is known by no bits at all.
    return Int(bitPattern: made)
  }

  /// In the middle of anything: calls nothing that must not be called there.
  private static func stall() {
    guard left.load(ordering: .relaxed) > 0 else { return }
    left.subtract(1, ordering: .relaxed)
    let error = errno
    var time = timespec(tv_sec: 0, tv_nsec: length)
    nanosleep(&time, nil)
    // Only now: however long it took, the thread gets on before the next.
    next()
    errno = error
  }

  private static func next() {
    var times = itimerspec()
    times.it_value.tv_nsec = pause
    timer_settime(
      UnsafeMutableRawPointer(bitPattern: current.load(ordering: .relaxed)),
      0,
      &times,
      nil
    )
  }

  private static let current = Atomic(0)
  private static let left = Atomic(0)
  private static let mostStalls = 2_000
  /// How many nanoseconds it is stopped for.
  private static let length = 20_000
  /// How many it gets on for in between.
  private static let pause = 15_000
}
