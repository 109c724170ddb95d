package import ExplorableSynchronization
internal import FoundationEssentials

/// What the source calls the locks, atomics and parkers that it does something to.
package enum ObjectNames {
  /// `free` where the line says `free.withLock`.
  ///
  /// Nil where the line does such an operation to several, or to what has no name of its own: `slots[2].load()`.
  package static func name(in line: String, of operation: SynchronizationOperation) -> String? {
    let code = line.prefix(upTo: line.firstRange(of: "//")?.lowerBound ?? line.endIndex)
    let methods = methods(of: operation.kind)
    let names = Set(
      code.matches(of: /(\w*)\.(\w+) *[({]/)
        .filter { methods.contains(String($0.output.2)) }
        .map { String($0.output.1) }
    )
    // A part of a tuple, or what stands in brackets, has no name.
    guard names.count == 1, let name = names.first, let first = name.first, !first.isNumber else {
      return nil
    }
    return name
  }

  private static let checked: Set = ["add", "subtract"]

  private static func methods(of kind: SynchronizationOperation.Kind) -> Set<String> {
    switch kind {
    case .lock: ["withLock", "lock", "withLockVoid", "withWriterLock"]
    case .tryLock: ["withLockIfAvailable", "withLock", "try", "lock"]
    case .readLock, .tryReadLock: ["withReaderLock"]
    case .wait, .waitAWhile, .beginWait, .takePermit, .tryPermit, .takePermitInTime: ["wait"]
    case .awaitGroup, .tryGroup, .awaitGroupInTime: ["wait"]
    case .enqueue, .turn: ["sync", "asyncAndWait"]
    case .giveWork: ["async", "asyncAfter"]
    case .suspendQueue: ["suspend", "resume", "activate"]
    case .changeTimer: ["schedule", "activate", "resume", "suspend", "cancel"]
    case .leaveGroup: ["leave"]
    case .enterGroup: ["enter"]
    case .signal, .givePermit: ["signal"]
    case .broadcast: ["broadcast"]
    case .hop, .check, .cancel, .begin, .goOn, .register, .sleep, .loadWeak: []
    // An addition that checks for an overflow is a look, and then a comparison.
    case .load: checked.union(["load"])
    case .store: ["store"]
    case .update:
      checked.union([
        "wrappingAdd", "wrappingSubtract", "bitwiseAnd", "bitwiseOr", "bitwiseXor", "min", "max",
      ])
    case .compare: checked.union(["compareExchange", "weakCompareExchange"])
    case .exchange: ["exchange", "logicalAnd", "logicalOr", "logicalXor"]
    case .park, .parkAWhile: ["park"]
    case .unpark: ["unpark"]
    case .start, .join: []
    }
  }

  /// The names of objects by their numbers, each from the first of its places that says one.
  ///
  /// A file that is no longer where it was compiled has none.
  static func names(
    of operations: [(operation: SynchronizationOperation, place: SourcePlace)]
  ) -> [Int: String] {
    var files: [String: [Substring]] = [:]
    var names: [Int: String] = [:]
    for (operation, place) in operations where names[operation.object] == nil {
      let lines =
        files[place.path]
        ?? (try? String(contentsOfFile: place.path, encoding: .utf8))?
        .split(separator: "\n", omittingEmptySubsequences: false) ?? []
      files[place.path] = lines
      if lines.indices.contains(place.line - 1) {
        names[operation.object] = name(in: String(lines[place.line - 1]), of: operation)
      }
    }
    return names
  }
}
