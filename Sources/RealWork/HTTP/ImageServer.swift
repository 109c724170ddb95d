internal import Basics
internal import FlyingFox
internal import FlyingSocks
package import Foundation
internal import Glibc
internal import Limiters
internal import Synchronization

// A server of images for the program's own process, on an address that no other machine reaches.
//
// What is slow about a real network is set: how long a request waits for its answer, how fast the bytes
// come, how many requests are answered at once, how many fail. The images are drawn from a seed, so client
// and tests know every byte without having kept one.
//
// What it counts is what a limiter promises: how many requests it had at once, answered or waiting, those that
// were cancelled left out. That is harder to know than it seems. A server learns that its client has gone
// when it writes to a connection that is closed, and while it waits before it writes, it learns nothing.
// Here the client lives in the same process and says so (`withdraw`), before the permit of its request can
// go to the next. Open sockets are counted apart: they outlive their requests, to be used again.

/// Serves seeded images on 127.0.0.1, and counts.
package final class ImageServer: Sendable {
  package struct Settings: Hashable, Sendable {
    /// Bytes of an image, drawn from this range.
    package var sizes = 4_096...65_536
    /// How long each request waits for its answer, unless it says so itself.
    package var latency = Duration.zero
    /// Bytes a second on each connection; nil for as many as go.
    package var bandwidth: Int?
    /// How many requests are answered at once; others wait.
    package var connections = 64
    /// How many requests it takes in at once, and refuses one more with 503; nil for as many as come.
    package var capacity: Int?
    /// The share of requests that fail, in percent.
    package var failPercent = 0.0
    package var seed: UInt64 = 1

    package init() {}
  }

  /// What the server has seen.
  package struct Counts: Hashable, Sendable {
    /// Requests being answered or waiting for it, and not cancelled.
    package fileprivate(set) var serving = 0
    package fileprivate(set) var peakServing = 0
    /// Answered to the last byte.
    package fileprivate(set) var served = 0
    package fileprivate(set) var failed = 0
    /// Turned away because too many were being answered.
    package fileprivate(set) var refused = 0
    package fileprivate(set) var cancelled = 0
    /// Bytes of the images served to the last byte.
    package fileprivate(set) var bytes = 0
    /// Bytes that clients had already, and so did not ask for again.
    package fileprivate(set) var spared = 0
    /// How often each image was served to the last byte.
    package fileprivate(set) var transfers: [Int: Int] = [:]
    package fileprivate(set) var openConnections = 0
    package fileprivate(set) var peakConnections = 0
  }

  package let settings: Settings
  /// The port, chosen by the system.
  package let port: UInt16
  private let http: HTTPServer
  private let running: Task<Void, any Error>
  private let ledger: Ledger
  private let requests = Atomic(0)

  /// Starts a server.
  ///
  /// - Throws: What the system says if it gives no socket.
  package init(_ settings: Settings) async throws {
    self.settings = settings
    let ledger = Ledger(
      slots: ConcurrencyLimiter(concurrency: settings.connections),
      capacity: settings.capacity
    )
    let http = HTTPServer(
      address: try .inet(ip4: "127.0.0.1", port: 0),
      timeout: 600,
      pool: SocketPool(queue: ClosingQueue()),
      logger: ConnectionLog(ledger: ledger)
    )
    await http.appendRoute("GET /image/:number") { request in
      try await Self.answer(request, settings, ledger)
    }
    running = Task { try await http.run() }
    // A server that gets no socket throws. One that waits for a thread of a busy pool does not fail: its own
    // limit of five seconds would end it, and on one processor even some minutes have.
    try await http.waitUntilListening(timeout: 3_600)
    guard case .ip4(_, let port) = await http.listeningAddress else {
      preconditionFailure("a server that listens on an IPv4 address has another")
    }
    Self.sendAtOnce(fromPort: port)
    self.port = port
    self.http = http
    self.ledger = ledger
  }

  /// Has the kernel send what is written at once, on all connections to come.
  ///
  /// The server writes the head and the body of an answer apart, and the kernel would keep the body back
  /// until the client has acknowledged the head, which clients put off for 40 ms. A listening socket hands
  /// the option on to the connections that it accepts. The server shows nobody its own, so it is looked
  /// for among the open descriptors, by its port.
  private static func sendAtOnce(fromPort port: UInt16) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    for descriptor in names.compactMap({ Int32($0) }) {
      var address = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isFound = withUnsafeMutablePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          getsockname(descriptor, $0, &length) == 0
        }
      }
      guard isFound, address.sin_family == AF_INET, UInt16(bigEndian: address.sin_port) == port
      else {
        continue
      }
      var isOn: Int32 = 1
      setsockopt(
        descriptor,
        Int32(IPPROTO_TCP),
        TCP_NODELAY,
        &isOn,
        socklen_t(MemoryLayout<Int32>.size)
      )
    }
  }

  /// Closes every connection; no more images.
  package func stop() async {
    await http.stop()
    _ = await running.result
  }

  package var counts: Counts { ledger.counts }

  /// The image of that number.
  package func image(_ number: Int) -> Data { Self.image(number, settings) }

  /// Makes the request for an image; if `latency` is nil, it waits for its answer as the settings say.
  ///
  /// - Returns: The address, and the number of the request, for `withdraw`.
  package func request(
    image number: Int,
    latency: Duration? = nil,
    fails: Bool = false
  ) -> (url: URL, number: Int) {
    let request = requests.add(1, ordering: .relaxed).newValue
    var address = "http://127.0.0.1:\(port)/image/\(number)?request=\(request)"
    if let latency { address += "&ns=\(latency.nanoseconds)" }
    if fails { address += "&fails=1" }
    guard let url = URL(string: address) else { preconditionFailure("no address: \(address)") }
    return (url, request)
  }

  /// Keeps the last part of every image back, so that no transfer comes to its end before `letGo()`.
  package func holdBack() { ledger.holdBack() }

  /// Sends what was kept back.
  package func letGo() { ledger.letGo() }

  /// The client has given the request up, and waits for no answer.
  package func withdraw(_ request: Int) { ledger.withdraw(request) }

  private static func image(_ number: Int, _ settings: Settings) -> Data {
    var generator = SplitMix64(seed: settings.seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
    let size = settings.sizes.lowerBound + generator.next(below: settings.sizes.count)
    var image = Data(capacity: size + 8)
    while image.count < size {
      withUnsafeBytes(of: generator.next().littleEndian) { image.append(contentsOf: $0) }
    }
    return image.prefix(size)
  }

  private static func answer(
    _ request: HTTPRequest,
    _ settings: Settings,
    _ ledger: Ledger
  ) async throws -> HTTPResponse {
    guard let image = request.routeParameters["number"].flatMap({ Int($0) }),
      let number = request.query["request"].flatMap({ Int($0) })
    else { return HTTPResponse(statusCode: .badRequest) }
    guard let service = Service(number, image: image, ledger) else {
      return HTTPResponse(statusCode: .serviceUnavailable)
    }
    try await service.begin()
    let latency = request.query["ns"].flatMap { Int64($0) }.map(Duration.nanoseconds)
    try await Task.sleep(for: latency ?? settings.latency)
    var draw = SplitMix64(seed: settings.seed ^ UInt64(number))
    if request.query["fails"] != nil || draw.nextUnit() * 100 < settings.failPercent {
      service.end(.failed)
      return HTTPResponse(statusCode: .serviceUnavailable)
    }
    let bytes = Self.image(image, settings)
    let tag = "\"\(settings.seed)-\(image)\""
    let selection = RangeSelection(
      range: request.headers[.range],
      ifRange: request.headers[HTTPHeader("If-Range")],
      tag: tag,
      length: bytes.count
    )
    var headers: HTTPHeaders = [HTTPHeader("ETag"): tag, HTTPHeader("Accept-Ranges"): "bytes"]
    headers[.contentRange] = selection.contentRange
    guard let part = selection.bytes else {
      service.end(.failed)
      return HTTPResponse(statusCode: .rangeNotSatisfiable, headers: headers)
    }
    ledger.spare(bytes.count - part.count)
    let body = PacedBytes(
      bytes: bytes.subdata(in: part),
      bandwidth: settings.bandwidth,
      service: service
    )
    return HTTPResponse(
      statusCode: selection.contentRange == nil ? .ok : .partialContent,
      headers: headers,
      body: HTTPBodySequence(from: body, count: part.count, suggestedBufferSize: 16_384)
    )
  }
}

/// One request from its arrival to its last byte.
private final class Service: Sendable {
  enum End {
    case served(bytes: Int)
    case failed, cancelled
  }

  private let arrival: Int
  private let image: Int
  private let ledger: Ledger

  /// - Returns: nil if the server is full.
  init?(_ number: Int, image: Int, _ ledger: Ledger) {
    guard let arrival = ledger.arrived(number) else { return nil }
    self.arrival = arrival
    self.image = image
    self.ledger = ledger
  }

  /// Nobody writes any more: the connection was closed.
  deinit { end(.cancelled) }

  /// Waits for one of the connections that the server answers on.
  func begin() async throws {
    let slot = try await ledger.slots.acquire().detach()
    if !ledger.hold(slot, for: arrival) { slot.release() }
  }

  /// Waits while the last parts of images are kept back.
  func mayFinish() async throws { try await ledger.gate?.wait() }

  /// The first end counts.
  func end(_ end: End) { ledger.ended(arrival, image: image, end) }
}

/// The bytes of an image, as slowly as the network is said to be.
private struct PacedBytes: AsyncBufferedSequence {
  let bytes: Data
  let bandwidth: Int?
  let service: Service

  func makeAsyncIterator() -> Iterator { Iterator(rest: bytes, bytes: self) }

  struct Iterator: AsyncBufferedIteratorProtocol {
    var rest: Data
    let bytes: PacedBytes

    mutating func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }

    mutating func nextBuffer(suggested count: Int) async throws -> Data? {
      guard !rest.isEmpty else {
        bytes.service.end(.served(bytes: bytes.bytes.count))
        return nil
      }
      let part = rest.prefix(count)
      if let bandwidth = bytes.bandwidth {
        try await Task.sleep(for: .seconds(1) * part.count / bandwidth)
      }
      if part.count == rest.count { try await bytes.service.mayFinish() }
      rest = rest.dropFirst(count)
      // Before the last byte is sent: the client may go on to its next request as soon as it has it.
      if rest.isEmpty { bytes.service.end(.served(bytes: bytes.bytes.count)) }
      return part
    }
  }
}

/// Who is being served.
private final class Ledger: Sendable {
  private struct State {
    var counts = ImageServer.Counts()
    /// A request being answered, with the slot that it holds from the moment at which it got one.
    struct Open {
      let number: Int
      var slot: PermitToken?
    }

    var arrivals = 0
    /// By their arrivals: who was cut off may ask again by the same number before the server sees the cut.
    var open: [Int: Open] = [:]
    /// Given up by their clients before they came.
    var withdrawn: Set<Int> = []
    /// Signalled when images may be sent to their ends; nil while they may.
    var gate: (condition: Condition, signal: Signal)?
  }

  let slots: ConcurrencyLimiter
  private let capacity: Int?
  private let state = Lock(State())

  init(slots: ConcurrencyLimiter, capacity: Int?) {
    self.slots = slots
    self.capacity = capacity
  }

  var counts: ImageServer.Counts { state.withLock { $0.counts } }

  /// Notes a request; returns which one it is, by the order in which they came, or nil if it is one too many.
  func arrived(_ number: Int) -> Int? {
    state.withLock { state in
      if let capacity, state.counts.serving >= capacity {
        state.counts.refused += 1
        return nil
      }
      state.arrivals += 1
      if state.withdrawn.remove(number) != nil {
        state.counts.cancelled += 1
        return state.arrivals
      }
      state.open[state.arrivals] = State.Open(number: number)
      state.counts.serving += 1
      state.counts.peakServing = max(state.counts.peakServing, state.counts.serving)
      return state.arrivals
    }
  }

  /// Whether the request is still to be answered; then it keeps the slot.
  func hold(_ slot: PermitToken, for arrival: Int) -> Bool {
    state.withLock { state in
      guard state.open[arrival] != nil else { return false }
      state.open[arrival]?.slot = slot
      return true
    }
  }

  func ended(_ arrival: Int, image: Int, _ end: Service.End) {
    let slot = state.withLock { state -> PermitToken? in
      guard let request = state.open.removeValue(forKey: arrival) else { return nil }
      state.counts.serving -= 1
      switch end {
      case .served(let bytes):
        state.counts.served += 1
        state.counts.bytes += bytes
        state.counts.transfers[image, default: 0] += 1
      case .failed: state.counts.failed += 1
      case .cancelled: state.counts.cancelled += 1
      }
      return request.slot
    }
    slot?.release()
  }

  func withdraw(_ number: Int) {
    let slot = state.withLock { state -> PermitToken? in
      // The last of that number: those before it were cut off.
      let arrival = state.open.filter { $0.value.number == number }.keys.max()
      guard let arrival, let request = state.open.removeValue(forKey: arrival) else {
        state.withdrawn.insert(number)
        return nil
      }
      state.counts.serving -= 1
      state.counts.cancelled += 1
      return request.slot
    }
    slot?.release()
  }

  var gate: Condition? { state.withLock { $0.gate?.condition } }

  func holdBack() { state.withLock { if $0.gate == nil { $0.gate = Condition.makeCondition() } } }

  func letGo() {
    let gate = state.withLock { state in
      defer { state.gate = nil }
      return state.gate?.signal
    }
    gate?.signal()
  }

  func spare(_ bytes: Int) { state.withLock { $0.counts.spared += bytes } }

  func connections(changeBy difference: Int) {
    state.withLock { state in
      state.counts.openConnections += difference
      state.counts.peakConnections = max(
        state.counts.peakConnections,
        state.counts.openConnections
      )
    }
  }
}

/// Counts connections by what the server logs of them: it tells nobody else.
private struct ConnectionLog: Logging {
  let ledger: Ledger

  func logInfo(_ info: @autoclosure () -> String) {
    let line = info()
    if line.hasSuffix(" open connection") { ledger.connections(changeBy: 1) }
    if line.hasSuffix(" close connection") { ledger.connections(changeBy: -1) }
  }

  func logDebug(_ debug: @autoclosure () -> String) {}
  func logWarning(_ warning: @autoclosure () -> String) {}
  func logError(_ error: @autoclosure () -> String) {}
  func logCritical(_ critical: @autoclosure () -> String) {}
}

extension Duration {
  /// Whole nanoseconds.
  var nanoseconds: Int64 {
    components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
  }
}
