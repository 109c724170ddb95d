internal import FoundationEssentials
internal import Runtime

/// The source lines of addresses of code, as far as the build has them.
///
/// All are looked up at once, because each look-up reads the program's debugging information anew.
struct SourceLines {
  /// For each address the innermost line of the code under test, and the function's name in the binary.
  private var places: [UInt: String] = [:]
  private var names: [UInt: String] = [:]

  init(of points: some Sequence<UInt>) {
    guard let backtrace = Self.backtrace(of: Set(points)),
      let frames = backtrace.symbolicated(with: ImageMap.capture())?.frames
    else { return }
    for frame in frames {
      guard let address = UInt(frame.captured.originalProgramCounter), let symbol = frame.symbol
      else { continue }
      names[address] = names[address] ?? symbol.rawName
      guard places[address] == nil, let location = symbol.sourceLocation, location.line > 0,
        !frame.isSystem, !frame.isSwiftThunk, location.path.hasSuffix(".swift"),
        // Lines of what a macro made of the code are nothing to look up.
        !lastPart(of: location.path).hasPrefix("@__swiftmacro"),
        // This library's own code, as its mangled names begin.
        !symbol.rawName.hasPrefix("$s11Exploration")
      else { continue }
      places[address] = "\(lastPart(of: location.path)):\(location.line)"
    }
  }

  /// The first of these addresses that is code under test, as `File.swift:12`.
  func place(of points: [UInt]) -> String? { points.lazy.compactMap { places[$0] }.first }

  /// Whether the task waits in the runtime's own `Task.sleep`.
  func isSleeping(at points: [UInt]) -> Bool {
    points.contains { names[$0]?.hasPrefix("$sScTss5NeverORszABRs_rlE5sleep") ?? false }
  }

  /// The addresses of the calling thread's own frames, those of tasks included.
  static func here() -> [UInt] {
    guard let backtrace = try? Backtrace.capture() else { return [] }
    return backtrace.frames.compactMap { UInt($0.adjustedProgramCounter) }
  }

  /// The addresses as a backtrace.
  ///
  /// The public way to make one of addresses is to decode it. The compact format is a byte 2 (words of 64
  /// bits), then for each frame `0x3F` (a resume point, absolute, eight bytes) and the address.
  private static func backtrace(of points: Set<UInt>) -> Backtrace? {
    var bytes: [UInt8] = [2]
    for point in points {
      bytes.append(0x3F)
      withUnsafeBytes(of: UInt64(point).bigEndian) { bytes.append(contentsOf: $0) }
    }
    bytes.append(0)
    let text = """
      {"architecture":"\(architecture)","backtrace":"\(Data(bytes).base64EncodedString())"}
      """
    return try? JSONDecoder().decode(Backtrace.self, from: Data(text.utf8))
  }

  #if arch(arm64)
  private static let architecture = "arm64"
  #else
  private static let architecture = "x86_64"
  #endif
}
