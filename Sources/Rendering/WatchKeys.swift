/// What a person does to a live view, a key at a time, and how it is to be shown then.
package struct WatchKeys: Sendable {
  /// What only the view's owner can do.
  package enum Action: Hashable, Sendable {
    case leave
    case cancel(Int)
    case limit(Int)
  }

  /// What a number is being typed for.
  enum Entry: String {
    case find = "find task"
    case cancel = "cancel task"
    case limit = "limit"
  }

  /// The rows in the order of state, those that run first; else each task keeps its row.
  private(set) var sortsByState = false
  /// The picture stands still; what it shows goes on.
  package private(set) var isPaused = false
  private(set) var showsHelp = false
  /// The task that was sought.
  private(set) var found: Int?
  private(set) var entry: (purpose: Entry, number: NumberEntry)?
  /// What came of the last action.
  package var message: String?

  private var typed = TypedLine()
  private var escape = EscapeSequence()

  /// What was typed for the line after the view, not for it.
  package var typedAhead: [UInt8] { typed.keys }

  package init() {}

  static let help = [
    ("p", "holds the picture, or lets it go on"), ("s", "sorts by state, or by number"),
    ("/", "finds a task"), ("c", "cancels a task"), ("l", "changes the limit"),
    ("q", "leaves"), ("?", "hides this"),
  ]

  /// A letter that means nothing here begins a line that is typed ahead.
  ///
  /// It and all that follows is for the prompt. Else the l of a command would change the limit of the run that
  /// is watched, and its p stop the picture.
  ///
  /// - Returns: what is to be done, where the view cannot do it.
  package mutating func press(_ key: UInt8) -> Action? {
    message = nil
    if !typedAhead.isEmpty {
      typeAhead(key)
      return nil
    }
    if entry == nil, escape.take(key) != .none { return nil }
    if entry != nil { return type(key) }
    switch Character(UnicodeScalar(key)) {
    case "q", "Q": return .leave
    case "p", " ": isPaused.toggle()
    case "s": sortsByState.toggle()
    case "?", "h": showsHelp.toggle()
    case "/": entry = (.find, NumberEntry())
    case "c": entry = (.cancel, NumberEntry())
    case "l": entry = (.limit, NumberEntry())
    case "a"..."z", "A"..."Z": typeAhead(key)
    default: break
    }
    return nil
  }

  private mutating func typeAhead(_ key: UInt8) {
    // A picture that stands still would never end, and nobody could let it go on.
    isPaused = false
    typed.take(key)
    message = typed.message
  }

  private mutating func type(_ key: UInt8) -> Action? {
    guard let purpose = entry?.purpose, var number = entry?.number else { return nil }
    let reading = number.take(key, mayBeWord: purpose != .find)
    entry = reading == .going ? (purpose, number) : nil
    switch reading {
    case .going, .left: return nil
    case .entered(let number): return number.flatMap { done(purpose, $0) }
    // A word that begins like the key: check, compare, lesson.
    case .word:
      typeAhead(purpose == .cancel ? UInt8(ascii: "c") : UInt8(ascii: "l"))
      typeAhead(key)
      return nil
    }
  }

  private mutating func done(_ purpose: Entry, _ number: Int) -> Action? {
    switch purpose {
    case .find:
      found = number
      return nil
    case .cancel: return .cancel(number)
    case .limit: return .limit(number)
    }
  }
}
