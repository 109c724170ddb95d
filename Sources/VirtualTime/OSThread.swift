#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// An operating system thread to wait for.
struct OSThread {
  private let handle: pthread_t

  /// Starts a thread that runs `body` and ends.
  init(_ body: @escaping @Sendable () -> Void) {
    let argument = Unmanaged.passRetained(Body(body)).toOpaque()
    #if canImport(Darwin)
    var created: pthread_t?
    let result = pthread_create(&created, nil, { OSThread.runBody($0) }, argument)
    guard result == 0, let created else { Self.cannotStart(result) }
    handle = created
    #else
    var created = pthread_t()
    let result = pthread_create(&created, nil, { OSThread.runBody($0) }, argument)
    guard result == 0 else { Self.cannotStart(result) }
    handle = created
    #endif
  }

  /// Waits until the thread has ended.
  ///
  /// Each thread is joined or detached, once.
  func join() { pthread_join(handle, nil) }

  /// Lets the thread end by itself.
  func detach() { pthread_detach(handle) }

  /// A key of the calling thread, unique among those alive and never 0.
  static var current: UInt {
    #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
    #else
    UInt(pthread_self())
    #endif
  }

  private static func cannotStart(_ error: Int32) -> Never {
    fatalError(
      "the system gives no thread for virtual time (error \(error)): each task that blocks or spins "
        + "needs one; use fewer workers, or work that suspends"
    )
  }

  private final class Body: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private static func runBody(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument {
      Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().body()
    }
    return nil
  }
}
