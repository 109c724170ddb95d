import Synchronization

@testable import Grading

// Answers that are wrong in what they make of a list: of one like another, of a short one, of one whose task is
// cancelled.

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
