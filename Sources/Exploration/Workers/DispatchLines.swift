/// Who is in line at each dispatch queue, and whose turn it is.
///
/// Work comes in the order in which it was given. On a serial queue each waits for the end of the one before. On a
/// concurrent one each begins when those before it have begun; a barrier waits for the end of all before it, and all
/// behind it wait for its end.
///
/// Work of a queue whose target is a serial queue is in line at that one. So of two such queues the work comes in the
/// order in which it was given to either, which is one of those that may be.
package struct DispatchLines: Sendable {
  private struct Line {
    let isSerial: Bool
    var waiting: [(ticket: Int, queue: Int, isAlone: Bool)] = []
    /// Whose turn it is, and whether nobody else's can be.
    var turns: [Int: Bool] = [:]
  }

  private var lines: [Int: Line] = [:]
  /// How often each queue was suspended and not resumed.
  private var suspensions: [Int: Int] = [:]
  /// Where the work of each queue is in line, if that is another.
  private var roots: [Int: Int] = [:]
  private var tickets = 0

  package init() {}

  package mutating func removeAll() { self = DispatchLines() }

  /// Gets in line at a queue, with work of `other` if that is another; `admitted` are the tickets whose turn has come.
  package mutating func join(
    _ queue: Int,
    from other: Int? = nil,
    isSerial: Bool,
    isAlone: Bool
  ) -> (ticket: Int, admitted: [Int]) {
    tickets += 1
    var line = lines[queue] ?? Line(isSerial: isSerial)
    if let other, other != queue { roots[other] = queue }
    line.waiting.append((tickets, other ?? queue, isAlone || line.isSerial))
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
    let root = roots[queue] ?? queue
    guard var line = lines[root] else { return [] }
    let admitted = admit(&line, of: root)
    lines[root] = line
    return admitted
  }

  /// Why who waits at a queue has no turn, beside those who have one.
  package enum Obstacle: Equatable, Sendable {
    case suspension
    /// Work that must be alone is before it.
    case barrier
  }

  /// Nil if nothing is in the way but those who have their turn.
  package func obstacle(before ticket: Int, at queue: Int) -> Obstacle? {
    guard let line = lines[queue], let own = line.waiting.first(where: { $0.ticket == ticket })
    else { return nil }
    if suspensions[queue, default: 0] > 0 || suspensions[own.queue, default: 0] > 0 {
      return .suspension
    }
    let before = line.waiting.prefix { $0.ticket != ticket }
    return !line.isSerial && before.contains(where: \.isAlone) ? .barrier : nil
  }

  private func admit(_ line: inout Line, of queue: Int) -> [Int] {
    if suspensions[queue, default: 0] > 0 { return [] }
    var admitted: [Int] = []
    // Work of a queue that is suspended keeps nobody else's.
    while let place = line.waiting.firstIndex(where: { suspensions[$0.queue, default: 0] <= 0 }) {
      let first = line.waiting[place]
      if first.isAlone ? !line.turns.isEmpty : line.turns.values.contains(true) { break }
      line.turns[first.ticket] = first.isAlone
      line.waiting.remove(at: place)
      admitted.append(first.ticket)
    }
    return admitted
  }
}
