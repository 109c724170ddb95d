import Dispatch
import Synchronization

@testable import Grading

// Answers that are wrong in what they make of a list: of one like another, of a short one, of a long one, of one whose
// task is cancelled, of one that a file or an end has sent.

// MARK: Downloads

/// What a downloader makes of lists.
enum ListMistake: Sendable {
  case none
  /// Lists that name the same files are one.
  case alikeAreOne
  /// Of a file that is named twice only the last fetch is waited for.
  case endsWithLastOfEach
  /// A short list lowers the limit for those that are under way.
  case shortLowers
  /// Who was cancelled before needs no permit.
  case cancelledPassBy
  /// Who is cancelled lowers the limit for good.
  case cancelledLower
  /// Each eighth list begins with permits of its own.
  case renewsPermits
}

protocol ListFlaw: SendableMetatype {
  static var mistake: ListMistake { get }
}

enum SoundLists: ListFlaw {
  static let mistake = ListMistake.none
}

enum TakesAlikeForOne: ListFlaw {
  static let mistake = ListMistake.alikeAreOne
}

enum EndsWithLastOfEach: ListFlaw {
  static let mistake = ListMistake.endsWithLastOfEach
}

enum ShortListLowers: ListFlaw {
  static let mistake = ListMistake.shortLowers
}

enum CancelledPassBy: ListFlaw {
  static let mistake = ListMistake.cancelledPassBy
}

enum CancelledLower: ListFlaw {
  static let mistake = ListMistake.cancelledLower
}

enum RenewsPermits: ListFlaw {
  static let mistake = ListMistake.renewsPermits
}

/// Permits of which there may be fewer later.
private final class Room: Sendable {
  private struct State {
    var limit: Int
    var running = 0
    var line: [CheckedContinuation<Void, Never>] = []

    mutating func admit() -> [CheckedContinuation<Void, Never>] {
      let admitted = Array(line.prefix(max(0, limit - running)))
      line.removeFirst(admitted.count)
      running += admitted.count
      return admitted
    }
  }

  private let state: Mutex<State>

  init(limit: Int) { state = Mutex(State(limit: limit)) }

  func take() async {
    await withCheckedContinuation { continuation in change { $0.line.append(continuation) } }
  }

  func giveBack() { change { $0.running -= 1 } }

  func set(limit: Int) { change { $0.limit = limit } }

  private func change(_ change: (inout State) -> Void) {
    let admitted = state.withLock { state in
      change(&state)
      return state.admit()
    }
    for waiter in admitted { waiter.resume() }
  }
}

final class DownloaderOfLists<F: ListFlaw>: LearnerDownloader {
  private let limit: Int
  private let current: Mutex<(lists: Int, room: Room)>
  private let alike = Mutex<[[Int]: (left: Int, end: CheckedContinuation<Void, Never>)]>([:])

  init(limit: Int) {
    self.limit = limit
    current = Mutex((0, Room(limit: limit)))
  }

  func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
    let room = current.withLock { current in
      current.lists += 1
      if F.mistake == .renewsPermits, current.lists.isMultiple(of: 8) {
        current.room = Room(limit: limit)
      }
      return current.room
    }
    if F.mistake == .shortLowers { room.set(limit: min(limit, max(1, files.count))) }
    let needsNone = F.mistake == .cancelledPassBy && Task.isCancelled
    let fetchOne: @Sendable (Int) async -> Void = { file in
      if !needsNone { await room.take() }
      await fetch(file)
      if !needsNone { room.giveBack() }
    }
    if F.mistake == .alikeAreOne { return await downloadCounting(files, fetchOne) }
    let tasks = files.map { file in Task { await fetchOne(file) } }
    let awaited =
      F.mistake == .endsWithLastOfEach
      ? Array(Dictionary(zip(files, tasks)) { $1 }.values) : tasks
    await withTaskCancellationHandler {
      for task in awaited { await task.value }
    } onCancel: {
      if F.mistake == .cancelledLower { room.set(limit: 1) }
    }
  }

  private func downloadCounting(
    _ files: [Int],
    _ fetch: @escaping @Sendable (Int) async -> Void
  ) async {
    if files.isEmpty { return }
    await withCheckedContinuation { end in
      let other = alike.withLock { $0.updateValue((files.count, end), forKey: files)?.end }
      if let other { Forgotten.keep(other) }
      for file in files {
        Task { [self] in
          await fetch(file)
          let last = alike.withLock { alike in
            alike[files]?.left -= 1
            return alike[files]?.left == 0 ? alike.removeValue(forKey: files)?.end : nil
          }
          last?.resume()
        }
      }
    }
  }
}

// MARK: Batches

/// What a batch makes of lists.
enum BatchMistake: Sendable {
  case none
  /// Lists that name the same files are one.
  case alikeAreOne
  /// Of a file that is named twice only the last fetch is waited for.
  case endsWithLastOfEach
  /// A short list lowers the limit for those that come behind it.
  case shortLowers
  /// Gives the permit back under one lock, and looks who waits under another.
  case takesAgain
  /// Of so many that wait the last are lost.
  case losesWhatIsMore
  /// Where so many wait, the caller waits too.
  case waitsForRoom
  /// A list that a file has sent is fetched where that is.
  case fetchesOnTheSpot
  /// A list that an end has sent goes first.
  case endsGoFirst
  /// Keeps the last list.
  case keepsLast
  /// Keeps the place in line of whoever has waited.
  case keepsServed
}

protocol BatchListFlaw: SendableMetatype {
  static var mistake: BatchMistake { get }
}

enum SoundBatchLists: BatchListFlaw {
  static let mistake = BatchMistake.none
}

enum TakesAlikeForOneList: BatchListFlaw {
  static let mistake = BatchMistake.alikeAreOne
}

enum CallsAtLastOfEach: BatchListFlaw {
  static let mistake = BatchMistake.endsWithLastOfEach
}

enum ShortListTakesPermits: BatchListFlaw {
  static let mistake = BatchMistake.shortLowers
}

enum TakesPermitAgain: BatchListFlaw {
  static let mistake = BatchMistake.takesAgain
}

enum LosesWhatIsMore: BatchListFlaw {
  static let mistake = BatchMistake.losesWhatIsMore
}

enum WaitsForRoom: BatchListFlaw {
  static let mistake = BatchMistake.waitsForRoom
}

enum FetchesOnTheSpot: BatchListFlaw {
  static let mistake = BatchMistake.fetchesOnTheSpot
}

enum EndsGoFirst: BatchListFlaw {
  static let mistake = BatchMistake.endsGoFirst
}

enum KeepsLastList: BatchListFlaw {
  static let mistake = BatchMistake.keepsLast
}

enum KeepsWhoHasWaited: BatchListFlaw {
  static let mistake = BatchMistake.keepsServed
}

final class BatchOfLists<F: BatchListFlaw>: LearnerBatch {
  private typealias Job = @Sendable () -> Void

  private struct State {
    var limit: Int
    var running = 0
    var line: [Job] = []
    var served: [Job] = []
  }

  private let limit: Int
  private let state: LearnerMutex<State>
  private let queue = DispatchQueue(label: "downloads", attributes: .concurrent)
  private let ends = DispatchQueue(label: "ends", attributes: .concurrent)
  private let isDownload = DispatchSpecificKey<Bool>()
  private let isEnd = DispatchSpecificKey<Bool>()
  private let room = DispatchSemaphore(value: 1_000)
  private let alike = Mutex<[[Int]: (left: Int, whenAll: Job)]>([:])
  private let last = Mutex<Job?>(nil)

  init(limit: Int) {
    self.limit = limit
    state = LearnerMutex(State(limit: limit))
    queue.setSpecific(key: isDownload, value: true)
    ends.setSpecific(key: isEnd, value: true)
  }

  func download(
    _ files: [Int],
    _ fetch: @escaping @Sendable (Int) -> Void,
    whenAll: @escaping @Sendable () -> Void
  ) {
    if F.mistake == .fetchesOnTheSpot, DispatchQueue.getSpecific(key: isDownload) != nil {
      for file in files { fetch(file) }
      return ends.async(execute: whenAll)
    }
    if F.mistake == .keepsLast { last.withLock { $0 = whenAll } }
    if F.mistake == .waitsForRoom { for _ in files { room.wait() } }
    if F.mistake == .shortLowers { state.withLock { $0.limit = min(limit, max(1, files.count)) } }
    if F.mistake == .alikeAreOne { alike.withLock { $0[files] = (files.count, whenAll) } }
    let awaited =
      F.mistake == .endsWithLastOfEach
      ? Set(Dictionary(zip(files, files.indices)) { $1 }.values) : Set(files.indices)
    let group = DispatchGroup()
    for (place, file) in files.enumerated() {
      if awaited.contains(place) { group.enter() }
      submit { [self] in
        fetch(file)
        giveBack()
        if awaited.contains(place) { group.leave() }
        if F.mistake == .alikeAreOne { endOfAlike(files)?() }
      }
    }
    if F.mistake != .alikeAreOne || files.isEmpty { group.notify(queue: ends, execute: whenAll) }
  }

  private func endOfAlike(_ files: [Int]) -> Job? {
    alike.withLock { alike in
      alike[files]?.left -= 1
      return alike[files]?.left == 0 ? alike.removeValue(forKey: files)?.whenAll : nil
    }
  }

  private func submit(_ job: @escaping Job) {
    let goesFirst = F.mistake == .endsGoFirst && DispatchQueue.getSpecific(key: isEnd) != nil
    let isFree = state.withLock { state in
      guard state.running >= state.limit else {
        state.running += 1
        return true
      }
      if F.mistake == .losesWhatIsMore, state.line.count >= 4_096 { return false }
      state.line.insert(job, at: goesFirst ? 0 : state.line.count)
      return false
    }
    if isFree { start(job) }
  }

  private func start(_ job: @escaping Job) {
    if F.mistake == .waitsForRoom { room.signal() }
    queue.async(execute: job)
  }

  private func giveBack() {
    if F.mistake == .takesAgain { state.withLock { $0.running -= 1 } }
    let next = state.withLock { state in
      if F.mistake != .takesAgain { state.running -= 1 }
      guard state.running < state.limit, !state.line.isEmpty else { return nil as Job? }
      state.running += 1
      let next = state.line.removeFirst()
      if F.mistake == .keepsServed { state.served.append(next) }
      return next
    }
    if let next { start(next) }
  }
}
