internal import Synchronization

/// What an error of real work says, as events carry it.
///
/// Events are many and small, and are copied without a thought: so an event has the number of a text, and
/// the texts are kept once for the process. There are few different ones; after the first thousand, new ones
/// are told as one.
package struct ErrorText: Hashable, Sendable {
  /// The different texts, each with its number.
  struct Texts {
    /// How many are told apart.
    private let most: Int
    private(set) var all: [String] = []
    private var numbers: [String: Int32] = [:]

    init(most: Int = 1_000) { self.most = most }

    /// The number of a text, or of the one that stands for all further ones.
    mutating func number(of text: String) -> Int32 {
      if let number = numbers[text] { return number }
      let text = all.count < most ? text : "another error, of too many different ones"
      if let number = numbers[text] { return number }
      let number = Int32(all.count)
      all.append(text)
      numbers[text] = number
      return number
    }
  }

  private let number: Int32
  private static let texts = Mutex(Texts())

  package init(_ text: String) { number = Self.texts.withLock { $0.number(of: text) } }

  package var text: String { Self.texts.withLock { $0.all[Int(number)] } }
}

/// An error that the work of some tasks of a run failed of.
package struct WorkError: Hashable, Sendable {
  package let text: String
  /// The first of the tasks.
  package let first: TaskID
  package fileprivate(set) var tasks: Int

  /// The different errors of a run, the commonest first.
  static func all(in lives: [TaskLife]) -> [WorkError] {
    var errors: [ErrorText: WorkError] = [:]
    for life in lives {
      guard let error = life.error else { continue }
      errors[error, default: WorkError(text: error.text, first: life.task, tasks: 0)].tasks += 1
    }
    return errors.values.sorted { ($1.tasks, $0.first) < ($0.tasks, $1.first) }
  }
}
