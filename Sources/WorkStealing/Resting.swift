/// Who searches, who sleeps, who is woken: the decisions, without threads.
///
/// The rule is tokio's and Go's (C. Lerche, Making the Tokio scheduler 10x faster, 2019; D. Vyukov, Scalable Go
/// scheduler design, 2012). A thread that
/// makes work visible wakes one sleeper, unless somebody already searches. The one who is woken searches;
/// when it finds work and was the last to search, it looks whether there is more, and wakes the next. So a
/// burst of work wakes one worker after the other, as many as there is work for. If each job woke
/// a sleeper, all would rise for the first and all but one lie down again (the thundering herd).
///
/// The lost wake-up: a worker looks, finds nothing and lies down; a job that arrives between its look and
/// its sleep sees nobody asleep, wakes nobody, and waits for ever. Therefore a worker first says that it
/// sleeps, then looks once more, then sleeps. A thread that brings work makes it visible first, and then
/// looks who sleeps. All four are sequentially consistent: in the one order that they form, either the job
/// comes before the last look, and the sleeper sees it and rises, or the sleeper is in the list before the
/// other looks. For the same reason the last searcher looks again after it has said that it no longer
/// searches: while it still did, others left the waking to it.
///
/// The watch: a task in a slot is nobody else's business while its worker is about to run it. But the
/// worker may first compute for a second. So one sleeper at most, while others work, sleeps for a
/// millisecond at a time and then takes from the slot of a worker that has not begun another job since.
/// Who fills a slot while some sleep and nobody has the watch wakes one to have it. A watcher that is woken
/// for other work leaves the slots unwatched; so the last searcher, when it has found work, looks at the slots
/// too. Filling a slot and looking at it are in the one order above.
struct Resting: Equatable, Hashable {
  /// How a worker that found nothing rests.
  enum Rest: Equatable {
    case untilWoken
    /// Until woken, or for the length of a watch.
    case onWatch
    /// It is the last to lie down and the crew is to end, if nothing came meanwhile.
    case lastOfAll
    /// The crew has ended.
    case never
  }

  let workers: Int
  /// The last to lie down is the first to be woken: its cache is the warmest.
  private(set) var sleepers: [Int] = []
  /// Workers that look for work, among them each one that was woken and has not risen yet.
  private(set) var searching = 0
  private(set) var watcher: Int?
  private(set) var isEnding = false
  private(set) var hasEnded = false

  init(workers: Int) { self.workers = workers }

  var allSleep: Bool { sleepers.count == workers }

  /// Somebody has made work visible: the sleeper to wake, if one is needed.
  mutating func wakeOne() -> Int? {
    guard searching == 0, let chosen = sleepers.popLast() else { return nil }
    if watcher == chosen { watcher = nil }
    searching = 1
    return chosen
  }

  /// A worker has run out of work.
  mutating func beginSearch() { searching += 1 }

  /// A searcher found work; whether it must look if there is more.
  mutating func endSearch() -> Bool {
    searching -= 1
    return searching == 0
  }

  /// A searcher found nothing; how it rests.
  mutating func lieDown(_ worker: Int) -> Rest {
    searching -= 1
    if hasEnded { return .never }
    sleepers.append(worker)
    if allSleep { return isEnding ? .lastOfAll : .untilWoken }
    guard watcher == nil else { return .untilWoken }
    watcher = worker
    return .onWatch
  }

  /// A sleeper wants to search again by itself; false if somebody has already chosen to wake it.
  mutating func rise(_ worker: Int) -> Bool {
    guard let index = sleepers.lastIndex(of: worker) else { return false }
    sleepers.remove(at: index)
    if watcher == worker { watcher = nil }
    searching += 1
    return true
  }

  /// The crew ends as soon as all have lain down.
  mutating func beginEnding() { isEnding = true }

  /// All have lain down and no job can come: the sleepers, who are woken to leave.
  ///
  /// - Precondition: `allSleep`. Else somebody may run a job whose successors would find no crew.
  mutating func end() -> [Int] {
    hasEnded = true
    watcher = nil
    defer { sleepers = [] }
    return sleepers
  }

  // MARK: What others see without the lock

  /// Whether new work must wake a sleeper, and whether a filled slot must too, in one word.
  var summary: UInt {
    guard searching == 0, !sleepers.isEmpty else { return Self.nobodyToWake }
    return watcher == nil ? Self.wakeableUnwatched : Self.wakeable
  }

  /// Nobody is to be woken.
  static let nobodyToWake: UInt = 0
  /// New work wakes a sleeper.
  static let wakeable: UInt = 1
  /// So does a filled slot, because nobody has the watch.
  static let wakeableUnwatched: UInt = 2
}
