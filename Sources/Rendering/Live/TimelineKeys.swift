/// What a person does to a timeline that is watched, a key at a time.
package struct TimelineKeys: Sendable {
  package enum Action: Hashable, Sendable {
    case leave
    /// Holds the picture, or lets it go on.
    case hold
    /// To the next event, or the one before.
    case forward
    case back
    case toBegin
    case toEnd
    case faster
    case slower
    /// To the task so many rows further down.
    case select(Int)
    /// Ten rows further down, or up, for each.
    case selectPage(Int)
    case find(Int)
    /// The task of that number, or the one selected.
    case cancel(Int?)
    case add
    case limit(Int)
    /// Suspends, or resumes.
    case suspend
    case mark
    /// Nothing may stand still any more: a line for the prompt waits.
    case typedAhead
  }

  /// What a number is being typed for.
  private enum Entry: String {
    case find = "find task"
    case cancel = "cancel task (Enter: the one selected)"
    case limit
  }

  private var entry: (purpose: Entry, number: NumberEntry)?
  package private(set) var showsHelp = false
  private var typed = TypedLine()
  private var escape = EscapeSequence()

  package init() {}

  /// What was typed for the line after the view.
  package var typedAhead: [UInt8] { typed.keys }

  /// Takes keys that are for the prompt, whatever they mean here.
  ///
  /// - Returns: whether the first line for the prompt has become whole by it.
  package mutating func typeAhead(_ keys: [UInt8]) -> Bool {
    entry = nil
    return keys.reduce(false) { typed.take($1) || $0 }
  }

  /// What is being typed.
  package var message: String? {
    entry.map { "\($0.purpose.rawValue): \($0.number.text)_" } ?? typed.message
  }

  /// What the keys do, what is wanted most first.
  private static let help = [
    ("q", "leaves"), ("?", "hides this"), ("space", "holds it, or lets it go on"),
    ("up and down", "select a task"), ("c", "cancels it"), ("left and right", "event by event"),
    ("l", "changes the limit"), ("s", "suspends or resumes"), ("/", "finds a task"),
    ("a", "adds one more like it"), ("m", "marks the moment"),
    ("Home and End", "to the beginning, to now"), ("+ -", "speed, in virtual time"),
  ]

  /// What the keys do, in at most so many lines: those that have no room are left out whole.
  package static func help(lines: Int, _ format: TextFormat) -> [String] {
    let pieces = help.map { "\($0) \($1)" }
    func flow(_ pieces: [String]) -> [String] {
      Columns.flow(pieces, separator: format.glyphs.separator, width: format.width)
    }
    let all = flow(pieces)
    guard all.count > lines else { return all }
    let most = pieces.indices.last {
      flow(pieces.prefix($0) + [format.glyphs.ellipsis]).count <= lines
    }
    return most.map { flow(pieces.prefix($0) + [format.glyphs.ellipsis]) } ?? []
  }

  /// A letter that means nothing here begins a line that is typed ahead: it and all that follows is for the
  /// prompt, until Escape or an arrow drops it.
  package mutating func press(_ key: UInt8) -> Action? {
    switch escape.take(key) {
    case .part:
      // Whatever is being typed is left, be it by Escape alone or by an arrow.
      entry = nil
      typed.leaveLine()
      return nil
    case .last(let last): return arrow(last)
    case .none: break
    }
    if !typed.keys.isEmpty { return typed.take(key) ? .typedAhead : nil }
    if entry != nil { return type(key) }
    switch Character(UnicodeScalar(key)) {
    case "q", "Q": return .leave
    case "p", " ": return .hold
    case "+", "=": return .faster
    case "-": return .slower
    case "c": entry = (.cancel, NumberEntry())
    case "a": return .add
    case "s": return .suspend
    case "m": return .mark
    case "j": return .select(1)
    case "k": return .select(-1)
    case "l": entry = (.limit, NumberEntry())
    case "/": entry = (.find, NumberEntry())
    case "?", "h": showsHelp.toggle()
    case "a"..."z", "A"..."Z": typed.take(key)
    default: break
    }
    return nil
  }

  private func arrow(_ last: UInt8) -> Action? {
    switch (Character(UnicodeScalar(last)), escape.number) {
    case ("A", _): .select(-1)
    case ("B", _): .select(1)
    case ("C", _): .forward
    case ("D", _): .back
    case ("H", _), ("~", 1), ("~", 7): .toBegin
    case ("F", _), ("~", 4), ("~", 8): .toEnd
    case ("~", 5): .selectPage(-1)
    case ("~", 6): .selectPage(1)
    default: nil
    }
  }

  private mutating func type(_ key: UInt8) -> Action? {
    guard let purpose = entry?.purpose, var number = entry?.number else { return nil }
    let isEmpty = number.text.isEmpty
    let reading = number.take(key, mayBeWord: purpose != .find)
    entry = reading == .going ? (purpose, number) : nil
    switch reading {
    case .going, .left: return nil
    case .entered(let number):
      switch purpose {
      case .find: return number.map { .find($0) }
      // With nothing typed, the one selected.
      case .cancel: return number == nil && !isEmpty ? nil : .cancel(number)
      case .limit: return number.map { .limit($0) }
      }
    // A word that begins like the key: check, lesson.
    case .word:
      typed.take(purpose == .cancel ? UInt8(ascii: "c") : UInt8(ascii: "l"))
      typed.take(key)
      return nil
    }
  }
}
