import Dispatch
import Foundation
import Synchronization

/// Threads that drawn programs start, and what they wait by.
final class DrawnThreads: @unchecked Sendable {
  // Safe: what is not a lock or an atomic is used under one, or by one thread.
  private let own = Mutex<[pthread_t]>([])
  private let others = DispatchGroup()
  private let alone = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
  private let signals = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
  private let seen = Mutex("")
  private let number = Atomic(0)
  private var order = ""

  init() {
    sem_init(alone, 0, 1)
    sem_init(signals, 0, 0)
  }

  deinit {
    for semaphore in [alone, signals] {
      sem_destroy(semaphore)
      semaphore.deallocate()
    }
  }

  private func start(_ run: @escaping () -> Void) {
    let thread = startThread(run)
    own.withLock { $0.append(thread) }
  }

  private func note(_ text: String) { seen.withLock { $0 += text } }

  func act(_ deed: DrawnProgram.Deed, _ task: Int) -> String {
    switch deed {
    case .thread: start { self.note("\(task)") }
    case .threadThatCounts:
      start {
        let found = self.number.load(ordering: .relaxed)
        self.number.store(found + task + 1, ordering: .relaxed)
      }
    case .threadOfFoundation:
      others.enter()
      Thread.detachNewThread {
        self.note("\(task + 3)")
        self.others.leave()
      }
    case .threadThatSignals: start { sem_post(self.signals) }
    case .joinThread:
      guard let thread = own.withLock({ $0.popLast() }) else { return "-" }
      pthread_join(thread, nil)
      return seen.withLock { $0 }
    case .countOfThreads: return "\(number.load(ordering: .relaxed))"
    case .post: sem_post(signals)
    case .takePost: sem_wait(signals)
    case .tryPost: return sem_trywait(signals) == 0 ? "p" : "n"
    case .enterBySemaphore:
      sem_wait(alone)
      order += "\(task)"
      sem_post(alone)
    default: fatalError("\(deed)")
    }
    return ""
  }

  /// Waits for all of them.
  func settle() {
    while let thread = own.withLock({ $0.popLast() }) { pthread_join(thread, nil) }
    others.wait()
  }

  var text: String { seen.withLock { $0 } + order + "\(number.load(ordering: .relaxed))" }
}
