import Foundation

/// What a thread of the system is to do.
final class ThreadBody {
  let run: () -> Void
  init(_ run: @escaping () -> Void) { self.run = run }

  /// The body, for a function that takes an address.
  var address: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

  /// Does what the body at the address is to do, which was given away as one.
  static func run(_ address: UnsafeMutableRawPointer?) {
    guard let address else { return }
    Unmanaged<ThreadBody>.fromOpaque(address).takeRetainedValue().run()
  }
}

/// Starts a thread of the system, as code does that knows no `Thread`.
func startThread(_ run: @escaping () -> Void) -> pthread_t {
  var thread = pthread_t()
  let result = pthread_create(
    &thread,
    nil,
    { given in
      ThreadBody.run(given)
      return nil
    },
    ThreadBody(run).address
  )
  precondition(result == 0, "no thread: \(result)")
  return thread
}
