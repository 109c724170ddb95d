internal import CExplorable

/// Code that was run, and of which nobody sees what it touches.
struct UnseenCode {
  /// Where jobs began that came to no instrumented code, the first few, though they are of the code under study.
  private(set) var beginnings: Set<UInt> = []
  /// Whether the closure itself is not instrumented.
  private(set) var isClosureUnseen = false
  /// The functions that the code called whose work nobody sees, and from where first.
  private(set) var calls: [String: [UInt]] = [:]

  private static let mostBeginnings = 8

  /// Whether there was none.
  var isEmpty: Bool { !isClosureUnseen && beginnings.isEmpty && calls.isEmpty }

  /// Notes that a job which began there, `isFirst` of all, came to no instrumented code.
  mutating func note(beginning: UInt, isFirst: Bool) {
    if isFirst { isClosureUnseen = true }
    guard beginning != 0, beginnings.count < Self.mostBeginnings, !beginnings.contains(beginning),
      code_is_under_study(beginning)
    else { return }
    beginnings.insert(beginning)
  }

  /// Notes that the code under study calls such a function, if it is the first time.
  ///
  /// - Returns: where; nil if it was noted before. To look where the code stands takes long.
  mutating func note(call name: String, at points: () -> [UInt]) -> [UInt]? {
    guard calls[name] == nil else { return nil }
    let points = points()
    calls[name] = points
    return points
  }
}
