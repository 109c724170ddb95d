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
  private(set) var entry: (purpose: Entry, text: String)?
  /// What came of the last action.
  package var message: String?

  package init() {}

  static let help = [
    ("p", "holds the picture, or lets it go on"), ("s", "sorts by state, or by number"),
    ("/", "finds a task"), ("c", "cancels a task"), ("l", "changes the limit"),
    ("q", "leaves"), ("?", "hides this"),
  ]

  /// - Returns: what is to be done, where the view cannot do it.
  package mutating func press(_ key: UInt8) -> Action? {
    message = nil
    if entry != nil { return type(key) }
    switch Character(UnicodeScalar(key)) {
    case "q", "Q": return .leave
    case "p", " ": isPaused.toggle()
    case "s": sortsByState.toggle()
    case "?", "h": showsHelp.toggle()
    case "/": entry = (.find, "")
    case "c": entry = (.cancel, "")
    case "l": entry = (.limit, "")
    default: break
    }
    return nil
  }

  private mutating func type(_ key: UInt8) -> Action? {
    guard var current = entry else { return nil }
    switch Character(UnicodeScalar(key)) {
    case "0"..."9": current.text = String((current.text + String(UnicodeScalar(key))).suffix(7))
    case "\u{8}", "\u{7F}": current.text = String(current.text.dropLast())
    case "\n", "\r":
      entry = nil
      return Int(current.text).flatMap { $0 > 0 ? done(current.purpose, $0) : nil }
    case "\u{1B}", "q":
      entry = nil
      return nil
    // The t of t07.
    default: break
    }
    entry = current
    return nil
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
