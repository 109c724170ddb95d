internal import Dispatch

/// The classic downloader: a concurrent queue, a group and a semaphore, `wait` inside each block.
package final class GCDSemaphoreMechanism: Mechanism {
  package static let id = "gcd-semaphore"

  package static let profile = MechanismProfile(
    waiting: .blocksThread,
    order: .none,
    cancellation: .skippedAtItsTurn,
    clock: .real,
    defaultKind: .block,
    controls: [.barrier, .notification],
    lacks: [
      .limit: "a DispatchSemaphore gets its count when it is made",
      .suspension: "a signal lets in who waits at the semaphore, whatever the queue does",
    ],
    completionSignal: "group.notify came",
    summary: "concurrent DispatchQueue, DispatchGroup and DispatchSemaphore, wait inside the block",
    realOnlyReason: "GCD owns its threads, so gcd-semaphore runs on the wall clock only.",
    explanation: """
      Every block is dispatched at once and waits for the semaphore on the thread it was given. \
      The limit holds, but each waiting task holds a thread that does nothing: twenty tasks at \
      limit 4 can need twenty threads. The group's notify comes after the last block has ended.

      A waiting block cannot be cancelled: it sees that it was when the semaphore lets it in. \
      gcd-gate is the same with the wait moved before the dispatch, which needs one waiting \
      thread in all.
      """
  )

  private let permits: GCDPermits

  package init(_ setup: MechanismSetup) { permits = GCDPermits(limit: setup.limit) }

  package func carry(_ visit: Visit) async {
    visit.arrive()
    await permits.carry(visit) { ticket in
      if visit.task.isBarrier { return self.submitBarrier(ticket) }
      self.permits.queue.async(group: self.permits.group) {
        visit.block()
        self.permits.take()
        ticket.serve()
      }
    }
  }

  /// The queue begins it when all blocks before it have ended, so that a permit is free then.
  private func submitBarrier(_ ticket: GCDPermits.Ticket) {
    permits.queue.async(group: permits.group, flags: .barrier) {
      self.permits.take()
      ticket.serve()
    }
  }

  package func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    for _ in 0..<times {
      await withCheckedContinuation { continuation in
        permits.queue.async {
          self.permits.semaphore.wait()
          body.onThread()
          self.permits.semaphore.signal()
          continuation.resume()
        }
      }
    }
  }

  /// Nobody waits for each: that would charge a block a continuation and a thread's way there and back.
  @concurrent package func passes(_ times: Int) async {
    for _ in 0..<times {
      permits.queue.async(group: permits.group) {
        self.permits.semaphore.wait()
        self.permits.semaphore.signal()
      }
    }
    await permits.allDone()
  }

  package func batch(_ count: Int, _ body: BatchBody) async {
    for index in 0..<count {
      permits.queue.async(group: permits.group) {
        self.permits.take()
        body.onThread(index)
        self.permits.giveBack()
      }
    }
    await permits.allDone()
  }

  package func completed() async { await permits.allDone() }

  package var permitsInUse: Int? { permits.inUse }
}
