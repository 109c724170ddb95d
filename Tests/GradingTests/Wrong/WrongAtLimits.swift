import Dispatch
import Grading

// Batches whose files hold threads without a permit, where the limit is not 1.

/// How files come to their permits.
protocol Gates: SendableMetatype {
  /// How many gates there are at a limit; 0 for none, so that each file waits with a thread of its own.
  static func gates(_ limit: Int) -> Int
}

final class GatedAtLimits<G: Gates>: LearnerBatch {
  private let queue = DispatchQueue(label: "downloads", attributes: .concurrent)
  private let permits: DispatchSemaphore
  private let gates: [DispatchQueue]

  init(limit: Int) {
    permits = DispatchSemaphore(value: limit)
    gates = (0..<G.gates(limit)).map { DispatchQueue(label: "gate \($0)") }
  }

  func download(
    _ files: [Int],
    _ fetch: @escaping @Sendable (Int) -> Void,
    whenAll: @escaping @Sendable () -> Void
  ) {
    let group = DispatchGroup()
    for (number, file) in files.enumerated() {
      let work: @Sendable () -> Void = { [permits] in
        fetch(file)
        permits.signal()
      }
      if gates.isEmpty {
        queue.async(group: group) { [permits] in
          permits.wait()
          work()
        }
      } else {
        gates[number % gates.count].async(group: group) { [queue, permits] in
          permits.wait()
          queue.async(group: group, execute: work)
        }
      }
    }
    group.notify(queue: queue, execute: whenAll)
  }
}

enum OneGate: Gates {
  static func gates(_ limit: Int) -> Int { 1 }
}

enum GateForEachPermit: Gates {
  static func gates(_ limit: Int) -> Int { limit }
}

enum GateAtOneOnly: Gates {
  static func gates(_ limit: Int) -> Int { limit == 1 ? 1 : 0 }
}

/// Has one file more begin, which waits for its permit with a second thread.
final class OneAhead: LearnerBatch {
  private let queue = DispatchQueue(label: "downloads", attributes: .concurrent)
  private let gate = DispatchQueue(label: "gate")
  private let ahead = DispatchSemaphore(value: 1)
  private let permits: DispatchSemaphore

  init(limit: Int) { permits = DispatchSemaphore(value: limit) }

  func download(
    _ files: [Int],
    _ fetch: @escaping @Sendable (Int) -> Void,
    whenAll: @escaping @Sendable () -> Void
  ) {
    let group = DispatchGroup()
    for file in files {
      gate.async(group: group) { [queue, permits, ahead] in
        ahead.wait()
        queue.async(group: group) {
          permits.wait()
          ahead.signal()
          fetch(file)
          permits.signal()
        }
      }
    }
    group.notify(queue: queue, execute: whenAll)
  }
}
