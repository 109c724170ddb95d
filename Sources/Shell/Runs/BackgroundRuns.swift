internal import Experiments
internal import Mechanisms

/// The runs that go on while the shell takes other commands, in the order in which they began.
///
/// A command that names no run means the latest.
struct BackgroundRuns: Sendable {
  private(set) var all: [Background] = []

  var latest: Background? { all.last }

  var isSeveral: Bool { all.count > 1 }

  /// Adds a run, unless it is there.
  mutating func add(_ run: Background) {
    if !all.contains(where: { $0 === run }) { all.append(run) }
  }

  mutating func remove(_ run: Background) { all.removeAll { $0 === run } }

  /// The run of that name.
  func named(_ name: String) -> Background? { all.first { $0.name == name } }

  /// The run of that name, or else the latest without a name on the mechanism that is called so.
  func called(_ text: String) -> Background? {
    named(text) ?? all.last { $0.name == nil && $0.experiment.mechanism.id == text }
  }

  /// What each is called by.
  var labels: [String] { all.map(\.label) }
}

extension Background {
  /// What it is called by: its name, or else that of its mechanism.
  var label: String { name ?? experiment.mechanism.id }

  /// The same with the mechanism, where that is not the name.
  var title: String { name.map { "\($0), \(experiment.mechanism.id)" } ?? label }
}
