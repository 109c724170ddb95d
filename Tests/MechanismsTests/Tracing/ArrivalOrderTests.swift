import Mechanisms
import TestSupport
import Testing

@Suite(.watched)
struct ArrivalOrderTests {
  /// The definition, word for word.
  ///
  /// For each admission: was an earlier arrival still waiting which was not to leave without being
  /// admitted?
  static func byDefinition(_ events: [TraceEvent], limit: Int) -> (inversions: Int, breaks: Int) {
    var inversions = 0
    var breaks = 0
    for (now, admission) in events.enumerated() where admission.kind == .admitted {
      func position(_ task: TaskID, _ matches: (TraceEvent.Kind) -> Bool) -> Int? {
        events.firstIndex { $0.task == task && matches($0.kind) }
      }
      guard let arrival = position(admission.task, { $0 == .arrived }) else { continue }
      let ahead = events[..<arrival].filter { other in
        guard other.kind == .arrived else { return false }
        let admitted = position(other.task) { $0 == .admitted }
        let left = position(other.task) { $0 == .cancelled(.waiting) || $0 == .rejected }
        return left == nil && (admitted ?? .max) > now
      }
      let running = events[...now].filter { other in
        guard other.kind == .admitted else { return false }
        return (position(other.task) { $0.isEnd } ?? .max) > now
      }
      if ahead.isEmpty { continue }
      inversions += 1
      if running.count + ahead.count > limit { breaks += 1 }
    }
    return (inversions, breaks)
  }

  static func measured(_ events: [TraceEvent], tasks: Int, limit: Int) -> (
    inversions: Int, breaks: Int
  ) {
    let lives = TaskLife.all(in: events, tasks: tasks)
    let order = ArrivalOrder(events: events, lives: lives, limit: limit)
    return (order.inversions, order.breaks)
  }

  /// Every order in which three tasks can arrive, be admitted or give up, and end.
  @Test
  func `every log of three tasks has the inversions the definition gives it`() {
    var logs = 0
    var withInversions = 0
    /// What has happened to each task: 0 nothing, 1 arrived, 2 admitted, 3 over.
    func explore(_ states: [Int], _ events: [TraceEvent]) {
      if states.allSatisfy({ $0 == 3 }) {
        logs += 1
        for limit in 1...3 {
          let expected = Self.byDefinition(events, limit: limit)
          let measured = Self.measured(events, tasks: 3, limit: limit)
          if expected != measured { Issue.record("\(events): \(measured), not \(expected)") }
          if expected.inversions > 0 { withInversions += 1 }
        }
        return
      }
      let moves: [(Int, [(TraceEvent.Kind, Int)])] = [
        (0, [(.arrived, 1)]), (1, [(.admitted, 2), (.cancelled(.waiting), 3)]),
        (2, [(.finished, 3)]),
      ]
      for task in 0..<3 {
        for (state, kinds) in moves where states[task] == state {
          for (kind, next) in kinds {
            var after = states
            after[task] = next
            let time = Int64(events.count / 2)
            explore(after, events + [TraceEvent(time: time, task: TaskID(task + 1), kind: kind)])
          }
        }
      }
    }
    explore([0, 0, 0], [])
    // 9!/(3!)³ orders of three lives of three events, and those with lives of two.
    #expect(logs == 1_680 + 3 * 560 + 3 * 210 + 90)
    #expect(withInversions > 1_000)
  }

  @Test(arguments: 1...60)
  func `random logs agree with the definition`(seed: Int) {
    let log = RandomLog(tasks: 40, limit: 3, seed: UInt64(seed))
    let expected = Self.byDefinition(log.events, limit: 3)
    let measured = Self.measured(log.events, tasks: 40, limit: 3)
    #expect(measured == expected)
  }

  @Test
  func `two permits handed over together may start in either order: seen, but no break`() {
    let events = log(
      (0, 1, .arrived),
      (0, 1, .admitted),
      (0, 2, .arrived),
      (0, 2, .admitted),
      (0, 3, .arrived),
      (0, 4, .arrived),
      (9, 1, .finished),
      (9, 2, .finished),
      (9, 4, .admitted),
      (9, 3, .admitted),
      (12, 3, .finished),
      (12, 4, .finished)
    )
    #expect(Self.measured(events, tasks: 4, limit: 2) == (1, 0))
  }

  @Test
  func `a newcomer that takes the only permit breaks the order for certain`() {
    let events = log(
      (0, 1, .arrived),
      (0, 1, .admitted),
      (1, 2, .arrived),
      (5, 1, .finished),
      (5, 3, .arrived),
      (5, 3, .admitted),
      (8, 3, .finished),
      (8, 2, .admitted),
      (9, 2, .finished)
    )
    let lives = TaskLife.all(in: events, tasks: 3)
    let order = ArrivalOrder(events: events, lives: lives, limit: 1)
    #expect(order.breaks == 1)
    #expect(order.firstBreak?.time == 5)
    #expect(order.firstBreak?.task == TaskID(3))
    #expect(order.firstBreak?.overtaken == TaskID(2))
  }

  @Test
  func `a waiter that is left for ever is overtaken by all who follow`() {
    let events = log(
      (0, 1, .arrived),
      (0, 2, .arrived),
      (0, 2, .admitted),
      (1, 2, .finished),
      (2, 3, .arrived),
      (2, 3, .admitted),
      (3, 3, .finished)
    )
    #expect(Self.measured(events, tasks: 3, limit: 1) == (2, 2))
  }
}
