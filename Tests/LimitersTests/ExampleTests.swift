import Limiters
import Synchronization
import TestSupport
import Testing

// The examples of the documentation, run. A test of the house looks each of them up here, word for word.

private struct Connection: Sendable {
  static func open() async throws -> Self { Self() }
  func query(_ text: String) async throws -> [String] { [text] }
  func isAlive() async -> Bool { true }
}

private final class Session: Sendable {}

private struct NoRoom: Error {}

private actor Worker {
  func scale(_ image: String) -> String { "small \(image)" }
}

private actor File {
  private(set) var size = 0
  func append(_ text: String) { size += text.count }
  func appendIfRoom(_ text: String) throws { throw NoRoom() }
}

@MainActor private final class Label {
  var text = ""
  func load(_ text: String) throws { throw NoRoom() }
}

private enum Orders {
  actor Ledger {
    nonisolated let queue = ActorQueue<Ledger>()
    private var entries: [String] = []
    init() { queue.adoptExecutionContext(of: self) }
    nonisolated func note(_ entry: String) {
      queue.enqueue { ledger in ledger.entries.append(entry) }
    }
  }
}

extension Orders.Ledger {
  fileprivate var all: [String] { entries }
}

final class SmallLimiter: Sendable {
  private let state: Mutex<(free: Int, line: [Signal])>

  init(concurrency: Int) { state = Mutex((concurrency, [])) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    let (condition, signal) = Condition.makeCondition()
    let isFree = state.withLock { state in
      if state.free == 0 {
        state.line.append(signal)
        return false
      }
      state.free -= 1
      return true
    }
    do { if !isFree { try await condition.wait() } } catch {
      let place = state.withLock { state in
        state.line.firstIndex(of: signal).map { state.line.remove(at: $0) }
      }
      // Where the permit was handed over already, it is passed on.
      if place == nil { depart() }
      throw error
    }
    defer { depart() }
    return try await body()
  }

  private func depart() {
    let next: Signal? = state.withLock { state in
      if !state.line.isEmpty { return state.line.removeFirst() }
      state.free += 1
      return nil
    }
    next?.signal()
  }
}

@Suite(.watched) struct `The examples of the documentation` {
  private let url = "a"
  private let urls = ["a", "b", "c"]
  private let books = ["d", "e"]
  private let text = "SELECT 1"
  private let image = "image"
  private let journal = Journal()
  private let limiter = ConcurrencyLimiter(concurrency: 4)

  /// What one waits for may come in pieces.
  private var lines: AsyncStream<String> {
    AsyncStream { continuation in
      for line in ["one", "three"] { continuation.yield(line) }
      continuation.finish()
    }
  }

  private var feed: AsyncThrowingStream<String, any Error> {
    AsyncThrowingStream { continuation in
      for url in urls { continuation.yield(url) }
      continuation.finish()
    }
  }

  @discardableResult
  private func download(_ url: String) async throws -> String {
    await Task.yield()
    return "page \(url)"
  }

  private func save(_ page: String) { journal.note(page) }
  private func measure(_ line: String) async -> Int { line.count }
  private func show<Value>(_ value: Value) { journal.note("\(value)") }
  private func display(_ line: String) async { journal.note(line) }
  private func cleanUp() async { journal.note("clean") }
  private nonisolated func report(_ error: any Error) { journal.note("\(error)") }

  private let allPages = ["page a", "page b", "page c"]

  @Test func `run a body with a permit`() async throws {
    do {
      let limiter = ConcurrencyLimiter(concurrency: 4)
      let page = try await limiter.run { try await download(url) }
      #expect(page == "page a")
    }
    do {
      let limiter = ConcurrencyLimiter(concurrency: 4, clock: .continuous)
      let longest = limiter.statistics.longestWait
      #expect(longest == .zero)
    }
    do {
      let page = try await limiter.run(waitingAtMost: .seconds(2)) { try await download(url) }
      #expect(page == "page a")
    }
    do {
      let deadline = ContinuousClock.now + .seconds(2)
      let page = try await limiter.run(waitingUntil: deadline) { try await download(url) }
      #expect(page == "page a")
    }
    await limiter.runUncancellably { await cleanUp() }
    #expect(journal.entries == ["clean"])
    let page = try await limiter.runIfFree { try await download(url) } ?? "busy"
    #expect(page == "page a")
    limiter.setConcurrency(8)
    #expect(limiter.concurrency == 8)
    let statistics = limiter.statistics
    show("\(statistics.admitted) admitted, \(statistics.waiting) waiting")
    #expect(journal.entries.last == "4 admitted, 0 waiting")
    limiter.close()
    await limiter.closed()
    #expect(limiter.running == 0)
  }

  @Test func `take a permit and give it back`() async throws {
    do {
      let permit = try await limiter.acquire()
      defer { permit.release() }
      let page = try await download(url)
      #expect(page == "page a" && limiter.running == 1)
    }
    do {
      let permit = try await limiter.acquire(waitingAtMost: .seconds(2))
      defer { permit.release() }
      #expect(limiter.running == 1)
    }
    do {
      let deadline = ContinuousClock.now + .seconds(2)
      let permit = try await limiter.acquire(waitingUntil: deadline)
      defer { permit.release() }
      #expect(limiter.running == 1)
    }
    func tryOnce() {
      guard let permit = limiter.tryAcquire() else { return }
      defer { permit.release() }
      #expect(limiter.running == 1)
    }
    tryOnce()
    #expect(limiter.running == 0)
    do {
      let token = try await limiter.acquire().detach()
      token.release()
      #expect(limiter.running == 0)
    }
    let token = try await limiter.acquire().detach()
    Task {
      defer { token.release() }
      try await download(url)
    }
    limiter.close()
    await limiter.closed()
    #expect(limiter.running == 0)
  }

  @Test func `work on sequences`() async throws {
    do {
      let pages = try await urls.concurrentMap(limit: 4) { try await download($0) }
      #expect(pages == allPages)
    }
    do {
      let limiter = ConcurrencyLimiter(concurrency: 4)
      async let covers = books.concurrentMap(limiter: limiter) { try await download($0) }
      async let pages = urls.concurrentMap(limiter: limiter) { try await download($0) }
      let all = try await covers + pages
      #expect(all == ["page d", "page e"] + allPages)
    }
    do {
      let pages = try await feed.concurrentMap(limit: 4) { try await download($0) }
      #expect(pages == allPages)
    }
    do {
      let pages = try await feed.concurrentMap(limiter: limiter) { try await download($0) }
      #expect(pages == allPages)
    }
    let lengths = await lines.concurrentMap(limit: 4) { await measure($0) }
    #expect(lengths == [3, 5])
    try await urls.concurrentForEach(limit: 4) { try await save(download($0)) }
    try await urls.concurrentForEach(limiter: limiter) { try await save(download($0)) }
    try await feed.concurrentForEach(limit: 4) { try await save(download($0)) }
    try await feed.concurrentForEach(limiter: limiter) { try await save(download($0)) }
    #expect(journal.entries.count { $0 == "page a" } == 4)
    await lines.concurrentForEach(limit: 4) { await display($0) }
    #expect(journal.entries.suffix(2).sorted() == ["one", "three"])
  }

  @Test func `take results one by one`() async throws {
    do {
      let pages = urls.concurrentResults(limit: 4) { try await download($0) }
      for try await page in pages { show(page) }
    }
    do {
      let pages = urls.concurrentResults(limiter: limiter) { try await download($0) }
      for try await page in pages { show(page) }
    }
    do {
      let pages = feed.concurrentResults(limit: 4) { try await download($0) }
      for try await page in pages { show(page) }
    }
    do {
      let pages = feed.concurrentResults(limiter: limiter) { try await download($0) }
      for try await page in pages { show(page) }
    }
    do {
      var pages = urls.concurrentResults(limit: 4) { try await download($0) }.makeAsyncIterator()
      let first = try await pages.next()
      #expect(first == "page a")
    }
    let lengths = lines.concurrentResults(limit: 4) { await measure($0) }
    for await length in lengths { show(length) }
    #expect(journal.entries == (1...4).flatMap { _ in allPages } + ["3", "5"])
  }

  @Test func `share things`() async throws {
    do {
      let pool = AsyncPool(maxElements: 4) { try await Connection.open() }
      let rows = try await pool.withElement { try await $0.query(text) }
      #expect(rows == [text])
    }
    do {
      let pool = AsyncPool(maxElements: 4, minElements: 2) { try await Connection.open() }
      try await pool.prepare()
      #expect(pool.idle == 2)
      let lease = try await pool.lease()
      let rows = try await lease.element.query(text)
      lease.return()
      #expect(rows == [text] && pool.lent == 0)
    }
    do {
      let pool = AsyncPool(
        maxElements: 8,
        idleTimeout: .seconds(60),
        validate: { connection in await connection.isAlive() },
        elementBuilder: { try await Connection.open() }
      )
      let broken = try await pool.lease()
      broken.discard()
      #expect(pool.lent == 0 && pool.idle == 0)
      pool.setMaxElements(8)
      await pool.shutdown()
      await #expect(throws: PoolClosed.self) { try await pool.withElement { _ in } }
    }
    let workers = AsyncPool(maxElements: 4) { Worker() }
    let thumbnail = try await workers.withIsolatedElement { worker in worker.scale(image) }
    #expect(thumbnail == "small image")
  }

  @Test func `share objects by hand`() async throws {
    let sessions = AsyncPool(maxElements: 1) { Session() }
    func useOne() async throws {
      let session = try await sessions.get()
      defer { sessions.return(session) }
      #expect(sessions.lent == 1)
    }
    try await useOne()
    #expect(sessions.idle == 1)
    let used = try await sessions.get()
    sessions.return(used)
    #expect(sessions.idle == 1)
    let stale = try await sessions.get()
    sessions.discard(stale)
    #expect(sessions.idle == 0 && sessions.lent == 0)
  }

  @Test func `limit the children of a group`() async throws {
    let total = try await withLimitedTaskGroup(of: String.self, limit: 4) { group in
      for url in urls { group.addTask { try await download(url) } }
      var total = 0
      while let page = try await group.next() { total += page.count }
      return total
    }
    #expect(total == 18)
    try await withLimitedTaskGroup(of: String.self, limit: 1) { group in
      group.addTask { try await download(url) }
      while let page = try await group.next() { show(page) }
      #expect(journal.entries == ["page a"])
      group.addTask { try await download(url) }
      try await group.waitForAll()
      #expect(group.isEmpty)
      group.cancelAll()
      #expect(group.isCancelled)
    }
  }

  @Test func `keep an order`() async throws {
    let file = File()
    let log = FIFOQueue(name: "log")
    log.enqueue { await file.append("started") }
    let size = try await log.enqueueAndWait { await file.size }
    #expect(size == 7)
    log.enqueue {
      try await file.appendIfRoom("more")
    } onError: {
      report($0)
    }
    log.enqueue(on: file) { file in file.append("on the actor") }
    let length = try await log.enqueueAndWait(on: file) { file in file.size }
    #expect(length == 19 && journal.entries == ["NoRoom()"])
    await log.enqueueAndWaitUncancellably { await file.append("ended") }
    #expect(await file.size == 24)
    let uploads = FIFOQueue(name: "uploads", priority: .utility)
    #expect(!uploads.isRunning)
  }

  @Test func `keep an order on an actor`() async throws {
    let ledger = Orders.Ledger()
    for entry in urls { ledger.note(entry) }
    try await ledger.queue.enqueueAndWait { _ in }
    #expect(await ledger.all == urls)
    let file = File()
    let queue = ActorQueue<File>()
    queue.adoptExecutionContext(of: file)
    queue.enqueue { file in file.append("started") }
    queue.enqueue { file in
      try file.appendIfRoom("more")
    } onError: {
      report($0)
    }
    let size = try await queue.enqueueAndWait { file in file.size }
    #expect(size == 7 && journal.entries == ["NoRoom()"])
    await queue.enqueueAndWaitUncancellably { file in file.append("ended") }
    #expect(await file.size == 12)
  }

  @Test @MainActor func `keep an order on the main actor`() async throws {
    let label = Label()
    MainActorQueue.shared.enqueue { label.text = "started" }
    let text = try await MainActorQueue.shared.enqueueAndWait { label.text }
    #expect(text == "started")
    MainActorQueue.shared.enqueue {
      try label.load("more")
    } onError: {
      label.text = "\($0)"
    }
    try await MainActorQueue.shared.enqueueAndWait { #expect(label.text == "NoRoom()") }
    await MainActorQueue.shared.enqueueAndWaitUncancellably { label.text = "ended" }
    #expect(label.text == "ended")
    let animations = MainActorQueue()
    animations.enqueue { label.text = "fading" }
    try await animations.enqueueAndWait { #expect(label.text == "fading") }
  }

  @Test func `wait for an event`() async throws {
    let (condition, signal) = Condition.makeCondition()
    Task {
      try await download(url)
      signal.signal()
    }
    try await condition.wait()
    try await condition.waitUncancellably()
  }

  @Test func `make a limiter of a condition and its signal`() async throws {
    let limiter = SmallLimiter(concurrency: 2)
    let inside = Mutex((now: 0, most: 0))
    let pages = try await (1...20).concurrentMap(limit: 8) { number in
      try await limiter.run {
        inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        await Task.yield()
        inside.withLock { $0.now -= 1 }
        return number
      }
    }
    #expect(pages == Array(1...20))
    #expect((1...2).contains(inside.withLock { $0.most }))
  }
}
