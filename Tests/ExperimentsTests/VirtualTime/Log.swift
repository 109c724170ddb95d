import Synchronization

/// What happened, in order, from any task.
final class Log<Line: Sendable>: Sendable {
  private let noted = Mutex<[Line]>([])

  func note(_ line: Line) { noted.withLock { $0.append(line) } }

  var lines: [Line] { noted.withLock { $0 } }
}
