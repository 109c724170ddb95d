internal import Basics
internal import Dispatch
internal import Foundation
internal import Mechanisms
internal import Synchronization

/// The costs of the parts that every limiter is made of; a limiter's own cost is what it takes beyond.
package struct Baseline: PairedWorkload {
  private enum Part: String, CaseIterable {
    case loop
    case clock
    case lock
    case explorableLock = "explorable-lock"
    case compareAndSwap = "compare-and-swap"
    case dispatchSemaphore = "dispatch-semaphore"
    case semaphore
    case semaphoreClosure = "semaphore-closure"
    case isCancelled = "is-cancelled"
    case spawn
    case yield
    case continuation
    case recordedEvent = "recorded-event"
  }

  private let part: Part

  package static let all: [any BenchWorkload] = Part.allCases.map { Baseline(part: $0) }

  package var id: String { "baseline-\(part.rawValue)" }
  package let headline: Headline? = Headline(.timePerOperation, "mean")
  package let share = 0.5
  package let measuresMechanisms = false
  package var measuresMachine: Bool { part != .explorableLock && part != .recordedEvent }

  package var question: String {
    switch part {
    case .loop: "What does a turn of an empty loop cost?"
    case .clock: "What does one reading of the monotonic clock cost?"
    case .lock: "What does locking and unlocking an uncontended Mutex cost?"
    case .explorableLock:
      "What does the same cost with a lock that an exploration can stop at, while nothing is explored?"
    case .compareAndSwap: "What does taking and giving back a permit by compare-and-swap cost?"
    case .dispatchSemaphore:
      "What do wait and signal of a DispatchSemaphore with a free permit cost?"
    case .semaphore: "What do wait and signal of a Mutex and a line of continuations cost?"
    case .semaphoreClosure: "What does the same cost when the body is given as a closure?"
    case .isCancelled: "What does asking whether the task is cancelled cost?"
    case .spawn: "What does starting a task and awaiting its value cost?"
    case .yield: "What does one Task.yield() cost with nothing else to run?"
    case .continuation: "What does a checked continuation, resumed at once, cost?"
    case .recordedEvent: "What does recording one event of the trace cost the thread it happens on?"
    }
  }

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] { [Cell(id)] }

  package func runner(_ trial: Trial) -> Runner {
    let parts = Parts()
    return .timed(trial) { times in
      switch part {
      case .loop: for turn in 0..<times { keep(turn) }
      case .clock: for _ in 0..<times { keep(MachineClock.monotonic()) }
      case .lock: for _ in 0..<times { parts.lock.withLock { $0 &+= 1 } }
      case .explorableLock: for _ in 0..<times { parts.explorable.pass() }
      case .compareAndSwap: for _ in 0..<times { Self.takeAndGiveBack(parts.permits) }
      case .dispatchSemaphore: Self.pass(parts.dispatch, times)
      case .semaphore:
        for _ in 0..<times {
          await parts.bare.wait()
          parts.bare.signal()
        }
      case .semaphoreClosure: for _ in 0..<times { try? await parts.bare.run { keep(0) } }
      case .isCancelled: for _ in 0..<times { keep(Task.isCancelled) }
      case .spawn: for _ in 0..<times { await Task {}.value }
      case .yield: for _ in 0..<times { await Task.yield() }
      case .continuation:
        for _ in 0..<times { await withCheckedContinuation { $0.resume() } }
      case .recordedEvent: recordEvents(times)
      }
    }
  }

  /// What is taken and given back.
  private final class Parts: Sendable {
    let lock = Mutex(0)
    let permits = Atomic(1)
    let explorable = ExplorableLock()
    let bare = BareSemaphore(permits: 1)
    let dispatch = DispatchSemaphore(value: 1)
  }

  @inline(__always)
  private static func takeAndGiveBack(_ permits: borrowing Atomic<Int>) {
    for change in [-1, 1] {
      var seen = permits.load(ordering: .relaxed)
      while true {
        let (done, now) = permits.weakCompareExchange(
          expected: seen,
          desired: seen + change,
          ordering: .acquiringAndReleasing
        )
        if done { break }
        seen = now
      }
    }
  }

  /// Never blocks: nobody else takes the permit.
  private static func pass(_ semaphore: DispatchSemaphore, _ times: Int) {
    for _ in 0..<times {
      semaphore.wait()
      semaphore.signal()
    }
  }

  /// A new recorder now and then, because one keeps every event it was given.
  private func recordEvents(_ times: Int) {
    var left = times
    while left > 0 {
      let recorder = TraceRecorder(source: WallTraceSource())
      for _ in 0..<min(left, 100_000) { recorder.record(.resumed, of: TaskID(1)) }
      left -= min(left, 100_000)
    }
  }
}

/// Does nothing with the value in a place the optimiser cannot look into, so that the loop around it
/// stays.
@inline(never) @_optimize(none)
func keep<Value>(_ value: Value) {}
