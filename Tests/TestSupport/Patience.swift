import Glibc

/// How long somebody goes on waiting for a program under test.
///
/// Of the time between two looks at most a second counts, and none of these waits sleeps for longer: a
/// machine that stood still for ten minutes gives the program its time back.
package struct Patience {
  private var left: Duration
  private var lastLook: ContinuousClock.Instant

  package init(_ duration: Duration, now: ContinuousClock.Instant = .now) {
    left = duration
    lastLook = now
  }

  /// Whether the time is up.
  package mutating func isOver(now: ContinuousClock.Instant = .now) -> Bool {
    left -= min(lastLook.duration(to: now), .seconds(1))
    lastLook = now
    return left <= .zero
  }

  /// Waits for one of the events until the next look is due; false if none came.
  func wait(for files: inout [pollfd]) -> Bool { poll(&files, nfds_t(files.count), 900) > 0 }
}
