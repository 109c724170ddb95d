internal import Glibc

/// A thread of the operating system, to wait for or to leave alone.
package struct OSThread: Sendable {
  private let handle: pthread_t

  /// Starts a thread that runs a body and ends.
  ///
  /// Join it or detach it, once.
  ///
  /// - Parameters:
  ///   - name: what debuggers and `top` show; the system keeps 15 bytes of it.
  ///   - startsTasks: marks the thread, so that a task can tell that it still runs on the thread that
  ///     started it (`isStartingTasks`).
  ///   - body: what the thread runs.
  package init(
    _ name: String? = nil,
    startsTasks: Bool = false,
    _ body: @escaping @Sendable () -> Void
  ) {
    let launch = Unmanaged.passRetained(Launch(name: name, startsTasks: startsTasks, body: body))
    var created = pthread_t()
    let result = pthread_create(
      &created,
      nil,
      { argument in
        if let argument { Unmanaged<Launch>.fromOpaque(argument).takeRetainedValue().run() }
        return nil
      },
      launch.toOpaque()
    )
    guard result == 0 else {
      fatalError(
        "the system gives no thread (error \(result)); raise its limit ('ulimit -u'), or use fewer "
          + "workers or fewer tasks that block"
      )
    }
    handle = created
  }

  /// Waits until the thread has ended.
  package func join() { pthread_join(handle, nil) }

  /// Lets the thread end by itself.
  package func detach() { pthread_detach(handle) }

  /// A key of the calling thread, unique among those alive and never 0.
  @inline(__always)
  package static var current: UInt { UInt(pthread_self()) }

  /// Whether the calling thread was made with `startsTasks`.
  package static var isStartingTasks: Bool { pthread_getspecific(startingMark) != nil }

  private static let startingMark: pthread_key_t = {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0, "the process has no thread-local key left")
    return key
  }()

  /// The C library's function for it is hidden from Swift; the kernel takes the name as a file too.
  private static func nameCurrent(_ name: String) {
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    var text = name
    _ = text.withUTF8 { write(file, $0.baseAddress, min($0.count, 15)) }
    close(file)
  }

  private final class Launch: Sendable {
    let name: String?
    let startsTasks: Bool
    let body: @Sendable () -> Void

    init(name: String?, startsTasks: Bool, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.startsTasks = startsTasks
      self.body = body
    }

    func run() {
      if let name { OSThread.nameCurrent(name) }
      if startsTasks {
        pthread_setspecific(OSThread.startingMark, UnsafeRawPointer(bitPattern: 1))
      }
      body()
    }
  }
}
