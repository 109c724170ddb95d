import Basics
import Foundation
import Glibc
import Synchronization

/// A program run as a person runs it: at a terminal, which the test types into and looks at.
///
/// Nothing sleeps. Every wait is for something to be seen, has a deadline, and when that passes
/// throws what was on the screen instead. The program and everything in its session are killed when
/// the last reference goes, however the test ends.
package final class PseudoTerminal: Sendable {
  private struct State {
    var screen: ScreenModel
    /// Everything sent to the screen.
    var transcript: [UInt8] = []
    /// How much of the transcript `waitForOutput` has passed.
    var passed = 0
    var status: ExitStatus?
    var hungUp = false
  }

  private let name: String
  private let controller: Int32
  private let child: pid_t
  private let state: Mutex<State>
  private let kept: (any AnyObject & Sendable)?

  /// Starts the executable at `path` at a new terminal; `builtExecutable(_:)` finds those of this
  /// build.
  ///
  /// `environment` is all of it but TERM, which is xterm unless given. `kept` lives until the program has
  /// ended: what it works in.
  package init(
    _ path: String,
    _ arguments: [String] = [],
    environment: [String: String] = plainEnvironment,
    folder: String? = nil,
    columns: Int = 80,
    rows: Int = 24,
    keeping kept: (any AnyObject & Sendable)? = nil
  ) throws {
    name = path
    self.kept = kept
    var size = winsize(
      ws_row: UInt16(rows),
      ws_col: UInt16(columns),
      ws_xpixel: 0,
      ws_ypixel: 0
    )
    var terminal = [CChar](repeating: 0, count: 128)
    let ends = try descriptors.withLock { _ in
      var ends: (controller: Int32, terminal: Int32) = (-1, -1)
      guard openpty(&ends.controller, &ends.terminal, &terminal, nil, &size) == 0 else {
        throw TestSupportError.system("no pseudo-terminal can be opened")
      }
      _ = fcntl(ends.controller, F_SETFD, FD_CLOEXEC)
      _ = fcntl(ends.controller, F_SETFL, O_NONBLOCK)
      _ = fcntl(ends.terminal, F_SETFD, FD_CLOEXEC)
      return ends
    }
    controller = ends.controller
    defer { close(ends.terminal) }
    state = Mutex(State(screen: ScreenModel(columns: columns, rows: rows)))
    child = try spawn(
      path,
      arguments,
      environment: ["TERM": "xterm"].merging(environment) { $1 },
      folder: folder,
      terminal: terminal.withUnsafeBufferPointer { buffer in
        String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      }
    )
  }

  deinit {
    if state.withLock({ $0.status == nil }) {
      // The child leads its session and, unless it is a shell, its only process group.
      kill(-child, SIGKILL)
      kill(child, SIGKILL)
      waitpid(child, nil, 0)
    }
    // Hangs up: the processes that are left at the terminal are sent SIGHUP.
    close(controller)
  }

  // MARK: Looking

  /// What is to be seen now, as far as it has been read.
  package var screen: ScreenModel { state.withLock { $0.screen } }

  /// Every byte sent to the screen so far, as far as it has been read.
  package var transcript: [UInt8] { state.withLock { $0.transcript } }

  /// Waits until the screen is as wanted, and returns it.
  ///
  /// The error names `what` when it does not come to that.
  @discardableResult
  package func waitForScreen(
    _ what: String,
    deadline: Duration = .seconds(300),
    _ isAsWanted: @escaping @Sendable (ScreenModel) -> Bool
  ) async throws -> ScreenModel {
    try await onOwnThread { [self] in
      var patience = Patience(deadline)
      while true {
        if isAsWanted(screen) { return screen }
        try readMore(while: &patience, waitingFor: what)
      }
    }
  }

  /// Waits until `text` stands anywhere on the screen or above it.
  @discardableResult
  package func waitForText(
    _ text: String,
    deadline: Duration = .seconds(300)
  ) async throws -> ScreenModel {
    try await waitForScreen("'\(text)'", deadline: deadline) { $0.text.contains(text) }
  }

  /// Waits until the row with the cursor is `line`.
  @discardableResult
  package func waitForCurrentLine(
    _ line: String,
    deadline: Duration = .seconds(300)
  ) async throws -> ScreenModel {
    try await waitForScreen("the cursor in a row '\(line)'", deadline: deadline) {
      $0.currentLine == line
    }
  }

  /// Waits until exactly `text` has been sent after what the last such wait found.
  package func waitForOutput(_ text: String, deadline: Duration = .seconds(300)) async throws {
    let wanted = Array(text.utf8)
    try await onOwnThread { [self] in
      var patience = Patience(deadline)
      while true {
        let found = state.withLock { state in
          guard let range = state.transcript[state.passed...].firstRange(of: wanted) else {
            return false
          }
          state.passed = range.upperBound
          return true
        }
        if found { return }
        try readMore(while: &patience, waitingFor: "the output '\(text)'")
      }
    }
  }

  /// The memory of the program that is there in the machine's own, in bytes; nil once it ended.
  package var residentBytes: Int? {
    let pages = try? String(contentsOfFile: "/proc/\(child)/statm", encoding: .utf8)
      .split(separator: " ")
    return pages.flatMap { $0.count > 1 ? Int($0[1]) : nil }.map {
      $0 * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
  }

  // MARK: Acting

  /// Types `text`: all of it, however long, while reading what comes back.
  package func send(_ text: String, deadline: Duration = .seconds(300)) async throws {
    let bytes = Array(text.utf8)
    try await onOwnThread { [self] in
      var patience = Patience(deadline)
      var unsent = bytes[...]
      while !unsent.isEmpty {
        let sent = unsent.withUnsafeBytes { write(controller, $0.baseAddress, $0.count) }
        if sent > 0 {
          unsent = unsent.dropFirst(sent)
        } else if sent < 0, errno != EAGAIN, errno != EINTR {
          throw failure("typing '\(text.prefix(20))': \(String(cString: strerror(errno)))")
        } else {
          try readMore(while: &patience, waitingFor: "room to type", alsoWhenWritable: true)
        }
      }
    }
  }

  /// Gives the window another size, of which the program is told by SIGWINCH.
  package func resize(columns: Int, rows: Int, reflows: Bool = false) {
    state.withLock { $0.screen.resize(columns: columns, rows: rows, reflows: reflows) }
    var size = winsize(
      ws_row: UInt16(rows),
      ws_col: UInt16(columns),
      ws_xpixel: 0,
      ws_ypixel: 0
    )
    _ = ioctl(controller, UInt(TIOCSWINSZ), &size)
  }

  /// Sends a signal to the program itself.
  package func signal(_ number: Int32) {
    kill(child, number)
  }

  /// The modes of the terminal now: what a program that ended left behind, for example.
  package func echoesAndWaitsForEnter() -> Bool {
    var mode = termios()
    guard tcgetattr(controller, &mode) == 0 else { return false }
    return mode.c_lflag & tcflag_t(ECHO) != 0 && mode.c_lflag & tcflag_t(ICANON) != 0
  }

  /// Waits for the program to end.
  package func waitForExit(deadline: Duration = .seconds(300)) async throws -> ExitStatus {
    try await onOwnThread { [self] in
      var patience = Patience(deadline)
      if let status = state.withLock({ $0.status }) { return status }
      while !state.withLock({ $0.hungUp }) {
        try readMore(while: &patience, waitingFor: "the end of \(name)")
      }
      let status = try awaitExit(of: child, name, while: &patience)
      state.withLock { $0.status = status }
      return status
    }
  }

  // MARK: Reading

  /// Waits for the program to write something, or to be gone.
  private func readMore(
    while patience: inout Patience,
    waitingFor what: String,
    alsoWhenWritable: Bool = false
  ) throws {
    if state.withLock({ $0.hungUp }) {
      throw failure("the program ended while waiting for \(what)")
    }
    if patience.isOver() { throw failure("no \(what) in time") }
    let events = alsoWhenWritable ? POLLIN | POLLOUT : POLLIN
    var waiting = [pollfd(fd: controller, events: Int16(events), revents: 0)]
    guard patience.wait(for: &waiting) else { return }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = read(controller, &buffer, buffer.count)
    if count > 0 {
      state.withLock { state in
        state.transcript += buffer[..<count]
        state.screen.feed(buffer[..<count])
      }
    } else if count == 0 || errno == EIO {
      // Nobody has the terminal open any more.
      state.withLock { $0.hungUp = true }
    }
  }

  private func failure(_ what: String) -> TestSupportError {
    let screen = screen
    return TestSupportError(
      """
      \(what).
      On the screen, cursor at row \(screen.cursor.row), column \(screen.cursor.column):
      \(screen.text)
      """
    )
  }
}
