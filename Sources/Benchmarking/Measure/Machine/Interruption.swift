internal import Foundation
internal import Synchronization

/// Whether the user has asked the program to stop.
package enum Interruption {
  private static let requested = Atomic(false)

  package static var isRequested: Bool { requested.load(ordering: .relaxed) }

  /// From now on, Ctrl-C and a polite kill are noted instead of ending the program at once.
  package static func watch() {
    // A signal handler may do next to nothing; setting a flag that exists already is safe.
    requested.store(false, ordering: .relaxed)
    for signalNumber in [SIGINT, SIGTERM, SIGHUP] {
      signal(signalNumber) { _ in Interruption.requested.store(true, ordering: .relaxed) }
    }
  }
}
