internal import Synchronization

/// Which part of a grading is under way, for who waits for it.
final class GradingProgress: Sendable {
  enum Part: Hashable, Sendable {
    /// Another lab builds or grades here.
    case waiting
    case building
    /// What is asked, and how many questions come before it.
    case asking(String?, before: Int)
  }

  private let state = Mutex<(part: Part, since: ContinuousClock.Instant)>((.building, .now))

  func note(_ part: Part) {
    state.withLock { state in
      let isSame =
        if case .asking = part, case .asking = state.part { true } else { part == state.part }
      state = (part, isSame ? state.since : .now)
    }
  }

  /// One line: what is done, and since how many seconds.
  var text: String {
    let (part, since) = state.withLock { $0 }
    return Self.text(part, seconds: Int((ContinuousClock.now - since) / .seconds(1)))
  }

  static func text(_ part: Part, seconds: Int) -> String {
    let what =
      switch part {
      case .waiting: "waiting for another lab that grades, \(seconds) s"
      case .building:
        "building, \(seconds) s"
          + (seconds < 20 ? "" : "; the first time, or beside another build, it takes minutes")
      case .asking(nil, _): "grading, \(seconds) s"
      case .asking(let asked?, let before):
        "grading, \(seconds) s: no. \(before + 1), \(shortened(asked))"
      }
    return what + "; Ctrl-C ends it"
  }

  /// As much of it as there is room for in a line of a small terminal.
  private static func shortened(_ asked: String) -> String {
    asked.count <= mostLetters ? asked : asked.prefix(mostLetters - 2) + " …"
  }

  private static let mostLetters = 36
}
