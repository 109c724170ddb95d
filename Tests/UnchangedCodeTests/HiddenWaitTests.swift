import Exploration
import Foundation
import Glibc
import TestSupport
import Testing

/// A condition of the C library by a way that is not taken over, as libraries of the system wait inside.
private final class HiddenCondition: @unchecked Sendable {
  // Safe: what is set is behind the mutex, and the others do not change.
  private typealias Call = @convention(c) (UnsafeMutableRawPointer) -> Int32
  private typealias Wait =
    @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int32
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var isSet = false

  // Safe: a handle of the loader, which does not change.
  nonisolated(unsafe) private static let library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD)
  private static let lock = call("pthread_mutex_lock")
  private static let unlock = call("pthread_mutex_unlock")
  private static let broadcast = call("pthread_cond_broadcast")
  private static let wait = unsafeBitCast(
    dlsym(library, "pthread_cond_wait"),
    to: Wait.self
  )

  private static func call(_ name: String) -> Call {
    unsafeBitCast(dlsym(library, name), to: Call.self)
  }

  init() {
    pthread_cond_init(condition, nil)
    pthread_mutex_init(mutex, nil)
  }

  func waitUntilSet() {
    _ = Self.lock(mutex)
    while !isSet { _ = Self.wait(condition, mutex) }
    _ = Self.unlock(mutex)
  }

  func wake(setting value: Bool) {
    _ = Self.lock(mutex)
    isSet = value
    _ = Self.broadcast(condition)
    _ = Self.unlock(mutex)
  }
}

@Suite(.inTurn, .watched) struct `Waits inside of a library` {
  /// Who is woken and waits again sleeps at another address then.
  @Test func `that nobody sees end the exploration, also where one wakes and waits again`() throws {
    let failure = try failure("hidden wait") {
      let condition = HiddenCondition()
      await withTaskGroup { group in
        group.addTask { condition.waitUntilSet() }
        group.addTask {
          condition.wake(setting: false)
          await Task.yield()
          condition.wake(setting: true)
        }
      }
    }
    guard case .escaped = failure.kind else { throw failure }
    #expect(failure.description.contains("sleeps on its thread"), "\(failure)")
    #expect(failure.description.contains("inside of a library"), "\(failure)")
  }

  @Test func `one in a pipe is told with its line`() throws {
    let failure = try failure("pipe") {
      let pipe = Pipe()
      _ = pipe.fileHandleForReading.readData(ofLength: 1)
    }
    guard case .escaped = failure.kind else { throw failure }
    #expect(
      failure.description.contains("sleeps on its thread at HiddenWaitTests.swift:"),
      "\(failure)"
    )
  }

  @Test(.search)
  func `one in a pipe that a thread of the closure writes to no more is told with its line`()
    throws
  {
    let failure = try failure("pipe of a thread") {
      let pipe = Pipe()
      Thread { pipe.fileHandleForWriting.write(Data([1])) }.start()
      _ = pipe.fileHandleForReading.readDataToEndOfFile()
    }
    #expect(failure.description.contains("at HiddenWaitTests.swift:"), "\(failure)")
  }
}
