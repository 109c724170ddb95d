internal import Experiments
internal import Rendering

/// The runs of a session, numbered from 1: the views can be asked about each, by number or by name.
struct KeptRuns: Sendable {
  /// Enough to look back over an afternoon.
  static let most = 40
  /// Two large runs can be held against each other; the memory of a third is let go.
  static let mostEvents = 2_000_000

  private let mostEvents: Int
  private(set) var all: [RunList.Entry] = []
  /// How many there were, with those that were let go.
  private(set) var count = 0

  init(mostEvents: Int = Self.mostEvents) { self.mostEvents = mostEvents }

  var last: Run? { all.last?.run }
  /// The run before the last.
  var before: Run? { all.dropLast().last?.run }

  /// Keeps a run; the oldest go where there are too many, those with a name after the others.
  mutating func keep(_ run: Run, name: String? = nil) {
    count += 1
    all.append(RunList.Entry(number: count, run: run))
    if let name { self.name(count, name) }
    while all.count > 2, all.count > Self.most || events > mostEvents {
      all.remove(at: all.dropLast(2).firstIndex { $0.name == nil } ?? 0)
    }
  }

  private var events: Int { all.reduce(0) { $0 + $1.run.events.count } }

  /// Gives a run a name, which no other has then.
  ///
  /// - Returns: false where there is no such run.
  @discardableResult
  mutating func name(_ number: Int, _ name: String) -> Bool {
    guard let index = all.firstIndex(where: { $0.number == number }) else { return false }
    for other in all.indices where all[other].name == name { all[other].name = nil }
    all[index].name = name
    return true
  }

  /// The run of that number or name, or the last of that mechanism.
  subscript(_ text: String) -> Run? {
    let found =
      all.first { String($0.number) == text || $0.name == text }
      ?? all.last { $0.run.mechanism == text }
    return found?.run
  }
}
