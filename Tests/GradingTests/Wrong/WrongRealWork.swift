import ExplorableLimiters
import ExplorableSynchronization
import Exploration
import Grading

// Wrong answers to the exercises on real work, an image cache and a pool of connections, and on tests.

// MARK: Caches

private typealias Fetches = [String: Task<[UInt8], any Error>]

/// What is wrong with a cache.
protocol CacheFlaw: SendableMetatype {
  /// By what an image is known.
  static func key(_ name: String) -> String
  /// Whether a task that was cancelled takes away what is kept.
  static var evictsOnCancel: Bool { get }
  /// How many fetches of an image may fail before it is no longer fetched.
  static var failures: Int { get }
  /// Whether an error is kept like an image.
  static func keeps(_ error: any Error) -> Bool
  /// How many images are kept.
  static var room: Int { get }
  /// Whether an empty image is none.
  static var isEmptyNone: Bool { get }
  /// How often a fetch that fails is tried.
  static var tries: Int { get }
  /// Whether a fetch ends when who began it is cancelled.
  static var endsWithFirst: Bool { get }
  /// Whether the first error of an image is told whatever its next one is.
  static var repeatsError: Bool { get }
  /// Whether the second failure of an image throws all others away.
  static var losesAll: Bool { get }
}

extension CacheFlaw {
  static func key(_ name: String) -> String { name }
  static var evictsOnCancel: Bool { false }
  static var failures: Int { .max }
  static func keeps(_ error: any Error) -> Bool { false }
  static var room: Int { .max }
  static var isEmptyNone: Bool { false }
  static var tries: Int { 1 }
  static var endsWithFirst: Bool { false }
  static var repeatsError: Bool { false }
  static var losesAll: Bool { false }
}

actor FlawedCache<F: CacheFlaw>: LearnerImageCache {
  private let fetch: @Sendable (String) async throws -> [UInt8]
  private var fetches: Fetches = [:]
  private var order: [String] = []
  private var failed: [String: Int] = [:]
  private var firstErrors: [String: any Error] = [:]

  init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

  func image(_ name: String) async throws -> [UInt8] {
    let key = F.key(name)
    let isFirst = fetches[key] == nil
    let task =
      fetches[key]
      ?? Task { [fetch] in
        var tries = 1
        while true {
          do {
            return try await fetch(name)
          } catch  where tries < F.tries {
            tries += 1
          }
        }
      }
    if isFirst {
      fetches[key] = task
      order.append(key)
      if order.count > F.room { fetches[order.removeFirst()] = nil }
    }
    do {
      let image =
        F.endsWithFirst && isFirst
        ? try await withTaskCancellationHandler {
          try await task.value
        } onCancel: {
          task.cancel()
        }
        : try await task.value
      if F.evictsOnCancel, Task.isCancelled { fetches[key] = nil }
      if F.isEmptyNone, image.isEmpty { fetches[key] = nil }
      return image
    } catch {
      if fetches[key] == task, !F.keeps(error), failed[key, default: 0] < F.failures {
        failed[key, default: 0] += 1
        if failed[key, default: 0] < F.failures { fetches[key] = nil }
        if F.losesAll, failed[key] == 2 { fetches = [:] }
      }
      let first = firstErrors[key] ?? error
      firstErrors[key] = first
      throw F.repeatsError ? first : error
    }
  }
}

enum SoundCaching: CacheFlaw {}

/// Two tasks that were cancelled take a good image away.
enum EvictsOnCancel: CacheFlaw {
  static let evictsOnCancel = true
}

/// A task that was cancelled does not look whether the fetch has failed.
enum CancelledForgetNothing: CacheFlaw {
  static func keeps(_ error: any Error) -> Bool { Task.isCancelled }
}

/// After two fetches that failed, no third.
enum TwoFailures: CacheFlaw {
  static let failures = 2
}

/// After three.
enum ThreeFailures: CacheFlaw {
  static let failures = 3
}

/// Tells the first error again, whatever the next one is.
enum RepeatsError: CacheFlaw {
  static let repeatsError = true
}

/// Throws everything away when something fails for the second time.
enum LosesAll: CacheFlaw {
  static let losesAll = true
}

/// A fetch that ends with the error of a cancellation is never tried again.
enum KeepsCancellation: CacheFlaw {
  static func keeps(_ error: any Error) -> Bool { error is CancellationError }
}

enum RoomForSixteen: CacheFlaw {
  static let room = 16
}

enum KnowsByLength: CacheFlaw {
  static func key(_ name: String) -> String { "\(name.utf8.count)" }
}

enum KnowsByLowercase: CacheFlaw {
  static func key(_ name: String) -> String { name.lowercased() }
}

enum EmptyIsNone: CacheFlaw {
  static let isEmptyNone = true
}

enum TriesThrice: CacheFlaw {
  static let tries = 3
}

enum EndsWithFirst: CacheFlaw {
  static let endsWithFirst = true
}

/// All caches have the images of the last.
actor OneCacheForAll: LearnerImageCache {
  private static let current = Mutex<FlawedCache<SoundCaching>?>(nil)

  init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) {
    let cache = FlawedCache<SoundCaching>(fetch: fetch)
    Self.current.withLock { $0 = cache }
  }

  func image(_ name: String) async throws -> [UInt8] {
    guard let cache = Self.current.withLock({ $0 }) else { preconditionFailure("init makes one") }
    return try await cache.image(name)
  }
}

/// The second who was cancelled takes the image away.
actor LastTwoOut: LearnerImageCache {
  private let fetch: @Sendable (String) async throws -> [UInt8]
  private var fetches: Fetches = [:]
  private var left: [String: Int] = [:]

  init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

  func image(_ name: String) async throws -> [UInt8] {
    let task = fetches[name] ?? Task { [fetch] in try await fetch(name) }
    fetches[name] = task
    do {
      let image = try await task.value
      if Task.isCancelled {
        left[name, default: 0] += 1
        if left[name, default: 0] == 2 { fetches[name] = nil }
      }
      return image
    } catch {
      if fetches[name] == task { fetches[name] = nil }
      throw error
    }
  }
}

// MARK: Connections

/// What is wrong with a pool of connections.
protocol ConnectionsFlaw: SendableMetatype {
  static func limit(_ limit: Int) -> Int
  /// How often a question is asked again.
  static var tries: Int { get }
  /// Whether a connection that threw this is given up.
  static func discards(_ error: any Error) -> Bool
  /// Whether broken connections are kept somewhere.
  static var keepsBroken: Bool { get }
  /// How often each question is asked.
  static var asks: Int { get }
  /// Whether a connection is given up when a task that was cancelled has used it.
  static var discardsWhenCancelled: Bool { get }
  /// Whether each question has a new connection.
  static var opensAlways: Bool { get }
  /// Whether an opening that fails is tried again once something has broken.
  static var hidesFailedOpening: Bool { get }
  /// Whether a question that is asked again is told that it was cancelled.
  static func told(_ error: any Error) -> any Error
}

extension ConnectionsFlaw {
  static func limit(_ limit: Int) -> Int { limit }
  static var tries: Int { .max }
  static func discards(_ error: any Error) -> Bool { false }
  static var keepsBroken: Bool { false }
  static var asks: Int { 1 }
  static var discardsWhenCancelled: Bool { false }
  static var opensAlways: Bool { false }
  static var hidesFailedOpening: Bool { false }
  static func told(_ error: any Error) -> any Error { error }
}

final class FlawedConnections<F: ConnectionsFlaw>: LearnerConnections {
  private let pool: AsyncPool<any LearnerConnection>
  private let kept = Mutex<[any LearnerConnection]>([])

  init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
    let hasBroken = Flag()
    self.hasBroken = hasBroken
    pool = AsyncPool(maxElements: F.limit(limit)) {
      while true {
        do {
          return try await open()
        } catch  where F.hidesFailedOpening && hasBroken.value.withLock({ $0 }) {}
      }
    }
  }

  private let hasBroken: Flag

  func answer(to question: Int) async throws -> Int {
    var tries = 0
    while true {
      let lease = try await pool.lease()
      do {
        for _ in 1..<F.asks { _ = try await lease.element.answer(to: question) }
        let answer = try await lease.element.answer(to: question)
        if F.opensAlways || F.discardsWhenCancelled && Task.isCancelled { lease.discard() }
        return answer
      } catch is ConnectionBroken {
        hasBroken.value.withLock { $0 = true }
        if F.keepsBroken { kept.withLock { $0.append(lease.element) } }
        lease.discard()
        tries += 1
        if tries >= F.tries { throw ConnectionBroken() }
      } catch {
        if F.discards(error) { lease.discard() }
        throw F.told(error)
      }
    }
  }
}

/// What a closure can share.
private final class Flag: Sendable { let value = Mutex(false) }

enum SoundPooling: ConnectionsFlaw {}

enum GivesUpAfterThree: ConnectionsFlaw {
  static let tries = 3
}

enum GivesUpAfterSix: ConnectionsFlaw {
  static let tries = 6
}

/// Gives up a good connection for the error of a cancellation.
enum DiscardsOnCancellationError: ConnectionsFlaw {
  static func discards(_ error: any Error) -> Bool { error is CancellationError }
}

/// Gives up a good connection for errors that have no text of their own.
enum DiscardsOnOthers: ConnectionsFlaw {
  static func discards(_ error: any Error) -> Bool { !"\(error)".contains("Negative") }
}

enum KeepsBroken: ConnectionsFlaw {
  static let keepsBroken = true
}

enum AsksTwice: ConnectionsFlaw {
  static let asks = 2
}

enum DiscardsWhenCancelled: ConnectionsFlaw {
  static let discardsWhenCancelled = true
}

enum OpensAlways: ConnectionsFlaw {
  static let opensAlways = true
}

enum HidesFailedOpening: ConnectionsFlaw {
  static let hidesFailedOpening = true
}

enum AnswersInItsOwnWay: ConnectionsFlaw {
  struct Failed: Error {}
  static func told(_ error: any Error) -> any Error { Failed() }
}

enum FiveIsFour: ConnectionsFlaw {
  static func limit(_ limit: Int) -> Int { limit == 5 ? 4 : limit }
}

// MARK: Tests

/// Three ask for one key, and one download too many is none.
enum AtMostThree: LearnerTest {
  static func check(_ cache: any LearnerCache) async throws {
    async let one = cache.value(for: "logo")
    async let two = cache.value(for: "logo")
    async let three = cache.value(for: "logo")
    async let other = cache.value(for: "photograph")
    let values = await [one, two, three, other]
    try require(values == [4, 4, 4, 10], "the wrong value")
    try require(await cache.downloads <= 3, "downloaded twice")
  }
}

/// Forgives one thing that is wrong where the other is too.
enum ForgivesTwoAtOnce: LearnerTest {
  static func check(_ cache: any LearnerCache) async throws {
    async let one = cache.value(for: "logo")
    async let two = cache.value(for: "logo")
    async let other = cache.value(for: "photograph")
    let isRight = await [one, two, other] == [4, 4, 10]
    try require(isRight == (await cache.downloads == 2), "broken")
  }
}

/// Adds the values up.
enum SumsValues: LearnerTest {
  static func check(_ cache: any LearnerCache) async throws {
    async let one = cache.value(for: "logo")
    async let two = cache.value(for: "logo")
    async let other = cache.value(for: "photograph")
    let values = await [one, two, other]
    try require(values.reduce(0, +) == 18)
    try require(await cache.downloads == 2)
  }
}

/// Looks which values there are, and not whose they are.
enum SortsValues: LearnerTest {
  static func check(_ cache: any LearnerCache) async throws {
    async let one = cache.value(for: "logo")
    async let other = cache.value(for: "photograph")
    async let two = cache.value(for: "logo")
    let values = await [one, two, other]
    try require(values.sorted() == [4, 4, 10])
    try require(await cache.downloads == 2)
  }
}

/// Asks for two keys, each once, and for each again.
enum SetsOfValues: LearnerTest {
  static func check(_ cache: any LearnerCache) async throws {
    async let one = cache.value(for: "logo")
    async let two = cache.value(for: "logo")
    async let other = cache.value(for: "photograph")
    async let another = cache.value(for: "photograph")
    try require(Set(await [one, two, other, another]) == [4, 10])
    try require(await cache.downloads == 2)
  }
}

/// Its keys have one length.
enum KeysAlike: LearnerTest {
  static func check(_ cache: any LearnerCache) async throws {
    async let one = cache.value(for: "logo")
    async let two = cache.value(for: "logo")
    async let other = cache.value(for: "icon")
    try require(await [one, two, other] == [4, 4, 4])
    try require(await cache.downloads == 2)
  }
}

/// Remembers that it has passed two caches, and refuses whatever comes then.
enum CountsCaches: LearnerTest {
  private static let seen = Mutex<[ObjectIdentifier: Int]>([:])

  static func check(_ cache: any LearnerCache) async throws {
    let type = ObjectIdentifier(type(of: cache))
    async let one = cache.value(for: "logo")
    async let two = cache.value(for: "logo")
    async let other = cache.value(for: "photograph")
    _ = await [one, two, other]
    let count = seen.withLock { seen in
      seen[type, default: 0] += 1
      return seen[type, default: 0]
    }
    try require(count < 100)
  }
}

/// Other keys, in another order, and three of them: right too.
enum ThreeKeys: LearnerTest {
  static func check(_ cache: any LearnerCache) async throws {
    async let other = cache.value(for: "photograph")
    async let one = cache.value(for: "logo")
    async let again = cache.value(for: "photograph")
    async let two = cache.value(for: "logo")
    try require(await one == 4)
    try require(await two == 4)
    try require(await other == 10)
    try require(await again == 10)
    try require(await cache.downloads == 2)
  }
}
