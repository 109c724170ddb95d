import Foundation
import RealWork
import TestSupport
import Testing
import UnrulyServer

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What comes of a request for an image: the right bytes, or an error; never other bytes.
@Suite(.watched) struct `A request to an unruly server` {
  private let server = UnrulyServer()

  private func ask(_ answer: UnrulyServer.Answer, stallAfter: Duration = .seconds(60)) async throws
    -> Data
  {
    server.script("a", answer)
    return try await HTTPClient(connections: 4, stallAfter: stallAfter).data(from: server.url("a"))
  }

  @Test(
    arguments: [.right, .slow, .withoutVersion, .chunked, .moved] as [UnrulyServer.Answer]
  )
  func `brings the bytes where the answer is right in one of its ways`(
    _ answer: UnrulyServer.Answer
  ) async throws {
    #expect(try await ask(answer) == server.file("a"))
    server.stop()
  }

  @Test(
    arguments: [
      .cut, .chunkedCut, .reset, .closed, .partUnasked, .unsatisfiable, .tooManyRequests,
      .unavailable, .missing, .movedForEver, .noise,
    ] as [UnrulyServer.Answer]
  )
  func `is an error where the answer is wrong`(_ answer: UnrulyServer.Answer) async {
    await #expect(throws: (any Error).self) { try await ask(answer) }
    server.stop()
  }

  @Test func `that is refused names the file and the status`() async {
    let error = await #expect(throws: BadStatus.self) { try await ask(.missing) }
    #expect(error?.description == "/a: the server answered with status 404")
    server.stop()
  }

  @Test(arguments: [.silent, .stalled] as [UnrulyServer.Answer])
  func `to a server that says nothing ends when its time is over`(_ answer: UnrulyServer.Answer)
    async
  {
    let error = await #expect(throws: URLError.self) {
      try await ask(answer, stallAfter: .seconds(1))
    }
    #expect(error?.code == .timedOut)
    server.stop()
  }

  @Test func `that is cancelled ends at once, though no answer comes`() async throws {
    server.script("a", .silent)
    let url = server.url("a")
    let request = Task { try await HTTPClient(connections: 1).data(from: url) }
    request.cancel()
    await #expect(throws: CancellationError.self) { try await request.value }
    server.stop()
  }
}
