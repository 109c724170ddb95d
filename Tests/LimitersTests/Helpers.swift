import Limiters
import Synchronization
import Testing

/// What happened, in order.
final class Journal: Sendable {
  private let lines = Mutex<[String]>([])

  var entries: [String] { lines.withLock { $0 } }

  func note(_ line: String) { lines.withLock { $0.append(line) } }
}

/// Counts the objects of this type that are alive.
final class Tracked: Sendable {
  final class Census: Sendable {
    private let count = Atomic(0)
    var living: Int { count.load(ordering: .acquiring) }
    fileprivate func change(by delta: Int) { count.add(delta, ordering: .acquiringAndReleasing) }
  }

  private let census: Census

  init(in census: Census) {
    self.census = census
    census.change(by: 1)
  }

  deinit { census.change(by: -1) }
}

struct Failure: Error, Equatable {}

/// What a process that was expected to stop said.
func message(of result: ExitTest.Result?) -> String {
  String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
}
