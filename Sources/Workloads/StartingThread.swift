internal import Foundation

/// Threads that start tasks with `Task.immediate` and must never do their work.
///
/// An arrival that is due while such a thread serves an earlier task would be late, and a measured
/// wait would then be the harness's doing. The thread carries a mark, so that a task can tell where
/// it is.
package enum StartingThread {
  private static let mark = "starts tasks"

  /// Runs `body` on a new marked thread.
  package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread {
      Thread.current.threadDictionary[mark] = true
      body()
    }
    thread.name = name
    thread.start()
  }

  /// Whether the caller runs on a marked thread.
  package static var isCurrent: Bool { Thread.current.threadDictionary[mark] != nil }
}
