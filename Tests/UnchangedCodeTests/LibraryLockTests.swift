import Exploration
import Foundation
import Synchronization
import TestSupport
import Testing

/// Calls of the language's libraries that take a lock of their own: others may have a turn before each.
@Suite(.inTurn, .watched) struct `Locks of libraries` {
  @Test func `two streams of values mix in every way`() throws {
    let orders = Mutex<Set<[Int]>>([])
    let verdict = try explore("mixed", preemptions: nil) {
      let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
      async let one: Void = {
        continuation.yield(1)
        continuation.yield(2)
      }()
      async let other: Void = {
        continuation.yield(3)
        continuation.yield(4)
      }()
      _ = await (one, other)
      continuation.finish()
      let values = await stream.reduce(into: []) { $0.append($1) }
      orders.withLock { _ = $0.insert(values) }
    }
    #expect(verdict.coverage == .exhaustive)
    #expect(orders.withLock(\.count) == 6)
  }

  @Test func `a race between two values that a stream takes is found`() throws {
    let failure = try failure("between values") {
      let (_, continuation) = AsyncStream.makeStream(of: Int.self)
      let box = Box()
      async let one: Void = {
        continuation.yield(1)
        box.value = 1
        continuation.yield(2)
      }()
      async let other: Void = {
        continuation.yield(3)
        box.value = 2
        continuation.yield(4)
      }()
      _ = await (one, other)
    }
    guard case .race = failure.kind else { throw failure }
  }

  @Test func `what two change in place of an observable object is a race`() throws {
    let failure = try failure("observable") {
      let model = ObservableModel()
      async let one: Void = { model.count += 1 }()
      async let other: Void = { model.count += 1 }()
      _ = await (one, other)
    }
    guard case .race = failure.kind else { throw failure }
  }

  @Test func `an image that two look for in a cache is made twice`() throws {
    let failure = try failure("cache") {
      let cache = Cache()
      let made = Atomic(0)
      let find: @Sendable () -> Void = {
        guard cache.images.object(forKey: "logo") == nil else { return }
        made.add(1, ordering: .relaxed)
        cache.images.setObject("image", forKey: "logo")
      }
      async let one: Void = find()
      async let other: Void = find()
      _ = await (one, other)
      try require(made.load(ordering: .relaxed) == 1, "made twice")
    }
    #expect("\(failure)".contains("made twice"), "\(failure)")
  }

  @Test func `a race between two calls of a cache, or of a notification centre, is found`() throws {
    let cache = Cache()
    let centre = NotificationCenter()
    let calls: [@Sendable () -> Void] = [
      { cache.images.setObject("image", forKey: "logo") },
      { centre.post(name: .init("done"), object: nil) },
    ]
    for call in calls {
      let failure = try failure("between calls") {
        let box = Box()
        let go: @Sendable () -> Void = {
          call()
          box.value += 1
          call()
        }
        async let one: Void = go()
        async let other: Void = go()
        _ = await (one, other)
      }
      guard case .race = failure.kind else { throw failure }
    }
  }

  @Test func `what is posted before somebody listens is not heard`() throws {
    let failure = try failure("notification") {
      let centre = NotificationCenter()
      let heard = Atomic(false)
      async let post: Void = centre.post(name: .init("done"), object: nil)
      async let listen: Void = {
        _ = centre.addObserver(forName: .init("done"), object: nil, queue: nil) { _ in
          heard.store(true, ordering: .relaxed)
        }
      }()
      _ = await (post, listen)
      try require(heard.load(ordering: .relaxed), "not heard")
    }
    #expect("\(failure)".contains("not heard"), "\(failure)")
  }
}

private final class Box: @unchecked Sendable {
  // Not safe: what explorations are to find.
  var value = 0
}

private final class Cache: @unchecked Sendable {
  // Safe: a cache has a lock of its own.
  let images = NSCache<NSString, NSString>()
}
