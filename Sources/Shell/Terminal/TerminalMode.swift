import Glibc
import Synchronization

/// The terminal as it was found, and the quiet mode the lab keeps it in.
///
/// In the quiet mode nothing typed is echoed and nothing waits for Enter. It is kept between two
/// lines as well as within them: what is typed ahead while a command runs then appears once, at the
/// prompt that takes it, and never in the middle of output. Ctrl-C, Ctrl-Z and Ctrl-\ keep their
/// meaning.
///
/// A terminal is shared with the shell that started us, which is why every way out (leaving, being
/// stopped, being terminated) puts back what was found.
final class TerminalMode: Sendable {
  /// There is one controlling terminal a process.
  static let shared = TerminalMode()

  private struct State {
    var fileDescriptor: Int32 = -1
    var found: termios?
    var uses = 0
    /// Whether another program has it, as it was found.
    var isLent = false
  }

  private let state = Mutex(State())

  private init() {}

  /// Enters the quiet mode, or stays in it; each call needs its `leaveQuiet()`.
  func enterQuiet(_ fileDescriptor: Int32) {
    let first = state.withLock { state in
      state.uses += 1
      guard state.uses == 1 else { return false }
      var found = termios()
      guard tcgetattr(fileDescriptor, &found) == 0 else { return false }
      let isFirstEver = state.found == nil
      state.fileDescriptor = fileDescriptor
      state.found = found
      return isFirstEver
    }
    // However the process ends, short of a crash, the terminal is left as it was found.
    if first { atexit { TerminalMode.shared.restore() } }
    applyQuiet()
  }

  func leaveQuiet() {
    let last = state.withLock { state in
      state.uses -= 1
      return state.uses == 0
    }
    if last { restore() }
  }

  /// The keys that ask for a signal, as the person's terminal is set: Ctrl-C, Ctrl-Z and Ctrl-\ as a rule.
  ///
  /// Zero for one that is switched off.
  var signalKeys: (interrupt: UInt8, suspend: UInt8, quit: UInt8) {
    guard let found = state.withLock({ $0.found }) else { return (3, 26, 28) }
    return withUnsafeBytes(of: found.c_cc) { ($0[Int(VINTR)], $0[Int(VSUSP)], $0[Int(VQUIT)]) }
  }

  /// Puts back what was found, for the time the process is stopped or for good.
  func restore() {
    let (fileDescriptor, found) = state.withLock { ($0.fileDescriptor, $0.found) }
    guard var found else { return }
    change(fileDescriptor, to: &found)
  }

  /// After the process was stopped: back to the quiet mode, if it was in it.
  func reenter() {
    if state.withLock({ $0.uses > 0 }) { applyQuiet() }
  }

  /// Whether another program has the terminal meanwhile.
  var isLent: Bool {
    get { state.withLock { $0.isLent } }
    set {
      state.withLock { $0.isLent = newValue }
      newValue ? restore() : reenter()
    }
  }

  private func applyQuiet() {
    let (fileDescriptor, found) = state.withLock { ($0.fileDescriptor, $0.isLent ? nil : $0.found) }
    guard var quiet = found else { return }
    quiet.c_lflag &= ~tcflag_t(ICANON | ECHO | ECHOE | ECHOK | ECHONL)
    // An interrupt must not throw away half of what is being written to the screen.
    quiet.c_lflag |= tcflag_t(ISIG | NOFLSH)
    quiet.c_iflag |= tcflag_t(ICRNL)
    withUnsafeMutableBytes(of: &quiet.c_cc) { characters in
      characters[Int(VMIN)] = 1
      characters[Int(VTIME)] = 0
    }
    change(fileDescriptor, to: &quiet)
  }

  /// A process in the background must not touch the terminal: the kernel would stop it for trying,
  /// and one that was asked to end would then never end.
  private func change(_ fileDescriptor: Int32, to mode: inout termios) {
    guard tcgetpgrp(fileDescriptor) == getpgrp() else { return }
    while tcsetattr(fileDescriptor, TCSADRAIN, &mode) != 0, errno == EINTR {}
  }
}

/// The terminal while another program has it: a pager at the end of a pipe, for instance.
package enum TerminalLoan {
  package static var isLent: Bool {
    get { TerminalMode.shared.isLent }
    set { TerminalMode.shared.isLent = newValue }
  }
}
