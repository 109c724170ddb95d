/// What was typed while frames were shown, for the prompt that comes next.
package struct TypedLine: Sendable {
  private(set) var keys: [UInt8] = []

  /// Whether keys that came in one reading are a line, pasted or typed by a program, and no keys of a view.
  ///
  /// Nobody presses several different letters, or one and Enter behind others, between two frames.
  package static func isLine(_ keys: [UInt8]) -> Bool {
    func isLetter(_ key: UInt8) -> Bool { 0x61...0x7A ~= key | 0x20 }
    guard keys.count > 2, isLetter(keys[0]) else { return false }
    let hasEnter = keys[2...].contains { $0 == 0x0A || $0 == 0x0D }
    if hasEnter { return isLetter(keys[1]) || keys[1] == 0x20 }
    return keys[..<3].allSatisfy(isLetter) && Set(keys[..<3]).count > 1
  }

  mutating func take(_ key: UInt8) {
    if key == 0x7F || key == 0x08 {
      _ = keys.popLast()
    } else {
      keys.append(key)
    }
  }

  /// The line as far as it has come; nil where nothing was typed.
  var message: String? {
    let line = keys.split { $0 == 0x0A || $0 == 0x0D }.last ?? []
    return keys.isEmpty ? nil : "for the prompt: \(String(decoding: line, as: UTF8.self))"
  }
}

/// Tells the keys of an arrow or its like, whose letter is no letter, from others: ESC [ A, ESC O A, and with
/// figures in between.
struct EscapeSequence: Sendable {
  enum Reading: Hashable {
    /// The key belongs to none.
    case none
    case part
    /// It is the last, and says which key it was.
    case last(UInt8)
  }

  private enum State {
    case none
    case begun
    case going
  }

  private var state = State.none
  /// The figure in it, such as the 5 of ESC [ 5 ~.
  private(set) var number = 0

  mutating func take(_ key: UInt8) -> Reading {
    if key == 0x1B { number = 0 }
    if state == .going, 0x30...0x39 ~= key { number = (number * 10 + Int(key - 0x30)) % 1_000 }
    switch (state, key) {
    case (_, 0x1B): state = .begun
    case (.begun, 0x5B), (.begun, 0x4F), (.going, 0x20..<0x40): state = .going
    case (.going, _):
      state = .none
      return .last(key)
    case (.begun, _), (.none, _): state = .none
    }
    return state == .none ? .none : .part
  }
}
