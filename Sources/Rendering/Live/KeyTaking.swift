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

  /// Whether a line among them is whole: it is carried out as soon as the view is left.
  private var isWhole: Bool { keys.contains(where: Self.isEnter) }

  private static func isEnter(_ key: UInt8) -> Bool { key == 0x0A || key == 0x0D }

  /// Takes a key as the line editor would: of those that write nothing, Backspace, Ctrl-U, Tab and Enter.
  ///
  /// - Returns: whether the first line has become whole by it.
  @discardableResult
  mutating func take(_ key: UInt8) -> Bool {
    switch key {
    case 0x08, 0x7F:
      // All bytes of a character.
      while let last = keys.popLast(), 0x80...0xBF ~= last {}
    case 0x15: leaveLine()
    case 0x0A, 0x0D:
      let isFirst = !isWhole
      keys.append(key)
      return isFirst
    case 0..<0x20 where key != 0x09: break
    default: keys.append(key)
    }
    return false
  }

  /// Forgets the line that is being typed; those that are whole stay.
  mutating func leaveLine() {
    keys.removeLast(keys.reversed().prefix { !Self.isEnter($0) }.count)
  }

  /// The line as far as it has come; nil where nothing was typed.
  var message: String? {
    guard let last = keys.last else { return nil }
    let line = keys.split(whereSeparator: Self.isEnter).last ?? []
    let shown = String(decoding: line, as: UTF8.self).replacing("\t", with: " ")
    return "for the prompt: \(shown)\(Self.isEnter(last) ? "" : " (Esc drops it)")"
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
