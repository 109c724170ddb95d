internal import Synchronization

/// What an error of real work says, as events carry it.
///
/// Events are many and small, and are copied without a thought: so an event has the number of a text, and
/// the texts are kept once for the process. There are few different ones; from the thousandth on, new ones
/// are told as one.
package struct ErrorText: Hashable, Sendable {
  private let number: Int32

  private struct Texts {
    var all: [String] = []
    var numbers: [String: Int32] = [:]
  }

  private static let texts = Mutex(Texts())
  private static let most = 1_000

  package init(_ text: String) {
    number = Self.texts.withLock { texts in
      let text = texts.all.count < Self.most ? text : "another error, of too many different ones"
      if let number = texts.numbers[text] { return number }
      let number = Int32(texts.all.count)
      texts.all.append(text)
      texts.numbers[text] = number
      return number
    }
  }

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
