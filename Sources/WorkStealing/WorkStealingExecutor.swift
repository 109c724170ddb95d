internal import Basics
internal import Glibc
internal import Synchronization

// What runs your tasks.
//
// A task is a chain of jobs: it runs until it suspends, and what wakes it hands the next job to an
// executor. Swift's own, the global pool, takes every job through the queues of libdispatch. On two
// processors a suspension by `Task.yield` costs more there than a limiter does.
// This executor keeps a queue for each worker, so that a job that one job makes ready costs a few
// instructions and no lock. Its parts, each in a file with what would happen without it:
//
//   Turns       what a worker runs next: a slot for the task just woken, a budget for the slot, a look outside
//   RunQueue    a worker's own queue, from which the others steal half
//   Injection   the queue for what comes from outside, in three bands of priority
//   Resting     who searches, who sleeps, who is woken, and why no wake-up is lost
//   JobRoute    how a job came to the worker that runs it
//   Worker      the order in which one worker looks for its next job; it sleeps in a `ThreadParker` of Basics
//   Crew        the workers together, without threads
//   this file   the threads, and the way in
//   WholeProgram  the executor as the pool of a whole program
//
// To read further: R. Blumofe and C. Leiserson, Scheduling multithreaded computations by work stealing (JACM
// 1999); D. Chase and Y. Lev, Dynamic circular work-stealing deque (SPAA 2005); D. Vyukov, Scalable Go
// scheduler design (2012); C. Lerche, Making the Tokio scheduler 10x faster (2019).
//
// A yield. `Task.yield` is two jobs: the first, which belongs to no task, resumes the task; then
// the task's own runs. The first one goes to the back of the queue; so whatever was ready before runs before
// the task goes on. An executor that runs it at once looks fast and is unfair: tasks run one after the other to
// their end, and a limiter that is measured on it never finds a task that waits. The kind of the job is read
// from the runtime's own memory (`isYield`). Should a future runtime keep it elsewhere, a yield would count
// as a wake-up, and the slot's budget would still let the others have their turns.
//
// What an executor cannot save, where tasks prefer it: on every switch a task looks that preference up, in a list
// under a lock of the runtime (6.3.1). In a profile of two tasks that hand one permit to each other on
// one worker, that look-up and the runtime's locks had 40 of 100 samples, this room's frames 4. A pass through a
// limiter that nobody else uses takes 1.7 times as long as on the global pool, a call of a free actor eight times. An
// executor that serves the whole program spares its tasks both: see WholeProgram.swift, and `.ci/long executors`.
//
// A new task goes to the back too, where others can steal it: it was started to run beside its parent.

/// Runs tasks on threads of its own, which take work from each other.
///
/// ```swift
/// let executor = WorkStealingExecutor()
/// await withTaskExecutorPreference(executor) { await serve() }
/// await executor.shutdown()
/// ```
///
/// Tasks that prefer it run on it, with their child tasks and the default actors that they call. `Task {}`
/// inherits no preference: use `Task(executorPreference:)`. For all tasks of a program there is
/// ``serveWholeProgram(workers:name:)``.
///
/// Order: on one worker, the tasks that it made ready run in that order, but for the task just woken, which
/// runs next. No task waits for ever: after three such turns in a row the others have one.
///
/// Priority: of the tasks that wait outside, those of `high` (or `userInitiated`) go first. Those of
/// `background` run when a worker has nothing else, and nothing to steal. None starves the rest: a worker
/// that has other work looks outside once in 61 jobs, and of four such looks one takes an ordinary task
/// first and one a `background` task. Tasks woken by a task that runs here are equal, whatever their
/// priority, unless it is `background`.
///
/// Its threads run until ``shutdown()``, so an executor that nobody shuts down lives as long as the
/// process. Do not block them: they are as few as processors.
public final class WorkStealingExecutor: TaskExecutor {
  private struct Ending {
    var threads: Int
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let crew: Crew
  /// The highest serial number of a task seen: a higher one is new.
  private let newest = Atomic<UInt64>(0)
  private let ending: Mutex<Ending>
  /// Shows the sanitizer each hand-over of the lock of `ending`, whose waiting it cannot see.
  private let endings = Atomic<Int>(0)

  /// Starts the threads.
  ///
  /// - Parameters:
  ///   - workers: How many; nil for one on each processor that the process may use.
  ///   - name: What debuggers and `top` call the threads, with a number after it. The system keeps 15 bytes.
  /// - Precondition: `workers` is at least 1.
  public convenience init(workers: Int? = nil, name: String = "worker") {
    self.init(threads: workers)
    start(name, for: .thoseWhoPreferIt)
  }

  /// One whose threads have not started yet.
  init(threads workers: Int?) {
    let count = workers ?? Processors.allowed
    // Not `precondition`: built for release, that stops without its message.
    guard count >= 1 else {
      fatalError(
        "WorkStealingExecutor: workers is \(count), but must be at least 1; without one no task could run"
      )
    }
    crew = Crew(workers: count)
    ending = Mutex(Ending(threads: count))
  }

  /// Which tasks an executor is for.
  enum Service {
    case thoseWhoPreferIt
    /// All that prefer none.
    case program
  }

  /// Starts the threads.
  func start(_ name: String, for service: Service) {
    for worker in crew.workers {
      OSThread("\(name)-\(worker.number + 1)") { [self] in run(worker, for: service) }.detach()
    }
  }

  /// How many workers there are.
  public var workers: Int { crew.workers.count }

  /// What the workers have done so far.
  public struct Statistics: Sendable, Equatable {
    /// Jobs run.
    ///
    /// A task is one job at its start, and one for each time it goes on after a suspension; a yield adds two.
    public var jobs: Int
    /// How often a worker took work from another one: half a queue, at most 128 jobs, or the task in its slot.
    public var steals: Int
    /// How often a worker went to sleep.
    public var sleeps: Int
    /// How often a worker was woken by somebody else.
    public var wakes: Int
  }

  /// What the workers have done so far: a snapshot, out of date while tasks run.
  public var statistics: Statistics {
    crew.workers.map(\.statistics).reduce(into: Statistics(jobs: 0, steals: 0, sleeps: 0, wakes: 0))
    {
      $0.jobs += $1.jobs
      $0.steals += $1.steals
      $0.sleeps += $1.sleeps
      $0.wakes += $1.wakes
    }
  }

  /// Runs all jobs that are ready, and those they make ready, then ends the threads, and returns.
  ///
  /// It does not wait for tasks that are suspended. If something wakes one later, it goes on in the
  /// global pool.
  public func shutdown() async {
    crew.beginEnding()
    await withCheckedContinuation { continuation in
      let hasEnded = changeEnding { ending in
        if ending.threads > 0 { ending.waiters.append(continuation) }
        return ending.threads == 0
      }
      if hasEnded { continuation.resume() }
    }
  }

  /// Takes a job; called by the runtime.
  @inline(__always)
  public func enqueue(_ job: consuming ExecutorJob) {
    let priority = job.priority.rawValue
    let job = UnownedJob(job)
    let band = Bands.Band(priority: priority)
    guard let current = pthread_getspecific(Self.key),
      // The thread keeps its worker alive as long as it runs.
      case let worker = Unmanaged<Worker>.fromOpaque(current).takeUnretainedValue(),
      isOwn(worker), band != .background
    else { return enqueueFromOutside(job, band) }
    if job.isYield {
      worker.appendYielding(job.address, of: UnownedJob.ofCurrentTask?.address, crew)
    } else if isNew(job) {
      worker.append(job.address, crew)
    } else {
      worker.wake(job.address, crew)
    }
  }

  /// How the job that the calling thread runs came there; nil on a thread that is no worker.
  package static var routeOfCurrentJob: JobRoute? {
    // The thread keeps its worker alive as long as it runs.
    pthread_getspecific(key).map { Unmanaged<Worker>.fromOpaque($0).takeUnretainedValue().route }
  }

  private func isOwn(_ worker: Worker) -> Bool {
    worker.number < crew.workers.count && crew.workers[worker.number] === worker
  }

  private func enqueueFromOutside(_ job: UnownedJob, _ band: Bands.Band) {
    // Seen here, it is not new any more when a worker wakes it.
    _ = isNew(job)
    if !crew.inject(job.address, band) { SwiftsPool.executor.enqueue(ExecutorJob(job)) }
  }

  /// Whether the job is the first of its task.
  ///
  /// Serial numbers rise. A new task may look old if a newer one came first: then it goes to the slot.
  @inline(__always)
  private func isNew(_ job: UnownedJob) -> Bool {
    let serial = job.taskSerial
    guard serial > newest.load(ordering: .relaxed) else { return false }
    newest.store(serial, ordering: .relaxed)
    return true
  }

  // MARK: A worker's thread

  private func run(_ worker: Worker, for service: Service) {
    pthread_setspecific(Self.key, Unmanaged.passUnretained(worker).toOpaque())
    switch service {
    case .thoseWhoPreferIt:
      let executor = asUnownedTaskExecutor()
      while let job = worker.next(crew) {
        UnownedJob(address: job).runSynchronously(on: executor)
      }
    case .program:
      // As Swift's own pool does: a task that prefers nothing finds itself where it belongs, and comes to an actor that
      // is free, and back, in the same job.
      while let job = worker.next(crew) {
        UnownedJob(address: job).runSynchronously(on: .pool)
      }
    }
    pthread_setspecific(Self.key, nil)
    let waiters = changeEnding { ending -> [CheckedContinuation<Void, Never>] in
      ending.threads -= 1
      return ending.threads == 0 ? ending.waiters : []
    }
    for waiter in waiters { waiter.resume() }
  }

  private func changeEnding<Result: Sendable>(_ body: (inout Ending) -> Result) -> Result {
    ending.withLock { ending in
      let count = endings.load(ordering: .acquiring)
      defer { endings.store(count &+ 1, ordering: .releasing) }
      return body(&ending)
    }
  }

  /// Under this key a thread keeps the worker that it is.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0, "the process has no thread-local key left")
    return key
  }()
}
