internal import CExplorable
internal import FoundationEssentials
private import Glibc
internal import Synchronization

/// The toolchain's `llvm-symbolizer`, where this machine has it: the source lines of many addresses at once.
///
/// The runtime's own reader goes through the debugging information of the whole program for each address: a
/// second of a processor and hundreds of megabytes where the program is large. This one was made for such
/// programs. The sanitizers find their lines in the same way.
enum Symbolizer {
  /// What stands at an address: a function, and a line of it.
  struct Frame: Equatable {
    /// As it is in the binary.
    var rawName: String
    var path: String
    var line: Int
    /// The line at which the function begins, 0 where that is not known.
    var start = 0
    /// Whether the line is that of the code before it, for it has none of its own.
    var isOfCodeBefore = false

    /// Whether it is a part of an asynchronous function, at the line at which the whole begins.
    var beginsPart: Bool { line > 0 && line == start && rawName.contains(/T[QY][0-9]+_$/) }

    var isClosure: Bool { rawName.contains(/fU[0-9]*_(T[A-Z0-9_]+)?$/) }

    var isOfMacro: Bool { path.contains("@__swiftmacro_") }

    var lacksLine: Bool { line == 0 && path.hasSuffix(".swift") }
  }

  /// The functions at these addresses, of those inlined there the innermost first; none for an address of which
  /// nothing is known.
  ///
  /// Nil where there is no symbolizer or it fails: then the runtime is to be asked.
  static func frames(at addresses: Set<UInt>) -> [UInt: [Frame]]? {
    guard let program else { return nil }
    var frames: [UInt: [Frame]] = [:]
    for (image, addresses) in LoadedImages.byImage(addresses) {
      guard var found = answers(of: program, image, addresses) else { return nil }
      let lineless = found.filter { $0.value.contains(where: \.lacksLine) }
      if !lineless.isEmpty {
        let before = lineless.keys.flatMap { address in distances.map { address - $0 } }
        guard let others = answers(of: program, image, before) else { return nil }
        for (address, own) in lineless {
          found[address] = own.map { $0.lacksLine ? withLine($0, from: address, others) : $0 }
        }
      }
      let resumed = found.filter { $0.value.last?.beginsPart ?? false }
      if !resumed.isEmpty {
        let behind = resumed.keys.flatMap { address in distancesBehind.map { address + $0 } }
        guard let others = answers(of: program, image, behind) else { return nil }
        for (address, own) in resumed {
          guard let last = own.last, let line = lineOfMacro(in: last, behind: address, others)
          else { continue }
          found[address]?[own.count - 1].line = line
        }
      }
      frames.merge(found) { first, _ in first }
    }
    return frames
  }

  /// How far behind the beginning of a part a macro's code is looked for, in bytes.
  private static let distancesBehind: [UInt] = (1...24).map { 8 * $0 }

  /// The line of the macro in which a part of a function begins, if it does in one.
  ///
  /// Where a task goes on behind an `await` inside of `#expect`, the compiler gives the line at which the whole function
  /// begins. The macro's code follows, and what it stands in has the line.
  private static func lineOfMacro(
    in part: Frame,
    behind address: UInt,
    _ others: [UInt: [Frame]]
  ) -> Int? {
    for distance in distancesBehind {
      guard let found = others[address + distance], let outer = found.last,
        outer.rawName == part.rawName
      else { return nil }
      // In a closure the macro stands in no line of it.
      if found.count > 1, found.contains(where: \.isOfMacro), !outer.isOfMacro, outer.line > 0 {
        return outer.line
      }
    }
    return nil
  }

  /// How far back the line of an address without one is looked for, in bytes of code.
  private static let distances: [UInt] = (1...32).map { 4 * $0 }

  /// The compiler gives line 0 to what it adds itself, as a release between two lines: that is of the line before.
  private static func withLine(
    _ frame: Frame,
    from address: UInt,
    _ others: [UInt: [Frame]]
  ) -> Frame {
    for distance in distances {
      let found = others[address - distance]?.first { $0.rawName == frame.rawName && $0.line > 0 }
      if var found {
        found.isOfCodeBefore = true
        return found
      }
    }
    return frame
  }

  /// The program, kept from its first answer on.
  static let running = Mutex<SymbolizerProgram?>(nil)

  /// Ends it where this program exits, and waits for it: a container without an init process would keep it as a zombie.
  private static let endsWithProgram: Void = {
    atexit { Symbolizer.running.withLockIfAvailable { $0 = nil } }
  }()

  private static func answers(
    of program: String,
    _ image: LoadedImages.Image,
    _ addresses: [UInt]
  ) -> [UInt: [Frame]]? {
    let questions = addresses.map {
      "\"\(image.path)\" 0x\(String($0 - image.loadBias, radix: 16))"
    }
    let answers = running.withLock { running in
      if let answers = running?.answers(to: questions) { return Optional(answers) }
      _ = endsWithProgram
      // It may have ended meanwhile: Ctrl-C at a terminal ends all programs there.
      running = SymbolizerProgram(
        program,
        ["--output-style=JSON", "--no-demangle", "--inlines"]
      )
      if let answers = running?.answers(to: questions) { return answers }
      running = nil
      return nil
    }
    guard let frames = try? answers?.map({ try JSONDecoder().decode(Answer.self, from: $0).frames })
    else { return nil }
    return Dictionary(zip(addresses, frames)) { first, _ in first }
  }

  /// A function's name as the language has it, from the one in the binary.
  static func demangled(_ name: String) -> String {
    guard let text = demangled_name(name) else { return name }
    defer { free(text) }
    return String(cString: text)
  }

  /// As the program writes it of an address; without symbols where it knows none.
  private struct Answer: Decodable {
    struct Line: Decodable {
      var function: String
      var file: String
      var line: Int
      var start: Int?

      enum CodingKeys: String, CodingKey {
        case function = "FunctionName"
        case file = "FileName"
        case line = "Line"
        case start = "StartLine"
      }
    }

    var lines: [Line]?

    enum CodingKeys: String, CodingKey { case lines = "Symbol" }

    var frames: [Frame] {
      (lines ?? []).map {
        var frame = Frame(rawName: $0.function, path: $0.file, line: $0.line, start: $0.start ?? 0)
        // What a closure does first, as its look at a variable that it captures, has the line now and then at which
        // another one is declared.
        if frame.line > 0, frame.line < frame.start, frame.isClosure { frame.line = frame.start }
        return frame
      }
    }
  }

  /// The symbolizer beside the compiler that `PATH` leads to, or else one that `PATH` leads to itself.
  private static let program: String? = {
    let folders = getenv("PATH").map { String(cString: $0) }?.split(separator: ":") ?? []
    func found(_ name: String) -> String? {
      folders.map { $0 + "/" + name }.first { access($0, X_OK) == 0 }
    }
    if let compiler = found("swift"), let path = realpath(compiler, nil) {
      defer { free(path) }
      let beside = String(cString: path).split(separator: "/").dropLast().map { "/" + $0 }.joined()
      if access(beside + "/llvm-symbolizer", X_OK) == 0 { return beside + "/llvm-symbolizer" }
    }
    return found("llvm-symbolizer")
  }()
}
