internal import Mechanisms

/// Errors of one reason, whatever was asked for: of forty images that a server refuses, one sentence says enough.
struct CommonFailure: Hashable {
  let text: String
  let first: TaskID
  let tasks: Int

  /// The commonest first.
  static func all(in errors: [WorkError]) -> [Self] {
    Dictionary(grouping: errors) { reason(of: $0.text) }.map { reason, errors in
      let tasks = errors.map(\.tasks).reduce(0, +)
      guard errors.count > 1, let first = errors.map(\.first).min() else {
        return Self(text: errors[0].text, first: errors[0].first, tasks: tasks)
      }
      let example = errors.first { $0.first == first }?.text.prefix { $0 != ":" } ?? ""
      return Self(text: "\(reason) (first: \(example))", first: first, tasks: tasks)
    }
    .sorted { ($1.tasks, $0.first) < ($0.tasks, $1.first) }
  }

  /// What stands behind the path that was asked for, if one stands before it.
  private static func reason(of text: String) -> String {
    guard text.hasPrefix("/"), let colon = text.firstRange(of: ": ") else { return text }
    return String(text[colon.upperBound...])
  }
}
