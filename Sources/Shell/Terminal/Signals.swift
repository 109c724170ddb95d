internal import Basics
import Foundation
import Glibc
import Synchronization

/// Signals, turned into calls on an ordinary thread.
///
/// A signal handler may interrupt anything, also the holder of a lock, so it may do next to nothing:
/// here it writes the signal's number into a pipe. A thread reads the pipe and acts.
///
/// What a signal means depends on what is going on: Ctrl-C drops a line being typed, or ends a run,
/// or leaves a live view. The code that is in the foreground holds a claim, and only that code is told;
/// claims nest. With nobody claiming, Ctrl-C ends the process as if it were not handled.
///
/// Ctrl-Z, Ctrl-\, SIGTERM and SIGHUP are handled here once for all: they put the terminal back as it was
/// found, and then do to the process what they do by default, so that the shell which started it
/// sees the truth.
package final class Signals: Sendable {
  package enum Event: Sendable, Equatable {
    /// Ctrl-C.
    case interrupt
    /// The window has another size.
    case resize
    /// The process is about to be stopped: what is sent to the screen now comes too late.
    case stopping
    /// The process was stopped and goes on: the screen must be drawn anew.
    case resumed
  }

  /// The right to be told, until released.
  package struct Claim: Sendable {
    fileprivate let id: Int

    package func release() {
      Signals.shared.release(id)
    }
  }

  private struct Holder {
    var id: Int
    /// Sent to the terminal before the process is stopped or ended.
    var farewell: String
    var handler: @Sendable (Event) -> Void
  }

  private struct State {
    var started = false
    var nextID = 0
    var holders: [Holder] = []
    var interrupts = 0
  }

  /// Signals are sent to processes: there is one handler for each in a process.
  package static let shared = Signals()

  private let state = Mutex(State())

  private init() {}

  /// Starts handling signals; calling it again does nothing.
  ///
  /// SIGPIPE is ignored from here on: a write to a closed pipe says so instead.
  ///
  /// A signal the process was started with as ignored (`nohup`, a job in the background of a script)
  /// stays ignored.
  package func start() {
    let first = state.withLock { state in
      defer { state.started = true }
      return !state.started
    }
    guard first else { return }
    let pipe = WakePipe()
    signalPipe = pipe.writeEnd
    signal(SIGPIPE, SIG_IGN)
    OSThread("signals") { [self] in
      while true {
        for number in pipe.wait() { act(on: Int32(number)) }
      }
    }.detach()
    for number in [SIGINT, SIGQUIT, SIGTSTP, SIGTERM, SIGHUP, SIGWINCH, SIGCONT]
    where !isIgnored(number) {
      install(number)
    }
  }

  /// Until released, signals go to `handler` alone, called on the thread for signals.
  ///
  /// `farewell` is sent to the terminal before the process is stopped or ended, to show the cursor
  /// again for example.
  package func claim(
    farewell: String = "",
    _ handler: @escaping @Sendable (Event) -> Void
  ) -> Claim {
    state.withLock { state in
      state.nextID += 1
      state.holders.append(Holder(id: state.nextID, farewell: farewell, handler: handler))
      return Claim(id: state.nextID)
    }
  }

  /// A claim as a stream: it holds until the loop over it ends.
  package func events() -> AsyncStream<Event> {
    AsyncStream { continuation in
      let claim = claim { continuation.yield($0) }
      continuation.onTermination = { _ in claim.release() }
    }
  }

  /// How often Ctrl-C was pressed so far, no matter which claim was told.
  package var interrupts: Int { state.withLock { $0.interrupts } }

  private func release(_ id: Int) {
    state.withLock { $0.holders.removeAll { $0.id == id } }
  }

  private func act(on number: Int32) {
    let holder = state.withLock { state in
      if number == SIGINT { state.interrupts += 1 }
      return state.holders.last
    }
    switch number {
    case SIGWINCH: holder?.handler(.resize)
    case SIGCONT:
      TerminalMode.shared.reenter()
      holder?.handler(.resumed)
    case SIGINT:
      guard let holder else { return end(by: number, farewell: "") }
      holder.handler(.interrupt)
    case SIGTSTP:
      holder?.handler(.stopping)
      surrenderTerminal(holder?.farewell ?? "")
      takeDefaultAction(number)
      // The process was stopped in the line above, and goes on here. SIGCONT says so to the holder;
      // where nobody could have continued it, it was not stopped, and there is nothing to say.
      install(number)
      TerminalMode.shared.reenter()
    default:
      end(by: number, farewell: holder?.farewell ?? "")
    }
  }

  private func end(by number: Int32, farewell: String) {
    surrenderTerminal(farewell)
    ScratchFolder.removeAll()
    takeDefaultAction(number)
  }

  private func surrenderTerminal(_ farewell: String) {
    // Nobody may be reading any more; there is nobody left to tell then.
    if !farewell.isEmpty { try? OutputWriter.standardOutput.write(farewell) }
    TerminalMode.shared.restore()
  }

  private func takeDefaultAction(_ number: Int32) {
    signal(number, SIG_DFL)
    var only = sigset_t()
    sigemptyset(&only)
    sigaddset(&only, number)
    pthread_sigmask(SIG_UNBLOCK, &only, nil)
    raise(number)
  }

  private func install(_ number: Int32) {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = passOn
    action.sa_flags = SA_RESTART
    sigaction(number, &action, nil)
  }

  private func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

/// Where the handler writes.
///
/// Safe without a lock: it is set once, before the first handler is installed, and only read after.
/// A constant initial value needs no lazy initialisation, which a signal handler could not wait for.
private nonisolated(unsafe) var signalPipe: Int32 = -1

/// The signal handler: a write to the pipe and nothing else, as `signal-safety(7)` asks.
///
/// `errno` belongs to whatever was interrupted.
private func passOn(_ number: Int32) {
  let interrupted = errno
  var byte = UInt8(truncatingIfNeeded: number)
  _ = Glibc.write(signalPipe, &byte, 1)
  errno = interrupted
}
