internal import Basics
package import Foundation
internal import Glibc
internal import Synchronization

// A server that does, on purpose, what servers outside do by accident.
//
// On sockets, without any HTTP library: a library would not let it announce a length that is wrong, cut an
// answer in the middle or reset a connection. A thread for each connection, one request on each.

/// Serves files on 127.0.0.1, each request as its script says.
package final class UnrulyServer: Sendable {
  /// What an answer is like.
  package enum Answer: String, CaseIterable, Sendable {
    /// As RFC 9110 has it: the whole, or the part that was asked for.
    case right
    /// Right, in small pieces.
    case slow
    /// Right, but of no version: neither `ETag` nor `Last-Modified`.
    case withoutVersion
    /// Right, with a tag that may be the same for two versions.
    case weakVersion
    /// Right, in chunks, so that its length is not announced.
    case chunked
    /// Half of it, then nothing, and the connection stays open.
    case stalled
    /// The head only, and the connection stays open.
    case silent
    /// Half of it, then the connection is closed.
    case cut
    /// The same, and nothing says of which version it is.
    case cutWithoutVersion
    /// Chunks, of which the last does not come.
    case chunkedCut
    /// Half of it, then the connection is reset.
    case reset
    /// The connection is closed before any answer.
    case closed
    /// All of it, with a length announced that is 100 more.
    case tooLong
    /// All of it, with a length announced that is 100 less.
    case tooShort
    /// All of it in chunks, with a length announced beside them that is 100 more.
    case lengthBesideChunks
    /// A part that begins at byte 0, whatever was asked for, called the one that was asked for by its length.
    case rangeFromElsewhere
    /// A part with a field that says nothing.
    case rangeWithoutNumbers
    /// The first thousand bytes of the rest, with no word of how long the whole is.
    case restInPart
    /// The whole file, as a part of it.
    case partUnasked
    /// The rest of the file as it is now, whatever version was asked for.
    case restOfOtherVersion
    /// The same, with no word of the version.
    case restOfNoVersion
    /// The whole, whatever was asked for.
    case whole
    /// No byte can be given, whatever was asked for.
    case unsatisfiable
    case tooManyRequests
    case unavailable
    case missing
    /// Elsewhere, where it is right unless a script says otherwise.
    case moved
    /// Elsewhere, and from there elsewhere.
    case movedForEver
    /// Compressed, though nobody asked for that.
    case compressed
    /// Not HTTP.
    case noise
  }

  private struct State {
    var scripts: [String: [Answer]] = [:]
    var versions: [String: UInt64] = [:]
    /// The files of all versions so far that anybody asked for, by their tags.
    var made: [String: Data] = [:]
    var requests: [String: [String]] = [:]
    var connections: Set<Int32> = []
    var isStopped = false
  }

  package let port: UInt16
  /// In seconds, as `Retry-After` has it.
  package let retryAfter: Int
  private let listener: Int32
  private let state = Mutex(State())
  private let size: Int
  private let choose: @Sendable (_ name: String) -> Answer

  /// Starts a server whose files have `size` bytes in their first version, and which answers requests that
  /// no script is for as `choose` says.
  package init(
    size: Int = 200_000,
    retryAfter: Int = 1,
    choosing choose: @escaping @Sendable (_ name: String) -> Answer = { _ in .right }
  ) {
    self.size = size
    self.retryAfter = retryAfter
    self.choose = choose
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    precondition(listener >= 0, "no socket: \(String(cString: strerror(errno)))")
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listening = listener
    withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        precondition(bind(listening, address, length) == 0 && listen(listening, 128) == 0)
        precondition(getsockname(listening, address, &length) == 0)
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    OSThread("unruly server") { [self] in
      while true {
        let connection = accept(listening, nil, nil)
        if connection < 0 {
          if errno == EINTR || errno == ECONNABORTED { continue }
          break
        }
        let isOpen = state.withLock { state in
          if !state.isStopped { state.connections.insert(connection) }
          return !state.isStopped
        }
        guard isOpen else {
          close(connection)
          break
        }
        OSThread("unruly answer") { [self] in
          serve(connection)
          state.withLock { _ = $0.connections.remove(connection) }
          close(connection)
        }.detach()
      }
      close(listening)
    }.detach()
  }

  /// Ends all answers, the stalled ones too.
  package func stop() {
    let open = state.withLock { state in
      state.isStopped = true
      return state.connections
    }
    for connection in open { shutdown(connection, Int32(SHUT_RDWR)) }
    shutdown(listener, Int32(SHUT_RDWR))
  }

  package func url(_ name: String) -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)/\(name)") else {
      preconditionFailure("'\(name)' is no part of an address")
    }
    return url
  }

  /// The answers to the next requests for that file; the last of them to all that follow.
  package func script(_ name: String, _ answers: Answer...) {
    state.withLock { $0.scripts[name] = answers }
  }

  package func script(_ name: String, _ answers: [Answer]) {
    state.withLock { $0.scripts[name] = answers }
  }

  /// Another file from now on, of another length.
  package func change(_ name: String) { state.withLock { $0.versions[name, default: 0] += 1 } }

  /// The file as it is now.
  package func file(_ name: String) -> Data { file(name, version(name)) }

  /// Whether these bytes are the file, in one of the versions that it has had.
  package func isAnyVersion(_ bytes: Data, of name: String) -> Bool {
    (0...version(name)).contains { file(name, $0) == bytes }
  }

  /// The heads of all requests for that file, in order.
  package func requests(_ name: String) -> [String] { state.withLock { $0.requests[name] ?? [] } }

  private func version(_ name: String) -> UInt64 { state.withLock { $0.versions[name] ?? 0 } }

  private static func tag(_ name: String, _ version: UInt64) -> String { "\"\(version)-\(name)\"" }

  private func file(_ name: String, _ version: UInt64) -> Data {
    let tag = Self.tag(name, version)
    if let made = state.withLock({ $0.made[tag] }) { return made }
    let file = Self.file(name, version, size)
    state.withLock { $0.made[tag] = file }
    return file
  }

  private static func file(_ name: String, _ version: UInt64, _ size: Int) -> Data {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    var random = SplitMix64(seed: hash &+ version)
    var bytes = Data(capacity: size + 8)
    let length = max(0, size - Int(version) * 7)
    while bytes.count < length {
      withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) }
    }
    return bytes.prefix(length)
  }

  // MARK: Answers

  private func serve(_ connection: Int32) {
    guard let head = readHead(connection) else { return }
    let target = head.split(separator: " ").dropFirst().first.map(String.init) ?? "/"
    let name = String(target.dropFirst())
    let answer = state.withLock { state -> Answer in
      state.requests[name, default: []].append(head)
      guard var script = state.scripts[name], let next = script.first else { return choose(name) }
      if script.count > 1 { script.removeFirst() }
      state.scripts[name] = script
      return next
    }
    // The same file, wherever it has moved to.
    let path = String(name.prefix { $0 != "?" })
    let current = version(path)
    let bytes = file(path, current)
    let exchange = Exchange(
      connection: connection,
      file: bytes,
      tag: Self.tag(path, current),
      range: field("Range", head),
      ifRange: field("If-Range", head)
    )
    switch answer {
    case .right: exchange.send()
    case .slow: exchange.send(piece: 1_000)
    case .withoutVersion: exchange.with(tag: nil).send()
    case .weakVersion: exchange.with(tag: "W/\"1\"").send()
    case .chunked: exchange.sendChunks()
    case .stalled:
      exchange.send(upTo: 0.5)
      waitForEnd(connection)
    case .silent:
      exchange.send(upTo: 0)
      waitForEnd(connection)
    case .cut: exchange.send(upTo: 0.5)
    case .cutWithoutVersion: exchange.with(tag: nil).send(upTo: 0.5)
    case .chunkedCut: exchange.sendChunks(upTo: 0.5)
    case .reset:
      exchange.send(upTo: 0.5)
      // Closed with this, a connection is reset at once.
      var now = linger(l_onoff: 1, l_linger: 0)
      setsockopt(connection, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    case .closed: break
    case .tooLong: exchange.send(lengthBy: 100)
    case .tooShort: exchange.send(lengthBy: -100)
    case .lengthBesideChunks:
      exchange.sendChunks(more: ["Content-Length: \(bytes.count + 100)"])
    case .rangeFromElsewhere: exchange.sendPart(0..<(bytes.count / 2), calledFrom: 0)
    case .rangeWithoutNumbers: exchange.sendPart(exchange.rest, named: "bytes")
    case .restInPart:
      let first = exchange.rest.lowerBound
      let part = first..<min(first + 1_000, bytes.count)
      exchange.sendPart(part, named: "bytes \(first)-\(part.upperBound - 1)/*")
    case .partUnasked: exchange.sendPart(0..<bytes.count, calledFrom: 0)
    case .restOfOtherVersion: exchange.sendPart(exchange.rest, calledFrom: exchange.rest.lowerBound)
    case .restOfNoVersion:
      exchange.with(tag: nil).sendPart(exchange.rest, calledFrom: exchange.rest.lowerBound)
    case .whole: exchange.sendWhole()
    case .unsatisfiable:
      exchange.status("416 Range Not Satisfiable", ["Content-Range: bytes */\(bytes.count)"])
    case .tooManyRequests:
      exchange.status("429 Too Many Requests", ["Retry-After: \(retryAfter)"])
    case .unavailable: exchange.status("503 Service Unavailable", [])
    case .missing: exchange.status("404 Not Found", [])
    case .moved:
      let other = name + "?moved"
      state.withLock { $0.scripts[other] = $0.scripts[other] ?? [.right] }
      exchange.status("302 Found", ["Location: /\(other)"])
    case .movedForEver:
      let other = name.contains("?") ? name + "x" : name + "?x"
      state.withLock { $0.scripts[other] = [.movedForEver] }
      exchange.status("302 Found", ["Location: /\(other)"])
    case .compressed: exchange.send(more: ["Content-Encoding: br"])
    case .noise: exchange.write(Data("What do you mean?\n".utf8))
    }
    // The client may still be sending; closed without a look at it, the connection would be reset.
    if answer != .reset { shutdown(connection, Int32(SHUT_WR)) }
    if answer != .reset { waitForEnd(connection) }
  }

  private func readHead(_ connection: Int32) -> String? {
    var head: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while head.suffix(4) != [13, 10, 13, 10] {
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      head += buffer[..<count]
    }
    return String(decoding: head, as: UTF8.self)
  }

  /// Until the client closes the connection, or the server stops.
  private func waitForEnd(_ connection: Int32) {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while recv(connection, &buffer, buffer.count, 0) > 0 {}
  }

  private func field(_ name: String, _ head: String) -> String? {
    head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ":") }?
      .drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces)
  }
}

/// One request and its answer.
private struct Exchange {
  let connection: Int32
  let file: Data
  /// The name of the version; nil to say none.
  var tag: String?
  let range: String?
  let ifRange: String?

  /// What `Range: bytes=N-` asks for; the whole without it.
  var rest: Range<Int> {
    let first = range.flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
    return min(first, file.count)..<file.count
  }

  func with(tag: String?) -> Exchange {
    var other = self
    other.tag = tag
    return other
  }

  /// The right answer, or one that is wrong in one way.
  func send(
    upTo share: Double = 1,
    lengthBy: Int = 0,
    piece: Int? = nil,
    more: [String] = []
  ) {
    let isPart = range != nil && (ifRange == nil || ifRange == tag)
    guard isPart else {
      return sendWhole(upTo: share, lengthBy: lengthBy, piece: piece, more: more)
    }
    guard !rest.isEmpty else {
      return status(
        "416 Range Not Satisfiable",
        ["Content-Range: bytes */\(file.count)"] + tagLine
      )
    }
    let part = file.subdata(in: rest)
    head(
      "206 Partial Content",
      [
        "Content-Range: bytes \(rest.lowerBound)-\(rest.upperBound - 1)/\(file.count)",
        "Content-Length: \(part.count + lengthBy)",
      ] + tagLine + more
    )
    body(part, upTo: share, piece)
  }

  func sendWhole(
    upTo share: Double = 1,
    lengthBy: Int = 0,
    piece: Int? = nil,
    more: [String] = []
  ) {
    head("200 OK", ["Content-Length: \(file.count + lengthBy)"] + tagLine + more)
    body(file, upTo: share, piece)
  }

  func sendPart(_ part: Range<Int>, calledFrom first: Int) {
    sendPart(part, named: "bytes \(first)-\(first + part.count - 1)/\(file.count)")
  }

  func sendPart(_ part: Range<Int>, named range: String) {
    head(
      "206 Partial Content",
      ["Content-Range: \(range)", "Content-Length: \(part.count)"] + tagLine
    )
    body(file.subdata(in: part), upTo: 1, nil)
  }

  func sendChunks(upTo share: Double = 1, more: [String] = []) {
    head("200 OK", ["Transfer-Encoding: chunked"] + tagLine + more)
    for start in stride(from: 0, to: Int(Double(file.count) * share), by: 10_000) {
      let chunk = file.subdata(in: start..<min(start + 10_000, file.count))
      write(Data("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Data("\r\n".utf8))
    }
    if share == 1 { write(Data("0\r\n\r\n".utf8)) }
  }

  func status(_ status: String, _ fields: [String]) {
    head(status, ["Content-Length: 5"] + fields)
    write(Data("sorry".utf8))
  }

  private var tagLine: [String] { tag.map { ["ETag: \($0)"] } ?? [] }

  private func head(_ status: String, _ fields: [String]) {
    let lines = ["HTTP/1.1 \(status)", "Connection: close"] + fields
    write(Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
  }

  private func body(_ bytes: Data, upTo share: Double, _ piece: Int?) {
    let bytes = bytes.prefix(Int(Double(bytes.count) * share))
    guard let piece else { return write(Data(bytes)) }
    for start in stride(from: 0, to: bytes.count, by: piece) {
      write(Data(bytes.dropFirst(start).prefix(piece)))
    }
  }

  func write(_ data: Data) {
    data.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count, let start = bytes.baseAddress {
        let sent = Glibc.send(
          connection,
          start + done,
          bytes.count - done,
          Int32(MSG_NOSIGNAL)
        )
        guard sent > 0 else { return }
        done += sent
      }
    }
  }
}
