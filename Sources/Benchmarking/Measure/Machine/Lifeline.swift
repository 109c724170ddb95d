internal import Foundation

/// Ends this process when the one that spawned it goes away, however it goes.
///
/// Standard input is the read end of a pipe that nobody writes to. When its last writer is gone, the
/// kernel sends SIGIO to the owner of the read end, and SIGIO's default is to end the process. No
/// thread has to wait for it, so none is in the figures.
package enum Lifeline {
  package static func hold() {
    _ = fcntl(0, F_SETOWN, getpid())
    _ = fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_ASYNC)
    // It may have gone before the kernel was asked to tell.
    var watched = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    if poll(&watched, 1, 0) > 0 { _exit(1) }
  }
}
