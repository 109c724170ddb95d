internal import Dispatch

/// The downloader mended: the submitting side waits for the semaphore before it dispatches.
package final class GCDGateMechanism: Mechanism {
  package static let id = "gcd-gate"

  package static let profile = MechanismProfile(
    waiting: .queued,
    order: .fifo,
    cancellation: .skippedAtItsTurn,
    clock: .real,
    defaultKind: .block,
    controls: [.barrier, .notification],
    lacks: [
      .limit: "a DispatchSemaphore gets its count when it is made",
      .suspension: "a signal lets in who waits at the semaphore, whatever the queue does",
    ],
    completionSignal: "group.notify came",
    summary: "the same, wait on the submitting side before dispatch",
    realOnlyReason: "GCD owns its threads, so gcd-gate runs on the wall clock only.",
    explanation: """
      One submitting thread takes the tasks in order: it waits for a permit, dispatches the \
      block, and goes on to the next. Only tasks that hold a permit are given a thread, so at \
      most limit + 1 threads are held: the running ones and the one that waits at the gate.

      Never use the main thread as the submitting side: it would block.
      """
  )

  private let permits: GCDPermits
  private let gate = DispatchQueue(label: "gate")

  package init(_ setup: MechanismSetup) { permits = GCDPermits(limit: setup.limit) }

  package func carry(_ visit: Visit) async {
    visit.arrive()
    await permits.carry(visit) { ticket in
      self.gate.async(group: self.permits.group) {
        visit.block()
        self.permits.take()
        visit.unblock()
        // A barrier has the queue to itself: it begins when all blocks before it have ended.
        let flags: DispatchWorkItemFlags = visit.task.isBarrier ? .barrier : []
        self.permits.queue.async(group: self.permits.group, flags: flags) { ticket.serve() }
      }
    }
  }

  package func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    for _ in 0..<times {
      await withCheckedContinuation { continuation in
        gate.async {
          self.permits.semaphore.wait()
          self.permits.queue.async {
            body.onThread()
            self.permits.semaphore.signal()
            continuation.resume()
          }
        }
      }
    }
  }

  /// Nobody waits for each: that would charge a block a continuation and a thread's way there and back.
  @concurrent package func passes(_ times: Int) async {
    for _ in 0..<times {
      gate.async(group: permits.group) {
        self.permits.semaphore.wait()
        self.permits.queue.async(group: self.permits.group) { self.permits.semaphore.signal() }
      }
    }
    await permits.allDone()
  }

  package func batch(_ count: Int, _ body: BatchBody) async {
    for index in 0..<count {
      gate.async(group: permits.group) {
        self.permits.take()
        self.permits.queue.async(group: self.permits.group) {
          body.onThread(index)
          self.permits.giveBack()
        }
      }
    }
    await permits.allDone()
  }

  package func completed() async { await permits.allDone() }

  package var permitsInUse: Int? { permits.inUse }
}
