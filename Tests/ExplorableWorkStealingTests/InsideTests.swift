import ExplorableSynchronization
import Exploration
import Synchronization
import TestSupport
import Testing

// The code of the queue and of the crew, over locks, atomics and parkers that an exploration can stop at;
// jobs are numbers, threads are agents. Small cases, with every schedule that has at most as many
// pre-emptions as said. What only weaker memory shows is not seen: there the sanitizer and the stress
// tests of `WorkStealingTests` look.

/// What ran, in order.
private final class Ran: Sendable {
  private let jobs = Synchronization.Mutex<[UInt]>([])

  func note(_ job: UInt) { jobs.withLock { $0.append(job) } }
  var all: [UInt] { jobs.withLock { $0 } }
}

@Suite(.inTurn, .watched) struct `Inside the executor's code` {
  // Explores everything within `preemptions`; fails unless all of it was.
  private func explore(
    _ name: String,
    preemptions: Int?,
    _ body: @escaping @Sendable () throws -> Void
  ) throws {
    let verdict = try Exploration.explore(name, preemptions: preemptions) { try body() }
    #expect(verdict.ranEverySchedule, "\(name): \(verdict)")
  }

  // MARK: The queue

  @Test(arguments: [1, 2, 3])
  func `a queue gives every job to its owner or to the thief, once, as it grows`(
    jobs: Int
  ) throws {
    try explore("queue-\(jobs)", preemptions: 2) {
      let queue = RunQueue(capacity: 1)
      let (mine, stolen) = (Ran(), Ran())
      let thief = Thread {
        let own = RunQueue(capacity: 4)
        if let job = queue.steal(into: own) { stolen.note(job) }
        while let job = own.pop() { stolen.note(job) }
      }
      for job in 1...UInt(jobs) { queue.push(job) }
      while let job = queue.pop() { mine.note(job) }
      thief.join()
      try require((mine.all + stolen.all).sorted() == Array(1...UInt(jobs)), "lost, or run twice")
      try require(mine.all == mine.all.sorted(), "the owner took \(mine.all)")
      try require(stolen.all == stolen.all.sorted(), "the thief took \(stolen.all)")
      try require(queue.isEmpty)
    }
  }

  /// The owner takes nothing until the thief is done, so the thief's exchange succeeds however late it is.
  @Test func `a thief that comes while the queue grows takes no job twice`() throws {
    try explore("late thief", preemptions: 2) {
      let queue = RunQueue(capacity: 1)
      let ran = Ran()
      let thief = Thread {
        let own = RunQueue(capacity: 4)
        if let job = queue.steal(into: own) { ran.note(job) }
        while let job = own.pop() { ran.note(job) }
      }
      for job in 1...3 as ClosedRange<UInt> { queue.push(job) }
      thief.join()
      while let job = queue.pop() { ran.note(job) }
      try require(ran.all.sorted() == [1, 2, 3], "ran \(ran.all)")
    }
  }

  @Test func `a queue gives every job to one of two thieves or its owner`() throws {
    try explore("two thieves", preemptions: 2) {
      let queue = RunQueue(capacity: 2)
      for job in 1...3 as ClosedRange<UInt> { queue.push(job) }
      let ran = Ran()
      let thieves = (0..<2).map { _ in
        Thread {
          let own = RunQueue(capacity: 4)
          if let job = queue.steal(into: own) { ran.note(job) }
          while let job = own.pop() { ran.note(job) }
        }
      }
      if let job = queue.pop() { ran.note(job) }
      for thief in thieves { thief.join() }
      while let job = queue.pop() { ran.note(job) }
      try require(ran.all.sorted() == [1, 2, 3], "ran \(ran.all)")
    }
  }

  @Test func `a place that is used again is not stolen from with what it held before`() throws {
    try explore("round", preemptions: 2) {
      let queue = RunQueue(capacity: 2)
      let ran = Ran()
      queue.push(1)
      let thief = Thread {
        if let job = queue.steal(into: RunQueue(capacity: 2)) { ran.note(job) }
      }
      for job in 2...4 as ClosedRange<UInt> {
        if let job = queue.pop() { ran.note(job) }
        queue.push(job)
      }
      while let job = queue.pop() { ran.note(job) }
      thief.join()
      try require(ran.all.sorted() == [1, 2, 3, 4], "ran \(ran.all)")
    }
  }

  // MARK: The crew

  // Lets a crew run jobs from outside, then ends it. `expected` are all jobs, also those that jobs make
  // ready; `work` is what a job does on its worker.
  private func crew(
    _ name: String,
    workers: Int,
    jobs: ClosedRange<UInt>,
    expected: ClosedRange<UInt>? = nil,
    preemptions: Int,
    sleepsToTheEnd: Bool = true,
    steals: Int? = nil,
    endsWhenTold: Bool = false,
    startsAsleep: Bool = true,
    work: @escaping @Sendable (UInt, Worker, Crew, _ parkers: [Parker]) -> Void = { _, _, _, _ in }
  ) throws {
    try explore(name, preemptions: preemptions) {
      let crew = Crew(workers: workers)
      let ran = Ran()
      let parkers = [Parker(), Parker()]
      let threads = crew.workers.map { worker in
        Thread {
          while let job = worker.next(crew) {
            ran.note(job)
            work(job, worker, crew, parkers)
          }
        }
      }
      if endsWhenTold, startsAsleep { _ = parkers[1].park(nanoseconds: 1_000) }
      for job in jobs { try require(crew.inject(job, .ordinary), "refused") }
      // The end would wake who should be awake already.
      if endsWhenTold { parkers[1].park() }
      crew.beginEnding()
      for thread in threads { thread.join() }
      try require(ran.all.sorted() == Array(expected ?? jobs), "ran \(ran.all)")
      let slept = crew.workers.map { $0.statistics.sleeps - $0.statistics.wakes }
      if sleepsToTheEnd {
        try require(slept.allSatisfy { $0 == 0 }, "only the watch found the work")
      } else {
        try require(slept.contains { $0 > 0 } && slept.allSatisfy { $0 >= 0 }, "slept \(slept)")
      }
      let stolen = crew.workers.reduce(0) { $0 + $1.statistics.steals }
      try require(steals == nil || steals == stolen, "stole \(stolen) times")
    }
  }

  @Test func `one worker loses no job that comes as it lies down, and ends`() throws {
    try crew("one worker, one job", workers: 1, jobs: 1...1, preemptions: 2)
  }

  /// The end, which wakes it too, comes only after the job.
  @Test func `one worker is woken for a job that comes as it lies down`() throws {
    try crew("told", workers: 1, jobs: 1...1, preemptions: 2, endsWhenTold: true) {
      _,
      _,
      _,
      parkers in
      parkers[1].unpark()
    }
  }

  @Test func `one worker runs two jobs`() throws {
    try crew("one worker, two jobs", workers: 1, jobs: 1...2, preemptions: 2)
  }

  @Test func `two workers lose no job, and both end`() throws {
    try crew("two workers, one job", workers: 2, jobs: 1...1, preemptions: 1)
  }

  @Test func `two workers run what a job makes ready`() throws {
    try crew("made ready", workers: 2, jobs: 1...1, expected: 1...2, preemptions: 1) {
      job,
      worker,
      crew,
      _ in
      if job == 1 { worker.append(2, crew) }
    }
  }

  /// Only the other worker can run what it makes ready, and is to see it before its watch is over.
  @Test(.search) func `a worker that lies down sees what another one makes ready just then`() throws
  {
    try crew(
      "made ready late",
      workers: 2,
      jobs: 1...1,
      expected: 1...2,
      preemptions: 1,
      endsWhenTold: true,
      startsAsleep: false
    ) { job, worker, crew, parkers in
      if job == 1 {
        worker.append(2, crew)
        parkers[0].park()
      } else {
        parkers[0].unpark()
        parkers[1].unpark()
      }
    }
  }

  @Test func `a burst of work wakes one worker after the other`() throws {
    // Each job needs a worker to itself until the other one runs.
    try crew("two at once", workers: 2, jobs: 1...2, preemptions: 1) { job, _, _, parkers in
      parkers[Int(job) % 2].unpark()
      parkers[Int(job - 1) % 2].park()
    }
  }

  @Test func `a job in the slot of a worker that computes on is taken by the watch`() throws {
    try crew(
      "watch",
      workers: 2,
      jobs: 1...1,
      expected: 1...2,
      preemptions: 1,
      sleepsToTheEnd: false,
      steals: 1
    ) { job, worker, crew, parkers in
      if job == 1 {
        worker.wake(2, crew)
        parkers[0].park()
      } else if worker.route == .stolen {
        parkers[0].unpark()
      }
    }
  }

  /// All sleep for good, so nobody has the watch when the job comes that fills the slot.
  @Test func `a filled slot wakes a worker to have the watch where nobody has it`() throws {
    try crew(
      "nobody on watch",
      workers: 2,
      jobs: 1...1,
      expected: 1...2,
      preemptions: 0,
      sleepsToTheEnd: false,
      endsWhenTold: true
    ) { job, worker, crew, parkers in
      if job == 1 {
        worker.wake(2, crew)
        parkers[0].park()
      } else {
        parkers[0].unpark()
        parkers[1].unpark()
      }
    }
  }

  /// In some schedules it has the watch while the first job runs; the slot is filled by the second.
  @Test func `the watch takes nothing from the slot of a worker that has begun another job`() throws
  {
    try explore("watch leaves", preemptions: 0) {
      let crew = Crew(workers: 2)
      let (first, second, parker) = (crew.workers[0], crew.workers[1], Parker())
      try require(crew.inject(1, .ordinary) && first.next(crew) == 1)
      let watches = Ran()
      let watcher = Thread {
        while let job = second.next(crew) {
          watches.note(UInt(second.statistics.sleeps))
          if job == 3 { parker.unpark() }
        }
      }
      let caller = Thread { parker.unpark() }
      parker.park()
      let before = second.statistics.sleeps
      first.wake(2, crew)
      try require(first.next(crew) == 2)
      first.wake(3, crew)
      parker.park()
      crew.beginEnding()
      while first.next(crew) != nil {}
      watcher.join()
      caller.join()
      try require(watches.all.count == 1 && watches.all[0] > before, "taken from one that went on")
    }
  }
}
