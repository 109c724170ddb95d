/// The mechanisms that an exploration can stop inside of.
package enum ExplorableCatalogue {
  private static let limiters = [
    CatalogueEntry(LimiterMechanism.self),
    CatalogueEntry(PoolMechanism.self),
    CatalogueEntry(FIFOQueueMechanism.self),
    CatalogueEntry(ActorQueueMechanism.self),
  ]

  /// The same mechanism as `entry`, its locks and atomics being scheduling points.
  ///
  /// Specimens have no other: they use explorable ones always.
  package static func entry(for entry: CatalogueEntry) -> CatalogueEntry {
    limiters.first { $0.id == entry.id } ?? entry
  }

  /// Whether there is one.
  package static func has(_ entry: CatalogueEntry) -> Bool {
    limiters.contains { $0.id == entry.id }
  }
}
