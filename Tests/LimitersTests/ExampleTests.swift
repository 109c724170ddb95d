import Limiters
import Synchronization
import TestSupport
import Testing

// The examples of the documentation, run. A test of the house looks each of them up here, word for word.

private struct Connection: Sendable {
  static func open() async throws -> Self { Self() }
  func query(_ text: String) async throws -> [String] { [text] }
}

private actor Worker {
  func scale(_ image: String) -> String { "small \(image)" }
}

private actor File {
  private(set) var size = 0
  func append(_ text: String) { size += text.count }
}

@MainActor private final class Label {
  var text = ""
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

  @Test func `take results as they come`() async throws {
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
    let workers = AsyncPool(maxElements: 4) { Worker() }
    let thumbnail = try await workers.withIsolatedElement { worker in worker.scale(image) }
    #expect(thumbnail == "small image")
  }

  @Test func `keep an order`() async throws {
    let file = File()
    let log = FIFOQueue(name: "log")
    log.enqueue { await file.append("started") }
    let size = try await log.enqueueAndWait { await file.size }
    #expect(size == 7)
    let ledger = Orders.Ledger()
    for entry in urls { ledger.note(entry) }
    try await ledger.queue.enqueueAndWait { _ in }
    #expect(await ledger.all == urls)
  }

  @Test @MainActor func `keep an order on the main actor`() async throws {
    let label = Label()
    MainActorQueue.shared.enqueue { label.text = "started" }
    try await MainActorQueue.shared.enqueueAndWait { #expect(label.text == "started") }
  }

  @Test func `wait for an event`() async throws {
    let (condition, signal) = Condition.makeCondition()
    Task {
      try await download(url)
      signal.signal()
    }
    try await condition.wait()
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
