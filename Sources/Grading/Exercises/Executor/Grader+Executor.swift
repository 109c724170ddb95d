internal import Basics
internal import Dispatch
internal import Foundation
internal import LessonBook
internal import Synchronization

/// How many of the jobs that are made ready have run, for a thread that waits for them.
private final class Arrivals: Sendable {
  private let count = Atomic(0)
  private let came = DispatchSemaphore(value: 0)

  func come() {
    count.add(1, ordering: .releasing)
    came.signal()
  }

  var all: Int { count.load(ordering: .acquiring) }

  /// Whether one more comes within that time.
  func comes(within milliseconds: Int) -> Bool {
    came.wait(timeout: .now() + .milliseconds(milliseconds)) == .success
  }

  /// Waits for so many more.
  ///
  /// - Returns: how many are missing when for five seconds none has come; nil if none is.
  func missing(of wanted: Int) -> Int? {
    for number in 0..<wanted {
      guard came.wait(timeout: .now() + .seconds(5)) == .success else { return wanted - number }
    }
    return nil
  }
}

/// Tasks that wait, and are resumed all at once.
private final class WaitingCrowd: Sendable {
  let count: Int
  let came = Arrivals()
  private let waiting = Mutex<[UnsafeContinuation<Bool, Never>]>([])

  init(_ count: Int, on executor: some TaskExecutor) {
    self.count = count
    for _ in 1...count {
      Task(executorPreference: executor) { @Sendable [self] in
        // Resumed once: who resumes takes it out of `waiting` under the lock.
        while await withUnsafeContinuation({ continuation in
          waiting.withLock { $0.append(continuation) }
          came.come()
        }) {}
      }
    }
  }

  /// Resumes each once; they wait again then, unless it was the last time.
  func resume(_ around: (() -> Void) -> Void = { $0() }, isLast: Bool = false) {
    // Each is resumed once: who resumes takes it out under the lock.
    let all = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    around { for continuation in all { continuation.resume(returning: !isLast) } }
  }
}

/// Has another executor run what comes, and knows how much of the processor it took to add it there.
///
/// A job that runs there finds that its task prefers this one, and comes again: it goes on where it is.
private final class TimedEnqueuing: TaskExecutor {
  private let executor: any TaskExecutor
  private let times = Mutex<(all: [Int64], count: Int)>(([], 0))
  private let isOver = Atomic(false)

  init(_ executor: some TaskExecutor) { self.executor = executor }

  /// Ends the adding; how much each thousand took, in nanoseconds.
  func end() -> [Int64] {
    isOver.store(true, ordering: .releasing)
    return times.withLock { $0.all }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    if isOver.load(ordering: .acquiring) {
      return UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
    let before = MachineClock.threadTime()
    executor.enqueue(job)
    let taken = MachineClock.threadTime() - before
    times.withLock { times in
      if times.count % 1_000 == 0 { times.all.append(0) }
      times.all[times.count / 1_000] += taken
      times.count += 1
    }
  }
}

/// A job that keeps an executor's thread.
private final class LongJob: Sendable {
  let mayEnd = DispatchSemaphore(value: 0)
  private let executor: any TaskExecutor
  private let begin = ContinuousClock.now

  init(on executor: some TaskExecutor) {
    self.executor = executor
    Task(executorPreference: executor) { [mayEnd] in Self.wait(for: mayEnd) }
  }

  private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

  /// Waits until it has run for so long that somebody might call it too long.
  func waitUntilOld() {
    let left = begin + .milliseconds(2_500) - .now
    if left > .zero { Thread.sleep(forTimeInterval: left / .seconds(1)) }
  }

  /// Makes two others ready, and says whether one of them runs meanwhile.
  func letsOthersRun() -> Bool {
    let ran = Arrivals()
    for _ in 1...2 { Task(executorPreference: executor) { ran.come() } }
    return ran.comes(within: 200)
  }
}

extension Grader {
  /// Lesson 20: every job runs once, on one thread, in order; the thread sleeps when there is none.
  package static func executor<Executor: LearnerExecutor>(_ type: Executor.Type) -> GradeBook {
    GradeBook([
      elsewhere(type),
      inOrder(type),
      comesBack(type),
      within(type),
      oneThread(type),
      byName(type),
      pile(type),
      oneByOne(type),
      fromBothSides(type),
      fromManyThreads(type),
      betweenLooks(type),
      whenAsleep(type),
      whenAsleepInATask(type),
      fromWithinToo(type),
      sleepsWell(type),
      executorsApart(type),
      // Behind those that tell whether the threads sleep: here there are many.
      firstJobs(type),
      keepsNothing(type),
      neverEmpty(type),
    ])
  }

  /// Every executor of a grading: a thread of the learner's may use one for as long as the program runs.
  private static let executors = Mutex<[any TaskExecutor]>([])

  private static func made<Executor: LearnerExecutor>(_ type: Executor.Type) -> Executor {
    let executor = Executor()
    executors.withLock { $0.append(executor) }
    return executor
  }

  private static let neverRan =
    "Look whether the thread is woken each time, after the job was added, and whether a job runs while your lock is "
    + "held"

  private static func question(
    _ name: String,
    _ asked: String,
    _ praise: String,
    _ fault: @escaping @Sendable (_ seed: UInt64) -> String?
  ) -> GradeBook.Question {
    GradeBook.Question(name: name) { terms in
      // An 'enqueue' that does not come back keeps the thread that called it.
      let answer = Mutex<(fault: String?, isThere: Bool)>((nil, false))
      let isThere = DispatchSemaphore(value: 0)
      OSThread {
        let fault = fault(terms.seed)
        answer.withLock { $0 = (fault, true) }
        isThere.signal()
      }.detach()
      guard isThere.wait(timeout: .now() + .seconds(60)) == .success else {
        return GradeItem(
          name,
          passed: false,
          "\(asked): 'enqueue' has not come back for a minute. It is called while a job runs too: hold no lock then, and let it wait for no job"
        )
      }
      let found = answer.withLock { $0.fault }
      return GradeItem(name, passed: found == nil, "\(asked): \(found ?? praise)")
    }
  }

  // MARK: One job

  private static func elsewhere<Executor: LearnerExecutor>(_ type: Executor.Type)
    -> GradeBook.Question
  {
    question("elsewhere", "one task", "it runs on another thread, and 'enqueue' comes back") { _ in
      let executor = made(type)
      let ran = Arrivals()
      let isInside = Atomic(false)
      let place = Mutex<KernelThread?>(nil)
      let here = KernelThread.here
      isInside.store(true, ordering: .releasing)
      Task(executorPreference: executor) {
        place.withLock { $0 = KernelThread.here }
        ran.come()
      }
      if ran.missing(of: 1) != nil {
        return "it was ready five seconds ago, and has not run"
      }
      guard place.withLock({ $0 }) != here else {
        return
          "it ran inside 'enqueue', on the thread that made it ready. That thread has work of its own: keep the "
          + "job, and let a thread of yours run it"
      }
      return nil
    }
  }

  /// Who makes a job ready goes on at once, whether the line is empty or not.
  private static func comesBack<Executor: LearnerExecutor>(_ type: Executor.Type)
    -> GradeBook.Question
  {
    let count = 20
    return question(
      "comes_back",
      "\(count) tasks, each made ready when nothing is in line, and \(count) more while a job runs",
      "'enqueue' comes back at once"
    ) { _ in
      let executor = made(type)
      let (begun, ran) = (Arrivals(), Arrivals())
      let mayEnd = DispatchSemaphore(value: 0)
      let here = KernelThread.here
      func sleeps(_ act: () -> Void) -> Bool {
        let before = here.sleeps
        act()
        return here.sleeps > before
      }
      // Once in a while another thread has the lock.
      func fault(_ slept: Int, _ when: String) -> String? {
        2 * slept <= count
          ? nil
          : "in \(slept) of \(count) the thread that made it ready slept in 'enqueue', \(when). Add the job, wake the "
            + "executor's thread, and let 'enqueue' wait for nothing"
      }
      var slept = 0
      for _ in 1...count {
        if sleeps({ Task(executorPreference: executor) { ran.come() } }) { slept += 1 }
        if ran.missing(of: 1) != nil {
          return "one of them has not run for five seconds. \(neverRan)"
        }
      }
      if let fault = fault(slept, "where nothing was in line") { return fault }
      Task(executorPreference: executor) {
        begun.come()
        waitHere(for: mayEnd)
      }
      if begun.missing(of: 1) != nil { return "a job never began. \(neverRan)" }
      slept = 0
      for _ in 1...count
      where sleeps({ Task(executorPreference: executor) { ran.come() } }) { slept += 1 }
      mayEnd.signal()
      if let missing = ran.missing(of: count) {
        return "\(missing) of \(count) never ran. \(neverRan)"
      }
      return fault(slept, "while a job was running")
    }
  }

  /// A job that makes another ready goes on, with nothing in line too.
  private static func within<Executor: LearnerExecutor>(_ type: Executor.Type) -> GradeBook.Question
  {
    question(
      "within",
      "a task that makes another ready, while nothing is in line",
      "it goes on, and then comes the other"
    ) { _ in
      let executor = made(type)
      let ran = Arrivals()
      let turns = Mutex<[Int]>([])
      Task(executorPreference: executor) { @Sendable in
        Task(executorPreference: executor) { @Sendable in
          turns.withLock { $0.append(2) }
          ran.come()
        }
        turns.withLock { $0.append(1) }
        ran.come()
      }
      if let missing = ran.missing(of: 2) { return "\(missing) of 2 never ended. \(neverRan)" }
      guard turns.withLock({ $0 }) == [1, 2] else {
        return
          "the other ran inside 'enqueue', in the middle of the job that made it ready. One job at a time: keep it "
          + "in line, also when 'enqueue' is called on your own thread and the line is empty"
      }
      return nil
    }
  }

  // MARK: Order

  /// Tasks that yield while others are ready, all of which became so while the thread was busy.
  private static func inOrder<Executor: LearnerExecutor>(_ type: Executor.Type)
    -> GradeBook.Question
  {
    question(
      "in_order",
      "a job that takes long, and eight tasks that yield, of six kinds of urgency, made ready meanwhile",
      "each goes on when those have had their turn that were ready before"
    ) { _ in
      let executor = made(type)
      // One of each kind, and of most one more, stands behind others that are more urgent, and before some.
      let urgencies: [TaskPriority] = [
        .low, .high, .background, TaskPriority(rawValue: 33), .medium, .background, .high,
        TaskPriority(rawValue: 1),
      ]
      let (tasks, yields) = (urgencies.count, 20)
      let (ran, begun) = (Arrivals(), Arrivals())
      let mayEnd = DispatchSemaphore(value: 0)
      let turns = Mutex<[Int]>([])
      Task(executorPreference: executor) {
        begun.come()
        waitHere(for: mayEnd)
        ran.come()
      }
      if begun.missing(of: 1) != nil { return "the first never ran. \(neverRan)" }
      let made = Arrivals()
      OSThread {
        for number in 1...tasks {
          @Sendable func start() {
            Task(executorPreference: executor, priority: urgencies[number - 1]) { @Sendable in
              for _ in 0..<yields {
                turns.withLock { $0.append(number) }
                await Task.yield()
              }
              ran.come()
            }
          }
          // Who only tries to take the lock finds now and then that another thread has it.
          if number % 2 == 0 { TakenLock.during(start) } else { start() }
        }
        made.come()
      }.detach()
      guard made.missing(of: 1) == nil else {
        // The job goes on for ever: the next one might end the program before this is told.
        return
          "'enqueue' did not come back while a job was running. Jobs may take long: hold no lock while one runs"
      }
      // A second thread, if there is one, gets time to take some, on a busy machine too.
      Thread.sleep(forTimeInterval: 0.2)
      let early = turns.withLock { $0.count }
      mayEnd.signal()
      if early > 0 {
        return "others ran while the first was running: one thread runs one job at a time"
      }
      if let missing = ran.missing(of: tasks + 1) {
        return "\(missing) of \(tasks + 1) never ended. \(neverRan)"
      }
      let order = turns.withLock { $0 }
      for (place, number) in order.enumerated() where number != place % tasks + 1 {
        let due = place % tasks + 1
        let had = order[..<place].count { $0 == number }
        let waits = order[..<place].count { $0 == due }
        return "task \(number) went on for the \(ordinal(had + 1)) time before task \(due) for the "
          + "\(ordinal(waits + 1)), which was ready before. Who is ready first runs first, however urgent another is"
      }
      return nil
    }
  }

  /// Jobs that the thread makes ready itself, and others meanwhile, in turn.
  private static func fromBothSides<Executor: LearnerExecutor>(_ type: Executor.Type)
    -> GradeBook.Question
  {
    question(
      "both_sides",
      "a job makes a task ready, then another thread does, and so on, eight in all",
      "each runs in its turn"
    ) { _ in
      let executor = made(type)
      let ran = Arrivals()
      let turns = Mutex<[Int]>([])
      @Sendable func start(_ number: Int) {
        Task(executorPreference: executor) { @Sendable in
          turns.withLock { $0.append(number) }
          ran.come()
        }
      }
      Task(executorPreference: executor) { @Sendable in
        for number in stride(from: 1, to: 8, by: 2) {
          start(number)
          let isMade = DispatchSemaphore(value: 0)
          OSThread {
            start(number + 1)
            isMade.signal()
          }.detach()
          waitHere(for: isMade)
        }
        ran.come()
      }
      if let missing = ran.missing(of: 9) { return "\(missing) of 9 never ended. \(neverRan)" }
      let order = turns.withLock { $0 }
      for (place, number) in order.enumerated() where number != place + 1 {
        let whose = { $0 % 2 == 1 ? "a job of the executor" : "another thread" }
        return "what \(whose(number)) had made ready ran before what \(whose(place + 1)) had made "
          + "ready earlier. Keep one line for all"
      }
      return nil
    }
  }

  private static func ordinal(_ number: Int) -> String {
    ["first", "second", "third"].dropFirst(number - 1).first ?? "\(number)th"
  }

  private static func waitHere(for semaphore: DispatchSemaphore) { semaphore.wait() }

  private static func comes(_ signal: DispatchSemaphore, within milliseconds: Int) -> Bool {
    signal.wait(timeout: .now() + .milliseconds(milliseconds)) == .success
  }

  // MARK: The thread

  private static func oneThread<Executor: LearnerExecutor>(_ type: Executor.Type)
    -> GradeBook.Question
  {
    question("one_thread", "forty tasks that yield", "all run on one thread, the executor's own") {
      _ in
      let executor = made(type)
      let ran = Arrivals()
      let places = Mutex<Set<KernelThread>>([])
      let queues = Mutex<Set<String>>([])
      for _ in 1...40 {
        Task(executorPreference: executor) { @Sendable in
          for _ in 1...5 {
            places.withLock { _ = $0.insert(KernelThread.here) }
            queues.withLock { _ = $0.insert(ThisThread.queue) }
            await Task.yield()
          }
          ran.come()
        }
      }
      if let missing = ran.missing(of: 40) { return "\(missing) of 40 never ended. \(neverRan)" }
      // Here, too, a thread runs that belongs to no queue. Before the threads are counted: a queue has now one and now
      // another.
      guard queues.withLock({ $0 }) == [ThisThread.queue] else {
        return "they ran on a thread of Dispatch or of Swift, which has other work too. Start one: "
          + "Thread.detachNewThread"
      }
      let count = places.withLock { $0.count }
      if count > 1 { return "they ran on \(count) threads, not on one of its own" }
      return nil
    }
  }

  /// Whom a job is told that it runs on: one that runs on the executor of its task need not go there by 'enqueue'.
  private static func byName<Executor: LearnerExecutor>(_ type: Executor.Type)
    -> GradeBook.Question
  {
    question(
      "by_name",
      "two tasks, of which each calls an async function that does not wait",
      "each call goes on in the same job"
    ) { _ in
      let executor = made(type)
      let (ran, begun) = (Arrivals(), Arrivals())
      let mayEnd = DispatchSemaphore(value: 0)
      let turns = Mutex<[Int]>([])
      Task(executorPreference: executor) {
        begun.come()
        waitHere(for: mayEnd)
      }
      if begun.missing(of: 1) != nil { return "the first never ran. \(neverRan)" }
      for number in 1...2 {
        Task(executorPreference: executor) { @Sendable in
          turns.withLock { $0.append(number) }
          await goOn { turns.withLock { $0.append(number) } }
          ran.come()
        }
      }
      mayEnd.signal()
      if let missing = ran.missing(of: 2) { return "\(missing) of 2 never ended. \(neverRan)" }
      guard turns.withLock({ $0 }) == [1, 1, 2, 2] else {
        return
          "the call went through 'enqueue' again, as if the job ran elsewhere. Say where it runs: "
          + "job.runSynchronously(on: asUnownedTaskExecutor())"
      }
      return nil
    }
  }

  @concurrent private static func goOn(_ body: @Sendable () -> Void) async { body() }

  /// Many jobs that wait for one: there is room for each, and all are served in their order.
  private static func pile<Executor: LearnerExecutor>(_ type: Executor.Type) -> GradeBook.Question {
    let tasks = 70_000
    return question(
      "pile",
      "a job that takes long, and 70,000 tasks of all urgencies made ready meanwhile",
      "'enqueue' comes back each time, and each task runs in its turn"
    ) { _ in
      let executor = made(type)
      let (ran, begun, isReady) = (Arrivals(), Arrivals(), Arrivals())
      let mayEnd = DispatchSemaphore(value: 0)
      let turns = Mutex((last: 0, early: (number: Int, due: Int)?.none, threads: Set<UInt>()))
      Task(executorPreference: executor) {
        begun.come()
        waitHere(for: mayEnd)
      }
      if begun.missing(of: 1) != nil { return "the first never ran. \(neverRan)" }
      let timed = TimedEnqueuing(executor)
      OSThread {
        for number in 1...tasks {
          Task(executorPreference: timed, priority: urgencies[number % urgencies.count]) {
            @Sendable in
            turns.withLock { turns in
              if number != turns.last + 1, turns.early == nil {
                turns.early = (number, turns.last + 1)
              }
              turns.last = number
              turns.threads.insert(OSThread.current)
            }
            ran.come()
          }
          isReady.come()
        }
      }.detach()
      if let missing = isReady.missing(of: tasks) {
        return
          "when \(tasks - missing) were ready, 'enqueue' did not come back. It must not wait for room"
      }
      let times = timed.end()
      mayEnd.signal()
      if let slower = slower(times) { return slower }
      let missing = ran.missing(of: tasks)
      let (early, threads) = turns.withLock { ($0.early, $0.threads.count) }
      if threads > 1 { return "they ran on \(threads) threads: one thread runs all jobs" }
      if let missing {
        return
          "\(missing) of \(tasks) never ran. Look whether there is room for any number of jobs. \(neverRan)"
      }
      return early.map {
        "task \($0.number) ran before task \($0.due), which was ready before. Who is ready first runs first, however "
          + "urgent another is and however many wait"
      }
    }
  }

  /// How much of the processor a thousand jobs may take in any case, in nanoseconds.
  private static let mostOfAThousand: Int64 = 3_000_000

  /// What is wrong if jobs take the longer to be added the more are there; nil if they do not.
  ///
  /// - Parameter times: how much of the processor each thousand took, whatever else the machine did.
  /// - Returns: the sentence.
  private static func slower(_ times: [Int64]) -> String? {
    let (first, last) = (times.prefix(9).sorted()[4], times.suffix(9).sorted()[4])
    // As much as it takes to make room now and then is no more on the whole.
    guard 2 * last > 5 * first, last > mostOfAThousand else { return nil }
    return
      "'enqueue' takes the longer the more jobs are in line: the last thousand took \(last / 1_000_000) ms of the "
      + "processor, and a thousand of the first \(first / 1_000_000) ms. Add to its end, run no "
      + "job there, and neither copy the line nor go through it"
  }

  /// Of each kind one, and a less urgent one behind a more urgent one.
  private static let urgencies: [TaskPriority] = [
    .background, .medium, .high, TaskPriority(rawValue: 33),
  ]

  /// Jobs that come one by one, each when nothing is left to do: the same thread runs them all.
  private static func oneByOne<Executor: LearnerExecutor>(_ type: Executor.Type)
    -> GradeBook.Question
  {
    question(
      "one_by_one",
      "five tasks, each of which becomes ready when there has been nothing to do",
      "the same thread runs all of them"
    ) { _ in
      let executor = made(type)
      let ran = Arrivals()
      let place = Mutex<KernelThread?>(nil)
      let before = Mutex<(time: Int64?, sleeps: Int)>((nil, 0))
      var thread: KernelThread?
      var (times, sleepings): ([Int64], [Int]) = ([], [])
      for _ in 1...5 {
        Task(executorPreference: executor) { @Sendable in
          let here = KernelThread.here
          place.withLock { $0 = here }
          before.withLock { $0 = (here.processorTime, here.sleeps) }
          ran.come()
        }
        if ran.missing(of: 1) != nil { return "one of them never ran. \(neverRan)" }
        guard let here = place.withLock({ $0 }) else { return "one of them never ran. \(neverRan)" }
        if let thread, here != thread { return threadEnded }
        thread = here
        // One that never sleeps is another question's.
        let rests = here.waitForRest()
        let (time, sleeps) = before.withLock { $0 }
        let taken = here.processorTime.flatMap { now in time.map { now - $0 } } ?? 0
        let slept = here.sleeps - sleeps
        times.append(rests ? taken : 0)
        sleepings.append(rests ? slept : 0)
      }
      if thread?.hasEnded == true { return threadEnded }
      // To find that nothing is there, and to go to sleep, takes some hundredths of a millisecond, and one sleep. Once
      // or twice it may be more on a busy machine, or less of who looks by the clock.
      let (time, slept) = (times.sorted()[2], sleepings.sorted()[2])
      guard time > 1_000_000 || slept > 8 else { return nil }
      return
        "each time, the thread looked for work again and again before it slept for good, with no job there. Let it "
        + "sleep at once, until 'enqueue' wakes it"
    }
  }

  private static let threadEnded =
    "the thread ended when no job was left. One thread runs all jobs, also those that come later: let it wait until "
    + "'enqueue' wakes it"

  /// Jobs that several threads make ready at once.
  private static func fromManyThreads<Executor: LearnerExecutor>(_ type: Executor.Type)
    -> GradeBook.Question
  {
    let (threads, tasks) = (4, 3_000)
    return question(
      "together",
      "four threads, each of which makes 3,000 tasks ready",
      "each ran once, and those of a thread in its order"
    ) { _ in
      let executor = made(type)
      let ran = Arrivals()
      // Of each thread the number of its job that ran last, and whether one ran before one that was ready earlier.
      let turns = Mutex((last: [Int](repeating: 0, count: threads), isInOrder: true))
      for thread in 0..<threads {
        OSThread {
          for number in 1...tasks {
            Task(executorPreference: executor) { @Sendable in
              turns.withLock { turns in
                if turns.last[thread] != number - 1 { turns.isInOrder = false }
                turns.last[thread] = number
              }
              ran.come()
            }
          }
        }.detach()
      }
      if let missing = ran.missing(of: threads * tasks) {
        return "\(missing) of \(threads * tasks) never ran. \(neverRan)"
      }
      return turns.withLock { $0.isInOrder }
        ? nil
        : "a job ran before one that the same thread had made ready earlier. One line for all, also when two come at "
          + "the same moment"
    }
  }

  /// An executor that begins with its first job begins once, whoever brings that.
  private static func firstJobs<Executor: LearnerExecutor>(_ type: Executor.Type)
    -> GradeBook.Question
  {
    let count = 60
    return question(
      "first_jobs",
      "\(count) new executors, to each of which two threads send their first jobs at the same moment",
      "each runs its jobs on one thread"
    ) { seed in
      var random = SplitMix64(seed: seed)
      for _ in 1...count {
        let executor = made(type)
        let ran = Arrivals()
        let places = Mutex<Set<KernelThread>>([])
        let ready = Atomic(0)
        for _ in 1...2 {
          // Now one is first and now the other, by less than a job takes to be sent.
          let delay = random.next(below: 1 << random.next(below: 8))
          OSThread {
            ready.add(1, ordering: .acquiringAndReleasing)
            while ready.load(ordering: .acquiring) < 2 {}
            for _ in 0..<delay { _ = ready.load(ordering: .acquiring) }
            for _ in 1...3 {
              Task(executorPreference: executor) { @Sendable in
                places.withLock { _ = $0.insert(KernelThread.here) }
                ran.come()
              }
            }
          }.detach()
        }
        if let missing = ran.missing(of: 6) { return "\(missing) of 6 never ran. \(neverRan)" }
        // One thread may have run all of them: if there is another, it has the second job while the first waits for it.
        let isThere = DispatchSemaphore(value: 0)
        Task(executorPreference: executor) { @Sendable in
          let other = comes(isThere, within: 20)
          if other { places.withLock { _ = $0.insert(KernelThread(thread: "another")) } }
          ran.come()
        }
        Task(executorPreference: executor) { @Sendable in
          isThere.signal()
          ran.come()
        }
        if let missing = ran.missing(of: 2) { return "\(missing) of 2 never ran. \(neverRan)" }
        if places.withLock({ $0.count }) > 1 {
          return
            "they ran on two threads. Who starts the thread must know that nobody else does: decide it in one step"
        }
      }
      return nil
    }
  }

  /// Jobs that the executor's own thread makes ready, and other threads at the same moment.
  ///
  /// Its own is stopped anywhere for a moment, so where there is but one processor, too, the others come in between.
  private static func fromWithinToo<Executor: LearnerExecutor>(_ type: Executor.Type)
    -> GradeBook.Question
  {
    question(
      "own_and_others",
      "a job that resumes 20,000 tasks, and two threads that make others ready meanwhile",
      "each ran, and once"
    ) { _ in
      let executor = made(type)
      let (others, stopped) = (Arrivals(), Arrivals())
      let isOver = Atomic(false)
      let tasks = Atomic(0)
      for _ in 1...2 {
        OSThread {
          wakePunctually()
          while !isOver.load(ordering: .relaxed) {
            if tasks.load(ordering: .relaxed) - others.all < 10_000 {
              tasks.add(1, ordering: .relaxed)
              Task(executorPreference: executor) { @Sendable in others.come() }
            }
            var time = timespec(tv_sec: 0, tv_nsec: 10_000)
            nanosleep(&time, nil)
          }
          stopped.come()
        }.detach()
      }
      Task(executorPreference: executor) { wakePunctually() }
      // So many that the line outgrows its room while they are added: that takes longest, and is most easily disturbed.
      let crowd = WaitingCrowd(20_000, on: executor)
      var missing = crowd.came.missing(of: crowd.count)
      if missing == nil {
        let resumed = Arrivals()
        Task(executorPreference: executor) { @Sendable in
          crowd.resume { resume in ThreadStalls.during(resume) }
          resumed.come()
        }
        // It is stopped often, and on a busy machine each time for long.
        var looks = 0
        while looks < 60, !resumed.comes(within: 1_000) { looks += 1 }
        missing = crowd.came.missing(of: crowd.count)
      }
      crowd.resume(isLast: true)
      isOver.store(true, ordering: .relaxed)
      if stopped.missing(of: 2) != nil { return "'enqueue' did not come back. \(neverRan)" }
      let all = tasks.load(ordering: .relaxed)
      let lost =
        missing.map { "\($0) of \(crowd.count)" }
        ?? others.missing(of: all).map { "\($0) of \(all)" }
      return lost.map {
        "\($0) never ran. Your own thread and others add to the line at the same moment: take the lock on your own "
          + "thread too, and look and add in one step under it"
      }
    }
  }

  /// Has timers of this thread end when they are due: usually they end up to 50 microseconds later.
  private static func wakePunctually() {
    let file = FileHandle(forWritingAtPath: "/proc/\(KernelThread.here.thread)/timerslack_ns")
    try? file?.write(contentsOf: Data("1".utf8))
  }

  /// A job that becomes ready between two locks of the thread, after each and before each, until it sleeps.
  private static func betweenLooks<Executor: LearnerExecutor>(_ type: Executor.Type)
    -> GradeBook.Question
  {
    GradeBook.Question(name: "between_looks") { terms in
      question(
        "between_looks",
        "a task that becomes ready while the thread looks for work, each time it has freed a lock or takes one",
        "each ran"
      ) { _ in
        let executor = made(type)
        for point in 1...20 {
          let (first, second) = (Arrivals(), Arrivals())
          let (isThere, mayGoOn) = (ThreadSemaphore(), ThreadSemaphore())
          let place = Mutex<KernelThread?>(nil)
          let turn = LockTurn(at: point) {
            isThere.post()
            // An 'enqueue' that waits for what the thread has is another question's.
            _ = mayGoOn.wait(atMost: 500_000_000)
          }
          defer { turn.giveUp() }
          Task(executorPreference: executor) {
            place.withLock { $0 = KernelThread.here }
            turn.begin()
            first.come()
          }
          guard first.missing(of: 1) == nil, let thread = place.withLock({ $0 }) else {
            return "the first never ran. \(neverRan)"
          }
          var looks = 0
          var isReached = false
          while !isReached {
            if thread.hasEnded { return threadEnded }
            isReached = isThere.wait(atMost: 1_000_000)
            looks = thread.isAsleep ? looks + 1 : 0
            if !isReached, looks >= 3, turn.giveUp() { break }
          }
          Task(executorPreference: executor) { second.come() }
          mayGoOn.post()
          if slept(thread, until: second, isAlone: !terms.sharesPool) {
            return
              "one became ready when the thread had looked for work, and before it slept: it sleeps, with a job in "
              + "line. Look for work and go to sleep in one step, under one lock, or have the waker's signal kept "
              + "for who comes to sleep later"
          }
          if !isReached { return nil }
        }
        return nil
      }.ask(terms)
    }
  }

  /// Whether a thread sleeps, and goes on to sleep, though a job is ready.
  ///
  /// One that could run and has no processor does not sleep, nor does who may be about to wake it.
  private static func slept(_ thread: KernelThread, until job: Arrivals, isAlone: Bool) -> Bool {
    var asleep = 0
    var sleeps = thread.sleeps
    for _ in 1...1_000 {
      if job.comes(within: 5) { return false }
      let isAsleep = thread.isAsleep && (!isAlone || OtherThreads.areAllAsleep)
      asleep = isAsleep && thread.sleeps == sleeps ? asleep + 1 : 0
      sleeps = thread.sleeps
      if asleep >= 20 { return true }
    }
    return true
  }

  /// A job that becomes ready at the moment at which the thread goes to sleep.
  private static func whenAsleep<Executor: LearnerExecutor>(_ type: Executor.Type)
    -> GradeBook.Question
  {
    question(
      "going_to_sleep",
      "tasks that become ready one by one, just as the thread goes to sleep, and beside it an executor whose job takes "
        + "as long as all that",
      "each woke it, and what came to the other waited"
    ) { seed in
      let busy = LongJob(on: made(type))
      defer { busy.mayEnd.signal() }
      let executor = made(type)
      let ran = Arrivals()
      var random = SplitMix64(seed: seed)
      let end = ContinuousClock.now + .seconds(3)
      var round = 0
      while round < 60_000, ContinuousClock.now < end {
        round += 1
        Task(executorPreference: executor) { ran.come() }
        // The thread goes to sleep within a microsecond of the job's end. To be woken at that end takes several.
        var looks = 0
        while ran.all < round, looks < 5_000 { looks += 1 }
        if ran.missing(of: 1) != nil {
          return
            "task \(round) became ready as the thread went to sleep, and nobody woke it. Look for work and go to "
            + "sleep in one step, or have the waker's signal kept for who comes to sleep later"
        }
        let delay = random.next(below: 1 << random.next(below: 12))
        for _ in 0..<delay { _ = ran.all }
      }
      busy.waitUntilOld()
      if busy.letsOthersRun() {
        return
          "a job had run for seconds, and what became ready then ran beside it. One thread runs one job at a time, however "
          + "long that takes"
      }
      return nil
    }
  }

  /// The same, of one task that is resumed again and again: that comes sooner after the job's end than a new task.
  private static func whenAsleepInATask<Executor: LearnerExecutor>(_ type: Executor.Type)
    -> GradeBook.Question
  {
    question(
      "resumed",
      "a task that is resumed again and again, just as the thread goes to sleep",
      "each time it woke"
    ) { seed in
      let executor = made(type)
      let ran = Arrivals()
      let waiting = Mutex<UnsafeContinuation<Bool, Never>?>(nil)
      var random = SplitMix64(seed: seed)
      let end = ContinuousClock.now + .seconds(2)
      Task(executorPreference: executor) {
        var goesOn = true
        while goesOn {
          goesOn = await withUnsafeContinuation { continuation in
            // Resumed once: the thread that asks takes it out under the lock, and resumes what it took out.
            waiting.withLock { $0 = continuation }
            ran.come()
          }
        }
      }
      var round = 0
      while true {
        round += 1
        var looks = 0
        while ran.all < round, looks < 5_000 { looks += 1 }
        if ran.missing(of: 1) != nil {
          return
            "the task was resumed for the \(round - 1)th time as the thread went to sleep, and nobody woke it. Look "
            + "for work and go to sleep in one step, or have the waker's signal kept for who comes to sleep later"
        }
        guard let continuation = waiting.withLock({ $0.take() }) else { return "a job ran twice" }
        let delay = random.next(below: 1 << random.next(below: 10))
        for _ in 0..<delay { _ = ran.all }
        let goesOn = round < 60_000 && ContinuousClock.now < end
        continuation.resume(returning: goesOn)
        if !goesOn { return nil }
      }
    }
  }

  /// Who waits for longer waits for ever: a time that is far away is how some say so.
  private static let mostSeconds = 86_400.0

  /// A thread that has nothing to do leaves the processor to others.
  private static func sleepsWell<Executor: LearnerExecutor>(_ type: Executor.Type)
    -> GradeBook.Question
  {
    question("asleep", "nothing to do for a second", "the thread sleeps") { _ in
      let executor = made(type)
      let ran = Arrivals()
      let place = Mutex<KernelThread?>(nil)
      Task(executorPreference: executor) { @Sendable in
        place.withLock { $0 = KernelThread.here }
        ran.come()
      }
      guard ran.missing(of: 1) == nil, let thread = place.withLock({ $0 }) else {
        return "the task that came before never ran. \(neverRan)"
      }
      // Until it has gone to sleep: before that it may look once more.
      for _ in 1...100 where !thread.isAsleep { Thread.sleep(forTimeInterval: 0.02) }
      Thread.sleep(forTimeInterval: 0.05)
      let sleeps = thread.sleeps
      var awake = 0
      for _ in 1...60 {
        Thread.sleep(forTimeInterval: 0.02)
        if !thread.isAsleep { awake += 1 }
      }
      if thread.hasEnded { return threadEnded }
      if awake > 12 {
        return
          "the thread goes on asking for work, and takes a processor from everybody else. Let it wait until "
          + "'enqueue' wakes it"
      }
      let woken = thread.sleeps - sleeps
      if woken > 0 {
        return
          "the thread woke \(woken == 1 ? "once" : "\(woken) times") to look for work. Let it wait until 'enqueue' "
          + "wakes it"
      }
      if let seconds = thread.wakesByItself, seconds < mostSeconds {
        return
          "the thread sleeps for a time, and would wake by itself within \(Int(seconds.rounded(.up))) s. Let it wait until "
          + "'enqueue' wakes it, however long that takes"
      }
      // One that waits for a time to pass may end then; a longest time of seconds is usual.
      var looks = thread.waitsForAnother || thread.wakesByItself != nil ? 300 : 0
      while looks < 300, !thread.hasEnded {
        Thread.sleep(forTimeInterval: 0.02)
        looks += 1
      }
      if thread.hasEnded { return threadEnded }
      Task(executorPreference: executor) {
        place.withLock { $0 = KernelThread.here }
        ran.come()
      }
      if ran.missing(of: 1) != nil { return "a task that came then never ran. \(neverRan)" }
      return place.withLock { $0 } == thread ? nil : threadEnded
    }
  }

  /// How many bytes an executor may take that has no job.
  private static let mostOfIdle: Int64 = 500_000

  /// What runs in one does not hold up the other.
  private static func executorsApart<Executor: LearnerExecutor>(_ type: Executor.Type)
    -> GradeBook.Question
  {
    let others = 70
    return GradeBook.Question(name: "apart") { terms in
      let heap = terms.heap
      return question(
        "apart",
        "\(others + 1) executors, of which one has a job that takes long",
        "the others go on"
      ) { _ in
        let one = made(type)
        let (begun, ran) = (Arrivals(), Arrivals())
        let mayEnd = DispatchSemaphore(value: 0)
        Task(executorPreference: one) {
          begun.come()
          waitHere(for: mayEnd)
        }
        if begun.missing(of: 1) != nil { return "the first never ran. \(neverRan)" }
        let before = heap()
        let theirs = (1...others).map { _ in made(type) }
        let taken = (heap() - before) / Int64(others)
        for other in theirs { Task(executorPreference: other) { ran.come() } }
        let missing = ran.missing(of: others)
        mayEnd.signal()
        if taken > mostOfIdle {
          return
            "each takes \(taken / 1_000) kB of memory before it has a job. Let the line grow with the jobs that are in it: "
            + "however large its room is, there may be one more"
        }
        return missing.map {
          "\($0) of \(others) jobs of the others did not run meanwhile. Each executor has a thread of its own"
        }
      }.ask(terms)
    }
  }

  /// An executor lives as long as its program, which makes jobs all the time.
  private static func keepsNothing<Executor: LearnerExecutor>(_ type: Executor.Type)
    -> GradeBook.Question
  {
    GradeBook.Question(name: "kept") { terms in
      let heap = terms.heap
      return question(
        "kept",
        "300,000 tasks of all urgencies, a thousand at a time, and 10,000 one by one",
        "nothing is kept of them"
      ) { _ in
        let executor = made(type)
        let ran = Arrivals()
        let grows = "memory grows with them. Let go of each job that has run"
        // The first round makes room for a thousand.
        let (tasks, rounds) = (1_000, 300)
        var before: Int64 = 0
        for round in 0..<rounds {
          for number in 0..<tasks {
            Task(executorPreference: executor, priority: urgencies[number % urgencies.count]) {
              @Sendable in ran.come()
            }
          }
          if let missing = ran.missing(of: tasks) {
            return "when \((round + 1) * tasks - missing) had run, the next never did. \(neverRan)"
          }
          if round == 0 { before = heap() }
        }
        // An array of the jobs of one urgency keeps two bytes of each.
        if heap() - before > Int64(tasks * rounds) { return grows }
        // An array of what comes when nothing is in line keeps eight bytes of each.
        let singles = 10_000
        before = heap()
        for _ in 1...singles {
          Task(executorPreference: executor) { @Sendable in ran.come() }
          if ran.missing(of: 1) != nil { return "a task never ran. \(neverRan)" }
        }
        return heap() - before > Int64(4 * singles) ? grows : nil
      }.ask(terms)
    }
  }

  /// A line that is never empty, however long: what has run is let go all the same.
  private static func neverEmpty<Executor: LearnerExecutor>(_ type: Executor.Type)
    -> GradeBook.Question
  {
    GradeBook.Question(name: "kept_busy") { terms in
      let heap = terms.heap
      let turns = 60_000
      return question(
        "kept_busy",
        "three tasks that yield, so that the line is never empty, \(turns) turns",
        "nothing is kept of them"
      ) { _ in
        let executor = made(type)
        let ran = Arrivals()
        let count = Mutex((turns: 0, before: Int64(0), after: Int64(0)))
        for _ in 1...3 {
          Task(executorPreference: executor) { @Sendable in
            while true {
              let number = count.withLock { count in
                count.turns += 1
                return count.turns
              }
              if number == 1_000 { count.withLock { $0.before = heap() } }
              if number == turns { count.withLock { $0.after = heap() } }
              if number >= turns { break }
              await Task.yield()
            }
            ran.come()
          }
        }
        if let missing = ran.missing(of: 3) { return "\(missing) of 3 never ended. \(neverRan)" }
        let growth = count.withLock { $0.after - $0.before }
        guard growth > Int64(4 * turns) else { return nil }
        return
          "memory grows with the turns, \(growth / 1_000) kB in all. Let go of each job that has run, also while others "
          + "are in line"
      }.ask(terms)
    }
  }
}
