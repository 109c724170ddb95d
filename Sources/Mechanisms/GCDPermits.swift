internal import Dispatch
internal import Limiters
internal import Synchronization

/// What both GCD mechanisms are made of: a concurrent queue, a group, a counting semaphore.
final class GCDPermits: Sendable {
  let queue = DispatchQueue(label: "work", attributes: .concurrent)
  let group = DispatchGroup()
  let semaphore: DispatchSemaphore
  private let taken = Atomic(0)

  init(limit: Int) { semaphore = DispatchSemaphore(value: limit) }

  var inUse: Int { taken.load(ordering: .relaxed) }

  /// Blocks the calling thread until a permit is free.
  func take() {
    semaphore.wait()
    taken.add(1, ordering: .relaxed)
  }

  func giveBack() {
    taken.subtract(1, ordering: .relaxed)
    semaphore.signal()
  }

  /// Submits a visit and returns when it has ended.
  ///
  /// `submit` must see to it that the ticket is served once, by a thread that has taken a permit.
  func carry(_ visit: Visit, submit: (Ticket) -> Void) async {
    let isCancelled = CancellationFlag()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        submit(
          Ticket(visit: visit, permits: self, isCancelled: isCancelled, continuation: continuation)
        )
      }
    } onCancel: {
      isCancelled.raise()
    }
  }

  /// Returns when the group says that everything submitted has ended.
  func allDone() async {
    await withCheckedContinuation { continuation in
      group.notify(queue: queue) { continuation.resume() }
    }
  }

  /// A visit on its way through the semaphore.
  struct Ticket: Sendable {
    let visit: Visit
    let permits: GCDPermits
    let isCancelled: CancellationFlag
    let continuation: CheckedContinuation<Void, Never>

    /// Serves the visit with the permit the caller took, and gives the permit back.
    func serve() {
      if isCancelled.isRaised {
        visit.leave()
        end()
      } else if visit.task.kind.needsTask {
        serveOnTask()
      } else {
        // The outcome is in the trace, and a block has nobody to throw to.
        try? visit.serveOnThread(isCancelled: { isCancelled.isRaised })
        end()
      }
    }

    /// Suspending work goes on in a task; the permit and the group are held until that has ended.
    private func serveOnTask() {
      permits.group.enter()
      let body = Task {
        try? await visit.serve()
        end()
        permits.group.leave()
      }
      isCancelled.whenRaised { body.cancel() }
    }

    private func end() {
      permits.giveBack()
      continuation.resume()
    }
  }
}

/// Raised once, read from any thread.
final class CancellationFlag: Sendable {
  private enum State {
    case lowered(action: (@Sendable () -> Void)?)
    case raised
  }

  private let state = Lock(State.lowered(action: nil))

  var isRaised: Bool {
    state.withLock {
      switch $0 {
      case .lowered: false
      case .raised: true
      }
    }
  }

  func raise() {
    let action: (@Sendable () -> Void)? = state.withLock { state in
      defer { state = .raised }
      switch state {
      case .lowered(let action): return action
      case .raised: return nil
      }
    }
    action?()
  }

  /// Calls `action` when the flag is raised, at once if it is already.
  func whenRaised(_ action: @escaping @Sendable () -> Void) {
    let already = state.withLock {
      switch $0 {
      case .lowered:
        $0 = .lowered(action: action)
        return false
      case .raised:
        return true
      }
    }
    if already { action() }
  }
}
