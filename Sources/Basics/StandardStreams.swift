internal import Glibc

/// The three files that a program is started with.
package enum StandardStreams {
  /// Takes the places of those that are closed.
  ///
  /// A file that is opened gets the lowest free number. Where standard output is closed, the next file
  /// or pipe would be standard output, and be written into. What stands there now refuses to be used as
  /// a closed one does: there is nothing to read in it, and nothing can be written.
  ///
  /// To be called before anything is opened.
  package static func fill() {
    for file in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(file, F_GETFD) < 0 {
      _ = open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
