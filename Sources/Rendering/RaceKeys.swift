/// What a person does to a race that is shown, a key at a time.
package struct RaceKeys: Sendable {
  package enum Action: Hashable, Sendable {
    case leave
    /// Holds the picture, or lets it go on.
    case hold
    case forward
    case back
    case faster
    case slower
    /// Nothing may stand still any more: a line for the prompt is being typed.
    case typedAhead
  }

  private var typed = TypedLine()
  private var escape = EscapeSequence()

  package init() {}

  /// What was typed for the line after the race.
  package var typedAhead: [UInt8] { typed.keys }

  /// Takes keys that are for the prompt, whatever they mean here.
  package mutating func typeAhead(_ keys: [UInt8]) { for key in keys { typed.take(key) } }

  package var message: String? { typed.message }

  /// A letter that means nothing here begins a line that is typed ahead: it and all that follows is for the
  /// prompt.
  package mutating func press(_ key: UInt8) -> Action? {
    if !typed.keys.isEmpty {
      typed.take(key)
      return nil
    }
    switch escape.take(key) {
    case .part: return nil
    case .last(UInt8(ascii: "C")): return .forward
    case .last(UInt8(ascii: "D")): return .back
    case .last: return nil
    case .none: break
    }
    switch Character(UnicodeScalar(key)) {
    case "q", "Q": return .leave
    case "p", " ": return .hold
    case "+": return .faster
    case "-": return .slower
    case "a"..."z", "A"..."Z":
      typed.take(key)
      return .typedAhead
    default: return nil
    }
  }
}
