import Basics
import Foundation
import Limiters
import RealWork
import Synchronization
import TestSupport
import Testing

@Suite(.watched) struct `A downloader` {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func file(_ number: Int) -> URL { folder.url.appendingPathComponent("\(number)") }

  private func server() async throws -> ImageServer {
    var settings = ImageServer.Settings()
    settings.sizes = 100_000...200_000
    return try await ImageServer(settings)
  }

  @Test func `downloads many files, at most so many at once, and tells their progress`()
    async throws
  {
    let server = try await server()
    // Without its last part no image comes to its end, so all that may be are under way.
    server.holdBack()
    let downloader = Downloader(limit: 3)
    async let downloads: Void = (1...12).concurrentForEach(limit: 12) { number in
      let progress = Mutex<[Transfers.Progress]>([])
      try await downloader.download(server.request(image: number).url, to: file(number)) { news in
        progress.withLock { $0.append(news) }
      }
      let told = progress.withLock { $0 }
      let size = server.image(number).count
      #expect(told.map(\.received) == told.map(\.received).sorted())
      #expect(told.last?.received == size)
      #expect(told.last?.expected == size)
      #expect(told.last?.percent == 100)
    }
    #expect(
      await comes {
        let now = downloader.statistics
        return now.running + now.waiting == 12
      }
    )
    #expect(downloader.statistics.running == 3)
    server.letGo()
    try await downloads
    for number in 1...12 { #expect(try Data(contentsOf: file(number)) == server.image(number)) }
    #expect(server.counts.peakServing <= 3)
    #expect(folder.files.count == 12)
    await server.stop()
  }

  private final class First: Sendable {
    private let hasCome = Atomic(false)
    func comes() -> Bool { !hasCome.exchange(true, ordering: .relaxed) }
  }

  @Test func `suspended, holds no permit, and goes on from where it was`() async throws {
    // Without its last part, no image comes to its end before all are cut off.
    let server = try await server()
    server.holdBack()
    let downloader = Downloader(limit: 2)
    let (begun, begin) = Condition.makeCondition()
    let first = First()
    let downloads = (1...3).map { number in
      Task {
        try await downloader.download(server.request(image: number).url, to: file(number)) { _ in
          guard first.comes() else { return }
          downloader.suspend()
          begin.signal()
        }
      }
    }
    try await begun.wait()
    try #require(
      await comes {
        let now = downloader.statistics
        return now.running == 0 && now.waiting == 0
      },
      "a transfer goes on"
    )
    #expect(folder.files.allSatisfy { $0.hasSuffix(".partial") || $0.hasSuffix(".partial.from") })
    let kept = folder.bytes { $0.hasSuffix(".partial") }
    #expect(kept > 0)
    server.letGo()
    downloader.resume()
    for download in downloads {
      try #require(await ends(download), "it does not go on")
      try await download.value
    }
    for number in 1...3 { #expect(try Data(contentsOf: file(number)) == server.image(number)) }
    #expect(server.counts.spared == kept, "what was there is sent again")
    await server.stop()
  }

  @Test func `suspended twice, goes on when it is resumed once`() async throws {
    let server = try await server()
    let downloader = Downloader(limit: 1)
    let url = server.request(image: 1).url
    downloader.suspend()
    let hand = HandDrivenExecutor()
    let download = Task(executorPreference: hand) {
      try await downloader.download(url, to: file(1))
    }
    // Until it waits to be resumed.
    hand.runAll()
    #expect(downloader.statistics.running == 0)
    downloader.suspend()
    downloader.resume()
    let hasEnded = Atomic(false)
    Task {
      _ = await download.result
      hasEnded.store(true, ordering: .releasing)
    }
    try #require(
      await comes {
        hand.runAll()
        return hasEnded.load(ordering: .acquiring)
      }
    )
    try await download.value
    #expect(try Data(contentsOf: file(1)) == server.image(1))
    await server.stop()
  }

  @Test
  func `one that is cancelled leaves its permit and a partial file, which the next goes on with`()
    async throws
  {
    // Without its last part, the image does not come to its end before the cancellation.
    let server = try await server()
    server.holdBack()
    let downloader = Downloader(limit: 1)
    let (begun, begin) = Condition.makeCondition()
    let task = Task {
      try await downloader.download(server.request(image: 1).url, to: file(1)) { _ in begin.signal()
      }
    }
    try await begun.wait()
    task.cancel()
    try #require(await ends(task), "its transfer goes on")
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(downloader.statistics.running == 0)
    #expect(Set(folder.files) == ["1.partial", "1.partial.from"])
    server.letGo()
    try await downloader.download(server.request(image: 1).url, to: file(1))
    #expect(try Data(contentsOf: file(1)) == server.image(1))
    #expect(folder.files == ["1"])
    await server.stop()
  }

  @Test func `what fails is tried again, and the last error comes out`() async throws {
    let server = try await server()
    let downloader = Downloader(
      limit: 1,
      attempts: 3,
      backoff: { Backoff(first: .milliseconds(1)) }
    )
    let error = await #expect(throws: BadStatus.self) {
      try await downloader.download(server.request(image: 1, fails: true).url, to: file(1))
    }
    #expect(error?.status == 503)
    #expect(server.counts.failed == 3)
    #expect(folder.files.isEmpty)
    await server.stop()
  }

  @Test func `cancelling the task that waits for a list cancels its downloads, those in line too`()
    async throws
  {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let (begun, begin) = Condition.makeCondition()
    let (never, signal) = Condition.makeCondition()
    let list = Task {
      await DownloadList.withLimiter([1, 2, 3], limiter) { _ in
        begin.signal()
        try await never.wait()
      }
    }
    try await begun.wait()
    list.cancel()
    try #require(await ends(list), "its downloads go on")
    let results = await list.value
    #expect(results.count == 3)
    for result in results { #expect(throws: CancellationError.self) { try result.get() } }
    #expect(limiter.running == 0 && limiter.waiting == 0)
    withExtendedLifetime(signal) {}
  }

  @Test func `group and semaphore, limiter and task group download the same, and end last`()
    async throws
  {
    let server = try await server()
    let transfers = Transfers(connections: 16)
    let ended = Atomic(0)
    let download: @Sendable (Int) async throws -> Void = { number in
      try await transfers.download(server.request(image: number).url, to: file(number))
      ended.add(1, ordering: .relaxed)
    }
    let numbers = Array(1...10)
    await DownloadList.withGroupAndSemaphore(numbers, limit: 4) { number, end in
      Task {
        try? await download(number)
        end()
      }
    }
    #expect(ended.load(ordering: .relaxed) == 10)
    let limiter = ConcurrencyLimiter(concurrency: 4)
    for result in await DownloadList.withLimiter(numbers, limiter, download) { try result.get() }
    #expect(ended.load(ordering: .relaxed) == 20)
    try await DownloadList.withTaskGroup(numbers, limit: 4, download)
    #expect(ended.load(ordering: .relaxed) == 30)
    #expect(server.counts.peakServing <= 4)
    for number in numbers { #expect(try Data(contentsOf: file(number)) == server.image(number)) }
    await server.stop()
  }
}
