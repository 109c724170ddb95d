import Exploration

/// Opens at most `limit` connections; counts one only when it is open.
actor ConnectionPool {
  private let limit: Int
  private let countsFirst: Bool
  private var free: [Int] = []
  private var line: [CheckedContinuation<Int, Never>] = []
  private var made = 0
  private(set) var opened = 0

  /// The repair is to count first: a connection counts as soon as it is decided on.
  init(limit: Int, countsFirst: Bool = false) {
    self.limit = limit
    self.countsFirst = countsFirst
  }

  func take() async -> Int {
    if let connection = free.popLast() { return connection }
    if made < limit {
      if countsFirst { made += 1 }
      let connection = await open()
      if !countsFirst { made += 1 }
      return connection
    }
    return await withCheckedContinuation { line.append($0) }
  }

  func put(back connection: Int) {
    if line.isEmpty {
      free.append(connection)
    } else {
      line.removeFirst().resume(returning: connection)
    }
  }

  private func open() async -> Int {
    opened += 1
    await Task.yield()
    return opened
  }
}

private func usePool(_ pool: ConnectionPool) async throws {
  await withTaskGroup { group in
    for _ in 1...2 {
      group.addTask { await pool.put(back: pool.take()) }
    }
  }
  try require(await pool.opened <= 1, "more connections than the limit")
}

func explorePool(replaying schedule: String? = nil) throws(ExplorationFailure) {
  try explore("a pool", replaying: schedule) { try await usePool(ConnectionPool(limit: 1)) }
}

func exploreRepairedPool() throws(ExplorationFailure) -> ExplorationVerdict {
  try explore("a pool") { try await usePool(ConnectionPool(limit: 1, countsFirst: true)) }
}
