internal import Basics
import Foundation
import Glibc
import Synchronization

/// A block of lines at the bottom of the screen, redrawn in place while something goes on.
///
/// For terminals whose cursor moves (`TerminalCapabilities.movesCursor`); elsewhere print plain lines.
/// It asks for a frame at most 20 times a second, and sooner after a key, on a thread of its own, so neither the
/// tasks shown nor the main actor wait for a slow screen.
package enum LiveRegion {
  package struct Frame: Sendable, Equatable {
    package var lines: [String]
    /// There is nothing more to wait for: the region ends with this frame.
    package var isLast: Bool

    package init(lines: [String], isLast: Bool) {
      self.lines = lines
      self.isLast = isLast
    }
  }

  package enum Ending: Sendable, Equatable {
    /// The last frame was shown.
    case finished
    /// The person pressed the key to leave, or the task was cancelled; what was shown goes on.
    case left
    /// Ctrl-C.
    case interrupted
  }

  /// Leaves keys that were read by a region, and not meant for it, to the line that is edited next.
  package static func leaveForPrompt(_ keys: [UInt8]) {
    for key in keys { TypedAhead.shared.leave(key) }
  }

  /// Shows frames until the last of them, until q or until Ctrl-C, and then takes them off the screen.
  ///
  /// The size given to `frame` is that of the window now; lines beyond it are cut. With
  /// `keepsLastFrame` the last frame stays where it is when the region finishes. `onKeys` is given what came in
  /// one reading and says whether to leave: q does, unless told otherwise. On the whole screen, what stood there
  /// before comes back when the region ends, however that happens.
  package static func show(
    keepsLastFrame: Bool = false,
    onWholeScreen: Bool = false,
    onKeys: @escaping @Sendable ([UInt8]) -> Bool = {
      $0.contains { $0 | 0x20 == UInt8(ascii: "q") }
    },
    _ frame: @escaping @Sendable (TerminalSize) -> Frame
  ) async -> Ending {
    Signals.shared.start()
    let inbox = LiveInbox()
    return await withTaskCancellationHandler {
      await onOwnThread("live region") {
        var loop = LiveLoop(
          inbox: inbox,
          keepsLastFrame: keepsLastFrame,
          onWholeScreen: onWholeScreen,
          onKeys: onKeys,
          frame: frame
        )
        return loop.run()
      }
    } onCancel: {
      inbox.add { $0.cancelled = true }
    }
  }
}

/// What others tell the thread that draws.
final class LiveInbox: Sendable {
  struct News {
    var interrupted = false
    var stopping = false
    var resumed = false
    var cancelled = false
  }

  private let news = Mutex(News())
  private let pipe = WakePipe()

  var wakeDescriptor: Int32 { pipe.readEnd }

  func add(_ change: (inout News) -> Void) {
    news.withLock { change(&$0) }
    pipe.wake()
  }

  /// Whether the process is about to be stopped, and has not been told to go on.
  var isStopping: Bool { news.withLock { $0.stopping && !$0.resumed } }

  /// Waits for news, but not for longer.
  func wait(_ time: Duration) {
    var waiting = pollfd(fd: pipe.readEnd, events: Int16(POLLIN), revents: 0)
    poll(&waiting, 1, Int32((time / .milliseconds(1)).rounded(.up)))
  }

  func take() -> News {
    _ = pipe.drain()
    return news.withLock { news in
      defer { news = News() }
      return news
    }
  }
}

/// The thread that draws, and waits for keys between frames.
private struct LiveLoop {
  private static let hideCursor = "\u{1B}[?25l"
  private static let showCursor = "\u{1B}[?25h"
  /// To the other screen, which is empty then, and back.
  private static let enterScreen = "\u{1B}[?1049h\u{1B}[H\u{1B}[J"
  private static let leaveScreen = "\u{1B}[?1049l"

  let inbox: LiveInbox
  let keepsLastFrame: Bool
  let onWholeScreen: Bool
  let onKeys: @Sendable ([UInt8]) -> Bool
  let frame: @Sendable (TerminalSize) -> LiveRegion.Frame
  private var isOpen = false
  private var painter: LivePainter
  private var pacer = FramePacer()
  private var readsKeys = isatty(STDIN_FILENO) == 1
  /// How many rounds to draw nothing: the process is being stopped, and until it is told that it goes
  /// on, it must not draw over the program that has the terminal.
  private var roundsToRest = 0
  /// If it was not stopped after all, nobody tells it to go on.
  private static let longestRest = 20

  init(
    inbox: LiveInbox,
    keepsLastFrame: Bool,
    onWholeScreen: Bool,
    onKeys: @escaping @Sendable ([UInt8]) -> Bool,
    frame: @escaping @Sendable (TerminalSize) -> LiveRegion.Frame
  ) {
    self.inbox = inbox
    self.keepsLastFrame = keepsLastFrame
    self.onWholeScreen = onWholeScreen
    painter = LivePainter(ownsScreen: onWholeScreen)
    self.onKeys = onKeys
    self.frame = frame
  }

  private var opening: String { (onWholeScreen ? Self.enterScreen : "") + Self.hideCursor }
  /// The other screen is not shown for what is over at once: it would only flicker.
  private static let briefest = Duration.milliseconds(150)

  private mutating func open() throws(OutputWriter.Failure) {
    guard !isOpen else { return }
    isOpen = true
    try send(opening)
  }

  private var closing: String { Self.showCursor + (onWholeScreen ? Self.leaveScreen : "") }

  mutating func run() -> LiveRegion.Ending {
    let inbox = inbox
    // A resize needs no news: every frame asks for the size.
    let claim = Signals.shared.claim(farewell: closing) { event in
      inbox.add { news in
        switch event {
        case .interrupt: news.interrupted = true
        case .stopping: news.stopping = true
        case .resumed: news.resumed = true
        case .resize: break
        }
      }
    }
    if readsKeys { TerminalMode.shared.enterQuiet(STDIN_FILENO) }
    defer {
      if readsKeys { TerminalMode.shared.leaveQuiet() }
      claim.release()
    }
    do {
      let ending = try drawUntilTheEnd()
      guard isOpen else { return ending }
      let keeps = onWholeScreen || ending == .finished && keepsLastFrame
      try send((keeps ? "" : painter.remove(from: Self.size)) + closing)
      return ending
    } catch {
      // The terminal is gone: nothing can be left behind on it.
      return .interrupted
    }
  }

  private mutating func drawUntilTheEnd() throws(OutputWriter.Failure) -> LiveRegion.Ending {
    let begin = ContinuousClock.now
    while true {
      let news = inbox.take()
      if news.interrupted { return .interrupted }
      if news.cancelled { return .left }
      if news.stopping { roundsToRest = Self.longestRest }
      if news.resumed {
        roundsToRest = 0
        painter.forget()
        if isOpen { try send(opening) }
      }
      if roundsToRest > 0 {
        roundsToRest -= 1
        inbox.wait(FramePacer.interval)
        continue
      }
      let wait = pacer.wait(at: .now)
      if wait == .zero {
        let size = Self.size
        let next = frame(size)
        // A frame takes a while to make: the terminal may be another program's by now.
        if inbox.isStopping { continue }
        if onWholeScreen, !isOpen {
          if next.isLast { return .finished }
          if ContinuousClock.now - begin < Self.briefest { continue }
        }
        try open()
        try send(painter.paint(next.lines, size: size))
        if next.isLast { return .finished }
      } else if waitForKey(wait) {
        return .left
      }
    }
  }

  /// The window as it is now.
  private static var size: TerminalSize {
    TerminalSize.current(of: STDOUT_FILENO) ?? TerminalSize(columns: 80, rows: 24)
  }

  /// Waits for a key, news or the time to pass; true when the person wants to leave.
  private mutating func waitForKey(_ time: Duration) -> Bool {
    var waiting = [
      pollfd(fd: inbox.wakeDescriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: readsKeys ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
    ]
    let milliseconds = time / .milliseconds(1)
    guard poll(&waiting, nfds_t(waiting.count), Int32(milliseconds.rounded(.up))) > 0,
      waiting[1].revents != 0
    else { return false }
    var keys = [UInt8](repeating: 0, count: 4096)
    switch read(STDIN_FILENO, &keys, keys.count) {
    case let count where count > 0:
      // What came of it is to be seen at once.
      pacer.hasten()
      return onKeys(Array(keys[..<count]))
    case -1 where errno == EINTR || errno == EAGAIN: return false
    default: return true
    }
  }

  private func send(_ text: String) throws(OutputWriter.Failure) {
    try OutputWriter.standardOutput.write(text)
  }
}
