import Basics
import Foundation
import Limiters
import RealWork
import TestSupport
import Testing

@Suite(.watched) struct `Images over HTTP` {
  @Test func `the bytes are those of the seed, and the connections are used again`() async throws {
    let server = try await ImageServer(.init())
    let source = ImageSource(server, connections: 2)
    for number in 1...10 {
      #expect(try await source.image(number) == server.image(number))
    }
    let counts = server.counts
    #expect(counts.served == 10)
    #expect(counts.bytes == (1...10).map { server.image($0).count }.reduce(0, +))
    #expect(counts.peakServing == 1)
    #expect((1...2).contains(counts.peakConnections))
    await server.stop()
    #expect(server.counts.openConnections == 0)
  }

  @Test func `a server that has stopped leaves no descriptor behind`() async throws {
    func descriptors() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
    // Other tests open and close descriptors of their own meanwhile. One that is left behind by each
    // server shows every time, theirs do not.
    var left: [Int] = []
    repeat {
      let before = try descriptors()
      for _ in 1...60 {
        let server = try await ImageServer(.init())
        let source = ImageSource(server, connections: 1)
        #expect(try await source.image(1) == server.image(1))
        await server.stop()
      }
      left.append(try descriptors() - before)
    } while left.count < 5 && left.allSatisfy { $0 >= 30 }
    #expect(left.contains { $0 < 30 }, "\(left)")
  }

  @Test func `a failure is an answer with a status`() async throws {
    let server = try await ImageServer(.init())
    let source = ImageSource(server, connections: 1)
    let error = await #expect(throws: BadStatus.self) {
      try await source.image(1, fails: true)
    }
    #expect(error?.status == 503)
    #expect(server.counts.failed == 1)
    await server.stop()
  }

  @Test func `as many requests fail as the settings say, with one seed always the same ones`()
    async throws
  {
    func failures(_ percent: Double) async throws -> [Bool] {
      var settings = ImageServer.Settings()
      settings.failPercent = percent
      settings.sizes = 1...100
      let server = try await ImageServer(settings)
      let source = ImageSource(server, connections: 1)
      var failures: [Bool] = []
      for number in 1...40 {
        failures.append((try? await source.image(number)) != server.image(number))
      }
      #expect(server.counts.failed == failures.count { $0 })
      await server.stop()
      return failures
    }
    let half = try await failures(50)
    #expect((10...30).contains(half.count { $0 }))
    #expect(try await failures(50) == half)
    #expect(try await failures(0) == Array(repeating: false, count: 40))
    #expect(try await failures(100) == Array(repeating: true, count: 40))
  }

  @Test func `a client opens no more connections than it may`() async throws {
    var settings = ImageServer.Settings()
    // So that others could come beside it.
    settings.latency = .milliseconds(50)
    let server = try await ImageServer(settings)
    let source = ImageSource(server, connections: 2)
    try await (1...12).concurrentForEach(limit: 12) { number in
      let image = try await source.image(number)
      #expect(image == server.image(number))
    }
    #expect(server.counts.served == 12)
    #expect(server.counts.peakServing <= 2)
    await server.stop()
  }

  @Test func `the server answers on so many connections at once, and others wait`() async throws {
    var settings = ImageServer.Settings()
    settings.connections = 1
    let server = try await ImageServer(settings)
    let source = ImageSource(server, connections: 4)
    try await withThrowingTaskGroup { group in
      for number in 1...8 { group.addTask { _ = try await source.image(number) } }
      try await group.waitForAll()
    }
    #expect(server.counts.served == 8)
    await server.stop()
  }

  @Test func `a server that is full refuses one request more, and takes it when there is room`()
    async throws
  {
    var settings = ImageServer.Settings()
    settings.capacity = 2
    let server = try await ImageServer(settings)
    let source = ImageSource(server, connections: 4)
    // None of the first two ends before the third is refused.
    server.holdBack()
    async let one = source.image(1)
    async let two = source.image(2)
    try #require(await comes { server.counts.serving == 2 })
    let error = await #expect(throws: BadStatus.self) { try await source.image(3) }
    #expect(error?.status == 503)
    server.letGo()
    _ = try await (one, two)
    _ = try await source.image(3)
    #expect(server.counts.refused == 1)
    #expect(server.counts.peakServing == 2)
    #expect(server.counts.served == 3)
    await server.stop()
  }

  @Test func `one connection serves one after the other, as late and as slowly as set`()
    async throws
  {
    var settings = ImageServer.Settings()
    settings.connections = 1
    settings.latency = .milliseconds(10)
    settings.sizes = 2_000...2_000
    settings.bandwidth = 200_000
    let server = try await ImageServer(settings)
    let source = ImageSource(server, connections: 4)
    let clock = ContinuousClock()
    let began = clock.now
    try await (1...4).concurrentForEach(limit: 4) { _ = try await source.image($0) }
    // One after the other: each 10 ms until its first byte and 10 ms until its last.
    #expect(clock.now - began >= .milliseconds(80))
    await server.stop()
  }

  @Test func `cancelling a request ends it, and the server stops counting it`() async throws {
    let server = try await ImageServer(.init())
    let source = ImageSource(server, connections: 1)
    let asked = Task { try await source.image(1, latency: .seconds(600)) }
    try #require(await comes { server.counts.serving == 1 })
    asked.cancel()
    try #require(await ends(asked), "it waits for the answer all the same")
    await #expect(throws: CancellationError.self) { try await asked.value }
    #expect(server.counts.serving == 0)
    #expect(server.counts.cancelled == 1)
    #expect(try await source.image(2) == server.image(2))
    await server.stop()
  }

  /// In a process of its own, because other tests open descriptors meanwhile.
  @Test(.search)
  func `of 1,000 cancelled at random, with one answer in ten a failure, nothing is left`()
    async throws
  {
    let result = try await BuiltProgram("fetch-storm").run(["1000", "7"])
    try #require(result.status == .exited(0), "\(result.standardError)")
    let told = result.standardOutput.split(whereSeparator: \.isWhitespace)
    let counts = Dictionary(
      uniqueKeysWithValues: told.map { word in
        let parts = word.split(separator: "=")
        return (String(parts[0]), Int(parts[1]) ?? -1)
      }
    )
    #expect(counts["cancelled"] == 1_000)
    // Some while they were being served, and some answers failed: otherwise nothing was tried.
    #expect(counts["given-up", default: 0] > 20 && counts["failed", default: 0] > 0, "\(counts)")
    #expect((1...4).contains(counts["peak", default: 0]))
    for lost in ["wrong", "permits", "serving", "connections", "partial", "descriptors"] {
      #expect(counts[lost] == 0, "\(counts)")
    }
  }
}
