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
      .cut, .chunkedCut, .reset, .closed, .tooLong, .lengthBesideChunks, .partUnasked,
      .unsatisfiable, .tooManyRequests,
      .unavailable, .missing, .movedForEver, .noise,
    ] as [UnrulyServer.Answer]
  )
  func `is an error where the answer is wrong`(_ answer: UnrulyServer.Answer) async {
    await #expect(throws: (any Error).self) { try await ask(answer) }
    server.stop()
  }

  @Test func `asks for the bytes as they are, and takes no others`() async throws {
    _ = try await ask(.right)
    #expect(
      server.requests("a").allSatisfy {
        $0.lowercased().contains("\r\naccept-encoding: identity\r\n")
      }
    )
    server.stop()
    // One byte that is the beginning of compressed ones: the session makes nothing of it, and says nothing.
    let small = UnrulyServer(size: 1)
    small.script("a", .compressed)
    let error = await #expect(throws: BadAnswer.self) {
      try await HTTPClient(connections: 1).data(from: small.url("a"))
    }
    #expect(error?.fault == .encoding("br"))
    small.stop()
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
    let request = Task { try await ask(answer, stallAfter: .seconds(1)) }
    #expect(await ends(request), "its time is never over")
    server.stop()
    let error = await #expect(throws: URLError.self) { try await request.value }
    #expect(error?.code == .timedOut)
  }

  @Test func `that is cancelled ends at once, though no answer comes`() async throws {
    server.script("a", .silent)
    let url = server.url("a")
    let request = Task { try await HTTPClient(connections: 1).data(from: url) }
    request.cancel()
    #expect(await ends(request), "it waits for the answer all the same")
    server.stop()
    await #expect(throws: CancellationError.self) { try await request.value }
  }
}
