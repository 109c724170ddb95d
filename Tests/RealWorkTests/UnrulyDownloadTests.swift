import Foundation
import Glibc
import Limiters
import RealWork
import Synchronization
import TestSupport
import Testing
import UnrulyServer

/// Downloads from a server that does what servers outside do: each answer is right, or an error, or is put
/// right by the next attempt; never a wrong file.
@Suite(.watched) struct `A download from an unruly server` {
  private let server = UnrulyServer()
  private let folder: TemporaryFolder
  private let file: URL

  init() throws {
    folder = try TemporaryFolder()
    file = folder.url.appendingPathComponent("file")
  }

  private func transfers() -> Transfers { Transfers(connections: 4) }

  /// On a busy machine a server that answers well may say nothing for a second, and for a minute it may not.
  private func downloader(stallAfter: Duration = .seconds(60)) -> Downloader {
    Downloader(
      limit: 4,
      stallAfter: stallAfter,
      backoff: { Backoff(first: .milliseconds(1)) }
    )
  }

  private func ranges() -> [String?] {
    server.requests("a").map { head in
      head.split(separator: "\r\n").first { $0.hasPrefix("Range:") }.map(String.init)
    }
  }

  private var isThere: Bool { (try? Data(contentsOf: file)) == server.file("a") }

  /// Whatever happened, what is left can be finished.
  private func expectToFinish() async throws {
    server.script("a", .right)
    try await downloader().download(server.url("a"), to: file)
    #expect(isThere)
    #expect(folder.files == ["file"])
  }

  @Test(
    arguments: [
      .right, .slow, .withoutVersion, .weakVersion, .chunked, .moved,
    ] as [UnrulyServer.Answer]
  )
  func `is the file where the answer is right in one of its ways`(_ answer: UnrulyServer.Answer)
    async throws
  {
    server.script("a", answer)
    try await transfers().download(server.url("a"), to: file)
    #expect(isThere)
    #expect(folder.files == ["file"])
    server.stop()
  }

  @Test(
    arguments: [
      .stalled, .silent, .cut, .cutWithoutVersion, .chunkedCut, .reset, .closed, .tooLong,
      .lengthBesideChunks, .partUnasked, .unsatisfiable, .unavailable, .missing, .movedForEver,
      .compressed, .noise,
    ] as [UnrulyServer.Answer]
  )
  func `is an error where the answer is wrong, and what is left can be finished`(
    _ answer: UnrulyServer.Answer
  ) async throws {
    server.script("a", answer)
    let transfers = Transfers(connections: 1, stallAfter: .seconds(1))
    await #expect(throws: (any Error).self) {
      try await transfers.download(server.url("a"), to: file)
    }
    #expect(!folder.files.contains("file"))
    try await expectToFinish()
    server.stop()
  }

  @Test(
    arguments: [
      .stalled, .silent, .cut, .cutWithoutVersion, .chunkedCut, .reset, .closed, .tooLong,
      .lengthBesideChunks, .partUnasked, .unavailable,
    ] as [UnrulyServer.Answer]
  )
  func `is tried again where that may help`(_ answer: UnrulyServer.Answer) async throws {
    server.script("a", answer, .right)
    let isStalled = answer == .stalled || answer == .silent
    let downloader = downloader(stallAfter: .seconds(isStalled ? 2 : 60))
    try await downloader.download(server.url("a"), to: file)
    #expect(isThere)
    let requests = server.requests("a").count
    #expect(isStalled ? requests >= 2 : requests == 2)
    #expect(folder.files == ["file"])
    server.stop()
  }

  @Test(arguments: [.missing, .unsatisfiable, .movedForEver, .compressed] as [UnrulyServer.Answer])
  func `is not tried again where that cannot help`(_ answer: UnrulyServer.Answer) async throws {
    server.script("a", answer)
    await #expect(throws: (any Error).self) {
      try await downloader().download(server.url("a"), to: file)
    }
    #expect(server.requests("a").count == 1)
    #expect(folder.files.isEmpty)
    server.stop()
  }

  @Test func `goes on from where it was, and is the same file`() async throws {
    server.script("a", .cut, .right)
    try await downloader().download(server.url("a"), to: file)
    #expect(isThere)
    #expect(ranges() == [nil, "Range: bytes=100000-"])
    server.stop()
  }

  @Test func `begins anew where the version is not known`() async throws {
    for answer in [UnrulyServer.Answer.withoutVersion, .weakVersion] {
      server.script("a", .cut, answer)
      try await downloader().download(server.url("a"), to: file)
      #expect(isThere)
    }
    server.stop()
  }

  @Test func `of a file that changed between two attempts is the new file, and no mixture`()
    async throws
  {
    server.script("a", .cut)
    await #expect(throws: (any Error).self) {
      try await transfers().download(server.url("a"), to: file)
    }
    #expect(Set(folder.files) == ["file.partial", "file.partial.from"])
    server.change("a")
    try await expectToFinish()
    #expect(ranges() == [nil, "Range: bytes=100000-"])
    server.stop()
  }

  @Test(
    arguments: [
      .restOfOtherVersion, .restOfNoVersion, .rangeFromElsewhere, .rangeWithoutNumbers,
    ] as [UnrulyServer.Answer]
  )
  func `refuses the rest of another version and the wrong part, and begins anew`(
    _ answer: UnrulyServer.Answer
  ) async throws {
    server.script("a", .cut)
    await #expect(throws: (any Error).self) {
      try await transfers().download(server.url("a"), to: file)
    }
    server.change("a")
    server.script("a", answer)
    await #expect(throws: BadAnswer.self) {
      try await transfers().download(server.url("a"), to: file)
    }
    #expect(!folder.files.contains("file"))
    server.script("a", .right)
    try await transfers().download(server.url("a"), to: file)
    #expect(isThere)
    #expect(ranges().last == .some(nil))
    #expect(folder.files == ["file"])
    server.stop()
  }

  @Test func `leaves no partial file where nobody could go on with it`() async throws {
    // Half of a file of no version, and no byte of one that has a version.
    for (server, answer) in [
      (server, UnrulyServer.Answer.cutWithoutVersion), (UnrulyServer(size: 1), .cut),
    ] {
      server.script("a", answer)
      await #expect(throws: BadAnswer.self) {
        try await transfers().download(server.url("a"), to: file)
      }
      #expect(folder.files.isEmpty)
      server.stop()
    }
  }

  @Test func `has nothing of an older version behind its end`() async throws {
    // More is there of the older one than the newer one has.
    server.script("a", .tooLong)
    await #expect(throws: (any Error).self) {
      try await transfers().download(server.url("a"), to: file)
    }
    #expect(folder.bytes { $0 == "file.partial" } == server.file("a").count)
    let older = server.file("a").count
    server.change("a")
    #expect(server.file("a").count < older)
    try await expectToFinish()
    server.stop()
  }

  @Test(arguments: [10, 11])
  func `is found behind ten redirections, and not behind eleven`(_ count: Int) async throws {
    let names = (0...count).map { "a" + String(repeating: "?moved", count: $0) }
    for name in names.dropLast() { server.script(name, .moved) }
    if count > 10 {
      let error = await #expect(throws: BadStatus.self) {
        try await downloader().download(server.url("a"), to: file)
      }
      #expect(error?.status == 302)
      #expect(folder.files.isEmpty)
    } else {
      try await downloader().download(server.url("a"), to: file)
      #expect(isThere)
    }
    #expect(names.map { server.requests($0).count } == names.indices.map { $0 > 10 ? 0 : 1 })
    server.stop()
  }

  @Test func `is asked for as it is, where it was and where it has moved to`() async throws {
    server.script("a", .moved)
    try await transfers().download(server.url("a"), to: file)
    for name in ["a", "a?moved"] {
      #expect(server.requests(name).count == 1)
      for head in server.requests(name) {
        #expect(head.lowercased().contains("\r\naccept-encoding: identity\r\n"))
      }
    }
    server.stop()
  }

  @Test func `is not taken for whole where only some of the rest came`() async throws {
    // In chunks, so that nobody has said how long the whole is.
    server.script("a", .chunkedCut, .restInPart)
    for _ in 1...2 {
      await #expect(throws: BadAnswer.self) {
        try await transfers().download(server.url("a"), to: file)
      }
    }
    #expect(!folder.files.contains("file"))
    try await expectToFinish()
    server.stop()
  }

  @Test func `takes the whole from a server that sends no parts`() async throws {
    server.script("a", .cut, .whole)
    try await downloader().download(server.url("a"), to: file)
    #expect(isThere)
    server.stop()
  }

  @Test func `is finished though all of it was there before its name was`() async throws {
    // The announced length was too large: all came, and the connection ended before the rest.
    server.script("a", .tooLong)
    await #expect(throws: (any Error).self) {
      try await transfers().download(server.url("a"), to: file)
    }
    #expect(folder.files.contains("file.partial"))
    server.script("a", .right)
    try await transfers().download(server.url("a"), to: file)
    #expect(isThere)
    #expect(ranges() == [nil, "Range: bytes=200000-"])
    #expect(folder.files == ["file"])
    server.stop()
  }

  @Test func `begins anew where what is there is more than the file has now`() async throws {
    server.script("a", .tooLong)
    await #expect(throws: (any Error).self) {
      try await transfers().download(server.url("a"), to: file)
    }
    server.script("a", .unsatisfiable, .right)
    try await transfers().download(server.url("a"), to: file)
    #expect(isThere)
    #expect(ranges() == [nil, "Range: bytes=200000-", nil])
    server.stop()
  }

  @Test func `takes no partial file of which nobody knows where it came from`() async throws {
    let partial = folder.url.appendingPathComponent("file.partial")
    try Data(repeating: 7, count: 1_000).write(to: partial)
    try await transfers().download(server.url("a"), to: file)
    #expect(isThere)
    #expect(ranges() == [nil])
    for note in ["", "{}", "no JSON"] {
      try Data(repeating: 7, count: 1_000).write(to: partial)
      try Data(note.utf8).write(to: folder.url.appendingPathComponent("file.partial.from"))
      try await transfers().download(server.url("a"), to: file)
      #expect(isThere)
    }
    #expect(folder.files == ["file"])
    server.stop()
  }

  @Test func `waits for another of the same file, and both are told of the whole`() async throws {
    server.script("a", .slow)
    let transfers = transfers()
    let others = Transfers(connections: 4)
    try await (1...6).concurrentForEach(limit: 6) { number in
      try await (number.isMultiple(of: 2) ? transfers : others).download(server.url("a"), to: file)
      #expect(isThere)
    }
    #expect(folder.files == ["file"])
    server.stop()
  }

  @Test func `that waits for another is cancelled at once`() async throws {
    server.script("a", .stalled)
    let transfers = transfers()
    let (begun, begin) = Condition.makeCondition()
    let first = Task {
      try await transfers.download(server.url("a"), to: file) { _ in begin.signal() }
    }
    try await begun.wait()
    let second = Task { try await transfers.download(server.url("a"), to: file) }
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(server.requests("a").count == 1)
    try await expectToFinish()
    server.stop()
  }

  @Test func `replaces an older file in one step`() async throws {
    try Data("old".utf8).write(to: file)
    server.script("a", .cut)
    await #expect(throws: (any Error).self) {
      try await transfers().download(server.url("a"), to: file)
    }
    #expect(try Data(contentsOf: file) == Data("old".utf8))
    try await expectToFinish()
    server.stop()
  }

  @Test func `that a full disk ends says so, is not tried again, and leaves no permit held`()
    async throws
  {
    // A device that takes no byte stands where the partial file would be.
    try FileManager.default.createSymbolicLink(
      atPath: folder.url.appendingPathComponent("file.partial").path,
      withDestinationPath: "/dev/full"
    )
    let downloader = downloader()
    let error = await #expect(throws: FileError.self) {
      try await downloader.download(server.url("a"), to: file)
    }
    #expect(error?.code == ENOSPC || error?.code == EINVAL, "\(error?.description ?? "")")
    #expect(server.requests("a").count == 1)
    #expect(downloader.statistics.running == 0)
    server.stop()
  }

  @Test func `comes again when the server asks for it`() async throws {
    server.script("a", .tooManyRequests, .right)
    let clock = ContinuousClock()
    let before = clock.now
    try await downloader().download(server.url("a"), to: file)
    #expect(isThere)
    #expect(clock.now - before >= .seconds(1))
    server.stop()
  }

  @Test
  func `is whole or not there, whatever the server does and whenever a process is killed`()
    async throws
  {
    let result = try await BuiltProgram("download-storm").run([searchesRun ? "100" : "25", "7"])
    let told = try #require(
      result.standardOutput.split(separator: "\n").last,
      "\(result.status): \(result.standardError)"
    )
    #expect(told.hasSuffix("wrong=0 left=0"), "\(result.standardOutput)\(result.standardError)")
    #expect(result.status == .exited(0))
  }

  @Test func `of nothing is an empty file`() async throws {
    let empty = UnrulyServer(size: 0)
    let told = Mutex<[Transfers.Progress]>([])
    try await transfers().download(empty.url("a"), to: file) { news in
      told.withLock { $0.append(news) }
    }
    #expect(try Data(contentsOf: file).isEmpty)
    #expect(told.withLock { $0.allSatisfy { $0.percent == 100 } })
    empty.stop()
    server.stop()
  }
}
