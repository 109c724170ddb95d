import Exploration

/// One permit; a waiter that was handed it may find itself cancelled, and throws.
actor AsyncSemaphore {
  private var isFree = true
  private var line: [(id: Int, continuation: CheckedContinuation<Void, Never>)] = []
  private var ids = 0
  /// The repair: who throws passes the permit on.
  private let passesOn: Bool

  init(passesOn: Bool = false) { self.passesOn = passesOn }

  func wait() async throws {
    if isFree {
      isFree = false
      return
    }
    ids += 1
    let id = ids
    var wasHandedPermit = false
    await withTaskCancellationHandler {
      await withCheckedContinuation { line.append((id, $0)) }
      wasHandedPermit = !leaves.contains(id)
    } onCancel: {
      Task { await leave(id) }
    }
    if Task.isCancelled {
      if passesOn, wasHandedPermit { signal() }
      throw CancellationError()
    }
  }

  func signal() {
    if line.isEmpty { isFree = true } else { line.removeFirst().continuation.resume() }
  }

  private var leaves: Set<Int> = []

  private func leave(_ id: Int) {
    guard let index = line.firstIndex(where: { $0.id == id }) else { return }
    leaves.insert(id)
    line.remove(at: index).continuation.resume()
  }
}

private func useSemaphore(_ semaphore: AsyncSemaphore) async throws {
  try await semaphore.wait()
  let waiter = Task {
    try await semaphore.wait()
    await semaphore.signal()
  }
  let canceller = Task { waiter.cancel() }
  await Task.yield()
  await semaphore.signal()
  await canceller.value
  _ = await waiter.result
  try await semaphore.wait()
}

func exploreSemaphore(replaying schedule: String? = nil) throws(ExplorationFailure) {
  try explore("a semaphore", replaying: schedule) {
    try await useSemaphore(AsyncSemaphore())
  }
}

func exploreRepairedSemaphore() throws(ExplorationFailure) -> ExplorationVerdict {
  try explore("a semaphore") {
    try await useSemaphore(AsyncSemaphore(passesOn: true))
  }
}
