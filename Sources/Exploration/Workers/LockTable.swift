/// Who holds which lock of a schedule, as the jobs that came to them said; pure decisions.
///
/// Locks are known by the numbers of objects, jobs by those of their workers.
struct LockTable {
  /// Who took a lock, and in whose name: a task may keep a lock while it is suspended, and another one runs on the
  /// thread then.
  struct Holder: Equatable {
    var worker: Int
    var choice: Choice
  }

  private var holders: [Int: Holder] = [:]
  /// How many have each lock together, to read.
  private var readers: [Int: Int] = [:]
  /// How many wait to write for each lock whose readers let writers in first.
  private var writers: [Int: Int] = [:]
  /// The locks that somebody has tried to take.
  private var tried: Set<Int> = []
  /// Which lock was released last that another waited for, by whom, and how often in a row.
  private var releases: (object: Int, agent: Int32, count: Int) = (0, 0, 0)

  /// After so many in a row it is the turn of who waits.
  static let mostReleases = 8

  mutating func removeAll() {
    holders.removeAll(keepingCapacity: true)
    readers.removeAll(keepingCapacity: true)
    writers.removeAll(keepingCapacity: true)
    tried.removeAll(keepingCapacity: true)
    releases = (0, 0, 0)
  }

  /// Who has it for himself; nil if nobody has.
  func holder(of object: Int) -> Holder? { holders[object] }

  func isRead(_ object: Int) -> Bool { readers[object] != nil }

  /// Whether a reader has to wait behind a writer that waits for other readers.
  func isReservedForWriters(_ object: Int) -> Bool {
    isRead(object) && writers[object, default: 0] > 0
  }

  func isTried(_ object: Int) -> Bool { tried.contains(object) }

  /// The locks that the worker's job has for itself.
  ///
  /// - Complexity: O(n), where n is the number of locks that are held.
  func objects(heldBy worker: Int) -> [Int] {
    holders.lazy.filter { $0.value.worker == worker }.map(\.key)
  }

  mutating func noteTry(_ object: Int) { tried.insert(object) }

  mutating func take(_ object: Int, _ holder: Holder) { holders[object] = holder }

  mutating func takeToRead(_ object: Int) { readers[object, default: 0] += 1 }

  mutating func noteWriter(_ object: Int, waits: Bool) {
    writers[object, default: 0] += waits ? 1 : -1
  }

  mutating func release(_ object: Int) { holders[object] = nil }

  /// Who has it for himself has released it, or else one of those who read.
  mutating func releaseShared(_ object: Int) {
    guard let count = readers[object] else { return release(object) }
    readers[object] = count == 1 ? nil : count - 1
  }

  /// Looks for agents that wait for each other in a circle, or one for itself: none of those ever goes on.
  ///
  /// - Parameter waits: the lock that each agent waits for.
  /// - Returns: whether there is a circle.
  /// - Complexity: O(n²), where n is the number of agents that wait.
  func hasCircle(_ waits: [Int32: Int]) -> Bool {
    waits.keys.contains { first in
      var agent = first
      for _ in waits {
        guard let object = waits[agent], let holder = holders[object] else { return false }
        agent = holder.choice.agent
        if agent == first { return true }
      }
      return false
    }
  }

  /// What an agent has.
  struct Holding: Equatable {
    var agent: Int32
    var object: Int
  }

  /// Looks for two agents that wait for each other.
  ///
  /// - Parameters:
  ///   - waits: the lock, or other object, that each agent waits for.
  ///   - holder: who has an object that is no lock.
  /// - Returns: each of the first two with the object that the other waits for; nothing if there are none.
  func circleOfTwo(
    _ waits: [Int32: Int],
    _ holder: (Int) -> Int32? = { _ in nil }
  ) -> [Holding] {
    func holding(_ object: Int) -> Int32? { holders[object]?.choice.agent ?? holder(object) }
    for (agent, object) in waits.sorted(by: { $0.key < $1.key }) {
      guard let other = holding(object), other != agent, let back = waits[other],
        holding(back) == agent
      else { continue }
      return [Holding(agent: agent, object: back), Holding(agent: other, object: object)]
    }
    return []
  }

  /// Whether the agent has released the lock so often in a row, while somebody waits for it, that it has to be that
  /// one's turn.
  mutating func mustLetOthersTake(_ object: Int, after agent: Int32) -> Bool {
    let isAgain = releases.object == object && releases.agent == agent
    releases = (object, agent, isAgain ? releases.count + 1 : 1)
    if releases.count < Self.mostReleases { return false }
    releases.count = 0
    return true
  }
}
