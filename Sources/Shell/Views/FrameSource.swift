internal import Rendering

/// What is shown in place until it is over or a person leaves it, and takes keys meanwhile.
protocol FrameSource: Sendable {
  func frame(_ format: TextFormat) -> Frame

  /// Takes a key.
  ///
  /// - Returns: whether the person wants to leave.
  func press(_ key: UInt8) -> Bool

  /// Takes keys that are for the prompt, though the first of them means something here.
  func typeAhead(_ keys: [UInt8])

  /// Lets the next frame be the last.
  func end()

  /// What was typed for the prompt meanwhile.
  var typedAhead: [UInt8] { get }
}

extension FrameSource {
  /// Takes what came in one reading.
  ///
  /// - Returns: whether the person wants to leave; what came behind that is for the prompt.
  func press(_ keys: [UInt8]) -> Bool {
    if TypedLine.isLine(keys) {
      typeAhead(keys)
      return false
    }
    for (place, key) in keys.enumerated() where press(key) {
      typeAhead(Array(keys[(place + 1)...]))
      return true
    }
    return false
  }
}
