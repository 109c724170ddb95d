import Basics
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite(.watched) struct `Output writer` {
  /// Both ends of a new pipe.
  private func makePipe() -> (read: Int32, write: Int32) {
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [-1, -1]
    pipe(&ends)
    return (ends[0], ends[1])
  }

  @Test(arguments: [false, true])
  func `a text larger than a pipe arrives whole, also when the pipe does not block`(
    nonBlocking: Bool
  ) async throws {
    let ends = makePipe()
    if nonBlocking { _ = fcntl(ends.write, F_SETFL, O_NONBLOCK) }
    let text = String(repeating: "0123456789▒", count: 100_000)
    async let written: Void = onOwnThread {
      defer { close(ends.write) }
      try OutputWriter(fileDescriptor: ends.write).write(text)
    }
    let received = await onOwnThread {
      defer { close(ends.read) }
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while case let count = read(ends.read, &buffer, buffer.count), count > 0 {
        bytes += buffer[..<count]
      }
      return String(decoding: bytes, as: UTF8.self)
    }
    try await written
    #expect(received == text)
  }

  @Test func `a pipe nobody reads is closed`() {
    let ends = makePipe()
    close(ends.read)
    defer { close(ends.write) }
    #expect(throws: OutputWriter.Failure.closed) {
      try OutputWriter(fileDescriptor: ends.write).write("text")
    }
  }

  @Test func `a full disk is full`() {
    let full = open("/dev/full", O_WRONLY)
    defer { close(full) }
    #expect(throws: OutputWriter.Failure.full) {
      try OutputWriter(fileDescriptor: full).write("text")
    }
  }

  @Test func `any other failure says which`() {
    #expect(throws: OutputWriter.Failure.failed(errno: EBADF)) {
      try OutputWriter(fileDescriptor: -1).write("text")
    }
    #expect(
      OutputWriter.Failure.failed(errno: EBADF).description.contains("Bad file descriptor")
    )
  }

  @Test func `an empty text is written without a call`() throws {
    try OutputWriter(fileDescriptor: -1).write("")
  }
}
