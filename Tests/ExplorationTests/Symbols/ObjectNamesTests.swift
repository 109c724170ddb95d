import ExplorableSynchronization
import TestSupport
import Testing

@testable import Exploration

@Suite(.watched) struct ObjectNamesTests {
  @Test(
    arguments: [
      ("let next = line.withLock { $0.first }", .lock, "line"),
      ("self.state.withLock { count.add(1, ordering: .relaxed) }", .lock, "state"),
      ("self.state.withLock { count.add(1, ordering: .relaxed) }", .update, "count"),
      ("free.store(free.load(ordering: .relaxed) + 1, ordering: .relaxed)", .load, "free"),
      ("one.store(two.load(ordering: .relaxed), ordering: .relaxed)", .store, "one"),
      ("if flag.logicalOr(true, ordering: .relaxed).oldValue {", .exchange, "flag"),
      ("most.max(1, ordering: .relaxed)  // not least.max(1)", .update, "most"),
      ("_count.load(ordering: .relaxed)", .load, "_count"),
      ("pair.0.load(ordering: .relaxed)", .load, nil),
      ("count.add(1, ordering: .relaxed)", .load, "count"),
      ("count.subtract(1, ordering: .relaxed)", .compare, "count"),
      ("count.add(other.load(ordering: .relaxed), ordering: .relaxed)", .load, nil),
      ("parker.park(atMost: .seconds(1))", .parkAWhile, "parker"),
      // Of several, or of one without a name, none is told.
      ("a.load(ordering: .relaxed) + b.load(ordering: .relaxed)", .load, nil),
      ("slots[2].store(1, ordering: .relaxed)", .store, nil),
      ("slots[2].store(1, ordering: .relaxed); bag.store(1)", .store, nil),
      ("group.addTask { slots[0].store(1, ordering: .relaxed) }", .store, nil),
      ("group.addTask { slots[0].add(1, ordering: .relaxed) }", .update, nil),
      ("thread.join()", .join, nil),
      ("", .load, nil),
    ] as [(String, SynchronizationOperation.Kind, String?)]
  )
  func `an object is called what the line calls it`(
    line: String,
    kind: SynchronizationOperation.Kind,
    name: String?
  ) {
    #expect(ObjectNames.name(in: line, of: SynchronizationOperation(kind, 1)) == name)
  }
}
