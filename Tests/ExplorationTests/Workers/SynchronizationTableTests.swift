import TestSupport
import Testing

@testable import Exploration

/// What locks and conditions of a schedule are, decided without threads.
@Suite(.watched) struct `Tables of locks and conditions` {
  // MARK: Conditions

  private enum Deed {
    case begin(Int)
    case end(Int)
    case signal, broadcast
  }

  /// All ways in which the system may have given the signals: each to one who waited and had none, at once.
  private struct Worlds {
    private var worlds: Set<Set<Int>> = [[]]
    private(set) var waiting: Set<Int> = []

    mutating func begin(_ worker: Int) { waiting.insert(worker) }

    func hasSignal(_ worker: Int) -> Bool { worlds.contains { $0.contains(worker) } }

    mutating func end(_ worker: Int) {
      if hasSignal(worker) { worlds = worlds.filter { $0.contains(worker) } }
      waiting.remove(worker)
      worlds = Set(worlds.map { $0.subtracting([worker]) })
    }

    mutating func signal(all: Bool) {
      if all {
        worlds = [waiting]
        return
      }
      worlds = worlds.reduce(into: []) { next, signalled in
        let others = waiting.subtracting(signalled)
        next.formUnion(others.isEmpty ? [signalled] : others.map { signalled.union([$0]) })
      }
    }
  }

  private func compare(_ table: ConditionTable, _ worlds: Worlds, left: Int, _ compared: inout Int)
  {
    for worker in 1...3 where worlds.waiting.contains(worker) {
      compared += 1
      #expect(table.hasSignal(7, for: worker) == worlds.hasSignal(worker))
    }
    #expect(!table.hasSignal(8, for: 1))
    guard left > 0 else { return }
    let ends = worlds.waiting.sorted().map(Deed.end)
    let begins = (1...3).filter { !worlds.waiting.contains($0) }.map(Deed.begin)
    for deed in begins + ends + [.signal, .broadcast] {
      var (table, worlds) = (table, worlds)
      switch deed {
      case .begin(let worker):
        table.beginWait(for: 7, by: worker)
        worlds.begin(worker)
      case .end(let worker):
        let hasTaken = table.endWait(for: 7, by: worker)
        #expect(hasTaken == worlds.hasSignal(worker))
        worlds.end(worker)
      case .signal, .broadcast:
        let isForAll = if case .broadcast = deed { true } else { false }
        table.signal(7, all: isForAll)
        worlds.signal(all: isForAll)
      }
      compare(table, worlds, left: left - 1, &compared)
    }
  }

  @Test func `a signal is for each who waited when it was given, in every history of seven deeds`()
  {
    var compared = 0
    compare(ConditionTable(), Worlds(), left: 7, &compared)
    #expect(compared > 50_000)
  }

  // MARK: Locks

  private let mine = LockTable.Holder(worker: 1, choice: Choice(.run, 1))

  @Test func `a lock has one holder, or readers, until the last has released it`() {
    var locks = LockTable()
    locks.take(5, mine)
    #expect(locks.holder(of: 5) == mine)
    #expect(locks.objects(heldBy: 1) == [5])
    #expect(locks.objects(heldBy: 2).isEmpty)
    locks.releaseShared(5)
    #expect(locks.holder(of: 5) == nil)
    locks.takeToRead(5)
    locks.takeToRead(5)
    locks.releaseShared(5)
    #expect(locks.isRead(5))
    locks.releaseShared(5)
    #expect(!locks.isRead(5))
    locks.noteTry(5)
    #expect(locks.isTried(5) && !locks.isTried(6))
    locks.removeAll()
    #expect(!locks.isTried(5))
  }

  @Test func `who waits for itself, or for who waits for it, waits in a circle`() {
    var locks = LockTable()
    for agent in 1...3 {
      locks.take(agent, LockTable.Holder(worker: agent, choice: Choice(.run, agent)))
    }
    #expect(!locks.hasCircle([:]))
    #expect(locks.hasCircle([1: 1]))
    #expect(!locks.hasCircle([1: 2, 2: 3]))
    #expect(locks.hasCircle([1: 2, 2: 3, 3: 1]))
    // Who only waits for a circle is in none, but there is one.
    #expect(locks.hasCircle([1: 2, 2: 3, 3: 2]))
    // Two that hold each other up, and what each has.
    #expect(
      locks.circleOfTwo([1: 2, 2: 3, 3: 2]).map { [Int($0.agent), $0.object] } == [
        [2, 2], [3, 3],
      ]
    )
    #expect(locks.circleOfTwo([1: 1, 2: 3]).isEmpty)
    // Or one of them something that is no lock.
    #expect(
      locks.circleOfTwo([2: 9, 4: 2]) { $0 == 9 ? 4 : nil }.map { [Int($0.agent), $0.object] } == [
        [2, 2], [4, 9],
      ]
    )
    #expect(locks.circleOfTwo([1: 2, 2: 3, 3: 1]).isEmpty)
    locks.release(3)
    #expect(!locks.hasCircle([1: 2, 2: 3, 3: 1]))
  }

  @Test func `who releases a lock eight times in a row lets another take it, and nobody before`() {
    var locks = LockTable()
    func must(_ object: Int, _ agent: Int32) -> Bool {
      locks.mustLetOthersTake(object, after: agent)
    }
    let row = Array(repeating: false, count: LockTable.mostReleases - 1)
    for _ in 1...2 { #expect((0...row.count).map { _ in must(5, 1) } == row + [true]) }
    #expect(row.map { _ in must(5, 1) } == row)
    // Another agent, or another lock, is another row.
    #expect([must(5, 2), must(5, 1), must(6, 1)] == [false, false, false])
  }
}
