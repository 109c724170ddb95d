internal import CExplorable
internal import ExplorableSynchronization
internal import FoundationEssentials
internal import Runtime
private import Synchronization

/// A line of source.
package struct SourcePlace: Hashable, Sendable, CustomStringConvertible {
  package var path: String
  package var line: Int

  package var file: String { lastPart(of: path) }

  /// What stands there, if the file can be read.
  package var code: String? {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
    let rows = text.split(separator: "\n", maxSplits: line, omittingEmptySubsequences: false)
    guard rows.indices.contains(line - 1) else { return nil }
    let code = rows[line - 1].drop { $0 == " " }
    return code.isEmpty ? nil : String(code)
  }

  /// As `File.swift:12`.
  package var description: String { "\(file):\(line)" }
}

/// The source lines at which stacks stand in code under test, as far as the build has them.
///
/// Names are cheap to find. A line is not: each look-up goes through the debugging information of the whole
/// program, which takes a tenth of a second and more for a large one. So each is done once in a program's
/// life, not for what its name rules out, and no deeper into a stack than its first line that says something: a
/// line of the author's own package, and not of a function around a lock that everybody calls. Where there is a
/// `Symbolizer`, it is asked once for all that may be needed.
struct SourceLines {
  private struct Found {
    /// For each address that was looked up the innermost line of the code under test, if there is one.
    var places: [UInt: SourcePlace?] = [:]
    /// Where the function begins around an address that has no line.
    var starts: [UInt: SourcePlace] = [:]
    /// Those whose line is one of a wrapper, or of a package that the author's depends on.
    var passing: Set<UInt> = []
    /// Those whose line is that of the code before them.
    var borrowed: Set<UInt> = []
    /// Of those in `passing` the wrappers of the author's own package.
    var wrappers: Set<UInt> = []
    /// The function's name in the binary.
    var names: [UInt: String] = [:]
    /// The file of the binary that it is in.
    var files: [UInt: String] = [:]
    /// What may be code under test, as far as the name tells.
    var candidates: Set<UInt> = []
    /// What the symbolizer said of them.
    var frames: [UInt: [Symbolizer.Frame]] = [:]
    /// Whether it is asked no more, for it has failed.
    var hasNoSymbolizer = false
  }

  private static let memory = Synchronization.Mutex(Found())

  private let found: Found
  /// How the names of functions begin that are no code under test here, though they may be elsewhere: what was
  /// looked up is kept for the whole program.
  private let others: [String]

  /// How names of this package's rooms begin that carry tasks through what the lab explores.
  static let roomsOfTheLab = [
    "$s6Basics", "$s10Mechanisms", "$s20ExplorableMechanisms", "$s11Experiments",
  ]

  /// - Parameters:
  ///   - stacks: addresses of code, each stack's innermost first.
  ///   - others: how the names of functions begin that are no code under test either.
  ///   - count: of how many frames of each stack the lines are wanted, if there are so many.
  init(of stacks: [[UInt]], besides others: [String] = [], deep count: Int = 1) {
    self.others = others
    found = Self.memory.withLock { found in
      if stacks.allSatisfy(\.isEmpty) { return found }
      guard let images = LoadedImages.ofThisProgram else { return found }
      let addresses = Set(stacks.joined().filter { found.names[$0] == nil })
      for frame in Self.frames(at: addresses, in: images, []) {
        guard let address = UInt(frame.captured.originalProgramCounter), let symbol = frame.symbol
        else { continue }
        found.names[address] = symbol.rawName
        found.files[address] = symbol.imageName
        if !frame.isSystem, !frame.isSwiftThunk, !Self.isOwn(symbol.rawName) {
          found.candidates.insert(address)
        }
      }
      var open = stacks.map { stack in
        stack.filter { address in
          found.candidates.contains(address) && !Self.isOfOthers(address, others, found)
        }[...]
      }
      let unknown = Set(open.joined().filter { found.places[$0] == nil && found.frames[$0] == nil })
      if !unknown.isEmpty, !found.hasNoSymbolizer {
        ScheduleJournal.ofThisProgram?.noteLife()
        if let frames = Symbolizer.frames(at: unknown) {
          found.frames.merge(frames) { $1 }
        } else {
          found.hasNoSymbolizer = true
        }
      }
      while true {
        // Each stack goes on to its next frame that is not known, unless a line is found before; a few at once.
        open = open.map { stack in
          var left = count
          return stack.drop { point in
            guard let place = found.places[point] else { return false }
            if place == nil || found.passing.contains(point) { return true }
            left -= 1
            return left > 0
          }
        }
        let next = Set(open.compactMap(\.first).filter { found.places[$0] == nil }).prefix(4)
        if next.isEmpty { return found }
        // A few at a time: who waits for this program takes silence for a step that does not end.
        ScheduleJournal.ofThisProgram?.noteLife()
        Self.lookUp(Set(next), in: images, into: &found)
      }
    }
  }

  private static func lookUp(
    _ addresses: Set<UInt>,
    in images: ImageMap,
    into found: inout Found
  ) {
    for address in addresses {
      found.places[address] = .some(nil)
      for frame in found.frames[address] ?? [] {
        note(frame, named: { Symbolizer.demangled(frame.rawName) }, at: address, &found)
      }
    }
    let others = addresses.filter { found.frames[$0] == nil }
    for frame in frames(at: others, in: images, [.showInlineFrames, .showSourceLocations]) {
      guard let address = UInt(frame.captured.originalProgramCounter), let symbol = frame.symbol,
        let location = symbol.sourceLocation, !frame.isSystem, !frame.isSwiftThunk
      else { continue }
      let line = Symbolizer.Frame(
        rawName: symbol.rawName,
        path: location.path,
        line: location.line
      )
      note(line, named: { symbol.name }, at: address, &found)
    }
  }

  /// Notes a line that stands at an address, if it is the first of them that says something.
  private static func note(
    _ frame: Symbolizer.Frame,
    named name: () -> String,
    at address: UInt,
    _ found: inout Found
  ) {
    guard found.places[address] == .some(nil) || found.passing.contains(address),
      frame.line > 0 || frame.start > 0, frame.path.hasSuffix(".swift"),
      // Lines of what a macro made of the code are nothing to look up.
      !lastPart(of: frame.path).hasPrefix("@__swiftmacro"),
      !isOwn(frame.rawName), !isOwnFile(frame.path),
      !frame.path.contains("/ExplorableSynchronization/"),
      // The lock of the limiters around the real one: who takes it is what one looks for.
      !frame.path.hasSuffix("/Limiters/Lock.swift")
    else { return }
    if frame.line == 0 {
      let start = SourcePlace(path: frame.path, line: frame.start)
      if found.starts[address] == nil { found.starts[address] = start }
      return
    }
    // Of what was inlined, the first frame that is no wrapper.
    let isDependency = frame.path.contains("/checkouts/")
    let isPassing = isDependency || isWrapper(name(), rawName: frame.rawName)
    if isPassing, found.places[address] != .some(nil) { return }
    found.places[address] = SourcePlace(path: frame.path, line: frame.line)
    if frame.isOfCodeBefore {
      found.borrowed.insert(address)
    } else {
      found.borrowed.remove(address)
    }
    if isPassing { found.passing.insert(address) } else { found.passing.remove(address) }
    if isPassing, !isDependency {
      found.wrappers.insert(address)
    } else {
      found.wrappers.remove(address)
    }
  }

  /// Whether a function of that name takes a lock for others: who calls it is what one looks for.
  ///
  /// An asynchronous one is more than that.
  static func isWrapper(_ name: String, rawName: String) -> Bool {
    // The compiler's names for asynchronous functions and their parts: `…YaF`, `…YaKF`, `…TQ0_`, `…TY1_`.
    if rawName.contains(/Ya(YK|K)?[A-Z]*l?F|T[QY][0-9]*_$/) { return false }
    var function = name[...]
    if let range = name.ranges(of: " in ").last { function = name[range.upperBound...] }
    // Without what is generic about it, up to its parameters.
    var plain = ""
    var depth = 0
    for character in function {
      if character == "<" { depth += 1 }
      if character == "(", depth == 0, !plain.isEmpty { break }
      if depth == 0 { plain.append(character) }
      if character == ">" { depth -= 1 }
    }
    let words = plain.split { $0 == "." || $0 == " " || $0 == ":" }
    guard let last = words.last else { return false }
    return last.hasPrefix("withLock") || wrappers.contains(String(last))
  }

  private static let wrappers: Set = [
    "around", "critical", "lock", "locked", "mutate", "protect", "synchronized", "tryLock",
    "unlock",
    "whileLocked", "withCriticalRegion", "withCriticalSection", "withMutableState", "withMutex",
    "withReaderLock", "withSpinLock", "withValue", "withWriterLock",
  ]

  /// Whether it is this library's own code, as its mangled names begin, or what of it stands in other code.
  private static func isOwn(_ name: String) -> Bool {
    name.hasPrefix("$s11Exploration") || name.hasPrefix("$s6Basics")
  }

  /// Whether what stands there in other code, inlined, is written in this library.
  private static func isOwnFile(_ path: String) -> Bool {
    ["Exploration/", "Basics/"].contains { path.hasPrefix(rooms + $0) }
  }

  /// Where this library's files lay when they were built: `…/Sources/`.
  private static let rooms = String(
    #filePath.prefix(#filePath.count - "Exploration/Symbols/SourceLines.swift".count)
  )

  /// What the runtime itself finds.
  static func frames(
    at addresses: Set<UInt>,
    in images: ImageMap,
    _ options: Backtrace.SymbolicationOptions
  ) -> [SymbolicatedBacktrace.Frame] {
    if addresses.isEmpty { return [] }
    return backtrace(of: addresses)?.symbolicated(with: images, options: options)?.frames ?? []
  }

  /// The line that says most about these addresses: the first that is no wrapper's and no dependency's, or else
  /// the first of code under test.
  ///
  /// Of an operation on an atomic, a lock's own line says more than its caller's: that is what the lock is made of.
  func place(of points: [UInt], for operation: SynchronizationOperation? = nil) -> SourcePlace? {
    let isOfALock = operation?.kind.isOnAtomic == true
    let telling = points.filter {
      !found.passing.contains($0) || isOfALock && found.wrappers.contains($0)
    }
    return places(of: telling).first ?? places(of: points).first
  }

  /// The line at which the innermost function begins, where the compiler gives no line to any of it.
  func start(of points: [UInt]) -> SourcePlace? {
    points.lazy.compactMap { Self.isOfOthers($0, others, found) ? nil : found.starts[$0] }.first
  }

  /// The innermost lines, callers behind, at most `count`: `Queue.swift:40 < Cache.swift:12`.
  func stack(of points: [UInt], atMost count: Int) -> String {
    var lines: [String] = []
    for place in places(of: points) where lines.last != place.description && lines.count < count {
      lines.append(place.description)
    }
    return lines.joined(separator: " < ")
  }

  /// The place as the end of a sentence, ` at Cache.swift:12`; nothing where it is not known.
  ///
  /// Where the compiler gives no line to any of it, as in what it makes of an `async let`, it is the line at which the
  /// innermost function begins.
  func at(_ points: [UInt]) -> String {
    (place(of: points) ?? start(of: points)).map { " at \($0)" } ?? ""
  }

  /// The same of an access to memory: `own` has addresses in its function, the call that tells of it first and code
  /// behind it then, which may have the access's line where the call has none.
  func at(access own: [UInt], calledFrom callers: [UInt]) -> String {
    let telling = own.first { point in
      found.places[point].flatMap(\.self) != nil && !found.borrowed.contains(point)
        && found.names[point] == own.first.flatMap { found.names[$0] }
    }
    if let telling { return at([telling] + callers) }
    let place = place(of: own) ?? start(of: own) ?? place(of: callers)
    return place.map { " at \($0)" } ?? ""
  }

  /// The function's name in the binary, without what the compiler calls a part of it that rarely runs, and the file
  /// that it is in; nil where it is not known.
  func function(at point: UInt) -> (name: String, file: String)? {
    guard let name = found.names[point], let file = found.files[point] else { return nil }
    let end = name.firstRange(of: ".cold")?.lowerBound ?? name.endIndex
    return (String(name[..<end]), file)
  }

  /// All of these addresses that are code under test and were looked up, in their order.
  func places(of points: [UInt]) -> [SourcePlace] {
    points.compactMap { Self.isOfOthers($0, others, found) ? nil : found.places[$0] ?? nil }
  }

  private static func isOfOthers(_ address: UInt, _ others: [String], _ found: Found) -> Bool {
    guard !others.isEmpty, let name = found.names[address] else { return false }
    return others.contains(where: name.hasPrefix)
  }

  /// Whether the task waits in the runtime's own `Task.sleep`.
  func isSleeping(at points: [UInt]) -> Bool {
    points.contains { found.names[$0]?.hasPrefix("$sScTss5NeverORszABRs_rlE5sleep") ?? false }
  }

  /// Finds out what `here` asks for at its first call: a thread that waits for it meanwhile seems to sleep.
  static func prepare() { _ = LoadedImages.ofThisProgram }

  /// The addresses of the calling thread's own frames, those of tasks included, the innermost.
  static func here() -> [UInt] { points(of: framesHere()) }

  /// The same without the callers of the asynchronous function in which the thread is: what that one has called, and
  /// itself.
  static func hereInTurn() -> [UInt] {
    let points = framesHere().map(\.point)
    return firstAsynchronous(in: points).map { Array(points[...$0]) } ?? points
  }

  private static func framesHere() -> [stack_frame] {
    withUnsafeTemporaryAllocation(of: stack_frame.self, capacity: mostFrames) {
      Array($0.prefix(stack_frames($0.baseAddress, $0.count)))
    }
  }

  /// The same of another thread, by the kernel's number; empty if it does not answer.
  static func points(ofThread number: Int32) -> [UInt] {
    points(
      of: withUnsafeTemporaryAllocation(of: stack_frame.self, capacity: mostFrames) {
        Array($0.prefix(stack_frames_of_thread(number, $0.baseAddress, $0.count)))
      }
    )
  }

  /// The addresses of such frames, and behind those of the thread those of the task's callers.
  static func points(of frames: [stack_frame]) -> [UInt] {
    let points = frames.map(\.point)
    guard let index = firstAsynchronous(in: points) else { return points }
    // Behind it stands the runtime: an asynchronous function is called by a jump. The callers are in the contexts.
    return points[...index]
      + withUnsafeTemporaryAllocation(of: UInt.self, capacity: mostFrames) {
        Array($0.prefix(stack_callers(frames[index].base, $0.baseAddress, $0.count)))
      }
  }

  /// The same of a task that is about to hop: its frame is gone.
  static func hereAtHop() -> [UInt] {
    withUnsafeTemporaryAllocation(of: UInt.self, capacity: mostFrames) {
      Array($0.prefix(Int(points_of_hop($0.baseAddress, UInt($0.count)))))
    }
  }

  private static let mostFrames = 64

  /// Whether each address that was looked up is in an asynchronous function, or a part of one.
  private static let asynchronous = Synchronization.Mutex<[UInt: Bool]>([:])

  /// The index of the innermost address in such a function.
  private static func firstAsynchronous(in points: [UInt]) -> Int? {
    var known = asynchronous.withLock { $0 }
    let unknown = Set(points.filter { known[$0] == nil })
    if !unknown.isEmpty {
      // With no lock held: it takes long, and a job that waited for the lock meanwhile would be called blocked.
      let names = FunctionNames.at(unknown)
      for address in unknown { known[address] = names[address].map(isAsynchronous) ?? false }
      asynchronous.withLock { [known] in $0.merge(known) { $1 } }
    }
    return points.firstIndex { known[$0] == true }
  }

  /// Whether that is the mangled name of an asynchronous function or closure, or of a part of one that goes on after a
  /// suspension: `…YaKF`, `…YaKlF`, `…YaYbKcfU_`, `…TQ0_`, `…TY1_`.
  ///
  /// Not of one that only takes an asynchronous closure: `…YaXEF`.
  static func isAsynchronous(_ name: String) -> Bool {
    name.contains(
      /T[QY][0-9]*_$|Ya(?!(YK|K|Yb|YA|YT)*c|\w*XE)(YK|K|Yb|YA|YT)*(l|\w*R\w*l)?F$|Ya(YK|K|Yb|YA|YT)*cfU[0-9]*_$/
    )
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
