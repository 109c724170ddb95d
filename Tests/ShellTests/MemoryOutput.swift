import Foundation
import Mechanisms
import Shell
import Synchronization

/// Keeps what a session says, instead of showing it.
final class MemoryOutput: ShellOutput {
  private struct State {
    var text = ""
    var complaints: [String] = []
    var isClosed = false
    var history: [String] = []
  }

  private let state = Mutex(State())
  let display: Display

  init(_ display: Display = Display(width: 100)) { self.display = display }

  func write(_ text: String) { state.withLock { $0.text += text } }

  func complain(_ line: String) { state.withLock { $0.complaints.append(line) } }

  var isClosed: Bool {
    get { state.withLock { $0.isClosed } }
    set { state.withLock { $0.isClosed = newValue } }
  }

  var canShowFrames: Bool { false }

  func showFrames(
    _ frame: @escaping @Sendable (Display) -> Frame,
    onWholeScreen: Bool,
    onKeys: @escaping @Sendable ([UInt8]) -> Bool
  ) async -> FrameEnding {
    preconditionFailure("frames cannot be shown here, so nobody should try")
  }

  func writeTransient(_ line: String) {
    preconditionFailure("frames cannot be shown here, so nobody should try")
  }

  var history: [String] {
    get { state.withLock { $0.history } }
    set { state.withLock { $0.history = newValue } }
  }

  /// What was written since the last taking.
  func takeText() -> String {
    state.withLock { state in
      defer { state.text = "" }
      return state.text
    }
  }

  /// What was complained about since the last taking.
  func takeComplaints() -> [String] {
    state.withLock { state in
      defer { state.complaints = [] }
      return state.complaints
    }
  }
}

/// A session without a terminal, and what it says.
struct Lab {
  let output: MemoryOutput
  let session: Session

  init(
    json: Bool = false,
    display: Display = Display(width: 100),
    classroom: Classroom = Classroom()
  ) {
    output = MemoryOutput(display)
    session = Session(
      settings: Settings(),
      output: output,
      json: json,
      classroom: classroom
    )
  }

  /// What a script's line says on standard output.
  @discardableResult
  func run(_ line: String) async -> String {
    _ = await outcome(of: line)
    return output.takeText()
  }

  func outcome(of line: String) async -> Session.Outcome {
    session.beginLine()
    return await session.execute(line, at: .script(name: "test", line: 1))
  }

  /// What a line typed behind `prompt> ` complains about, a line each.
  func complaints(about line: String) async -> [String] {
    _ = await session.execute(line, at: .prompt(columns: Self.prompt.count))
    return output.takeComplaints()
  }

  static let prompt = "prompt> "
}

/// A folder that is there as long as the value.
final class ScratchFolder: Sendable {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "shell-tests-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a file and returns its path.
  func file(_ name: String, _ text: String) throws -> String {
    let path = path + "/" + name
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }
}

/// The package this test belongs to.
let packageFolder = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

extension Lab {
  static let mechanisms = Catalogue.mechanisms.map(\.id)
  static let specimens = Catalogue.specimens.map(\.id)
}
