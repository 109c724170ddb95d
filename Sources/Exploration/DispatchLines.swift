/// Who is in line at each dispatch queue, and whose turn it is.
///
/// Work comes in the order in which it was given. On a serial queue each waits for the end of the one before. On a
/// concurrent one each begins when those before it have begun; a barrier waits for the end of all before it, and all
/// behind it wait for its end.
package struct DispatchLines: Sendable {
  private struct Line {
    let isSerial: Bool
    var waiting: [(ticket: Int, isAlone: Bool)] = []
    /// Whose turn it is, and whether nobody else's can be.
    var turns: [Int: Bool] = [:]
  }

  private var lines: [Int: Line] = [:]
  /// How often each queue was suspended and not resumed.
  private var suspensions: [Int: Int] = [:]
  private var tickets = 0

  package init() {}

  package mutating func removeAll() { self = DispatchLines() }

  /// Gets in line at a queue; `admitted` are the tickets whose turn has come.
  package mutating func join(
    _ queue: Int,
    isSerial: Bool,
    isAlone: Bool
  ) -> (ticket: Int, admitted: [Int]) {
    tickets += 1
    var line = lines[queue] ?? Line(isSerial: isSerial)
    line.waiting.append((tickets, isAlone || line.isSerial))
    let admitted = admit(&line, of: queue)
    lines[queue] = line
    return (tickets, admitted)
  }

  /// Ends a turn; returns the tickets whose turn has come.
  package mutating func leave(_ queue: Int, _ ticket: Int) -> [Int] {
    guard var line = lines[queue] else { return [] }
    line.turns[ticket] = nil
    let admitted = admit(&line, of: queue)
    lines[queue] = line
    return admitted
  }

  /// Has a queue begin no more work until it is resumed as often.
  package mutating func suspend(_ queue: Int) { suspensions[queue, default: 0] += 1 }

  /// Ends a suspension; returns the tickets whose turn has come.
  package mutating func resume(_ queue: Int) -> [Int] {
    suspensions[queue, default: 0] -= 1
    guard var line = lines[queue] else { return [] }
    let admitted = admit(&line, of: queue)
    lines[queue] = line
    return admitted
  }

  private func admit(_ line: inout Line, of queue: Int) -> [Int] {
    if suspensions[queue, default: 0] > 0 { return [] }
    var admitted: [Int] = []
    while let first = line.waiting.first {
      if first.isAlone ? !line.turns.isEmpty : line.turns.values.contains(true) { break }
      line.turns[first.ticket] = first.isAlone
      line.waiting.removeFirst()
      admitted.append(first.ticket)
    }
    return admitted
  }
}
