internal import Dispatch
package import Limiters
internal import Synchronization

// Many downloads, at most so many at once, three times.
//
// The three do the same, and each says when all have ended: last of all. What differs is what a download
// that waits costs, and who can cancel it.
//
// - Group and semaphore, as the classic app has it: one thread waits at the semaphore before each
//   download is begun, and the group's `notify` comes after the last `leave`. Nothing can be cancelled, and
//   nothing knows of tasks: that is where the wait belongs when there are none.
// - A limiter: each download is a task, which waits in the limiter's line, suspended; cancelling one takes
//   it out of the line. Wherever else in the program the same server is asked, the same limiter counts.
// - A task group: only the downloads that run are tasks. The limit holds for this list and no other; nothing
//   outlives the call, and cancelling its task cancels all.

/// How a list of downloads is run; `download` brings one item.
package enum DownloadList {
  /// With a group and a semaphore; `download` calls what it is given when it has ended.
  package static func withGroupAndSemaphore<Item: Sendable>(
    _ items: [Item],
    limit: Int,
    _ download: @escaping @Sendable (Item, _ ended: @escaping @Sendable () -> Void) -> Void
  ) async {
    let group = DispatchGroup()
    let semaphore = DispatchSemaphore(value: limit)
    let gate = DispatchQueue(label: "download gate")
    await withCheckedContinuation { continuation in
      gate.async {
        for item in items {
          semaphore.wait()
          group.enter()
          download(item) {
            semaphore.signal()
            group.leave()
          }
        }
        group.notify(queue: gate) { continuation.resume() }
      }
    }
  }

  /// With a limiter, which the rest of the program may use as well.
  package static func withLimiter<Item: Sendable>(
    _ items: [Item],
    _ limiter: ConcurrencyLimiter,
    _ download: @escaping @Sendable (Item) async throws -> Void
  ) async -> [Result<Void, any Error>] {
    let tasks = items.map { item in Task { try await limiter.run { try await download(item) } } }
    return await withTaskCancellationHandler {
      var results: [Result<Void, any Error>] = []
      for task in tasks { results.append(await task.result) }
      return results
    } onCancel: {
      for task in tasks { task.cancel() }
    }
  }

  /// With a task group that has at most `limit` children; the first error cancels the others.
  package static func withTaskGroup<Item: Sendable>(
    _ items: [Item],
    limit: Int,
    _ download: @escaping @Sendable (Item) async throws -> Void
  ) async throws {
    try await items.concurrentForEach(limit: limit) { try await download($0) }
  }
}
