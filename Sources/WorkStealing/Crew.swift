internal import Basics
internal import Synchronization

/// The workers and what they share.
///
/// Its jobs are addresses, and its threads are the caller's.
///
/// All that the executor does but run jobs; so it can be explored with jobs that are numbers.
final class Crew: Sendable {
  /// How long a watch is, in nanoseconds.
  ///
  /// While others sleep, a job waits in the slot of a worker that computes for two watches at most, and for one more
  /// for each other such slot: a watch takes one job.
  static let watchLength = 1_000_000

  let workers: [Worker]
  let injection = Injection()
  private let resting: Mutex<Resting>
  /// `Resting.summary`, to be read without the lock.
  ///
  /// It also shows the sanitizer each hand-over of the lock, whose waiting it cannot see.
  private let summary = Atomic<UInt>(Resting.nobodyToWake)

  init(workers count: Int) {
    workers = (0..<count).map { Worker(number: $0) }
    resting = Mutex(Resting(workers: count))
  }

  // MARK: Waking

  /// Puts a job in from outside; false if the crew has ended.
  func inject(_ job: UInt, _ band: Bands.Band) -> Bool {
    guard injection.append(job, band) else { return false }
    workVisible()
    return true
  }

  /// Wakes a worker for work that was just made visible, unless one searches already.
  @inline(__always)
  func workVisible() {
    if summary.load(ordering: .sequentiallyConsistent) != Resting.nobodyToWake { wakeOne() }
  }

  /// Wakes a worker to have the watch, if others sleep and nobody has it.
  @inline(__always)
  func slotFilled() {
    if isUnwatched { wakeOne() }
  }

  /// Whether some sleep, nobody searches and nobody has the watch.
  @inline(__always)
  private var isUnwatched: Bool {
    summary.load(ordering: .sequentiallyConsistent) == Resting.wakeableUnwatched
  }

  private func wakeOne() {
    if let chosen = change({ $0.wakeOne() }) { workers[chosen].parker.unpark() }
  }

  /// Whether there is a job that anybody could take.
  var hasVisibleWork: Bool { !injection.isEmpty || workers.contains { !$0.queue.isEmpty } }

  // MARK: A worker's search

  func beginSearch() { change { $0.beginSearch() } }

  /// The caller has found work.
  func endSearch() {
    guard change({ $0.endSearch() }) else { return }
    if hasVisibleWork || isUnwatched && workers.contains(where: \.hasFilledSlot) { wakeOne() }
  }

  func lieDown(_ worker: Int) -> Resting.Rest { change { $0.lieDown(worker) } }

  func rise(_ worker: Int) -> Bool { change { $0.rise(worker) } }

  // MARK: The end

  /// Lets the crew end as soon as all jobs are done.
  func beginEnding() {
    change { $0.beginEnding() }
    // If all sleep, one must rise to see it.
    wakeOne()
  }

  /// Ends the crew, if all sleep and no job has come meanwhile, and wakes the others to leave.
  func end(butFor worker: Int) -> Bool {
    // Closed under the lock of who sleeps: somebody who rises with a job finds the crew open as long as
    // that job can make others ready. Nobody takes the two locks the other way round.
    let sleepers = change { $0.allSleep && injection.closeIfEmpty() ? $0.end() : nil }
    guard let sleepers else { return false }
    for sleeper in sleepers where sleeper != worker { workers[sleeper].parker.unpark() }
    return true
  }

  private func change<Result: Sendable>(_ body: (inout Resting) -> Result) -> Result {
    resting.withLock { resting in
      _ = summary.load(ordering: .acquiring)
      defer { summary.store(resting.summary, ordering: .sequentiallyConsistent) }
      return body(&resting)
    }
  }
}
