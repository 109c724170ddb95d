import Exploration

/// Looks before it downloads, and lets go of the actor in between.
actor Cache {
  private var values: [String: Int] = [:]
  private(set) var downloads = 0

  func value(for key: String) async -> Int {
    if let value = values[key] { return value }
    let value = await download(key)
    values[key] = value
    return value
  }

  private func download(_ key: String) async -> Int {
    downloads += 1
    await Task.yield()
    return key.count
  }
}

/// Keeps the download itself, from the moment at which it looked.
actor RepairedCache {
  private var values: [String: Task<Int, Never>] = [:]
  private(set) var downloads = 0

  func value(for key: String) async -> Int {
    let task = values[key] ?? Task { await download(key) }
    values[key] = task
    return await task.value
  }

  private func download(_ key: String) async -> Int {
    downloads += 1
    await Task.yield()
    return key.count
  }
}

func exploreCache(replaying schedule: String? = nil) throws(ExplorationFailure) {
  try explore("a cache", replaying: schedule) {
    let cache = Cache()
    async let one = cache.value(for: "logo")
    async let two = cache.value(for: "logo")
    _ = await (one, two)
    try require(await cache.downloads == 1, "downloaded twice")
  }
}

func exploreRepairedCache() throws(ExplorationFailure) -> ExplorationVerdict {
  try explore("a cache") {
    let cache = RepairedCache()
    async let one = cache.value(for: "logo")
    async let two = cache.value(for: "logo")
    _ = await (one, two)
    try require(await cache.downloads == 1, "downloaded twice")
  }
}
