package import Mechanisms
internal import Synchronization

/// What can be measured: the mechanisms of the catalogue, its specimens, and the bench's own.
package enum Contestants {
  private static let own = [
    CatalogueEntry(FloorMechanism.self), CatalogueEntry(CancellableFloorMechanism.self),
    CatalogueEntry(URLSessionMechanism.self),
  ]

  /// What a program brought along.
  private static let added = Mutex<[CatalogueEntry]>([])

  /// Makes a limiter known that is not of this package.
  ///
  /// - Returns: why it cannot be, or nil.
  package static func add(_ entry: CatalogueEntry) -> String? {
    let isWord = entry.id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    guard isWord, !entry.id.isEmpty, !entry.id.hasPrefix("-") else {
      return
        "'\(entry.id)' cannot be a limiter's name: use letters, digits and dashes, such as my-limiter"
    }
    if self.entry(entry.id) != nil {
      return "the name '\(entry.id)' is taken. Give the limiter another"
    }
    added.withLock { $0.append(entry) }
    return nil
  }

  /// By name; nil where there is none.
  package static func entry(_ id: String) -> CatalogueEntry? {
    (own + added.withLock { $0 }).first { $0.id == id } ?? Catalogue.entry(id)
  }

  /// What is measured without being asked for.
  package static var mechanisms: [CatalogueEntry] { Catalogue.mechanisms + added.withLock { $0 } }

  /// The bench's own: measured in workloads that have them as guests, and where they are named.
  package static var others: [String] { own.map(\.id) }

  package static var specimens: [String] { Catalogue.specimens.map(\.id) }

  /// What `--mechanism` is completed with.
  package static var names: [String] { mechanisms.map(\.id) + others + specimens }
}
