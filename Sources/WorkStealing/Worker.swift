internal import Basics
internal import Synchronization

/// One worker: its slot, its queue, and the search for work when both are empty.
///
/// What it runs is an address to it. A thread calls `next` and runs what it gets, over and over.
///
/// Safe to share: `turns`, `random`, `isQuiet`, `marks`, `running` and `route` are touched by the worker's own
/// thread only.
final class Worker: @unchecked Sendable {
  let number: Int
  let queue = RunQueue()
  let parker = ThreadParker()
  /// The job of the task just woken, 0 for none.
  ///
  /// The owner fills it; the watch may empty it too.
  private let slot = Atomic<UInt>(0)
  private var turns = Turns()
  private var random: SplitMix64
  /// Whether the queue holds a job for which nobody was woken.
  private var isQuiet = false
  /// What each worker had run when this one began its watch.
  private var marks: [Int] = []
  /// The job that runs now.
  private var running: UInt = 0
  /// How the job that runs now came here.
  private(set) var route = JobRoute.queue

  // Written by the owner, read by anybody: how often it ran a job, stole, slept, and was woken.
  private let ran = Atomic<Int>(0)
  private let stole = Atomic<Int>(0)
  private let slept = Atomic<Int>(0)
  private let woken = Atomic<Int>(0)

  init(number: Int) {
    self.number = number
    random = SplitMix64(seed: UInt64(number))
  }

  var statistics: (jobs: Int, steals: Int, sleeps: Int, wakes: Int) {
    (
      ran.load(ordering: .relaxed), stole.load(ordering: .relaxed),
      slept.load(ordering: .relaxed), woken.load(ordering: .relaxed)
    )
  }

  // MARK: Jobs made ready by a job that runs on this worker

  /// A task was woken: it is next.
  @inline(__always)
  func wake(_ job: UInt, _ crew: Crew) {
    var before = slot.load(ordering: .relaxed)
    if before == 0 {
      // Only the owner fills the slot, so it is still empty.
      slot.store(job, ordering: .sequentiallyConsistent)
    } else {
      // The watch may have emptied it just now: then this fills it.
      before = slot.exchange(job, ordering: .sequentiallyConsistent)
    }
    if before != 0 { append(before, crew) } else { crew.slotFilled() }
  }

  /// Puts a job at the back, where others may steal it.
  @inline(__always)
  func append(_ job: UInt, _ crew: Crew) {
    queue.push(job)
    crew.workVisible()
  }

  /// Puts the yield of a task at the back.
  ///
  /// If nothing else is ready, and the job that runs is the yielding task's own, that job ends now and this worker
  /// usually takes the yield next. Waking another worker would be a waste. A task that its parent runs at once, by
  /// `Task.immediate`, yields in the middle of the parent's job, which may compute on.
  @inline(__always)
  func appendYielding(_ job: UInt, of task: @autoclosure () -> UInt?, _ crew: Crew) {
    guard slot.load(ordering: .relaxed) == 0, queue.isEmpty, task() == running else {
      return append(job, crew)
    }
    queue.push(job)
    isQuiet = true
  }

  /// Whether the slot holds a job; anybody may ask, in one order with who sleeps: see `Resting`.
  var hasFilledSlot: Bool { slot.load(ordering: .sequentiallyConsistent) != 0 }

  // MARK: The next job

  /// The next job to run, waiting for one if need be; nil when the crew has ended.
  @inline(__always)
  func next(_ crew: Crew) -> UInt? {
    guard let job = own(crew) ?? search(crew) else { return nil }
    add(1, to: ran)
    running = job
    return job
  }

  @inline(__always)
  private func own(_ crew: Crew) -> UInt? {
    if turns.looksOutside(), let job = crew.injection.takeOnLook() {
      route = .outside
      speakUp(crew)
      return job
    }
    let waiting = slot.load(ordering: .relaxed)
    switch turns.choose(slotFilled: waiting != 0) {
    case .slot:
      let job = slot.exchange(0, ordering: .acquiringAndReleasing)
      guard job != 0 else { break }
      route = .slot
      speakUp(crew)
      return job
    case .slotToBack:
      let job = slot.exchange(0, ordering: .acquiringAndReleasing)
      if job != 0 { append(job, crew) }
    case .queue: break
    }
    isQuiet = false
    route = .queue
    return queue.pop()
  }

  /// Something else runs before a job that nobody was woken for.
  @inline(__always)
  private func speakUp(_ crew: Crew) {
    guard isQuiet else { return }
    isQuiet = false
    crew.workVisible()
  }

  /// Looks everywhere, sleeps when there is nothing, and looks again.
  private func search(_ crew: Crew) -> UInt? {
    crew.beginSearch()
    while true {
      if let job = look(crew) {
        crew.endSearch()
        return job
      }
      switch crew.lieDown(number) {
      case .never: return nil
      case .lastOfAll where crew.end(butFor: number): return nil
      // The last look: what came before this worker was on the list of sleepers woke nobody.
      case _ where crew.hasVisibleWork && crew.rise(number): continue
      case .onWatch:
        if let job = watch(crew) {
          crew.endSearch()
          return job
        }
      case .untilWoken, .lastOfAll: sleep()
      }
    }
  }

  private func look(_ crew: Crew) -> UInt? {
    if let (job, others) = crew.injection.takeShare(of: crew.workers.count) {
      for other in others { queue.push(other) }
      route = .outside
      return job
    }
    // From a random place, so that thieves do not all come to the same queue.
    var index = random.next(below: crew.workers.count)
    for _ in crew.workers {
      if index != number, let job = crew.workers[index].queue.steal(into: queue) {
        add(1, to: stole)
        route = .stolen
        return job
      }
      index = index + 1 == crew.workers.count ? 0 : index + 1
    }
    guard let job = crew.injection.takeLast() else { return nil }
    route = .outside
    return job
  }

  private func sleep() {
    add(1, to: slept)
    parker.park()
    add(1, to: woken)
  }

  /// Sleeps for the length of a watch; a job from the slot of a worker that began no other meanwhile.
  private func watch(_ crew: Crew) -> UInt? {
    marks = crew.workers.map { $0.ran.load(ordering: .relaxed) }
    add(1, to: slept)
    let wasWoken = parker.park(nanoseconds: Crew.watchLength)
    if wasWoken || !crew.rise(number) {
      // Chosen just as the time was over: the token is there, or comes.
      if !wasWoken { parker.park() }
      add(1, to: woken)
      return nil
    }
    for (worker, mark) in zip(crew.workers, marks) where worker !== self {
      guard worker.ran.load(ordering: .relaxed) == mark else { continue }
      let job = worker.slot.exchange(0, ordering: .acquiringAndReleasing)
      if job != 0 {
        add(1, to: stole)
        route = .stolen
        return job
      }
    }
    return nil
  }

  /// Only the owner writes, so nothing is lost between the load and the store.
  @inline(__always)
  private func add(_ more: Int, to count: borrowing Atomic<Int>) {
    count.store(count.load(ordering: .relaxed) &+ more, ordering: .relaxed)
  }
}
