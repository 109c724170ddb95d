import Foundation
import Glibc
import Limiters
import RealWork
import Synchronization
import TestSupport
import Testing

/// A folder of the test's own, removed with it.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] }

  /// Of all files together, or of those that are wanted.
  func bytes(where isWanted: (String) -> Bool = { _ in true }) -> Int {
    files.filter(isWanted).reduce(0) {
      $0 + ((try? Data(contentsOf: url.appendingPathComponent($1)))?.count ?? 0)
    }
  }
}

/// A network without a network: a download ends when the test lets it.
actor HeldNetwork {
  private(set) var begun: [String] = []
  private(set) var cancelled = 0
  private var gates: [String: (condition: Condition, signal: Signal)] = [:]
  private let arrival = Mutex<Signal?>(nil)

  /// Waits until `release` is called for the name.
  func download(_ name: String) async throws -> Data {
    begun.append(name)
    do { try await gate(name).condition.wait() } catch {
      cancelled += 1
      throw error
    }
    return Data(name.utf8)
  }

  func release(_ name: String) { gate(name).signal.signal() }

  private func gate(_ name: String) -> (condition: Condition, signal: Signal) {
    let gate = gates[name] ?? Condition.makeCondition()
    gates[name] = gate
    return gate
  }
}

/// What a cache noted, and a way to wait for it.
final class Notes: Sendable {
  private let noted = Mutex<[ImageCache.Answer]>([])

  var all: [ImageCache.Answer] { noted.withLock { $0 } }

  @Sendable func add(_ answer: ImageCache.Answer) { noted.withLock { $0.append(answer) } }

  /// Waits for the first note.
  func first() async throws { try #require(await comes { !all.isEmpty }, "nothing was noted") }
}

@Suite(.watched) struct `An image cache` {
  let folder: TemporaryFolder
  let disk: DiskStore

  init() throws {
    folder = try TemporaryFolder()
    disk = try DiskStore(folder: folder.url)
  }

  @Test func `answers from the network, then from memory, and anew from disk`() async throws {
    let notes = Notes()
    let cache = ImageCache(memoryBytes: 100, disk: disk) { Data($0.utf8) }
    #expect(try await cache.image("logo", noting: notes.add) == Data("logo".utf8))
    #expect(try await cache.image("logo", noting: notes.add) == Data("logo".utf8))
    let restarted = ImageCache(memoryBytes: 100, disk: disk) { _ in throw CancellationError() }
    #expect(try await restarted.image("logo", noting: notes.add) == Data("logo".utf8))
    #expect(try await restarted.image("logo", noting: notes.add) == Data("logo".utf8))
    #expect(notes.all == [.network, .memory, .disk, .memory])
  }

  @Test func `an image asked for by many at once is downloaded once`() async throws {
    let network = HeldNetwork()
    let cache = ImageCache(memoryBytes: 100, disk: disk) { try await network.download($0) }
    let notes = (0..<10).map { _ in Notes() }
    let asked = notes.map { note in Task { try await cache.image("logo", noting: note.add) } }
    for note in notes { try await note.first() }
    await network.release("logo")
    for task in asked { #expect(try await task.value == Data("logo".utf8)) }
    #expect(await network.begun == ["logo"])
    #expect(notes.flatMap(\.all).filter { $0 == .joined }.count == 9)
  }

  @Test(arguments: [0, 1])
  func `cancelling one of two who ask for an image does not cancel the other`(
    cancelled: Int
  ) async throws {
    let network = HeldNetwork()
    let cache = ImageCache(memoryBytes: 100, disk: disk) { try await network.download($0) }
    let notes = [Notes(), Notes()]
    var asked: [Task<Data, any Error>] = []
    for note in notes {
      asked.append(Task { try await cache.image("logo", noting: note.add) })
      try await note.first()
    }
    asked[cancelled].cancel()
    await #expect(throws: CancellationError.self) { try await asked[cancelled].value }
    await network.release("logo")
    #expect(try await asked[1 - cancelled].value == Data("logo".utf8))
    #expect(await network.cancelled == 0)
  }

  @Test func `a download that nobody waits for is cancelled, and its permit is free`() async throws
  {
    let network = HeldNetwork()
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let cache = ImageCache(memoryBytes: 100, disk: disk) { name in
      try await limiter.run { try await network.download(name) }
    }
    let (one, two) = (Notes(), Notes())
    let first = Task { try await cache.image("logo", noting: one.add) }
    try await one.first()
    let second = Task { try await cache.image("logo", noting: two.add) }
    try await two.first()
    first.cancel()
    second.cancel()
    _ = await (first.result, second.result)
    // The permit is handed on once the cancelled download has let go of it.
    await network.release("photograph")
    let photograph = Task { try await cache.image("photograph") }
    try #require(await ends(photograph), "the permit is not free")
    #expect(try await photograph.value == Data("photograph".utf8))
    #expect(await network.cancelled == 1)
    #expect(limiter.running == 0)
    #expect(folder.files.count == 1)
  }

  @Test func `a hit waits for no permit`() async throws {
    let network = HeldNetwork()
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let cache = ImageCache(memoryBytes: 100, disk: disk) { name in
      try await limiter.run { try await network.download(name) }
    }
    await network.release("logo")
    _ = try await cache.image("logo")
    let note = Notes()
    let held = Task { try await cache.image("photograph", noting: note.add) }
    try await note.first()
    #expect(try await cache.image("logo") == Data("logo".utf8))
    await network.release("photograph")
    _ = try await held.value
  }

  @Test func `a failed download is an error of those who asked, and is tried again`() async throws {
    struct Offline: Error {}
    let tries = Atomic(0)
    let cache = ImageCache(memoryBytes: 100, disk: disk) { name in
      if tries.add(1, ordering: .relaxed).newValue == 1 { throw Offline() }
      return Data(name.utf8)
    }
    await #expect(throws: Offline.self) { try await cache.image("logo") }
    #expect(try await cache.image("logo") == Data("logo".utf8))
    #expect(folder.files.count == 1)
  }

  @Test func `a broken or half-written file is fetched again`() async throws {
    try await disk.keep(Data("logo".utf8), as: "logo")
    let file = folder.url.appendingPathComponent(try #require(folder.files.first))
    let whole = try Data(contentsOf: file)
    for length in 0...whole.count {
      var broken = whole.prefix(length)
      // The whole length, with one bit that is wrong.
      if length == whole.count { broken[length - 1] ^= 1 }
      try broken.write(to: file)
      let downloads = Atomic(0)
      let cache = ImageCache(memoryBytes: 100, disk: disk) { name in
        downloads.add(1, ordering: .relaxed)
        return Data(name.utf8)
      }
      #expect(try await cache.image("logo") == Data("logo".utf8))
      #expect(downloads.load(ordering: .relaxed) == 1, "\(length) bytes of \(whole.count)")
      #expect(try Data(contentsOf: file) == whole)
    }
  }

  @Test func `a full disk is an error of that request only, and leaves no partial file`()
    async throws
  {
    let room = Atomic(12)
    let disk = try DiskStore(folder: folder.url) { file, bytes in
      // A disk with so many bytes left takes what fits, and then nothing.
      let taken = min(bytes.count, room.load(ordering: .relaxed))
      guard taken > 0 else {
        errno = ENOSPC
        return -1
      }
      room.subtract(taken, ordering: .relaxed)
      return Glibc.write(file, bytes.baseAddress, taken)
    }
    let cache = ImageCache(memoryBytes: 1_000, disk: disk) { Data($0.utf8) }
    let error = await #expect(throws: FileError.self) {
      try await cache.image("a long photograph")
    }
    #expect(error?.code == ENOSPC)
    #expect(error?.description.contains("No space left on device. Free some space") == true)
    #expect(folder.files.isEmpty)
    room.store(1_000, ordering: .relaxed)
    #expect(try await cache.image("logo") == Data("logo".utf8))
    #expect(await disk.contents == (1, 4, 0))
    // What could not be kept on disk is not kept in memory either.
    let notes = Notes()
    let photograph = try await cache.image("a long photograph", noting: notes.add)
    #expect(photograph == Data("a long photograph".utf8))
    #expect(notes.all == [.network])
    #expect(await disk.contents == (2, 21, 0))
  }

  @Test func `a disk that knows no locks is an error, and nothing is left on it`() async throws {
    let tries = Atomic(0)
    let disk = try DiskStore(
      folder: folder.url,
      lock: { _ in
        // The first time another has it, which passes.
        errno = tries.add(1, ordering: .relaxed).newValue == 1 ? EWOULDBLOCK : ENOLCK
        return -1
      }
    )
    let keeping = Task { try await disk.keep(Data("logo".utf8), as: "logo") }
    try #require(await ends(keeping), "it tries again and again")
    let error = await #expect(throws: FileError.self) { try await keeping.value }
    #expect(error?.code == ENOLCK && error?.action == "lock")
    #expect(tries.load(ordering: .relaxed) == 2)
    #expect(folder.files.isEmpty)
  }

  @Test func `a write that signals interrupt goes on where it was`() async throws {
    let calls = Atomic(0)
    let disk = try DiskStore(folder: folder.url) { file, bytes in
      // Every other call is interrupted before it has written anything, the others after one byte.
      guard calls.add(1, ordering: .relaxed).newValue.isMultiple(of: 2) else {
        errno = EINTR
        return -1
      }
      return Glibc.write(file, bytes.baseAddress, 1)
    }
    try await disk.keep(Data("logo".utf8), as: "logo")
    #expect(await disk.image("logo") == Data("logo".utf8))
    #expect(calls.load(ordering: .relaxed) > 2 * 4)
  }

  @Test func `a broken file is removed, also where the image cannot be fetched again`()
    async throws
  {
    struct Offline: Error {}
    try await disk.keep(Data("logo".utf8), as: "logo")
    let file = folder.url.appendingPathComponent(try #require(folder.files.first))
    try Data("broken".utf8).write(to: file)
    let cache = ImageCache(memoryBytes: 100, disk: disk) { _ in throw Offline() }
    await #expect(throws: Offline.self) { try await cache.image("logo") }
    #expect(folder.files.isEmpty)
  }

  @Test func `a file that a killed process left half-written is removed`() async throws {
    let partial = folder.url.appendingPathComponent("0123.image.partial")
    try Data("half".utf8).write(to: partial)
    _ = try DiskStore(folder: folder.url)
    #expect(folder.files.isEmpty)
  }

  @Test func `a file that another process is writing is not removed, and none shares its name`()
    async throws
  {
    // As another process has it: a descriptor of its own, with the lock.
    let other = folder.url.appendingPathComponent("0123.image.other.partial").path
    let held = open(other, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    try #require(held >= 0 && flock(held, LOCK_EX) == 0)
    let second = try DiskStore(folder: folder.url)
    #expect(folder.files == ["0123.image.other.partial"])
    for store in [disk, second] { try await store.keep(Data("logo".utf8), as: "logo") }
    #expect(await disk.image("logo") == Data("logo".utf8))
    #expect(folder.files.count == 2)
    // Not by closing it alone: a child that another test is just starting has the descriptor until it becomes another
    // program.
    try #require(flock(held, LOCK_UN) == 0)
    close(held)
    _ = try DiskStore(folder: folder.url)
    #expect(folder.files.count == 1)
  }

  @Test func `two stores on one folder write at the same time, and every write is kept`()
    async throws
  {
    let stores = try (0..<4).map { _ in try DiskStore(folder: folder.url) }
    try await (0..<400).concurrentForEach(limit: 4) { [folder] round in
      // Opening a store looks for what was left; that is nothing while others write.
      let store = round.isMultiple(of: 5) ? try DiskStore(folder: folder.url) : stores[round % 4]
      let name = "image \(round % 7)"
      try await store.keep(Data(repeating: UInt8(round % 7), count: 10_000), as: name)
      #expect(await store.image(name) == Data(repeating: UInt8(round % 7), count: 10_000))
    }
    #expect(await disk.contents == (7, 70_000, 0))
  }

  @Test func `memory takes an image that was just kept for one that was just asked for`() {
    for round in 1...40 {
      var memory = MemoryStore(mostBytes: 2)
      let names = (1...3).map { "\(round).\($0)" }
      memory.keep(Data([1]), as: names[0])
      _ = memory.image(names[0])
      memory.keep(Data([2]), as: names[1])
      memory.keep(Data([3]), as: names[2])
      #expect(memory.image(names[0]) == nil)
      #expect(memory.image(names[1]) == Data([2]))
    }
  }

  @Test func `memory keeps what was asked for last`() {
    var memory = MemoryStore(mostBytes: 8)
    memory.keep(Data("abcd".utf8), as: "one")
    memory.keep(Data("efgh".utf8), as: "two")
    #expect(memory.image("one") != nil)
    memory.keep(Data("ijkl".utf8), as: "three")
    #expect(memory.image("two") == nil)
    #expect(memory.image("one") != nil)
    memory.keep(Data("longer than all".utf8), as: "one")
    #expect(memory.image("one") == nil)
    #expect(memory.image("three") == Data("ijkl".utf8))
    memory.keep(Data("all of it".utf8.prefix(8)), as: "two")
    #expect(memory.image("two") != nil, "an image may be as large as the store")
    #expect(memory.image("three") == nil)
  }
}
