/// What a learner writes in the exercise on testing: it tells a cache that keeps its promises from one that
/// does not, when it is explored.
package protocol LearnerTest: Sendable {
  /// Uses a new cache, and throws when a promise is broken.
  static func check(_ cache: any LearnerCache) async throws
}

/// A cache of things that are downloaded; the value of a key is its length.
package protocol LearnerCache: Actor {
  /// Downloads the value unless it is there or on its way.
  func value(for key: String) async -> Int

  /// How many downloads have begun.
  var downloads: Int { get }
}

/// Keeps the download from the moment at which it looked for it.
actor RightCache: LearnerCache {
  private var values: [String: Task<Int, Never>] = [:]
  private(set) var downloads = 0

  func value(for key: String) async -> Int {
    let task = values[key] ?? Task { await download(key) }
    values[key] = task
    return await task.value
  }

  private func download(_ key: String) async -> Int {
    downloads += 1
    await Task.yield()
    return key.count
  }
}

/// Right too, with waiters of its own; wrong in one way when told to be.
actor WaitingCache: LearnerCache {
  enum Defect: Equatable {
    case none
    /// Two who ask together both download.
    case downloadsTwice
    /// Of those who ask during a download, the first downloads as well; the others wait.
    case downloadsForTheSecond
    /// Who asked during a download gets what was downloaded last, whatever it is.
    case mixesUp
    /// Two who download at once get each other's value.
    case swaps
    /// What was downloaded is given to those who wait, and not kept.
    case keepsNothing
    /// Who asks for a key while another is downloaded waits for ever.
    case stalls
    /// Who begins to wait just when the download ends waits for ever.
    case forgets
    /// The value of one key is one more than is due.
    case isOneMore(of: String)
    /// Whoever asked during a download gets 0.
    case handsOutNothing
  }

  private let defect: Defect
  private var values: [String: Int] = [:]
  private var waiting: [String: [CheckedContinuation<Int, Never>]] = [:]
  private var latest = 0
  /// What is downloaded a second time.
  private var again: Set<String> = []
  private var stalled: [CheckedContinuation<Int, Never>] = []
  /// Those who download now, and whose value each of them gets.
  private var partners: [String: String?] = [:]
  private(set) var downloads = 0
  private let onKey: @Sendable (String) -> Void

  init(_ defect: Defect, onKey: @escaping @Sendable (String) -> Void = { _ in }) {
    self.defect = defect
    self.onKey = onKey
  }

  func value(for key: String) async -> Int {
    onKey(key)
    let value = await kept(key)
    return defect == .isOneMore(of: key) ? value + 1 : value
  }

  private func kept(_ key: String) async -> Int {
    if let value = values[key] { return value }
    if let others = waiting[key], defect != .downloadsTwice,
      defect != .downloadsForTheSecond || !others.isEmpty || again.contains(key)
    {
      // Here the actor is open, and the download may end.
      if defect == .forgets { await Task.yield() }
      let value = await withCheckedContinuation { waiting[key, default: []].append($0) }
      return defect == .mixesUp ? latest : defect == .handsOutNothing ? 0 : value
    }
    if defect == .stalls, !waiting.isEmpty {
      return await withCheckedContinuation { stalled.append($0) }
    }
    if waiting[key] != nil { again.insert(key) }
    waiting[key] = waiting[key] ?? []
    downloads += 1
    beginSwap(key)
    await Task.yield()
    let partner = partners.removeValue(forKey: key) ?? nil
    if defect != .keepsNothing { values[key] = key.count }
    latest = key.count
    for waiter in waiting.removeValue(forKey: key) ?? [] { waiter.resume(returning: key.count) }
    return (partner ?? key).count
  }

  private func beginSwap(_ key: String) {
    guard defect == .swaps else { return }
    let other = partners.first { $0.value == nil }?.key
    if let other { partners[other] = key }
    partners.updateValue(other, forKey: key)
  }
}

/// Right as well: what it downloads is there before anybody else can ask.
actor QuickCache: LearnerCache {
  private var values: [String: Int] = [:]
  private(set) var downloads = 0

  func value(for key: String) async -> Int {
    if let value = values[key] { return value }
    downloads += 1
    values[key] = key.count
    return key.count
  }
}

/// Wrong in two ways at once, each time: it downloads for everybody who asks, and another value than is due.
actor WrongTwiceCache: LearnerCache {
  private(set) var downloads = 0

  func value(for key: String) async -> Int {
    downloads += 1
    await Task.yield()
    return key.count + 1
  }
}
