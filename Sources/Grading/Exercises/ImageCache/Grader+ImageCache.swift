internal import Exploration
internal import LessonBook
internal import Limiters
internal import RealWork

/// What image caches are asked: explored with a network that is none, then with a real one.
extension Grader {
  /// Lesson 18: each image fetched once, for all who ask.
  package static func imageCache<Cache: LearnerImageCache>(_ type: Cache.Type) -> GradeBook {
    GradeBook([
      promise("once", "two ask for one image") {
        let network = FakeNetwork()
        let cache = Cache(fetch: network.fetch)
        let one = Task(priority: .low) { try await cache.image("logo") }
        let two = Task(priority: .high) { try await cache.image("logo") }
        let images = [try await two.value, try await one.value]
        try require(images == Array(repeating: Array("logo".utf8), count: 2), "a wrong image")
        try require(network.count("logo") == 1, "it was fetched \(network.count("logo")) times")
      },
      promise("own", "two ask for two images") {
        let cache = Cache(fetch: FakeNetwork().fetch)
        async let one = cache.image("logo")
        async let two = cache.image("photograph")
        let images = try await [one, two]
        try require(images == [Array("logo".utf8), Array("photograph".utf8)], "a wrong image")
      },
      fetchesThatFail(type),
      failuresOfItsOwn(type),
      failureForBoth(type),
      failureForBoth(type, with: CancellationError()),
      failureForAll(type),
      failureForNobody(type),
      failureAfterAllLeft(type),
      leftAlone(type),
      promise(
        "cancellation",
        "two ask for one image, and one of them is cancelled",
        tasks: ["the one that is cancelled", "the other"]
      ) {
        let network = FakeNetwork()
        let cache = Cache(fetch: network.fetch)
        let one = Task { try await cache.image("logo") }
        let two = Task { try await cache.image("logo") }
        await Task.yield()
        one.cancel()
        let image = try? await two.value
        try require(image == Array("logo".utf8), "the other did not get it")
        _ = await one.result
      },
      joinsCancelled(type),
      promise("gone", "the only one who asks is cancelled, then two ask") {
        let (fetching, begun) = Condition.makeCondition()
        let network = FakeNetwork(onFetch: { begun.signal() })
        let cache = Cache(fetch: network.fetch)
        let gone = Task { try await cache.image("logo") }
        try await fetching.waitUncancellably()
        gone.cancel()
        async let one = cache.image("logo")
        async let two = cache.image("logo")
        let images = try await [one, two]
        try require(images == Array(repeating: Array("logo".utf8), count: 2), "a wrong image")
        let count = network.count("logo")
        try require(
          count <= 2,
          "it was fetched \(count) times: once for who was cancelled, and once is enough"
        )
        _ = await gone.result
      },
      cancelledAskers(type),
      thereForGood(type),
      promise("again", "the first fetch fails, and both who asked ask again") {
        let network = FakeNetwork(failures: 1)
        let cache = Cache(fetch: network.fetch)
        let ask: @Sendable () async throws -> [UInt8] = {
          do { return try await cache.image("logo") } catch is FakeNetwork.Offline {
            do { return try await cache.image("logo") } catch is FakeNetwork.Offline {
              try require(false, "a task that asked after the failure got the old error")
              return []
            }
          }
        }
        async let one = ask()
        async let two = ask()
        let images = try await [one, two]
        try require(images == Array(repeating: Array("logo".utf8), count: 2), "a wrong image")
        try require(
          network.count("logo") == 2,
          "it was fetched \(network.count("logo")) times, not 2"
        )
      },
      promise("apart", "one image cannot be fetched, and another can") {
        let network = FakeNetwork()
        let cache = Cache(fetch: { name in
          guard name == "broken" else { return try await network.fetch(name) }
          await Task.yield()
          throw FakeNetwork.Offline()
        })
        async let broken = try? cache.image("broken")
        async let one = cache.image("logo")
        let (nothing, first) = (await broken, try await one)
        let second = try await cache.image("logo")
        try require(nothing == nil, "the error of the other did not come out")
        let images = [first, second]
        try require(images == Array(repeating: Array("logo".utf8), count: 2), "a wrong image")
        try require(network.count("logo") == 1, "it was fetched \(network.count("logo")) times")
      },
      failureBeside(type),
      manyImages(type),
      thereNextYear(type),
      largeImages(type),
      crowdOfAskers(type),
      manyUnderWay(type),
      failureForThousands(type),
      cachesApart(type),
      quietAskers(type),
      realImages(type),
    ])
  }

  /// Sixty tasks ask a real server, over HTTP, for twenty images.
  private static func realImages<Cache: LearnerImageCache>(
    _ type: Cache.Type
  ) -> GradeBook.Question {
    let asked = "60 tasks ask a server for 20 images"
    return .task("real", asked, seconds: 600) { seed in
      do {
        var settings = ImageServer.Settings()
        settings.seed = seed
        let server = try await ImageServer(settings)
        let source = ImageSource(server, connections: 4)
        let cache = Cache { Array(try await source.image(Int($0) ?? 0, latency: .milliseconds(5))) }
        let wrong = Lock(0)
        try await (0..<60).concurrentForEach(limit: 60) { task in
          let number = task % 20
          let image = try await cache.image("\(number)")
          if image != Array(server.image(number)) { wrong.withLock { $0 += 1 } }
        }
        await server.stop()
        let (served, images) = (server.counts.served, server.counts.transfers.count)
        let isRight = served == 20 && wrong.withLock { $0 } == 0
        return GradeItem(
          "real",
          passed: isRight,
          "\(asked): it sent \(served) images, \(images) different ones"
            + (wrong.withLock { $0 } == 0 ? "" : "; \(wrong.withLock { $0 }) tasks got a wrong one")
        )
      } catch {
        return GradeItem("real", passed: false, "\(asked): \(error)")
      }
    }
  }
}
