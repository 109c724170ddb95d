import Basics
import Foundation
import Shell
import Synchronization

/// Standard output and standard error as the session sees them.
final class Console: ShellOutput {
  private let options: TerminalCapabilities.Options
  private let failure = Mutex<OutputWriter.Failure?>(nil)

  /// Whether pictures may have as many rows as there are tasks.
  private let allRows: Bool
  /// How many rows a picture has at most where no window bounds it: enough to see the shape, and a
  /// run of millions stays readable.
  private static let mostRows = 200

  init(_ options: TerminalCapabilities.Options, allRows: Bool) {
    self.options = options
    self.allRows = allRows
  }

  var capabilities: TerminalCapabilities {
    .current(environment: ProcessInfo.processInfo.environment, options: options)
  }

  var display: Display {
    let able = capabilities
    return Display(
      width: able.size.columns,
      height: able.outputIsTerminal && !allRows ? able.size.rows : nil,
      mostRows: allRows ? nil : Self.mostRows,
      ascii: !able.unicode,
      colour: able.color
    )
  }

  var canShowFrames: Bool {
    let able = capabilities
    return able.isInteractive && able.movesCursor
  }

  func showFrames(
    _ frame: @escaping @Sendable (Display) -> Frame,
    onWholeScreen: Bool,
    onKeys: @escaping @Sendable ([UInt8]) -> Bool
  ) async -> FrameEnding {
    let able = capabilities
    let ending = await LiveRegion.show(onWholeScreen: onWholeScreen, onKeys: onKeys) { size in
      let frame = frame(
        Display(
          width: min(size.columns, self.options.width ?? size.columns),
          height: size.rows,
          ascii: !able.unicode,
          colour: able.color
        )
      )
      return LiveRegion.Frame(lines: frame.lines, isLast: frame.isLast)
    }
    switch ending {
    case .finished: return .finished
    case .left: return .left
    case .interrupted: return .interrupted
    }
  }

  func leaveForPrompt(_ keys: [UInt8]) { LiveRegion.leaveForPrompt(keys) }

  func lendTerminal(_ isLent: Bool) { TerminalLoan.isLent = isLent }

  /// Where the lines typed are remembered; nil where no home is known.
  let historyPath = StateDirectory.path(
    for: "history",
    environment: ProcessInfo.processInfo.environment
  )
  private let typed = Mutex<[String]>([])
  private let hasTransient = Mutex(false)

  /// From the file, where the lines of earlier sessions are too; if it cannot be read, those typed
  /// in this one.
  var history: [String] {
    historyPath.flatMap { LineEditor.rememberedLines(at: $0) } ?? typed.withLock { $0 }
  }

  /// Notes a line that a person typed.
  func remember(_ line: String) {
    if !line.isEmpty { typed.withLock { $0.append(line) } }
  }

  /// Cut to the window: of a line that goes round, only the last part could be taken away again.
  func writeTransient(_ line: String) {
    write(CellWidth.truncate(line, to: capabilities.size.columns - 1))
    hasTransient.withLock { $0 = true }
  }

  func clear() {
    if canShowFrames { write("\u{1B}[H\u{1B}[2J\u{1B}[3J") }
  }

  /// Whether what is longer than the window is shown a page at a time.
  let pages = Mutex(false)

  func writePages(_ text: String) {
    let able = capabilities
    guard pages.withLock({ $0 }), able.isInteractive, able.movesCursor else { return write(text) }
    let size = TerminalSize(columns: able.size.columns, rows: able.size.rows)
    Pager.show(text, size: size) { write($0) }
  }

  /// Whether nothing but complaints is shown: what a start file sets, nobody asked to see.
  let isMuted = Mutex(false)

  func write(_ text: String) {
    if isMuted.withLock({ $0 }) { return }
    guard failure.withLock({ $0 }) == nil else { return }
    // A transient line is taken away by what comes after it.
    let isOverTransient = hasTransient.withLock { flag in
      defer { flag = false }
      return flag
    }
    do {
      try OutputWriter.standardOutput.write(isOverTransient ? "\r\u{1B}[K" + text : text)
    } catch {
      let isFirst = failure.withLock { failure in
        defer { failure = failure ?? error }
        return failure == nil
      }
      // A reader that has left is no reason to say anything: it has what it wanted.
      if isFirst, error != .closed { complain("lab: \(error).") }
    }
  }

  func complain(_ line: String) {
    // With standard error gone there is nobody left to tell.
    try? OutputWriter.standardError.write(line + "\n")
  }

  var isClosed: Bool { failure.withLock { $0 } != nil }

  var isCutShort: Bool {
    switch failure.withLock({ $0 }) {
    case nil, .closed: false
    case .full, .failed: true
    }
  }

  /// The exit status, which a failure to write outweighs where it cut the output short.
  func status(_ status: Int32) -> Int32 {
    isCutShort ? max(status, 3) : status
  }
}
