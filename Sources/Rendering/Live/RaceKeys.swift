/// What a person does to a race that is shown, a key at a time.
package struct RaceKeys: Sendable {
  package enum Action: Hashable, Sendable {
    case leave
    /// Holds the picture, or lets it go on.
    case hold
    case forward
    case back
    case toBegin
    case toEnd
    case faster
    case slower
    /// Nothing may stand still any more: a line for the prompt waits.
    case typedAhead
  }

  private var typed = TypedLine()
  private var escape = EscapeSequence()

  package init() {}

  /// What was typed for the line after the race.
  package var typedAhead: [UInt8] { typed.keys }

  /// Takes keys that are for the prompt, whatever they mean here.
  ///
  /// - Returns: whether the first line for the prompt has become whole by it.
  package mutating func typeAhead(_ keys: [UInt8]) -> Bool {
    keys.reduce(false) { typed.take($1) || $0 }
  }

  package var message: String? { typed.message }

  /// A letter that means nothing here begins a line that is typed ahead: it and all that follows is for the
  /// prompt, until Escape or an arrow drops it.
  package mutating func press(_ key: UInt8) -> Action? {
    switch escape.take(key) {
    case .part:
      typed.leaveLine()
      return nil
    case .last(let last): return arrow(last)
    case .none: break
    }
    if !typed.keys.isEmpty { return typed.take(key) ? .typedAhead : nil }
    switch Character(UnicodeScalar(key)) {
    case "q", "Q": return .leave
    case "p", " ": return .hold
    case "+", "=": return .faster
    case "-": return .slower
    case "a"..."z", "A"..."Z": typed.take(key)
    default: break
    }
    return nil
  }

  private func arrow(_ last: UInt8) -> Action? {
    switch (Character(UnicodeScalar(last)), escape.number) {
    case ("C", _): .forward
    case ("D", _): .back
    case ("H", _), ("~", 1), ("~", 7): .toBegin
    case ("F", _), ("~", 4), ("~", 8): .toEnd
    default: nil
    }
  }
}
