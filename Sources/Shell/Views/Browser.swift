internal import Basics
internal import Experiments
internal import Foundation

/// The pages that 'open' has written: in a folder that goes with the program.
package struct OpenedPages: Sendable {
  private static let prefix = "lab-pages"
  private var folder: ScratchFolder?

  init() {}

  /// Removes those of labs that were killed.
  package static func removeLeft() { ScratchFolder.removeLeft(prefix) }

  /// The path of a page of that name.
  ///
  /// - Throws: `ScratchFolder.Unavailable`.
  mutating func newPage(named name: String) throws(ScratchFolder.Unavailable) -> String {
    let folder: ScratchFolder
    if let made = self.folder { folder = made } else { folder = try ScratchFolder(Self.prefix) }
    self.folder = folder
    return "\(folder.path)/\(name).html"
  }
}

/// What shows a page to the person.
struct Browser {
  var command: String
  /// Whether it runs in this very terminal, and has it meanwhile.
  var isInTerminal: Bool

  /// Nil where there is none that could be seen.
  static var known: Browser? {
    let environment = ProcessInfo.processInfo.environment
    let hasScreen = ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
    if let chosen = environment["BROWSER"], !chosen.isEmpty {
      return Browser(command: chosen, isInTerminal: !hasScreen)
    }
    return hasScreen ? Browser(command: "xdg-open", isInTerminal: false) : nil
  }

  /// Shows the page; one with a window of its own is not waited for.
  ///
  /// - Returns: whether it could be started.
  func open(_ path: String) -> Bool {
    let quoted = "'" + path.replacing("'", with: "'\\''") + "'"
    let program = command.split(separator: " ").first.map(String.init) ?? command
    let line =
      isInTerminal
      ? "exec \(command) \(quoted) </dev/tty"
      : "command -v \(program) >/dev/null || exit 127; \(command) \(quoted) >/dev/null 2>&1 </dev/null &"
    guard let started = try? PipedProgram(line) else { return false }
    return started.end() == .exited(0)
  }
}
