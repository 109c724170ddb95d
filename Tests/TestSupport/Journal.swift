internal import Synchronization

/// What happened, in order.
package final class Journal: Sendable {
  private let lines = Mutex<[String]>([])

  package init() {}

  package var entries: [String] { lines.withLock { $0 } }

  package func note(_ line: String) { lines.withLock { $0.append(line) } }
}
